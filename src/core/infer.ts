/// <reference lib="esnext.disposable" preserve="true" />
import type { CallError } from "./errors.ts"
import type { ResponseEnvelope } from "./envelope.ts"
import type { CallOptions, OperationType, RegisteredOperations } from "./types.ts"
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
  readonly namespace: string
  readonly name: string
  readonly type: OperationType
  readonly inputSchema: unknown
  readonly outputSchema: unknown
  readonly errorSchemas?: readonly unknown[] | undefined
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
export type IdOf<TDefinition extends DefinitionLike> =
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
type IdsOf<TDefinition> = TDefinition extends DefinitionLike ? IdOf<TDefinition> : never

/** The shapes of a list of definitions, by id. */
export type ShapesOf<TDefinitions extends readonly DefinitionLike[]> = {
  [TDefinition in TDefinitions[number] as IdsOf<TDefinition>]: ShapeOf<TDefinition>
}

/** Operations and one more. A definition whose id has the type `string` adds nothing to check. */
export type With<TOperations, TDefinition extends DefinitionLike> = string extends TDefinition[
  | "namespace"
  | "name"]
  ? TOperations
  : TOperations & { [TId in IdOf<TDefinition>]: ShapeOf<TDefinition> }

// Not `string`, which would swallow the literals beside it in a union, and completion with them.
type AnyString = string & {}

/** The ids that are known statically. */
type KnownId<TOperations> = TOperations extends unknown ? keyof TOperations & string : never

/** Known ids for completion, and any other string. */
export type OperationId<TOperations> = KnownId<TOperations> | AnyString

/**
 * `unknown` for an id that `execute` accepts: a registered one that is not a subscription, or any `string`.
 * Otherwise the reason why it does not.
 *
 * Used as the type of `this`: as part of the id's own type it would disable completion.
 */
export type Executable<TOperations, TId> = [TId] extends [infer TKnown extends string]
  ? TypeFor<TOperations, TKnown> extends "subscription"
    ? NotCallable<`${TKnown} is a subscription: use subscribe()`>
    : Registered<TOperations, TKnown>
  : unknown

/** The same for `subscribe`: one that is registered and a subscription, or a `string`. */
export type Subscribable<TOperations, TId> = [TId] extends [infer TKnown extends string]
  ? TypeFor<TOperations, TKnown> extends "query" | "mutation"
    ? NotCallable<`${TKnown} is not a subscription: use execute()`>
    : Registered<TOperations, TKnown>
  : unknown

/** No value has this type: the compiler's error message contains its name, and so the reason. */
export interface NotCallable<TReason extends string> {
  readonly reason: TReason
}

type Registered<TOperations, TId extends string> = [TId] extends [KnownId<TOperations>]
  ? unknown
  : [KnownId<TOperations>] extends [never]
    ? unknown
    : // Of a string or a template this is an index signature, which an empty object satisfies.
      {} extends { [TKey in TId]: unknown }
      ? unknown
      : NotCallable<`${TId} is not registered${Suggestion<Similar<KnownId<TOperations>, TId>>}`>

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

type InputFor<TOperations, TId> =
  TId extends KnownId<TOperations>
    ? TOperations[TId] extends { readonly input: infer TInput }
      ? TInput
      : unknown
    : unknown

/** The type of `data` for an id. */
export type OutputFor<TOperations, TId> =
  TId extends KnownId<TOperations>
    ? TOperations[TId] extends { readonly output: infer TOutput }
      ? TOutput
      : unknown
    : unknown

export type TypeFor<TOperations, TId> =
  TId extends KnownId<TOperations>
    ? TOperations[TId] extends { readonly type: infer TType }
      ? TType
      : OperationType
    : OperationType

/** Arguments after the id: the input is optional if its type includes `undefined`. */
export type ArgumentsFor<TOperations, TId, TOptions> =
  undefined extends InputFor<TOperations, TId>
    ? [input?: InputFor<TOperations, TId>, context?: TOptions]
    : [input: InputFor<TOperations, TId>, context?: TOptions]

// Ids are taken through `infer`, here and above: before the compiler has looked at an argument it asks what the
// rest may be for every id there is, and with a thousand of them that takes a minute. An inferred id is any string
// until the real one is known.

/** Arguments after the id of a call, once it is known. */
export type CallArguments<TOperations, TId, TOptions = CallOptions> = [TId] extends [
  infer TKnown extends string,
]
  ? ArgumentsFor<TOperations, TKnown, TOptions>
  : never

/** The options of a nested call; the rest comes from the handler's context. */
export type NestedCallOptions = Pick<
  CallOptions,
  "deadline" | "timeout" | "signal" | "metadata" | "progress" | "policy" | "idempotencyKey"
>

/** `context.call`. */
export type OperationCall<TOperations> = <const TId extends OperationId<TOperations>>(
  this: Executable<TOperations, TId>,
  id: TId,
  ...args: CallArguments<TOperations, TId, NestedCallOptions>
) => Promise<ResponseEnvelope<OutputFor<TOperations, TId>>>

/** `context.subscribe`. */
export type OperationStream<TOperations> = <const TId extends OperationId<TOperations>>(
  this: Subscribable<TOperations, TId>,
  id: TId,
  ...args: CallArguments<TOperations, TId, NestedCallOptions>
) => EnvelopeStream<OutputFor<TOperations, TId>>

/** A stream of envelopes. Leaving a `for await` over it stops the handler. */
export interface EnvelopeStream<TOutput = unknown>
  extends AsyncIterableIterator<ResponseEnvelope<TOutput>, undefined>, AsyncDisposable {
  return(): Promise<IteratorResult<ResponseEnvelope<TOutput>, undefined>>
}

export type NamespaceOf<TId> = TId extends `${infer TNamespace}.${string}` ? TNamespace : never

type EnvNamespace<TOperations, TNamespace extends string> = {
  readonly [
    TId in keyof TOperations as TId extends `${TNamespace}.${infer TName}`
      ? TypeFor<TOperations, TId> extends "subscription"
        ? never
        : TName
      : never
  ]: (
    ...args: ArgumentsFor<TOperations, TId, NestedCallOptions>
  ) => Promise<ResponseEnvelope<OutputFor<TOperations, TId>>>
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
export type OperationEnv<TOperations = RegisteredOperations> = keyof TOperations extends never
  ? UntypedEnv
  : {
      readonly [TNamespace in NamespaceOf<keyof TOperations>]: EnvNamespace<TOperations, TNamespace>
    }
