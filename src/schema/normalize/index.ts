import type { JsonSchema } from "../json.ts"
import { ANNOTATIONS } from "../keywords.ts"
import { ANY, type Entry, flattenOne, type TypeMask, typeOf, typesOf, Work } from "./flatten.ts"
import type { Compilation, DefaultSlot, NormalizerOptions, Plan } from "./model.ts"
import { defaultFor } from "./object-shape.ts"
import { ValuePlan } from "./plan.ts"
import { compileProbe, type Probe } from "./probe.ts"
import { Links } from "../refs.ts"
import { definitionsOf } from "../trusted-schemas.ts"
import type { Subschema } from "./subschemas.ts"
import { type NormalizeChange, Report } from "./report.ts"

/** A normalised value, and its changes. */
export interface Normalized {
  readonly value: unknown
  readonly changes: readonly NormalizeChange[]
}

const NO_CHANGES: readonly NormalizeChange[] = Object.freeze([])

/** Changes values to match a schema. Creating one is cheap: everything is built when it is first used. */
export class Normalizer {
  readonly #schema: JsonSchema
  readonly #options: NormalizerOptions
  #compilation: Compilation | undefined
  #rootPlan: Plan | undefined
  #default: DefaultSlot | null | undefined
  #isNoop: boolean | undefined
  #probe: Probe | null | undefined

  constructor(schema: JsonSchema, options: NormalizerOptions) {
    this.#schema = schema
    this.#options = options
  }

  /** Whether no valid value can ever need a change. */
  get isNoop(): boolean {
    if (this.#isNoop === undefined) {
      const { work } = this.#context
      this.#isNoop = !work.reaches(this.#schema) && !work.hasDefault(this.#schema)
    }
    return this.#isNoop
  }

  /** Compiles a function that finds whether a valid value needs no change. It may throw; `null` if there is none. */
  probe(): Probe | null {
    if (this.#probe !== undefined) return this.#probe
    if (this.isNoop) this.#probe = () => true
    else {
      const inner = compileProbe(this.#plan) ?? null
      const slot = inner === null ? null : this.#findDefault()
      this.#probe =
        inner === null || slot === null
          ? inner
          : (value) => (value === undefined ? !slot.isUsable : inner(value))
    }
    return this.#probe
  }

  /**
   * The value with defaults filled in and excess properties removed; the same object if nothing changes.
   *
   * Never throws, never changes its argument, never makes a valid value invalid.
   */
  normalize(value: unknown): Normalized {
    try {
      const slot = value === undefined ? this.#findDefault() : null
      if (slot?.isUsable === true) {
        return { value: slot.make(), changes: [{ kind: "default", path: "" }] }
      }
      const report = new Report()
      const result = this.#plan.run(value, report)
      return { value: result, changes: Object.is(result, value) ? NO_CHANGES : report.changes }
    } catch {
      // Data that is cyclic, too deep or unreadable stays unchanged.
      return { value, changes: NO_CHANGES }
    }
  }

  get #context(): Compilation {
    return (this.#compilation ??= new SchemaCompilation(this.#schema, this.#options))
  }

  get #plan(): Plan {
    return (this.#rootPlan ??= this.#context.plan(
      [{ schema: this.#schema, fill: true }],
      this.#options.strip,
    ))
  }

  #findDefault(): DefaultSlot | null {
    if (this.#default === undefined) {
      const entries = [{ schema: this.#schema, fill: true }]
      const slot = this.#options.defaults
        ? defaultFor(entries, this.#plan, this.#context.refs)
        : undefined
      this.#default = slot ?? null
    }
    return this.#default
  }
}

type Check = (value: unknown) => boolean

/** Everything in it is computed once, on demand. */
class SchemaCompilation implements Compilation {
  readonly options: NormalizerOptions
  readonly refs: Links
  readonly work: Work
  readonly #checks = new Map<JsonSchema, Check>()
  readonly #types = new Map<JsonSchema, TypeMask>()
  readonly #plans = new Map<string, Plan>()
  readonly #ids = new Map<Subschema, number>()

  constructor(root: JsonSchema, options: NormalizerOptions) {
    this.options = options
    this.refs = new Links(root, definitionsOf(root))
    this.work = new Work(this.refs, options)
  }

  plan(entries: readonly Entry[], strip: boolean): Plan {
    const ids = entries.map(({ schema, fill }) => this.#idOf(schema) * 2 + (fill ? 1 : 0))
    const key = `${strip ? "s" : "k"}${[...new Set(ids)].toSorted((a, b) => a - b).join()}`
    let plan = this.#plans.get(key)
    if (plan === undefined) this.#plans.set(key, (plan = new ValuePlan(this, entries, strip)))
    return plan
  }

  types(schema: Subschema): TypeMask {
    return typesOf(schema, this.refs, this.#types)
  }

  /** Whether a value satisfies a schema. A schema that only names types needs no compiled check. */
  accepts(schema: Subschema, value: unknown): boolean {
    if (typeof schema === "boolean") return schema
    let check = this.#checks.get(schema)
    if (check === undefined) {
      check = this.#namesTypesOnly(schema)
        ? (candidate) =>
            this.types(schema) === ANY || (typeOf(candidate) & this.types(schema)) !== 0
        : this.options.check(schema)
      this.#checks.set(schema, check)
    }
    return check(value)
  }

  #namesTypesOnly(schema: JsonSchema): boolean {
    const { members, isPartial } = flattenOne(schema, this.refs)
    if (isPartial) return false
    return members.every((member) =>
      Object.keys(member.schema).every(
        (keyword) => keyword === "type" || keyword === "$ref" || ANNOTATIONS.has(keyword),
      ),
    )
  }

  #idOf(schema: Subschema): number {
    let id = this.#ids.get(schema)
    if (id === undefined) this.#ids.set(schema, (id = this.#ids.size))
    return id
  }
}
