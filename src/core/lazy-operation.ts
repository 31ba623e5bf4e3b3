import { isRecord } from "../internal/guards.ts"
import type { AccessControl, OperationSpec, Visibility } from "./types.ts"
import type { OperationPolicy } from "./operation-settings.ts"
import type { OperationHandler, SubscriptionHandler } from "./handler.ts"

/** The HTTP request of an imported operation. */
export interface OperationRequest {
  readonly method: string
  /** With placeholders in braces: `/pets/{id}`. */
  readonly path: string
}

/** The parts of an operation of an adapter; costly ones are getters that create them at the first read. */
export interface LazyParts extends OperationSpec {
  /** One object for many operations. */
  readonly policy: OperationPolicy
  readonly handler: OperationHandler | SubscriptionHandler
  /** Names of the inputs and of the members of a body, for search, without building a schema. */
  readonly inputNames: readonly string[]
  /** A description of what it takes or returns, for search, without building a schema. */
  readonly subject?: string | undefined
  /** The HTTP request that it sends, for search and lists, without reading the operation. */
  readonly request?: OperationRequest | undefined
  /** How to use the tools of its server, for models; of trusted servers only. May change. */
  readonly instructions?: string | undefined
}

/** An operation whose schemas are built when they are first read. */
export type LazyOperation = OperationSpec &
  OperationPolicy & { readonly handler: OperationHandler | SubscriptionHandler }

// The same functions for all operations, so that all have one hidden class.
const INPUT_SCHEMA = /* @__PURE__ */ lazyProperty("inputSchema")
const OUTPUT_SCHEMA = /* @__PURE__ */ lazyProperty("outputSchema")
const ERROR_SCHEMAS = /* @__PURE__ */ lazyProperty("errorSchemas")
const EXAMPLES = /* @__PURE__ */ lazyProperty("examples")
const META = /* @__PURE__ */ lazyProperty("_meta")
const HANDLER = /* @__PURE__ */ lazyProperty("handler")

const define: (target: object, key: string, descriptor: PropertyDescriptor) => void =
  Object.defineProperty

type Writable<T> = { -readonly [TKey in keyof T]: T[TKey] }

/**
 * The fields that are not lazy. The parts are private, so that a copy of an operation is not taken for one.
 *
 * Fields are assigned and not defined: thousands of these are made, and each field would be written twice.
 */
class LazySpec {
  readonly #parts: LazyParts

  constructor(parts: LazyParts) {
    this.#parts = parts
    const spec = this as unknown as Writable<OperationSpec>
    spec.name = parts.name
    spec.namespace = parts.namespace
    spec.version = parts.version
    spec.type = parts.type
    spec.title = parts.title
    spec.description = parts.description
    spec.tags = parts.tags
    spec.accessControl = parts.accessControl
    if (parts.visibility !== undefined) spec.visibility = parts.visibility
    spec.annotations = parts.annotations
    spec.deprecated = parts.deprecated
    if (spec.deprecated === true) addDeprecation(spec, parts)
    defineLazy(this)
  }

  static partsOf(value: object): LazyParts | undefined {
    return #parts in value ? value.#parts : undefined
  }
}

class LazyView extends LazySpec {
  declare readonly handler: unknown

  constructor(parts: LazyParts, handler: unknown) {
    super(parts)
    this.handler = handler
  }
}

class LazyDefinition extends LazySpec {
  constructor(parts: LazyParts) {
    super(parts)
    const { policy } = parts
    const operation = this as unknown as Writable<OperationPolicy>
    if (policy.normalize !== undefined) operation.normalize = policy.normalize
    if (policy.output !== undefined) operation.output = policy.output
    if (policy.input !== undefined) operation.input = policy.input
    if (policy.timeout !== undefined) operation.timeout = policy.timeout
    if (policy.sendsKey !== undefined) operation.sendsKey = policy.sendsKey
    operation.defaults = policy.defaults
    operation.asData = policy.asData
    operation.imported = policy.imported
    operation.claims = policy.claims
    define(this, "handler", HANDLER)
  }
}

/** Adds the deprecation. Reading it for thousands of operations without one would cost as much as the rest. */
function addDeprecation(spec: Writable<OperationSpec>, { deprecation }: LazyParts): void {
  if (deprecation !== undefined) spec.deprecation = deprecation
}

/**
 * Adds the lazy properties to a spec. A separate function: together with the rest it would be so large that engines
 * compile it while a document of a thousand operations is imported, which costs more than it saves.
 */
function defineLazy(spec: LazySpec): void {
  define(spec, "inputSchema", INPUT_SCHEMA)
  define(spec, "outputSchema", OUTPUT_SCHEMA)
  define(spec, "errorSchemas", ERROR_SCHEMAS)
  define(spec, "examples", EXAMPLES)
  define(spec, "_meta", META)
}

/** A property whose value is created at the first read. */
function lazyProperty(
  key: "inputSchema" | "outputSchema" | "errorSchemas" | "examples" | "_meta" | "handler",
): PropertyDescriptor {
  return {
    enumerable: true,
    get(this: object): unknown {
      return LazySpec.partsOf(this)?.[key]
    },
  }
}

/**
 * An operation that costs almost nothing until it is used. Expensive values are read from `parts`, which must
 * cache them and be valid; the registry does not check it.
 *
 * Its properties are its own, so that a copy of it is an ordinary definition.
 */
export function lazyOperation(parts: LazyParts): LazyOperation {
  return Object.freeze(new LazyDefinition(parts)) as unknown as LazyOperation
}

/** The parts of an operation that `lazyOperation` created; `undefined` for a copy. */
export function lazyPartsOf(operation: object): LazyParts | undefined {
  return LazySpec.partsOf(operation)
}

/** The same without the handler and the policy. */
export function lazySpec(parts: LazyParts): OperationSpec {
  return Object.freeze(new LazySpec(parts)) as unknown as OperationSpec
}

/** The same with a handler, and without the policy. */
export function lazyView<THandler>(
  parts: LazyParts,
  handler: THandler,
): OperationSpec & { readonly handler: THandler } {
  return Object.freeze(new LazyView(parts, handler)) as unknown as OperationSpec & {
    readonly handler: THandler
  }
}

/** The fields that can differ in a copy of an operation. */
export interface LazyChanges {
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  readonly accessControl?: AccessControl | undefined
  readonly visibility?: Visibility | undefined
  /** Wraps the handler. */
  readonly wrap?: ((handler: LazyParts["handler"]) => LazyParts["handler"]) | undefined
}

/** A copy of an operation with some fields changed; costly values are still created at the first read. */
export function changedOperation(parts: LazyParts, changes: LazyChanges): LazyOperation {
  ChangedParts.complete()
  return lazyOperation(new ChangedParts(parts, changes) as unknown as LazyParts)
}

/** The parts that a changed copy has in common with its original. */
const UNCHANGED: readonly (keyof LazyParts)[] = [
  "version",
  "type",
  "title",
  "description",
  "tags",
  "annotations",
  "deprecated",
  "deprecation",
  "inputSchema",
  "outputSchema",
  "errorSchemas",
  "examples",
  "_meta",
  "inputNames",
  "subject",
  "request",
  "instructions",
  "policy",
]

class ChangedParts {
  readonly name: string
  readonly namespace: string
  readonly accessControl: AccessControl
  readonly visibility: Visibility | undefined
  readonly #parts: LazyParts
  readonly #wrap: LazyChanges["wrap"]
  #handler: LazyParts["handler"] | undefined

  constructor(parts: LazyParts, changes: LazyChanges) {
    this.#parts = parts
    this.#wrap = changes.wrap
    this.name = changes.name ?? parts.name
    this.namespace = changes.namespace ?? parts.namespace
    this.accessControl = changes.accessControl ?? parts.accessControl
    this.visibility = changes.visibility ?? parts.visibility
  }

  get handler(): LazyParts["handler"] {
    if (this.#wrap === undefined) return this.#parts.handler
    return (this.#handler ??= this.#wrap(this.#parts.handler))
  }

  static #isComplete = false

  /** Not done when the module is loaded: pages that have no operations would load it, too. */
  static complete(): void {
    if (this.#isComplete) return
    this.#isComplete = true
    for (const key of UNCHANGED) {
      define(this.prototype, key, {
        get(this: ChangedParts): unknown {
          return this.#parts[key]
        },
      })
    }
  }
}

/** The request of an operation from an OpenAPI document, or its own route, without reading the operation. */
export function requestOf(spec: OperationSpec): OperationRequest | undefined {
  const parts = lazyPartsOf(spec)
  if (parts !== undefined) return parts.request
  if (spec.route !== undefined) return spec.route
  const openapi = spec._meta?.["openapi"]
  if (!isRecord(openapi)) return undefined
  const { method, path } = openapi
  return typeof method === "string" && typeof path === "string" ? { method, path } : undefined
}
