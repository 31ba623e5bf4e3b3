import type { Node } from "./model.ts"
import { isPlainRecord } from "../json.ts"
import type { JsonSchema } from "../json.ts"
import type { Compilation } from "./model.ts"
import { conditionsOf } from "./conditional.ts"
import type { Choice, Conditional } from "./model.ts"
import { flatten } from "./flatten.ts"
import type { Entry, Member } from "./flatten.ts"
import { shapeOf } from "./object-shape.ts"
import type { Shape } from "./model.ts"

/** Keywords that apply to an object or array as a whole: any change may affect their result. */
const DELICATE = [
  "not",
  "if",
  "minProperties",
  "maxProperties",
  "propertyNames",
  "dependentRequired",
  "dependentSchemas",
  "dependencies",
  "unevaluatedProperties",
  "unevaluatedItems",
  "uniqueItems",
  "contains",
  "~refine",
]

/** Keywords under which it is unknown which keys matter. */
const OBSCURE = ["not", "dependencies"]

/**
 * The schemas known to apply to a value, and the next condition that decides on more.
 *
 * Choices lead from node to node; the last node, without a condition, has the shape.
 */
export class SchemaNode implements Node {
  readonly members: readonly Member[]
  readonly mentioned: readonly string[]
  readonly isDelicate: boolean
  /** All possible keys are known, so that others can be stripped. */
  readonly isClosed: boolean
  /** Nothing is known about the value: it stays unchanged. */
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

  /** The node after a choice. */
  after(choice: Choice): SchemaNode {
    let next = this.#next.get(choice)
    if (next === undefined) {
      next = new SchemaNode(this.#compilation, choice.entries, this.#strip, this, choice)
      this.#next.set(choice, next)
    }
    return next
  }

  /** The last node for a value. */
  for(value: object): SchemaNode {
    let node: SchemaNode = this
    while (node.conditional !== undefined) node = node.after(node.conditional.choose(value))
    return node
  }

  /** The shape of an object or array for which this is the last node. */
  get shape(): Shape {
    return (this.#shape ??= shapeOf(this.members, this.mentioned, this.#compilation, {
      here: this.#strip && this.isClosed && !this.members.some(({ schema }) => isObscure(schema)),
      below: this.#strip && this.isClosed,
    }))
  }
}

function isObscure(schema: JsonSchema): boolean {
  return OBSCURE.some((keyword) => Object.hasOwn(schema, keyword))
}

function isDelicate(schema: JsonSchema): boolean {
  if (DELICATE.some((keyword) => Object.hasOwn(schema, keyword))) return true
  const values = Array.isArray(schema["enum"]) ? schema["enum"] : []
  return [schema["const"], ...values].some((value) => Array.isArray(value) || isPlainRecord(value))
}
