import type { TSchema } from "typebox"
import type { DefinitionLike, ErrorsOf } from "./infer.ts"
import type { OutputOf } from "../schema/standard.ts"
import { isCallError } from "./errors.ts"
import { reading } from "../internal/brands.ts"
import type { AccessControl, ErrorDefinition, OperationSpec, OperationType } from "./types.ts"
import type { OperationPolicy } from "./operation-settings.ts"
import type { OperationContext, OperationHandler, SubscriptionHandler } from "./handler.ts"

/** The handler type for an operation type and its schemas. */
export type HandlerOf<
  TType,
  TInput,
  TOutput,
  TContext = OperationContext,
> = TType extends "subscription"
  ? SubscriptionHandler<OutputOf<TInput>, OutputOf<TOutput>, TContext>
  : OperationHandler<OutputOf<TInput>, OutputOf<TOutput>, TContext>

/** The fields of an operation, apart from its names, its version, its access control and its handler. */
interface OperationParts<
  TType extends OperationType,
  TInput extends TSchema,
  TOutput extends TSchema,
  TErrors extends readonly ErrorDefinition[],
>
  extends
    Omit<
      OperationSpec,
      | "namespace"
      | "name"
      | "version"
      | "accessControl"
      | "type"
      | "inputSchema"
      | "outputSchema"
      | "errorSchemas"
    >,
    OperationPolicy {
  readonly type: TType
  readonly inputSchema: TInput
  readonly outputSchema: TOutput
  readonly errorSchemas?: TErrors | undefined
}

/** An operation with static types. Without a namespace and a name, the keys of an object give it those. */
export interface Operation<
  TNamespace extends string | undefined,
  TName extends string | undefined,
  TType extends OperationType,
  TInput extends TSchema,
  TOutput extends TSchema,
  TErrors extends readonly ErrorDefinition[],
  TContext = OperationContext,
> extends OperationParts<TType, TInput, TOutput, TErrors> {
  readonly namespace: TNamespace
  readonly name: TName
  readonly version: string
  readonly accessControl: AccessControl
  readonly handler: NoInfer<HandlerOf<TType, TInput, TOutput, TContext>>
}

/**
 * An operation as a parameter from which its types are inferred: from the schemas alone.
 *
 * Without `NoInfer` the compiler would search for the schemas in the handler's result too, through every branch
 * of the inference.
 */
export type OperationInput<
  TType extends OperationType,
  TInput extends TSchema,
  TOutput extends TSchema,
  TErrors extends readonly ErrorDefinition[],
  TContext = OperationContext,
> = OperationParts<TType, TInput, TOutput, TErrors> & {
  readonly handler: NoInfer<HandlerOf<TType, TInput, TOutput, TContext>>
}

/** The names of an operation as a parameter. */
export interface NamesInput<TNamespace, TName> {
  readonly namespace: TNamespace
  readonly name: TName
}

/**
 * Nothing, or what a definition lacks. The type of `this`, of which the compiler reports nothing but this reason; of a
 * missing property it prints the types of all others first.
 */
type Complete<TAccess, TType> = [TAccess] extends [AccessControl]
  ? unknown
  : // Nothing is known of the definition: it is a value that was cast.
    OperationType extends TType
    ? unknown
    : Incomplete<"accessControl is missing: say who may call it, or { requiredScopes: [] } for everyone">

/** No value has this type: the compiler's error message contains its name, and so the reason. */
interface Incomplete<TReason extends string> {
  readonly reason: TReason
}

/** Any operation, whatever its types. */
export interface AnyOperation extends OperationSpec, OperationPolicy {
  // `never` allows handlers of any input; nothing is called through this type.
  readonly handler?: ((input: never, context: never) => unknown) | undefined
}

// Registered, so that an operation defined with another copy of this package is recognized too.
const DEFINED = Symbol.for("@alkdev/operations/defined")

/**
 * Describes an operation. The handler's input and result follow from the schemas.
 *
 * Nothing is checked or compiled here: `register` does that, and names the field that is wrong.
 */
export function defineOperation<
  const TType extends OperationType,
  const TInput extends TSchema,
  const TOutput extends TSchema,
  const TNamespace extends string | undefined = undefined,
  const TName extends string | undefined = undefined,
  const TErrors extends readonly ErrorDefinition[] = readonly [],
  const TAccess extends AccessControl | undefined = undefined,
>(
  this: Complete<TAccess, TType>,
  definition: OperationInput<TType, TInput, TOutput, TErrors> &
    Partial<NamesInput<TNamespace, TName>> & {
      /** Required: who may call it. `{ requiredScopes: [] }` is everyone. */
      readonly accessControl?: TAccess | undefined
      readonly version?: string | undefined
    },
): Operation<TNamespace, TName, TType, TInput, TOutput, TErrors> {
  if (typeof definition !== "object" || definition === null) {
    throw new TypeError(
      "defineOperation(definition): definition must be an object with name, namespace, type, schemas and handler.",
    )
  }
  const operation = reading("defineOperation(definition): definition", () => ({
    ...definition,
    version: definition.version ?? "1.0.0",
  }))
  Object.defineProperty(operation, DEFINED, { value: true })
  return Object.freeze(operation) as Operation<TNamespace, TName, TType, TInput, TOutput, TErrors>
}

/** Whether a value was made with `defineOperation`. */
export function isDefinedOperation(value: unknown): value is AnyOperation {
  return typeof value === "object" && value !== null && DEFINED in value
}

/** Whether an error is one that an operation declares in `errorSchemas`; narrows `code` and `details`. */
export function isDeclaredError<TDefinition extends DefinitionLike>(
  operation: TDefinition,
  error: unknown,
): error is ErrorsOf<TDefinition> {
  if (!isCallError(error)) return false
  return reading("isDeclaredError(operation): operation", () => {
    const declared = operation?.errorSchemas
    if (!Array.isArray(declared)) return false
    return declared.some((definition: ErrorDefinition) => definition.code === error.code)
  })
}

/** The id of an operation. */
export function idOf({ namespace, name }: Pick<OperationSpec, "namespace" | "name">): string {
  return `${namespace}.${name}`
}

/** Whether two definitions from a peer are equal; their handlers only forward calls. */
export function isSameImport(a: AnyOperation, b: AnyOperation): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** Whether an operation is imported: its server fills in defaults, no input means an empty one, and results are foreign. */
export function isImportedSpec({ _meta = {} }: Pick<OperationSpec, "_meta">): boolean {
  return Object.hasOwn(_meta, "openapi") || Object.hasOwn(_meta, "mcp")
}
