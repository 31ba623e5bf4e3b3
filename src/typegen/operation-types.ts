// Declarations of one operation in at most a few kilobytes.

import { type CommentParts, printComment } from "./comments.ts"
import { Definitions } from "./definitions.ts"
import { mapParts, OPEN_INDEX, STRING, UNKNOWN } from "./model.ts"
import type { NamedType, ObjectNode, TypeNode, UnionNode } from "./model.ts"
import { nameTypes } from "./name-types.ts"
import { annotation, printType } from "./print.ts"
import { normalizeTypes } from "./normalize-types.ts"
import { SchemaTexts } from "./root.ts"
import { partAt } from "./type-part.ts"

/** The schemas of one operation. */
export interface OperationSchemas {
  readonly input: unknown
  /** `undefined` when the operation does not declare its output. */
  readonly output: unknown
  readonly errors: readonly ErrorParts[]
  /** Defaults are filled in, so a required property with a default can be left out. */
  readonly fillsDefaults: boolean
}

interface ErrorParts {
  readonly code: string
  readonly description: string
  readonly schema: unknown
}

/** Declarations of `Input`, `Output`, `Errors` and the types that they mention. */
export interface OperationTypes {
  readonly text: string
  /** Something was left out to save space. */
  readonly isAbridged: boolean
}

/** Maximum characters of each part, with the types that it mentions; see `costOf`. */
const MAX_INPUT = 4400
const MAX_OUTPUT = 1600
const MAX_ERRORS = 600

/** Maximum number of omitted types that are declared as `unknown`. */
const MAX_OMITTED = 25

interface Form extends Extent {
  readonly hasComments: boolean
}

const ALL = Number.POSITIVE_INFINITY

/** Forms of a declaration, longest first. */
const FORMS: readonly Form[] = [
  { hasComments: true, depth: ALL, members: ALL },
  { hasComments: false, depth: ALL, members: ALL },
  { hasComments: false, depth: 3, members: ALL },
  { hasComments: false, depth: 2, members: ALL },
  { hasComments: false, depth: 1, members: ALL },
  { hasComments: false, depth: 1, members: 60 },
  { hasComments: false, depth: 1, members: 20 },
]

/** A declaration. */
interface Declaration {
  readonly name: string
  readonly body: TypeNode
  readonly comment?: CommentParts | undefined
}

/**
 * Writes the types of an operation: all of its input where that fits, and the outer parts of its output. With a path,
 * only the part of the input there. Throws a `PartError` if there is none.
 */
export function operationTypes(
  schemas: OperationSchemas,
  path: readonly string[] = [],
): OperationTypes {
  const definitions = new Definitions(new SchemaTexts())
  const output = definitions.convert(schemas.output, "Output", "output")
  const view = schemas.fillsDefaults ? "filled" : "given"
  const input = definitions.convert(schemas.input, "Input", view)
  const errors: TypeNode = {
    kind: "object",
    properties: schemas.errors.map(({ code, description, schema }) => ({
      key: code,
      type: definitions.convert(schema, code, "output"),
      isOptional: false,
      comment: { text: description },
    })),
    index: [],
  }
  const normalize = normalizeTypes(definitions.types)
  const { nameOf } = nameTypes(definitions.types, ["Input", "Output", "Errors", "Part"])
  const page = new Page(nameOf)
  if (path.length > 0) {
    page.add({ name: "Part", body: partAt(normalize(input), path) }, MAX_INPUT, true)
    return page.finish()
  }
  page.add({ name: "Input", body: normalize(input) }, MAX_INPUT, true)
  if (schemas.output !== undefined) {
    page.add({ name: "Output", body: normalize(output) }, MAX_OUTPUT, false)
  }
  if (schemas.errors.length > 0) {
    page.add({ name: "Errors", body: normalize(errors) }, MAX_ERRORS, true)
  }
  return page.finish()
}

/** Declarations, each followed by those that it mentions, as far as they fit. */
class Page {
  readonly #nameOf: (type: NamedType) => string
  readonly #names = new Set<string>()
  readonly #blocks: string[] = []
  readonly #omitted: string[] = []
  #isAbridged = false

  constructor(nameOf: (type: NamedType) => string) {
    this.#nameOf = nameOf
  }

  add(root: Declaration, maxLength: number, hasComments: boolean): void {
    let left = maxLength
    // Types are worth more than comments.
    const forms = FORMS.slice(hasComments && this.#isShort(root, maxLength) ? 0 : 1)
    const waiting = [root]
    // The list grows during the loop: required types come first, then those closer to the root.
    for (const next of waiting) {
      const fitting = this.#fit(next, left, forms)
      if (fitting === undefined) {
        this.#omitted.push(next.name)
        continue
      }
      left -= costOf(fitting.text)
      this.#isAbridged ||= hasComments && forms.length < FORMS.length
      this.#blocks.push(fitting.text)
      for (const type of mentioned(fitting.body)) {
        const name = this.#nameOf(type)
        if (this.#names.has(name)) continue
        this.#names.add(name)
        waiting.push({ name, body: type.body, comment: type.comment })
      }
    }
  }

  /** Whether a type and all that it mentions fit with their comments. */
  #isShort(root: Declaration, maxLength: number): boolean {
    let left = maxLength
    const waiting = [root]
    const seen = new Set(this.#names)
    for (const { name, body, comment } of waiting) {
      left -= costOf(this.#print(name, body, comment, true))
      if (left < 0) return false
      for (const type of mentioned(body)) {
        const other = this.#nameOf(type)
        if (!seen.has(other)) waiting.push({ name: other, body: type.body, comment: type.comment })
        seen.add(other)
      }
    }
    return true
  }

  #print(
    name: string,
    body: TypeNode,
    comment: CommentParts | undefined,
    comments: boolean,
  ): string {
    const options = { nameOf: this.#nameOf, comments, isBrief: true }
    const words = comments ? printComment(comment, "") : ""
    return `${words}type ${name} =${annotation(printType(body, "", options))}\n`
  }

  finish(): OperationTypes {
    const omitted = this.#omitted.slice(0, MAX_OMITTED).map((name) => `type ${name} = unknown\n`)
    return {
      text: [...this.#blocks, ...omitted].join(""),
      isAbridged: this.#isAbridged || this.#omitted.length > 0,
    }
  }

  #fit(
    { name, body, comment }: Declaration,
    maxLength: number,
    forms: readonly Form[],
  ): { readonly text: string; readonly body: TypeNode } | undefined {
    for (const form of forms) {
      const shown = abridged(body, form)
      const text = this.#print(name, shown, comment, form.hasComments)
      if (costOf(text) > maxLength) continue
      if (form !== forms[0]) this.#isAbridged = true
      return { text, body: shown }
    }
    return undefined
  }
}

/** A code such as "ad_nrt" takes more tokens than its length suggests: this many characters more. */
const CODE_COST = 14

function costOf(text: string): number {
  return text.length + CODE_COST * (text.split('| "').length - 1)
}

/** How much of a type is kept. */
interface Extent {
  /** Objects within objects, down to this level. */
  readonly depth: number
  /** Properties of an object, or members of a union. */
  readonly members: number
}

/** Maximum length of keys and strings; longer ones are generated. */
const MAX_TEXT = 200

/** Cuts a type at a depth: deeper types become `unknown`. Declared types keep their names. */
function abridged(node: TypeNode, extent: Extent): TypeNode {
  switch (node.kind) {
    case "literal":
      return typeof node.value === "string" && node.value.length > MAX_TEXT ? STRING : node
    case "object":
      return extent.depth > 0 ? abridgedObject(node, extent) : UNKNOWN
    case "tuple": {
      const { length } = node.items
      const items = node.items.slice(0, extent.members)
      const minItems = Math.min(node.minItems, items.length)
      const cut = { ...node, items, minItems, rest: items.length < length ? UNKNOWN : node.rest }
      return mapParts(cut, (part) => abridged(part, extent))
    }
    case "union":
      return abridgedUnion(node, extent)
    case "intersection": {
      const members = node.members.slice(0, extent.members)
      return mapParts({ ...node, members }, (part) => abridged(part, extent))
    }
    default:
      return mapParts(node, (part) => abridged(part, extent))
  }
}

/** The declared types that a type mentions, those of required members first. */
function mentioned(node: TypeNode): NamedType[] {
  if (node.kind === "named") return [node.type]
  if (node.kind === "object") {
    const types = requiredFirst(node.properties).flatMap(({ type }) => mentioned(type))
    return [...types, ...node.index.flatMap(({ type }) => mentioned(type))]
  }
  const types: NamedType[] = []
  mapParts(node, (part) => {
    types.push(...mentioned(part))
    return part
  })
  return types
}

function abridgedObject(node: ObjectNode, extent: Extent): TypeNode {
  const deeper = { ...extent, depth: extent.depth - 1 }
  const short = node.properties.filter(({ key }) => key.length <= MAX_TEXT)
  const kept = new Set(requiredFirst(short).slice(0, extent.members))
  const properties = short.filter((one) => kept.has(one))
  const isWhole = properties.length === node.properties.length
  const index = node.index.filter(({ prefix }) => prefix.length <= MAX_TEXT)
  const shown = { ...node, properties, index: isWhole ? index : [OPEN_INDEX] }
  return mapParts(shown, (part) => abridged(part, deeper))
}

function requiredFirst(properties: ObjectNode["properties"]): ObjectNode["properties"] {
  return properties.toSorted((a, b) => Number(a.isOptional) - Number(b.isOptional))
}

function abridgedUnion(node: UnionNode, extent: Extent): TypeNode {
  const members = node.members.slice(0, extent.members).map((one) => abridged(one, extent))
  if (members.includes(UNKNOWN)) return UNKNOWN
  if (members.length === node.members.length) return { kind: "union", members }
  const isText = node.members.every(
    (one) => one.kind === "literal" && typeof one.value === "string",
  )
  return isText ? { kind: "union", members: [...members, STRING] } : UNKNOWN
}
