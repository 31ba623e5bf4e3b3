import { requirementOf, type AccessRequirement } from "../core/access.ts"
import { lazyView } from "../core/lazy-operation.ts"
import type { Compiled } from "../schema/compiled.ts"
import type { Normalizer } from "../schema/normalize/index.ts"
import type { NormalizeMode, OperationSpec, OutputMode } from "../core/types.ts"
import type { OperationPolicy } from "../core/operation-settings.ts"
import { compileComposes, type ComposesMatcher } from "./composes.ts"
import type { CheckedSpec, VendorValidate } from "./spec.ts"

/** Any handler: takes input and context, returns a value, a promise or an async iterable. */
export type AnyHandler = (input: unknown, context: unknown) => unknown

type Passes = (value: unknown) => boolean

/** The registry's defaults for operations without settings. */
export interface RecordDefaults {
  /** If absent: `"keep"` for imported operations, `"strip"` for others. */
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
  /** Repeating a call has no further effect. */
  readonly isIdempotent: boolean
  readonly requirement: AccessRequirement | undefined
  readonly composes: ComposesMatcher | undefined
  /** The vendor's own check of the input, for Standard Schemas: it may transform. */
  readonly vendor: VendorValidate | undefined
  readonly normalizeMode: NormalizeMode
  /** Results come from another system, and may differ from the schema. */
  readonly isImported: boolean
  readonly outputMode: OutputMode
  /** Default timeout of a call in milliseconds. */
  readonly timeout: number
  readonly inputIsOpen: boolean
  /** Results are not processed: the schema is open, or both steps are off. */
  readonly outputIsFree: boolean
  /** The time of the last log line about results, and the number of warnings that were not logged since. */
  warnedAt: number = Number.NEGATIVE_INFINITY
  warningsHeld = 0
  /** Its `Chain` of middleware; `undefined` if it has none, `null` if it has not been determined. */
  chain: object | null | undefined = null
  readonly #checked: CheckedSpec
  readonly #fills: boolean
  #normalizer: Normalizer | null | undefined
  #public: (OperationSpec & { readonly handler?: AnyHandler }) | undefined

  /**
   * Whether an input goes to the handler unchanged. Compiled at the first call. May throw; then, as when it
   * returns false, the slow path decides.
   */
  inputPasses: Passes
  /** The same for a result that goes to the caller. */
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
      // A vendor's check may also change the input, so it never passes unchanged.
      this.inputPasses =
        this.vendor === undefined
          ? this.input.passes(this.#fills ? "defaults" : "off")
          : () => false
      return this.inputPasses(value)
    }
    this.outputPasses = (value) => {
      this.outputPasses = this.output.passes(this.normalizeMode)
      return this.outputPasses(value)
    }
  }

  /** Middleware and policies of the definition. */
  get policy(): Pick<OperationPolicy, "use" | "resilience" | "sendsKey"> {
    return this.#checked.policy
  }

  /** Its annotations are only claims: of a server that is not trusted, or of another registry. */
  get hasClaims(): boolean {
    return this.#checked.policy.claims === true
  }

  /** @internal The registries that an imported operation came through. */
  get via(): OperationPolicy["via"] {
    return this.#checked.policy.via
  }

  get input(): Compiled {
    return this.#checked.schemas.input
  }

  get output(): Compiled {
    return this.#checked.schemas.output
  }

  /** Converts an input to JSON data, if the handler also takes other values. */
  get asData(): OperationPolicy["asData"] {
    return this.#checked.policy.asData
  }

  /** An input that does not match its schema is logged, and passed on. */
  get warnsOfInput(): boolean {
    return this.#checked.policy.input === "warn"
  }

  /** Imported operations take named inputs, so that an omitted input means the empty object. */
  get mayOmitInput(): boolean {
    return this.#checked.lazy !== undefined
  }

  /** Names of the inputs, for search. */
  get inputNames(): readonly string[] {
    const { lazy } = this.#checked
    if (lazy !== undefined) return lazy.inputNames
    const { properties } = this.input.schema
    return typeof properties === "object" && properties !== null ? Object.keys(properties) : []
  }

  /** A description of what it takes or returns, for search. */
  get subject(): string | undefined {
    return this.#checked.lazy?.subject
  }

  /** Fills in the defaults of the input schema; `null` if they are left to the handler. */
  get inputDefaults(): Normalizer | null {
    return this.#fills ? this.input.normalizer("defaults") : null
  }

  /** Normalizes results to the output schema; `null` if nothing is ever changed. */
  get normalizer(): Normalizer | null {
    if (this.#normalizer !== undefined) return this.#normalizer
    const { normalizeMode } = this
    return (this.#normalizer =
      normalizeMode === "off" ? null : this.output.normalizer(normalizeMode))
  }

  /** The public form: the spec, and the handler if there is one. */
  get view(): OperationSpec & { readonly handler?: AnyHandler } {
    return (this.#public ??= this.#view())
  }

  #view(): OperationSpec & { readonly handler?: AnyHandler } {
    const { handler, spec } = this
    const { lazy } = this.#checked
    if (lazy === undefined) {
      return Object.freeze(handler === undefined ? { ...spec } : { ...spec, handler })
    }
    // Created from its parts: copying the values would create every schema.
    return handler === undefined ? spec : lazyView(lazy, handler)
  }

  /** The same operation with another handler and its policy. */
  withHandler(
    handler: AnyHandler,
    policy: OperationPolicy,
    defaults: RecordDefaults,
  ): OperationRecord {
    const checked = { ...this.#checked, policy: { ...this.#checked.policy, ...policy } }
    return new OperationRecord(checked, handler, defaults)
  }
}
