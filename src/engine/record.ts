import { requirementOf } from "../core/access.ts"
import type { AccessRequirement } from "../core/access.ts"
import { lazyView } from "../core/lazy-operation.ts"
import type { Compiled } from "../schema/compiled.ts"
import type { Normalizer } from "../schema/normalize/index.ts"
import { References } from "../schema/normalize/references.ts"
import { compileReadOnce, schemaOfPath } from "../schema/read-once.ts"
import type { ReadOnce } from "../schema/read-once.ts"
import type { NormalizeMode, OperationPolicy, OperationSpec, OutputMode } from "../core/types.ts"
import { compileComposes } from "./composes.ts"
import type { ComposesMatcher } from "./composes.ts"
import type { CheckedSpec, VendorValidate } from "./spec.ts"

/** What the engine calls: input and context in, a value, a promise or an async iterable out. */
export type AnyHandler = (input: unknown, context: unknown) => unknown

type Passes = (value: unknown) => boolean

/** What holds for operations that say nothing else. */
export interface RecordDefaults {
  /** Left out: `"keep"` for imported operations, `"strip"` for others. */
  readonly normalize: NormalizeMode | undefined
  readonly output: OutputMode
  readonly timeout: number
}

/** One registered operation with everything a call needs, resolved once. */
export class OperationRecord {
  readonly id: string
  readonly spec: OperationSpec
  readonly handler: AnyHandler | undefined
  readonly isStream: boolean
  /** Repeating a call has no second effect. */
  readonly isIdempotent: boolean
  readonly requirement: AccessRequirement | undefined
  readonly composes: ComposesMatcher | undefined
  /** The vendor's own check of the input, for Standard Schemas: it may transform. */
  readonly vendor: VendorValidate | undefined
  readonly normalizeMode: NormalizeMode
  /** Results come from elsewhere, where they may be something else than the schema describes. */
  readonly isImported: boolean
  readonly outputMode: OutputMode
  /** Milliseconds that a call may take whose caller does not say. */
  readonly timeout: number
  readonly inputIsOpen: boolean
  /** Nothing is done to results: the schema is open, or both steps are off. */
  readonly outputIsFree: boolean
  /** When the log last had a warning about results, and how many it was spared since. */
  warnedAt: number = Number.NEGATIVE_INFINITY
  warningsHeld = 0
  readonly #checked: CheckedSpec
  readonly #fills: boolean
  #normalizer: Normalizer | null | undefined
  #public: (OperationSpec & { readonly handler?: AnyHandler }) | undefined

  /**
   * Whether an input goes to the handler as it is. Compiled when first asked; may throw, and then,
   * as when it says no, the slow half decides.
   */
  inputPasses: Passes
  /** Copies what the checks of access and input look at, if they do. Compiled when first asked; may throw. */
  readInput: ReadOnce | undefined
  /** Whether a result goes to the caller as it is; the same way. */
  outputPasses: Passes

  constructor(checked: CheckedSpec, handler: AnyHandler | undefined, defaults: RecordDefaults) {
    const { spec } = checked
    this.id = `${spec.namespace}.${spec.name}`
    this.spec = spec
    this.handler = handler
    this.isStream = spec.type === "subscription"
    this.isIdempotent = spec.annotations?.idempotent ?? spec.type === "query"
    this.requirement = requirementOf(spec.accessControl)
    this.#checked = checked
    this.composes = compileComposes(checked.policy.composes)
    this.vendor = checked.vendor
    this.isImported = checked.policy.imported === true
    this.normalizeMode =
      checked.policy.normalize ?? defaults.normalize ?? (this.isImported ? "keep" : "strip")
    this.outputMode = checked.policy.output ?? defaults.output
    const endless = this.isStream ? Number.POSITIVE_INFINITY : defaults.timeout
    this.timeout = checked.policy.timeout ?? endless
    const { lazy, schemas } = checked
    this.#fills = checked.policy.defaults !== "leave"
    this.inputIsOpen = lazy === undefined && schemas.input.isOpen && checked.vendor === undefined
    this.outputIsFree =
      (this.normalizeMode === "off" && this.outputMode === "off") ||
      (lazy === undefined && schemas.output.isOpen)
    this.inputPasses = (value) => {
      // What a vendor checks it may also change: such an input never goes on as it is.
      this.inputPasses =
        this.vendor === undefined
          ? this.input.passes(this.#fills ? "defaults" : "off")
          : () => false
      return this.inputPasses(value)
    }
    const path = this.requirement?.resourceId ?? undefined
    // What a vendor gives is another value than it was given: then only access looks at this one.
    const isOpen = this.inputIsOpen || this.vendor !== undefined
    this.readInput =
      isOpen && path === undefined
        ? undefined
        : (value) => {
            const others = path === undefined ? [] : [schemaOfPath(path)]
            const read = isOpen
              ? compileReadOnce(others, new References({}))
              : this.input.readOnce(others)
            this.readInput = read
            return read(value)
          }
    this.outputPasses = (value) => {
      this.outputPasses = this.output.passes(this.normalizeMode)
      return this.outputPasses(value)
    }
  }

  get input(): Compiled {
    return this.#checked.schemas.input
  }

  get output(): Compiled {
    return this.#checked.schemas.output
  }

  /** An input as JSON data, where the handler takes other values for it, too. */
  get asData(): OperationPolicy["asData"] {
    return this.#checked.policy.asData
  }

  /** Imported operations take inputs by name, so none at all is the empty object. */
  get mayOmitInput(): boolean {
    return this.#checked.lazy !== undefined
  }

  /** Names of the inputs, for finding the operation. */
  get inputNames(): readonly string[] {
    const { lazy } = this.#checked
    if (lazy !== undefined) return lazy.inputNames
    const { properties } = this.input.schema
    return typeof properties === "object" && properties !== null ? Object.keys(properties) : []
  }

  /** Fills the defaults that the input schema declares; `null` where they are left to the handler. */
  get inputDefaults(): Normalizer | null {
    return this.#fills ? this.input.normalizer("defaults") : null
  }

  /** Brings results to the output schema; `null` when there is nothing to bring. */
  get normalizer(): Normalizer | null {
    if (this.#normalizer !== undefined) return this.#normalizer
    const { normalizeMode } = this
    return (this.#normalizer =
      normalizeMode === "off" ? null : this.output.normalizer(normalizeMode))
  }

  /** What the registry hands out: the spec, and the handler when there is one. */
  get view(): OperationSpec & { readonly handler?: AnyHandler } {
    return (this.#public ??= this.#view())
  }

  #view(): OperationSpec & { readonly handler?: AnyHandler } {
    const { handler, spec } = this
    const { lazy } = this.#checked
    if (lazy === undefined) {
      return Object.freeze(handler === undefined ? { ...spec } : { ...spec, handler })
    }
    // Made anew from its parts: copying the values would make every schema.
    return handler === undefined ? spec : lazyView(lazy, handler)
  }

  /** The same operation with another handler, and what is said of that handler. */
  withHandler(
    handler: AnyHandler,
    policy: OperationPolicy,
    defaults: RecordDefaults,
  ): OperationRecord {
    const checked = { ...this.#checked, policy: { ...this.#checked.policy, ...policy } }
    return new OperationRecord(checked, handler, defaults)
  }
}
