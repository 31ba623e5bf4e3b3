// The schemas of a tool as ours: what cannot be checked is left open, and said.

import type { TSchema } from "typebox"
import { FromSchema } from "../../schema/from-schema.ts"
import { reasonOf, typeName } from "../../internal/describe.ts"
import { isPlainRecord } from "../../schema/json.ts"

/** A schema that is checked, and what of its source is not. */
export interface MappedSchema {
  readonly schema: TSchema
  readonly diagnostics: readonly string[]
}

const ANY_OBJECT = FromSchema({ type: "object" })
const ANYTHING = FromSchema({})

/**
 * Keywords that say no where a part says yes. A part that was left open because it cannot be checked
 * would make them refuse what is right.
 */
const INVERTING: ReadonlySet<string> = new Set([
  "not",
  "oneOf",
  "if",
  "contains",
  "unevaluatedProperties",
  "unevaluatedItems",
])

/** The schema of a tool's input; always one of an object, since arguments are one. */
export function inputSchemaOf(source: unknown): MappedSchema {
  if (source === undefined) return open(ANY_OBJECT, "inputSchema is missing")
  if (!isPlainRecord(source)) {
    return open(ANY_OBJECT, `inputSchema is no schema of an object, but ${typeName(source)}`)
  }
  const type = Object.hasOwn(source, "type") ? source["type"] : undefined
  if (type === undefined) {
    const mapped = mapSchema({ ...source, type: "object" }, ANY_OBJECT, "inputSchema")
    return {
      ...mapped,
      diagnostics: ["inputSchema does not say that it is of an object", ...mapped.diagnostics],
    }
  }
  if (type === "object") return mapSchema(source, ANY_OBJECT, "inputSchema")
  return open(ANY_OBJECT, "inputSchema is not of an object")
}

/** The schema of a tool's output; open where there is none. */
export function outputSchemaOf(source: unknown): MappedSchema {
  if (source === undefined) return { schema: ANYTHING, diagnostics: [] }
  return mapSchema(source, ANYTHING, "outputSchema")
}

function mapSchema(source: unknown, otherwise: TSchema, side: string): MappedSchema {
  const diagnostics: string[] = []
  let schema: TSchema
  try {
    schema = FromSchema(source, {
      onDiagnostic: ({ path, message }) => {
        if (diagnostics.length < 20) diagnostics.push(`${side}${path}: ${message}`)
      },
    })
  } catch (thrown) {
    return open(otherwise, `${side}: ${reasonOf(thrown)}`)
  }
  if (diagnostics.length === 0 || !inverts(source, new Set())) return { schema, diagnostics }
  return {
    schema: otherwise,
    diagnostics: [
      ...diagnostics,
      `${side} is not checked at all: with parts of it left open, the rest could refuse what is right.`,
    ],
  }
}

function open(schema: TSchema, diagnostic: string): MappedSchema {
  return { schema, diagnostics: [diagnostic.endsWith(".") ? diagnostic : `${diagnostic}.`] }
}

/** Whether such a keyword is anywhere in it; a property of that name counts too, which does no harm. */
function inverts(value: unknown, seen: Set<object>): boolean {
  if (typeof value !== "object" || value === null || seen.has(value)) return false
  seen.add(value)
  return Object.entries(value).some(
    ([key, item]) => (!Array.isArray(value) && INVERTING.has(key)) || inverts(item, seen),
  )
}
