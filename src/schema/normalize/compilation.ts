import type { Compilation } from "./model.ts"
import type { JsonSchema } from "../json.ts"
import { flattenOne } from "./flatten.ts"
import type { Entry } from "./flatten.ts"
import type { NormalizerOptions } from "./model.ts"
import { ANY, typeOf, typesOf } from "./json-type.ts"
import type { TypeMask } from "./json-type.ts"
import { ANNOTATIONS } from "../keywords.ts"
import type { Subschema } from "./keywords.ts"
import { ValuePlan } from "./plan.ts"
import type { Plan } from "./model.ts"
import { References } from "./references.ts"
import { Work } from "./work.ts"

type Check = (value: unknown) => boolean

/** The shared state of one normaliser's parts. Everything in it is computed once, on demand. */
export class SchemaCompilation implements Compilation {
  readonly root: JsonSchema
  readonly options: NormalizerOptions
  readonly refs: References
  readonly work: Work
  readonly #checks = new Map<JsonSchema, Check>()
  readonly #types = new Map<JsonSchema, TypeMask>()
  readonly #plans = new Map<string, Plan>()
  readonly #ids = new Map<Subschema, number>()

  constructor(root: JsonSchema, options: NormalizerOptions) {
    this.root = root
    this.options = options
    this.refs = new References(root)
    this.work = new Work(this.refs, options)
  }

  /** The plan for a value to which all of `entries` apply. The same entries give the same plan. */
  plan(entries: readonly Entry[], strip: boolean): Plan {
    const ids = entries.map(({ schema, fill }) => this.#idOf(schema) * 2 + (fill ? 1 : 0))
    const key = `${strip ? "s" : "k"}${[...new Set(ids)].toSorted((a, b) => a - b).join()}`
    let plan = this.#plans.get(key)
    if (plan === undefined) this.#plans.set(key, (plan = new ValuePlan(this, entries, strip)))
    return plan
  }

  /** Every type that a valid value may have. */
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
        : this.options.check(schema, this.root)
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
