import { schemasAt } from "../schema/at-path.ts"
import { listOf, textOf } from "../../../../src/schema/json.ts"
import { scopeOf } from "../../../../src/schema/read/resolve-ref.ts"
import { ownValues } from "../../../../src/schema/read/values.ts"
import { fullSampleOf } from "../../../../src/schema/read/sample/sample.ts"
import { namedSchemas, own } from "../schema/json.ts"
import { sameData } from "../../../../src/internal/same-data.ts"
import type { JsonRecord, JsonSchema, Path } from "../schema/json.ts"

/** A suggestion for a place in the text. */
export interface Suggestion {
  /** The text in the list. */
  readonly label: string
  /** The inserted text. */
  readonly text: string
  readonly detail?: string | undefined
  readonly info?: string | undefined
  readonly isRequired?: boolean | undefined
}

/** Maximum number of suggestions. */
const MAX_SUGGESTIONS = 200

/** Names of properties that can be added to the object at a path. */
export function suggestNames(
  root: JsonSchema,
  path: Path,
  present: ReadonlySet<string>,
): readonly Suggestion[] {
  const suggestions = new Map<string, Suggestion>()
  const here = schemasAt(root, path)
  const required = new Set(here.flatMap(({ required: names }) => listOf(names)))
  for (const schema of here) {
    for (const [name, child] of namedSchemas(schema, "properties")) {
      if (suggestions.size >= MAX_SUGGESTIONS) return [...suggestions.values()]
      if (present.has(name) || suggestions.has(name)) continue
      if (own(child, "readOnly") === true && !required.has(name)) continue
      suggestions.set(name, {
        label: name,
        text: name,
        detail: typeName(root, [...path, name]),
        info: textOf(own(child, "description")),
        isRequired: required.has(name),
      })
    }
  }
  return [...suggestions.values()]
}

/** Values that fit at a path: fixed ones, defaults, examples, and the start of an object or list. */
export function suggestValues(root: JsonSchema, path: Path): readonly Suggestion[] {
  const values: { readonly value: unknown; readonly detail: string }[] = []
  const add = (value: unknown, detail: string): void => {
    if (value === undefined || values.length >= MAX_SUGGESTIONS) return
    if (!values.some((one) => sameData(one.value, value))) values.push({ value, detail })
  }
  for (const schema of schemasAt(root, path)) {
    for (const value of ownValues(schema) ?? []) add(value, "")
    add(own(schema, "default"), "default")
    for (const value of examplesOf(schema)) add(value, "example")
    for (const type of typesOf(schema)) {
      if (type === "boolean") for (const value of [true, false]) add(value, "")
      else if (type === "null") add(null, "")
      else if (type === "object") add(fullSampleOf({ schema, scope: scopeOf(root) }), "object")
      else if (type === "array") add([], "list")
    }
  }
  return values.map(({ value, detail }) => {
    const text = JSON.stringify(value, null, 2) ?? "null"
    return { label: text.length > 60 ? `${text.slice(0, 60)}…` : text, text, detail }
  })
}

/** The beginning of a value for a new property. */
export function valueStart(root: JsonSchema, path: Path): string {
  const [first, ...more] = suggestValues(root, path)
  if (first !== undefined && more.length === 0 && first.text.length < 40) return first.text
  const type = typeName(root, path)
  return type === "string" ? '""' : type === "object" ? "{}" : type === "array" ? "[]" : ""
}

function typeName(root: JsonSchema, path: Path): string {
  return [...new Set(schemasAt(root, path).flatMap(typesOf))].join(" | ")
}

/** The types that a schema names. */
function typesOf({ type }: JsonRecord): readonly unknown[] {
  return [type].flat().filter((one) => typeof one === "string")
}

/** The examples of a schema. */
function examplesOf(schema: JsonRecord): readonly unknown[] {
  const { examples, example } = schema
  return [...listOf(examples), ...(example === undefined ? [] : [example])]
}
