// The static types of operations, by id and by key: of definitions, calls, streams and envs. Types only; what they cost the
// compiler is measured by `npm run bench -- --types`.
/// <reference lib="esnext.disposable" preserve="true" />
import type { CallError } from "./errors.ts"
import type { ResponseEnvelope } from "./envelope.ts"
import type { CallOptions, OperationType, RegisteredOperations, RegisteredRoutes } from "./types.ts"
import type { InputOf, OutputOf } from "../schema/standard.ts"

/** The static types of an operation. */
export interface OperationShape {
  readonly type: OperationType
  readonly input: unknown
  readonly output: unknown
  readonly errors?: unknown
}

/** The minimal type of a definition. */
export interface DefinitionLike {
  readonly type: OperationType
  readonly inputSchema: unknown
  readonly outputSchema: unknown
  readonly errorSchemas?: readonly unknown[] | undefined
}

/** The same with its id. */
export interface NamedDefinition extends DefinitionLike {
  readonly namespace: string
  readonly name: string
}

/** The errors an operation declares, as typed `CallError`s. */
export type ErrorsOf<TDefinition extends DefinitionLike> =
  TDefinition["errorSchemas"] extends infer TErrors
    ? TErrors extends readonly unknown[]
      ? ErrorOf<TErrors[number]>
      : never
    : never

type ErrorOf<TError> = TError extends {
  readonly code: infer TCode extends string
  readonly schema: infer TSchemaLike
}
  ? CallError<TCode, OutputOf<TSchemaLike>>
  : never

/** The id of a definition: `namespace.name`. */
export type IdOf<TDefinition extends NamedDefinition> =
  `${TDefinition["namespace"]}.${TDefinition["name"]}`

/** A definition reduced to its shape. Members are computed on first use. */
export interface ShapeOf<TDefinition extends DefinitionLike> {
  readonly type: TDefinition["type"]
  readonly input: InputOf<TDefinition["inputSchema"]>
  readonly output: OutputOf<TDefinition["outputSchema"]>
  readonly errors: ErrorsOf<TDefinition>
}

// A conditional type, here and in `KnownId`, because the compiler remembers what one gave: it works out the ids of
// a thousand operations once instead of for every call.
type IdsOf<TDefinition> = TDefinition extends NamedDefinition ? IdOf<TDefinition> : never

/** The shapes of a list of definitions, by id. */
export type ShapesOf<TDefinitions extends readonly NamedDefinition[]> = Resolved<
  Remapped<TDefinitions[number]>
>

type Remapped<TDefinition extends NamedDefinition> = {
  [TEach in TDefinition as IdsOf<TEach>]: ShapeOf<TEach>
}

// The compiler works out the keys of a type with `as` again each time it needs them; those of a type over a list of
// known ids it has at hand.
type Resolved<TShapes extends { readonly [id: string]: OperationShape }> =
  keyof TShapes extends infer TIds extends string ? { [TId in TIds]: TShapes[TId] } : never

/** Operations by namespace and name; a namespace may contain further objects. */
export interface OperationRoutes {
  readonly [key: string]: RoutedOperation | OperationRoutes
}

/** An operation in an object, whose keys give its namespace and name. If it has them too, they must agree. */
export interface RoutedOperation extends DefinitionLike {
  readonly namespace?: string | undefined
  readonly name?: string | undefined
  readonly version: string
  readonly description: string
}

declare const ROUTES: unique symbol

/** Where the types of an object of operations are kept, so that clients and envs lead to its keys. */
interface Routed<TRoutes> {
  readonly [ROUTES]: TRoutes
}

/** The shapes of an object of operations, by id. */
export type RoutedShapes<TRoutes> = Routed<TRoutes> & ShapesAt<TRoutes, RouteId<TRoutes>>

type ShapesAt<TRoutes, TIds extends string> = { [TId in TIds]: ShapeAt<TRoutes, TId> }

type RouteId<TRoutes> = {
  [TKey in keyof TRoutes]: TKey extends string | number
    ? TRoutes[TKey] extends Route
      ? `${TKey}`
      : `${TKey}.${RouteId<TRoutes[TKey]>}`
    : never
}[keyof TRoutes]

type ShapeAt<TRoutes, TPath> = TPath extends keyof TRoutes
  ? ShapeIn<TRoutes[TPath]>
  : TPath extends `${infer TKey extends keyof TRoutes & (string | number)}.${infer TRest}`
    ? ShapeAt<TRoutes[TKey], TRest>
    : TPath extends `${infer TKey extends keyof TRoutes & number}`
      ? ShapeIn<TRoutes[TKey]>
      : never

/** An operation in an object: its definition, or what generated declarations say of it. */
export type Route = DefinitionLike | OperationShape

/** The shape of an operation in an object. */
export type ShapeIn<TRoute> = TRoute extends DefinitionLike
  ? ShapeOf<TRoute>
  : TRoute extends OperationShape
    ? TRoute
    : never

/** The object that operations were registered with, and that of declarations; an empty one if they came in a list. */
export type RoutesOf<TOperations> = (TOperations extends Routed<infer TRoutes> ? TRoutes : {}) &
  DeclaredRoutes<TOperations>

type DeclaredRoutes<TOperations> = [keyof RegisteredRoutes] extends [never]
  ? {}
  : TOperations extends RegisteredOperations
    ? RegisteredRoutes
    : {}

/** One of two types: for operations from an object, or from a list. */
export type IfRouted<TOperations, TThen, TElse> =
  TOperations extends Routed<unknown> ? TThen : TElse

/** The ids of the other operations. */
export type UnroutedId<TOperations> = Exclude<KnownId<TOperations>, RouteId<RoutesOf<TOperations>>>

/** Operations and one more. A definition whose id has the type `string` adds nothing to check. */
export type With<TOperations, TDefinition extends NamedDefinition> = string extends TDefinition[
  | "namespace"
  | "name"]
  ? TOperations
  : TOperations & { [TId in IdOf<TDefinition>]: ShapeOf<TDefinition> }

/**
 * Not `string`, which would swallow the literals beside it in a union, and completion with them.
 *
 * The union is written out where a type parameter extends it: with the name `OperationId` come its type arguments,
 * which the compiler instantiates for each call.
 */
export type AnyString = string & {}

/** The ids that are known statically. */
export type KnownId<TOperations> = TOperations extends unknown ? keyof TOperations & string : never

/** Known ids for completion, and any other string. */
export type OperationId<TOperations> = KnownId<TOperations> | AnyString

/**
 * The shape of an operation that `execute` accepts: a registered one that is not a subscription. `unknown` for a
 * `string`. Otherwise the reason why it does not.
 *
 * The default of a type parameter, in which all else of a call is found: the compiler instantiates the types of all
 * operations for each place that names them.
 */
export type Executable<TOperations, TId> =
  TId extends KnownId<TOperations>
    ? TypeIn<TOperations[TId]> extends "subscription"
      ? NotCallable<`${TId} is a subscription: use subscribe()`>
      : TOperations[TId]
    : Registered<TOperations, TId>

/** The same for `subscribe`: one that is registered and a subscription, or a `string`. */
export type Subscribable<TOperations, TId> =
  TId extends KnownId<TOperations>
    ? TypeIn<TOperations[TId]> extends "query" | "mutation"
      ? NotCallable<`${TId} is not a subscription: use execute()`>
      : TOperations[TId]
    : Registered<TOperations, TId>

/** The type of an id, beside itself: nothing, or the reason why it cannot be called. */
export type Callable<TShape> = TShape extends NotCallable<string> ? NoInfer<TShape> : unknown

/** No value has this type: the compiler's error message contains its name, and so the reason. */
export interface NotCallable<TReason extends string> {
  readonly reason: TReason
}

type Registered<TOperations, TId> = [KnownId<TOperations>] extends [never]
  ? unknown
  : TId extends string
    ? // Of a string or a template this is an index signature, which an empty object satisfies.
      {} extends { [TKey in TId]: unknown }
      ? unknown
      : NotCallable<`${TId} is not registered${Suggestion<Similar<KnownId<TOperations>, TId>>}`>
    : unknown

type Suggestion<TId extends string> = [TId] extends [never] ? "" : `: did you mean ${TId}?`

/** The known ids that differ by one added, missing, wrong or swapped character. */
type Similar<TKnown extends string, TId extends string> = TKnown extends TKnown
  ? IsTypo<TKnown, TId> extends true
    ? TKnown
    : never
  : never

type IsTypo<A extends string, B extends string> = A extends `${infer A1}${infer ARest}`
  ? B extends `${infer B1}${infer BRest}`
    ? A1 extends B1
      ? IsTypo<ARest, BRest>
      : ARest extends BRest | B | `${B1}${BRest extends `${A1}${infer BEnd}` ? BEnd : never}`
        ? true
        : A extends BRest
          ? true
          : false
    : ARest extends ""
      ? true
      : false
  : B extends `${string}${infer BRest}`
    ? BRest extends ""
      ? true
      : false
    : false

// What is inferred from a shape is inferred in a type of its own: beside `infer` the compiler instantiates every type
// parameter in reach again, and so all operations for each call.
/** The type of the input of an operation. */
export type InputIn<TShape> = TShape extends { readonly input: infer TInput } ? TInput : unknown
/** The type of an operation. */
export type TypeIn<TShape> = TShape extends { readonly type: infer TType } ? TType : OperationType

/** The type of `data` of an operation. */
export type OutputIn<TShape> = TShape extends { readonly output: infer TOutput } ? TOutput : unknown

/** The type of `data` for an id. */
export type OutputFor<TOperations, TId> =
  TId extends KnownId<TOperations> ? OutputIn<TOperations[TId]> : unknown

/** Arguments after the id: the input is optional if its type includes `undefined`. */
export type CallArguments<TShape, TOptions = CallOptions> = ArgumentsOf<InputIn<TShape>, TOptions>

type ArgumentsOf<TInput, TOptions> = undefined extends TInput
  ? [input?: TInput, context?: TOptions]
  : [input: TInput, context?: TOptions]

/** The options of a nested call; the rest comes from the handler's context. */
export type NestedCallOptions = Pick<
  CallOptions,
  | "deadline"
  | "timeout"
  | "signal"
  | "metadata"
  | "progress"
  | "policy"
  | "idempotencyKey"
  | "dryRun"
>

/** `context.call`. */
export type OperationCall<TOperations> = <
  const TId extends KnownId<TOperations> | AnyString,
  TShape = Executable<TOperations, TId>,
>(
  id: TId & Callable<NoInfer<TShape>>,
  ...args: CallArguments<NoInfer<TShape>, NestedCallOptions>
) => Promise<ResponseEnvelope<OutputIn<TShape>>>

/** `context.subscribe`. */
export type OperationStream<TOperations> = <
  const TId extends KnownId<TOperations> | AnyString,
  TShape = Subscribable<TOperations, TId>,
>(
  id: TId & Callable<NoInfer<TShape>>,
  ...args: CallArguments<NoInfer<TShape>, NestedCallOptions>
) => EnvelopeStream<OutputIn<TShape>>

/** A stream of envelopes. Leaving a `for await` over it stops the handler. */
export interface EnvelopeStream<TOutput = unknown>
  extends AsyncIterableIterator<ResponseEnvelope<TOutput>, undefined>, AsyncDisposable {
  return(): Promise<IteratorResult<ResponseEnvelope<TOutput>, undefined>>
}

export type NamespaceOf<TId> = TId extends `${infer TNamespace}.${string}` ? TNamespace : never

/** The ids whose names contain dots. */
export type DottedId<TIds> = TIds extends `${string}.${string}.${string}` ? TIds : never

/** The first parts of the names below a path that contain dots: `orders` of `shop.orders.get`. */
export type KeyBelow<TIds, TPath extends string> = TIds extends `${TPath}.${infer TKey}.${string}`
  ? TKey
  : never

type EnvFunction<TShape> = (
  ...args: CallArguments<TShape, NestedCallOptions>
) => Promise<ResponseEnvelope<OutputIn<TShape>>>

type EnvNamespace<TOperations, TIds, TPath extends string> = {
  readonly [
    TId in TIds & keyof TOperations as TId extends `${TPath}.${infer TName}`
      ? TypeIn<TOperations[TId]> extends "subscription"
        ? never
        : TName
      : never
  ]: EnvFunction<TOperations[TId]>
} & {
  // An operation of an env has no members.
  readonly [
    TKey in KeyBelow<DottedId<TIds>, TPath> as `${TPath}.${TKey}` extends TIds ? never : TKey
  ]: EnvNamespace<TOperations, DottedId<TIds>, `${TPath}.${TKey}`>
}

// No `as` here: the compiler links the members of such a type to the keys that they were made from.
type RoutedEnv<TRoutes> = {
  readonly [TKey in keyof TRoutes]: TRoutes[TKey] extends Route
    ? TRoutes[TKey]["type"] extends "subscription"
      ? NotCallable<"A subscription is not in the env: use context.subscribe()">
      : EnvFunction<ShapeIn<TRoutes[TKey]>>
    : RoutedEnv<TRoutes[TKey]>
}

/**
 * The env without static types: any namespace, any name.
 *
 * Its namespaces are `any` because of `noUncheckedIndexedAccess`: it makes every other type possibly `undefined`, and
 * `env.task.create()` an error, though an env has a function for every name. `context.call` gives `unknown`.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- see above
type UntypedEnv = Readonly<Record<string, any>>

/** Operations as functions by namespace and name; untyped if no operation is known statically. */
export type OperationEnv<TOperations = RegisteredOperations> = [KnownId<TOperations>] extends [
  never,
]
  ? UntypedEnv
  : EnvOf<TOperations, UnroutedId<TOperations>>

type EnvOf<TOperations, TIds> = RoutedEnv<RoutesOf<TOperations>> & {
  readonly [TNamespace in NamespaceOf<TIds>]: EnvNamespace<TOperations, TIds, TNamespace>
}
