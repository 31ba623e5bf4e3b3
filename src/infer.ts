/// <reference lib="esnext.disposable" preserve="true" />
import type { SchemaType } from "./infer-schema.ts"
import type { CallError } from "./errors.ts"
import type { ResponseEnvelope } from "./response-envelope.ts"
import type { CallOptions, OperationType, RegisteredOperations } from "./types.ts"

/** Anything that carries Standard Schema's `~standard`: Zod, Valibot, ArkType and others. */
export interface StandardSchemaLike<TInput = unknown, TOutput = TInput> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => unknown
    readonly types?: { readonly input: TInput; readonly output: TOutput } | undefined
  }
}

/** What a caller passes for a schema. */
export type InputOf<TSchemaLike> = TSchemaLike extends {
  readonly "~standard": { readonly types?: infer TTypes }
}
  ? NonNullable<TTypes> extends { readonly input: infer TInput }
    ? TInput
    : unknown
  : SchemaType<TSchemaLike>

/** What comes out of a schema: for Standard Schema after its transforms, otherwise the same. */
export type OutputOf<TSchemaLike> = TSchemaLike extends {
  readonly "~standard": { readonly types?: infer TTypes }
}
  ? NonNullable<TTypes> extends { readonly output: infer TOutput }
    ? TOutput
    : unknown
  : SchemaType<TSchemaLike>

/** What is known of an operation at compile time. */
export interface OperationShape {
  readonly type: OperationType
  readonly input: unknown
  readonly output: unknown
  readonly errors?: unknown
}

/** The least that a definition says about itself in types. */
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

/** A definition reduced to its shape. Members are computed when they are looked at. */
export interface ShapeOf<TDefinition extends DefinitionLike> {
  readonly type: TDefinition["type"]
  readonly input: InputOf<TDefinition["inputSchema"]>
  readonly output: OutputOf<TDefinition["outputSchema"]>
  readonly errors: ErrorsOf<TDefinition>
}

/** The ids of a union of definitions. */
type IdsOf<TDefinition> = TDefinition extends DefinitionLike ? IdOf<TDefinition> : never

/**
 * The shapes of a list of definitions, by id.
 *
 * Keys are a plain union, so that the compiler need not work them out again for each call: with a
 * thousand operations that is the difference between seconds and a minute.
 */
export type ShapesOf<TDefinitions extends readonly DefinitionLike[]> = {
  [TId in IdsOf<TDefinitions[number]>]: TId extends `${infer TNamespace}.${infer TName}`
    ? ShapeOf<
        Extract<TDefinitions[number], { readonly namespace: TNamespace; readonly name: TName }>
      >
    : UnknownShape
}

/** Operations and one more. One whose id is only a `string` to the compiler adds nothing it could check. */
export type With<TOperations, TDefinition extends DefinitionLike> = string extends TDefinition[
  | "namespace"
  | "name"]
  ? TOperations
  : TOperations & { [TId in IdOf<TDefinition>]: ShapeOf<TDefinition> }

interface UnknownShape extends OperationShape {
  readonly errors: never
}

// Not `string`, which would swallow the literals beside it in a union, and completion with them.
type AnyString = string & {}

/** Known ids for completion; any other string is allowed and gives `unknown`. */
export type OperationId<TOperations> = (keyof TOperations & string) | AnyString

type InputFor<TOperations, TId> = TId extends keyof TOperations
  ? TOperations[TId] extends { readonly input: infer TInput }
    ? TInput
    : unknown
  : unknown

/** The `data` that an id gives. */
export type OutputFor<TOperations, TId> = TId extends keyof TOperations
  ? TOperations[TId] extends { readonly output: infer TOutput }
    ? TOutput
    : unknown
  : unknown

export type TypeFor<TOperations, TId> = TId extends keyof TOperations
  ? TOperations[TId] extends { readonly type: infer TType }
    ? TType
    : OperationType
  : OperationType

/** Arguments after the id: the input may be left out where its type admits `undefined`. */
export type ArgumentsFor<TOperations, TId, TOptions> =
  undefined extends InputFor<TOperations, TId>
    ? [input?: InputFor<TOperations, TId>, context?: TOptions]
    : [input: InputFor<TOperations, TId>, context?: TOptions]

// Why the two below take their id through `infer`: before the compiler has looked at an argument it asks what
// the rest may be for every id there is, and with a thousand of them that takes a minute. An inferred id is
// any string until the real one is known.

/** Arguments of `execute`; an id known to be a subscription has none that fit. */
export type ExecuteArguments<TOperations, TId, TOptions = CallOptions> = [TId] extends [
  infer TKnown extends string,
]
  ? TypeFor<TOperations, TKnown> extends "subscription"
    ? [thisIsASubscription: never, useSubscribe: never]
    : ArgumentsFor<TOperations, TKnown, TOptions>
  : never

/** Arguments of `subscribe`; an id known not to be a subscription has none that fit. */
export type SubscribeArguments<TOperations, TId, TOptions = CallOptions> = [TId] extends [
  infer TKnown extends string,
]
  ? TypeFor<TOperations, TKnown> extends "query" | "mutation"
    ? [thisIsNotASubscription: never, useExecute: never]
    : ArgumentsFor<TOperations, TKnown, TOptions>
  : never

/** What a handler may say about a nested call; the rest comes from its own context. */
export type NestedCallOptions = Pick<
  CallOptions,
  "deadline" | "timeout" | "signal" | "metadata" | "progress"
>

/** `context.call`. */
export type OperationCall<TOperations> = <const TId extends OperationId<TOperations>>(
  id: TId,
  ...args: ExecuteArguments<TOperations, TId, NestedCallOptions>
) => Promise<ResponseEnvelope<OutputFor<TOperations, TId>>>

/** `context.subscribe`. */
export type OperationStream<TOperations> = <const TId extends OperationId<TOperations>>(
  id: TId,
  ...args: SubscribeArguments<TOperations, TId, NestedCallOptions>
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

/** Callable operations by namespace and name; untyped where nothing is known statically. */
export type OperationEnv<TOperations = RegisteredOperations> = keyof TOperations extends never
  ? Readonly<
      Record<
        string,
        Readonly<
          Record<
            string,
            (input?: unknown, options?: NestedCallOptions) => Promise<ResponseEnvelope>
          >
        >
      >
    >
  : {
      readonly [TNamespace in NamespaceOf<keyof TOperations>]: EnvNamespace<TOperations, TNamespace>
    }
