import type {
  AccessControl,
  NormalizeMode,
  OperationAnnotations,
  OperationHandler,
  OperationPolicy,
  OperationSpec,
  OperationType,
  OutputMode,
  SubscriptionHandler,
  Visibility,
} from "../types.ts"

/** What an adapter knows of an operation at once, and what it makes when somebody first asks. */
export interface LazyParts
  extends
    Pick<
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
      | "inputSchema"
      | "outputSchema"
      | "errorSchemas"
      | "examples"
      | "_meta"
    >,
    OperationPolicy {
  readonly handler: OperationHandler | SubscriptionHandler
  /** Keys of the input, for searching, without making its schema. */
  readonly inputNames: readonly string[]
}

/** An operation whose schemas are made when they are first read. */
export type LazyOperation = OperationSpec &
  OperationPolicy & { readonly handler: OperationHandler | SubscriptionHandler }

/** What is made when it is first read. */
const LAZY = [
  "inputSchema",
  "outputSchema",
  "errorSchemas",
  "examples",
  "_meta",
  "handler",
] as const

type Lazy = (typeof LAZY)[number]

/** Everything but what is lazy; private, so that a copy of an operation does not pass for one. */
class LazySpec {
  readonly name: string
  readonly namespace: string
  readonly version: string
  readonly type: OperationType
  readonly title: string | undefined
  readonly description: string
  readonly tags: readonly string[] | undefined
  readonly accessControl: AccessControl
  readonly visibility: Visibility | undefined
  readonly annotations: OperationAnnotations | undefined
  readonly deprecated: boolean | undefined
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
    this.visibility = parts.visibility
    this.annotations = parts.annotations
    this.deprecated = parts.deprecated
    // One by one and with the same functions each time: that is what engines are quick at.
    Object.defineProperty(this, "inputSchema", DESCRIPTORS.inputSchema)
    Object.defineProperty(this, "outputSchema", DESCRIPTORS.outputSchema)
    Object.defineProperty(this, "errorSchemas", DESCRIPTORS.errorSchemas)
    Object.defineProperty(this, "examples", DESCRIPTORS.examples)
    Object.defineProperty(this, "_meta", DESCRIPTORS._meta)
  }

  static partsOf(value: object): LazyParts | undefined {
    return #parts in value ? value.#parts : undefined
  }
}

class LazyView extends LazySpec {
  readonly handler: unknown

  constructor(parts: LazyParts, handler: unknown) {
    super(parts)
    this.handler = handler
  }
}

class LazyDefinition extends LazySpec {
  readonly normalize: NormalizeMode | undefined
  readonly output: OutputMode | undefined
  readonly defaults: OperationPolicy["defaults"]
  readonly timeout: OperationPolicy["timeout"]
  readonly asData: OperationPolicy["asData"]
  readonly imported: OperationPolicy["imported"]

  constructor(parts: LazyParts) {
    super(parts)
    Object.defineProperty(this, "handler", DESCRIPTORS.handler)
    this.normalize = parts.normalize
    this.output = parts.output
    this.defaults = parts.defaults
    this.timeout = parts.timeout
    this.asData = parts.asData
    this.imported = parts.imported
  }
}

const DESCRIPTORS = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ LAZY.map((key) => [
    key,
    {
      enumerable: true,
      get(this: object): unknown {
        return LazySpec.partsOf(this)?.[key]
      },
    },
  ]),
) as Readonly<Record<Lazy, PropertyDescriptor>>

/**
 * An operation that costs next to nothing until it is used: everything dear is read from `parts`,
 * which has to keep what it made and be sound; the registry takes it on trust.
 *
 * Its properties are its own, so that a copy of it is an ordinary definition.
 */
export function lazyOperation(parts: LazyParts): LazyOperation {
  return Object.freeze(new LazyDefinition(parts)) as unknown as LazyOperation
}

/** The parts of an operation that `lazyOperation` made; a copy of one has none. */
export function lazyPartsOf(operation: object): LazyParts | undefined {
  return LazySpec.partsOf(operation)
}

/** The same without the handler and what is said beside the spec. */
export function lazySpec(parts: LazyParts): OperationSpec {
  return Object.freeze(new LazySpec(parts)) as unknown as OperationSpec
}

/** The same with a handler, and without what is said beside the spec. */
export function lazyView<THandler>(
  parts: LazyParts,
  handler: THandler,
): OperationSpec & { readonly handler: THandler } {
  return Object.freeze(new LazyView(parts, handler)) as unknown as OperationSpec & {
    readonly handler: THandler
  }
}

/** What may be different in a copy of an operation. */
export interface LazyChanges {
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  readonly accessControl?: AccessControl | undefined
  readonly visibility?: Visibility | undefined
  /** Another handler in place of the one there is. */
  readonly wrap?: ((handler: LazyParts["handler"]) => LazyParts["handler"]) | undefined
}

/** The same operation with some of it changed; what is dear is still made when it is first read. */
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

  get normalize(): LazyParts["normalize"] {
    return this.#parts.normalize
  }

  get output(): LazyParts["output"] {
    return this.#parts.output
  }

  get defaults(): LazyParts["defaults"] {
    return this.#parts.defaults
  }

  get asData(): LazyParts["asData"] {
    return this.#parts.asData
  }

  get timeout(): LazyParts["timeout"] {
    return this.#parts.timeout
  }

  get imported(): LazyParts["imported"] {
    return this.#parts.imported
  }

  get composes(): LazyParts["composes"] {
    return this.#parts.composes
  }
}
