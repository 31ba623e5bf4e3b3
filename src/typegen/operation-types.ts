// One operation as declarations that fit into a few kilobytes, whatever its schemas are.

import { isPlainRecord } from "../schema/json.ts"
import { abridged, mentioned } from "./abridge.ts"
import type { Extent } from "./abridge.ts"
import { printComment } from "./comments.ts"
import type { CommentParts } from "./comments.ts"
import { Definitions } from "./definitions.ts"
import { UNKNOWN } from "./model.ts"
import type { NamedType, TypeNode, View } from "./model.ts"
import { nameTypes } from "./name-types.ts"
import { annotation, printType } from "./print.ts"
import { settleTypes } from "./settle.ts"
import { SchemaTexts } from "./texts.ts"

/** The schemas of one operation. */
export interface OperationSchemas {
  readonly input: unknown
  /** `undefined` where the operation does not say what it gives. */
  readonly output: unknown
  readonly errors: readonly ErrorParts[]
  /** Whether defaults are filled in, so that a required property with one can be left out. */
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
  /** Something was left out for want of room. */
  readonly isAbridged: boolean
}

/** Characters for each part, with the types that it mentions. */
const MAX_INPUT = 6000
const MAX_OUTPUT = 3000
const MAX_ERRORS = 1000

/** Types that are mentioned and not shown are declared as `unknown`, up to this many. */
const MAX_OMITTED = 25

interface Form extends Extent {
  readonly hasComments: boolean
}

const ALL = Number.POSITIVE_INFINITY

/** Ways to write a declaration, the longest first. */
const FORMS: readonly Form[] = [
  { hasComments: true, depth: ALL, members: ALL },
  { hasComments: false, depth: ALL, members: ALL },
  { hasComments: false, depth: 3, members: ALL },
  { hasComments: false, depth: 2, members: ALL },
  { hasComments: false, depth: 1, members: ALL },
  { hasComments: false, depth: 1, members: 60 },
  { hasComments: false, depth: 1, members: 20 },
]

/** A type to be declared. */
interface Declaration {
  readonly name: string
  readonly body: TypeNode
  readonly comment?: CommentParts | undefined
}

/** Writes the types of an operation: all of its input where that fits, and the outer parts of its output. */
export function operationTypes(schemas: OperationSchemas): OperationTypes {
  const definitions = new Definitions(new SchemaTexts())
  const convert = (schema: unknown, name: string, view: View): TypeNode =>
    isPlainRecord(schema) ? definitions.convert(schema, name, view) : UNKNOWN
  const output = convert(schemas.output, "Output", "output")
  const input = convert(schemas.input, "Input", schemas.fillsDefaults ? "filled" : "given")
  const errors: TypeNode = {
    kind: "object",
    properties: schemas.errors.map(({ code, description, schema }) => ({
      key: code,
      type: convert(schema, code, "output"),
      isOptional: false,
      comment: { text: description },
    })),
    index: [],
  }
  const settle = settleTypes(definitions.types)
  const { nameOf } = nameTypes(definitions.types, ["Input", "Output", "Errors"])
  const page = new Page(nameOf)
  page.add({ name: "Input", body: settle(input) }, MAX_INPUT, true)
  if (schemas.output !== undefined) {
    page.add({ name: "Output", body: settle(output) }, MAX_OUTPUT, false)
  }
  if (schemas.errors.length > 0) {
    page.add({ name: "Errors", body: settle(errors) }, MAX_ERRORS, true)
  }
  return page.finish()
}

/** Declarations, each with those that it mentions after it, as far as there is room. */
class Page {
  readonly #nameOf: (type: NamedType) => string
  readonly #known = new Set<string>()
  readonly #blocks: string[] = []
  readonly #omitted: string[] = []
  #isAbridged = false

  constructor(nameOf: (type: NamedType) => string) {
    this.#nameOf = nameOf
  }

  add(root: Declaration, most: number, hasComments: boolean): void {
    let left = most
    const waiting = [root]
    // The list grows while it is walked: what is nearer to the root comes first.
    for (const next of waiting) {
      const fitting = this.#fit(next, left, hasComments)
      if (fitting === undefined) {
        this.#omitted.push(next.name)
        continue
      }
      left -= fitting.text.length
      this.#blocks.push(fitting.text)
      for (const type of mentioned(fitting.body)) {
        const name = this.#nameOf(type)
        if (this.#known.has(name)) continue
        this.#known.add(name)
        waiting.push({ name, body: type.body, comment: type.comment })
      }
    }
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
    most: number,
    hasComments: boolean,
  ): { readonly text: string; readonly body: TypeNode } | undefined {
    const forms = hasComments ? FORMS : FORMS.slice(1)
    for (const form of forms) {
      const shown = abridged(body, form)
      const options = { nameOf: this.#nameOf, comments: form.hasComments, isBrief: true }
      const words = form.hasComments ? printComment(comment, "") : ""
      const text = `${words}type ${name} =${annotation(printType(shown, "", options))}\n`
      if (text.length > most) continue
      if (form !== forms[0]) this.#isAbridged = true
      return { text, body: shown }
    }
    return undefined
  }
}
