// Maps the schemas of a tool: parts that cannot be checked accept everything and are reported.

import type { TSchema } from "typebox"
import { FromSchema } from "../../schema/from-schema.ts"
import { reasonOf, typeName } from "../../internal/message-text.ts"
import { isRecord } from "../../internal/guards.ts"

/** A mapped schema, and the parts of its source that are not checked. */
export interface MappedSchema {
  readonly schema: TSchema
  readonly diagnostics: readonly string[]
}

const ANY_OBJECT = FromSchema({ type: "object" })
const ANYTHING = FromSchema({})

/**
 * Keywords that can refuse a value because a subschema accepts it. With a subschema left open they would
 * refuse valid values.
 */
const INVERTING: ReadonlySet<string> = new Set([
  "not",
  "oneOf",
  "if",
  "contains",
  "unevaluatedProperties",
  "unevaluatedItems",
])

/** Maps the schema of a tool's input; the result always describes an object. */
export function inputSchemaOf(source: unknown): MappedSchema {
  if (source === undefined) return open(ANY_OBJECT, "inputSchema is missing")
  if (!isRecord(source)) {
    return open(ANY_OBJECT, `inputSchema must be a schema of an object, got ${typeName(source)}`)
  }
  const type = Object.hasOwn(source, "type") ? source["type"] : undefined
  if (type === undefined) {
    const mapped = mapSchema({ ...source, type: "object" }, ANY_OBJECT, "inputSchema")
    return {
      ...mapped,
      diagnostics: ['inputSchema has no type; "object" is assumed', ...mapped.diagnostics],
    }
  }
  if (type === "object") return mapSchema(source, ANY_OBJECT, "inputSchema")
  return open(ANY_OBJECT, "inputSchema does not describe an object")
}

/** Maps the schema of a tool's output; accepts everything if there is none. */
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
      `${side} is not checked at all: with parts of it left open, the rest could refuse valid values.`,
    ],
  }
}

function open(schema: TSchema, diagnostic: string): MappedSchema {
  return { schema, diagnostics: [diagnostic.endsWith(".") ? diagnostic : `${diagnostic}.`] }
}

/** Whether a schema contains such a keyword; properties of that name count too, which does no harm. */
function inverts(value: unknown, seen: Set<object>): boolean {
  if (typeof value !== "object" || value === null || seen.has(value)) return false
  seen.add(value)
  return Object.entries(value).some(
    ([key, item]) => (!Array.isArray(value) && INVERTING.has(key)) || inverts(item, seen),
  )
}
