import { isRecord } from "../../internal/guards.ts"
import type { JsonSchema } from "../json.ts"
import { keywordsWhere } from "../keywords.ts"
import { applyToArray, applyToObject, upcasts } from "./apply.ts"
import { conditionsOf } from "./conditional.ts"
import { isDataObject } from "./data.ts"
import { ANY, type Entry, flatten, type Member, type TypeMask, typeOf } from "./flatten.ts"
import type { Choice, Compilation, Conditional, DefaultSlot, Node, Plan, Shape } from "./model.ts"
import { PropertyDefault, shapeOf } from "./object-shape.ts"
import type { Report } from "./report.ts"

/** Maximum number of passes over a value that keeps changing. */
const MAX_ROUNDS = 8

/** Its parts are built on first use. */
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

  get types(): TypeMask {
    return (this.#types ??= this.entries.reduce(
      (mask, { schema }) => mask & this.#compilation.types(schema),
      ANY,
    ))
  }

  get node(): Node {
    return (this.#node ??= new SchemaNode(this.#compilation, this.entries, this.#strip))
  }

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

const DELICATE = [...keywordsWhere((row) => row.isDelicate), "~refine"]

/**
 * The schemas known to apply to a value, and the next condition that decides on more.
 *
 * Choices lead from node to node; the last node, without a condition, has the shape.
 */
class SchemaNode implements Node {
  readonly members: readonly Member[]
  readonly mentioned: readonly string[]
  readonly isDelicate: boolean
  readonly isClosed: boolean
  readonly isBlind: boolean
  readonly conditional: Conditional | undefined
  readonly #compilation: Compilation
  readonly #strip: boolean
  readonly #waiting: readonly Conditional[]
  readonly #next = new Map<Choice, SchemaNode>()
  #shape: Shape | undefined

  /** `strip` is false if a parent knows too little to strip anything below it. */
  constructor(
    compilation: Compilation,
    entries: readonly Entry[],
    strip: boolean,
    from?: SchemaNode,
    choice?: Choice,
  ) {
    const { members, isPartial } = flatten([...(from?.members ?? []), ...entries], compilation.refs)
    const before = new Set(from?.members.map((member) => member.schema))
    const added = members.filter((member) => !before.has(member.schema))
    const conditions = added.map((member) => conditionsOf(member, compilation))
    this.#compilation = compilation
    this.#strip = strip
    this.members = members
    this.mentioned = [...(from?.mentioned ?? []), ...conditions.flatMap((one) => one.mentioned)]
    this.isBlind = isPartial || from?.isBlind === true
    this.isClosed = from?.isClosed !== false && choice?.isOpen !== true
    this.isDelicate =
      from?.isDelicate === true ||
      choice?.isDelicate === true ||
      conditions.some((one) => one.isDelicate) ||
      added.some((member) => isDelicate(member.schema))
    const waiting = [
      ...(from === undefined ? [] : from.#waiting),
      ...conditions.flatMap((one) => one.conditionals),
    ]
    this.conditional = this.isBlind ? undefined : waiting[0]
    this.#waiting = waiting.slice(1)
  }

  after(choice: Choice): SchemaNode {
    let next = this.#next.get(choice)
    if (next === undefined) {
      next = new SchemaNode(this.#compilation, choice.entries, this.#strip, this, choice)
      this.#next.set(choice, next)
    }
    return next
  }

  for(value: object): SchemaNode {
    let node: SchemaNode = this
    while (node.conditional !== undefined) node = node.after(node.conditional.choose(value))
    return node
  }

  get shape(): Shape {
    return (this.#shape ??= shapeOf(this.members, this.mentioned, this.#compilation, {
      // Under `not` it is unknown which keys matter.
      here: this.#strip && this.isClosed && !this.members.some(({ schema }) => "not" in schema),
      below: this.#strip && this.isClosed,
    }))
  }
}

function isDelicate(schema: JsonSchema): boolean {
  if (DELICATE.some((keyword) => Object.hasOwn(schema, keyword))) return true
  const values = Array.isArray(schema["enum"]) ? schema["enum"] : []
  return [schema["const"], ...values].some((value) => Array.isArray(value) || isRecord(value))
}
