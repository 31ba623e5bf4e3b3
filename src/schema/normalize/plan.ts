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

/** How often a changed value may be looked at anew before it is given up. */
const ROUNDS = 8

/** Brings one value to the schemas that apply to it. Everything inside is built on first use. */
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

  /** Whether a valid value may have something to strip or fill. */
  get hasWork(): boolean {
    return (this.#hasWork ??= this.entries.some(({ schema }) =>
      this.#compilation.work.reaches(schema),
    ))
  }

  accepts(value: unknown): boolean {
    return this.entries.every(({ schema }) => this.#compilation.accepts(schema, value))
  }

  /** The slot of a default for such values; one for all places, so that one inside itself is found. */
  slot(value: unknown): DefaultSlot {
    this.#slots ??= new Map()
    let slot = this.#slots.get(value)
    if (slot === undefined) this.#slots.set(value, (slot = new PropertyDefault(this, value)))
    return slot
  }

  /** The value, changed where it has to be; the same one when nothing changes. */
  run(value: unknown, report: Report): unknown {
    const converts = this.#compilation.options.convert
    if (typeof value === "object" && value !== null) {
      const isContainer = Array.isArray(value) || isDataObject(value)
      if (isContainer) return converts || this.hasWork ? this.#settle(value, report) : value
    }
    return converts ? this.#convert(value, report) : value
  }

  #convert(value: unknown, report: Report): unknown {
    const { types } = this
    // A schema that takes any type also takes what JSON does not know, such as bigint.
    if (types === ANY || (typeOf(value) & types) !== 0) return value
    const results = upcasts(value, types).filter((result) => this.accepts(result))
    if (results.length !== 1) return value
    report.note("convert")
    return results[0]
  }

  /**
   * Applies the schemas of an object or array until they ask for nothing more.
   *
   * Where a change may turn a condition, the schemas are chosen anew for the changed value, and a value
   * that was valid stays as it was rather than becoming invalid.
   */
  #settle(value: object, report: Report): object {
    const mark = report.mark
    let node = this.node.for(value)
    let result = apply(node, value, report)
    if (result === value || !node.isDelicate) return result
    const { strips } = report
    for (let round = 0; round < ROUNDS; round++) {
      const next = this.node.for(result)
      const again = next === node ? result : report.nested(() => apply(next, result, report))
      // What the first choice kept is not lost to a second one that our own changes brought about.
      if (report.strips !== strips) break
      if (again === result) {
        if (this.accepts(result) || !this.accepts(value)) return result
        break
      }
      node = next
      result = again
    }
    report.back(mark)
    return value
  }
}

function apply(node: Node, value: object, report: Report): object {
  if (node.isBlind) return value
  return Array.isArray(value)
    ? applyToArray(node.shape, value, report)
    : applyToObject(node.shape, value as Record<string, unknown>, report)
}
