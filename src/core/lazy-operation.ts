import type {
  AccessControl,
  NormalizeMode,
  OperationAnnotations,
  OperationDeprecation,
  OperationSpec,
  OperationType,
  OutputMode,
  Visibility,
} from "./types.ts"
import type { OperationPolicy } from "./operation-settings.ts"
import type { OperationHandler, SubscriptionHandler } from "./handler.ts"

/** The HTTP request of an imported operation. */
export interface OperationRequest {
  readonly method: string
  /** With placeholders in braces: `/pets/{id}`. */
  readonly path: string
}

/** The parts of an operation of an adapter; costly ones are getters that create them at the first read. */
export interface LazyParts extends Pick<
  OperationSpec,
  | "name"
  | "namespace"
  | "version"
  | "type"
  | "title"
  | "description"
  | "tags"
  | "accessControl"
  | "visibility"
  | "annotations"
  | "deprecated"
  | "deprecation"
  | "inputSchema"
  | "outputSchema"
  | "errorSchemas"
  | "examples"
  | "_meta"
> {
  /** One object for many operations. */
  readonly policy: OperationPolicy
  readonly handler: OperationHandler | SubscriptionHandler
  /** Keys of the input, for search, without building its schema. */
  readonly inputNames: readonly string[]
  /** The HTTP request that it sends, for search and lists, without reading the operation. */
  readonly request?: OperationRequest | undefined
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

/**
 * The fields that are not lazy. The parts are private, so that a copy of an operation is not taken for one.
 *
 * Fields are declared and not defined: thousands of these are made, and each field would be written twice.
 */
class LazySpec {
  declare readonly name: string
  declare readonly namespace: string
  declare readonly version: string
  declare readonly type: OperationType
  declare readonly title: string | undefined
  declare readonly description: string
  declare readonly tags: readonly string[] | undefined
  declare readonly accessControl: AccessControl
  declare readonly visibility: Visibility | undefined
  declare readonly annotations: OperationAnnotations | undefined
  declare readonly deprecated: boolean | undefined
  declare deprecation: OperationDeprecation | undefined
  readonly #parts: LazyParts

  constructor(parts: LazyParts) {
    this.#parts = parts
    this.name = parts.name
    this.namespace = parts.namespace
    this.version = parts.version
    this.type = parts.type
    this.title = parts.title
    this.description = parts.description
    this.tags = parts.tags
    this.accessControl = parts.accessControl
    if (parts.visibility !== undefined) this.visibility = parts.visibility
    this.annotations = parts.annotations
    this.deprecated = parts.deprecated
    if (this.deprecated === true) addDeprecation(this, parts)
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
  declare readonly normalize: NormalizeMode | undefined
  declare readonly output: OutputMode | undefined
  declare readonly defaults: OperationPolicy["defaults"]
  declare readonly timeout: OperationPolicy["timeout"]
  declare readonly asData: OperationPolicy["asData"]
  declare readonly imported: OperationPolicy["imported"]
  declare readonly sendsKey: OperationPolicy["sendsKey"]

  constructor(parts: LazyParts) {
    super(parts)
    const { policy } = parts
    if (policy.normalize !== undefined) this.normalize = policy.normalize
    if (policy.output !== undefined) this.output = policy.output
    if (policy.timeout !== undefined) this.timeout = policy.timeout
    if (policy.sendsKey !== undefined) this.sendsKey = policy.sendsKey
    this.defaults = policy.defaults
    this.asData = policy.asData
    this.imported = policy.imported
    define(this, "handler", HANDLER)
  }
}

/** Adds the deprecation. Reading it for thousands of operations without one would cost as much as the rest. */
function addDeprecation(spec: LazySpec, { deprecation }: LazyParts): void {
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
  return lazyOperation(new ChangedParts(parts, changes))
}

class ChangedParts implements LazyParts {
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

  get version(): LazyParts["version"] {
    return this.#parts.version
  }

  get type(): LazyParts["type"] {
    return this.#parts.type
  }

  get title(): LazyParts["title"] {
    return this.#parts.title
  }

  get description(): LazyParts["description"] {
    return this.#parts.description
  }

  get tags(): LazyParts["tags"] {
    return this.#parts.tags
  }

  get annotations(): LazyParts["annotations"] {
    return this.#parts.annotations
  }

  get deprecated(): LazyParts["deprecated"] {
    return this.#parts.deprecated
  }

  get deprecation(): LazyParts["deprecation"] {
    return this.#parts.deprecation
  }

  get inputSchema(): LazyParts["inputSchema"] {
    return this.#parts.inputSchema
  }

  get outputSchema(): LazyParts["outputSchema"] {
    return this.#parts.outputSchema
  }

  get errorSchemas(): LazyParts["errorSchemas"] {
    return this.#parts.errorSchemas
  }

  get examples(): LazyParts["examples"] {
    return this.#parts.examples
  }

  get _meta(): LazyParts["_meta"] {
    return this.#parts._meta
  }

  get inputNames(): LazyParts["inputNames"] {
    return this.#parts.inputNames
  }

  get request(): LazyParts["request"] {
    return this.#parts.request
  }

  get policy(): LazyParts["policy"] {
    return this.#parts.policy
  }
}
