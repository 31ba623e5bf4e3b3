import type { Plan } from "./model.ts"
import type { Compilation } from "./model.ts"
import { upcasts } from "./convert.ts"
import { isDataObject } from "./data.ts"
import { PropertyDefault } from "./default-slot.ts"
import type { DefaultSlot } from "./model.ts"
import type { Entry } from "./flatten.ts"
import { ANY, typeOf } from "./json-type.ts"
import type { TypeMask } from "./json-type.ts"
import { SchemaNode } from "./node.ts"
import type { Node } from "./model.ts"
import type { Report } from "./report.ts"
import { applyToArray, applyToObject } from "./apply.ts"

/** Maximum number of passes over a value that keeps changing. */
const MAX_ROUNDS = 8

/** Changes one value to match the schemas that apply to it. Its parts are built on first use. */
export class ValuePlan implements Plan {
  readonly entries: readonly Entry[]
  readonly #compilation: Compilation
  readonly #strip: boolean
  #types: TypeMask | undefined
  #node: Node | undefined
  #hasWork: boolean | undefined
  #slots: Map<unknown, DefaultSlot> | undefined

  constructor(compilation: Compilation, entries: readonly Entry[], strip: boolean) {
    this.#compilation = compilation
    this.entries = entries
    this.#strip = strip
  }

  /** Every type that a valid value may have. */
  get types(): TypeMask {
    return (this.#types ??= this.entries.reduce(
      (mask, { schema }) => mask & this.#compilation.types(schema),
      ANY,
    ))
  }

  get node(): Node {
    return (this.#node ??= new SchemaNode(this.#compilation, this.entries, this.#strip))
  }

  /** Whether a valid value may have something to strip or fill in. */
  get hasWork(): boolean {
    return (this.#hasWork ??= this.entries.some(({ schema }) =>
      this.#compilation.work.reaches(schema),
    ))
  }

  accepts(value: unknown): boolean {
    return this.entries.every(({ schema }) => this.#compilation.accepts(schema, value))
  }

  /** The slot of a default for values of this plan; shared by all places, so that one inside itself is detected. */
  slot(value: unknown): DefaultSlot {
    this.#slots ??= new Map()
    let slot = this.#slots.get(value)
    if (slot === undefined) this.#slots.set(value, (slot = new PropertyDefault(this, value)))
    return slot
  }

  /** The changed value; the same object if nothing changes. */
  run(value: unknown, report: Report): unknown {
    const converts = this.#compilation.options.convert
    if (typeof value === "object" && value !== null) {
      const isContainer = Array.isArray(value) || isDataObject(value)
      if (isContainer)
        return converts || this.hasWork ? this.#applyUntilStable(value, report) : value
    }
    return converts ? this.#convert(value, report) : value
  }

  #convert(value: unknown, report: Report): unknown {
    const { types } = this
    // A schema that accepts any type also accepts values that JSON does not have, such as bigint.
    if (types === ANY || (typeOf(value) & types) !== 0) return value
    const results = upcasts(value, types).filter((result) => this.accepts(result))
    if (results.length !== 1) return value
    report.note("convert")
    return results[0]
  }

  /**
   * Applies the schemas of an object or array until nothing changes any more.
   *
   * If a change may affect a condition, the schemas are chosen again for the changed value. A valid value stays
   * unchanged rather than becoming invalid.
   */
  #applyUntilStable(value: object, report: Report): object {
    const start = report.position
    let node = this.node.for(value)
    let result = apply(node, value, report)
    if (result === value || !node.isDelicate) return result
    const { strips } = report
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const next = this.node.for(result)
      const again = next === node ? result : report.nested(() => apply(next, result, report))
      // Keys that the first choice kept must not be lost to a second choice that our own changes caused.
      if (report.strips !== strips) break
      if (again === result) {
        if (this.accepts(result) || !this.accepts(value)) return result
        break
      }
      node = next
      result = again
    }
    report.revertTo(start)
    return value
  }
}

function apply(node: Node, value: object, report: Report): object {
  if (node.isBlind) return value
  return Array.isArray(value)
    ? applyToArray(node.shape, value, report)
    : applyToObject(node.shape, value as Record<string, unknown>, report)
}
