// Declarations of one operation in at most a few kilobytes.

import { isRecord } from "../internal/guards.ts"
import { abridged, mentioned } from "./abridge.ts"
import type { Extent } from "./abridge.ts"
import { printComment } from "./comments.ts"
import type { CommentParts } from "./comments.ts"
import { Definitions } from "./definitions.ts"
import { UNKNOWN } from "./model.ts"
import type { NamedType, TypeNode, View } from "./model.ts"
import { nameTypes } from "./name-types.ts"
import { annotation, printType } from "./print.ts"
import { normalizeTypes } from "./normalize-types.ts"
import { SchemaTexts } from "./schema-texts.ts"

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

/** Maximum characters of each part, with the types that it mentions. */
const MAX_INPUT = 6000
const MAX_OUTPUT = 3000
const MAX_ERRORS = 1000

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

/** Writes the types of an operation: all of its input where that fits, and the outer parts of its output. */
export function operationTypes(schemas: OperationSchemas): OperationTypes {
  const definitions = new Definitions(new SchemaTexts())
  const convert = (schema: unknown, name: string, view: View): TypeNode =>
    isRecord(schema) ? definitions.convert(schema, name, view) : UNKNOWN
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
  const normalize = normalizeTypes(definitions.types)
  const { nameOf } = nameTypes(definitions.types, ["Input", "Output", "Errors"])
  const page = new Page(nameOf)
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
    const waiting = [root]
    // The list grows during the loop: types closer to the root come first.
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
        if (this.#names.has(name)) continue
        this.#names.add(name)
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
    maxLength: number,
    hasComments: boolean,
  ): { readonly text: string; readonly body: TypeNode } | undefined {
    const forms = hasComments ? FORMS : FORMS.slice(1)
    for (const form of forms) {
      const shown = abridged(body, form)
      const options = { nameOf: this.#nameOf, comments: form.hasComments, isBrief: true }
      const words = form.hasComments ? printComment(comment, "") : ""
      const text = `${words}type ${name} =${annotation(printType(shown, "", options))}\n`
      if (text.length > maxLength) continue
      if (form !== forms[0]) this.#isAbridged = true
      return { text, body: shown }
    }
    return undefined
  }
}
