// Plain JSON: what a schema and an input are made of.

import { isRecord } from "../../../../src/internal/guards.ts"
import { isSchema } from "../../../../src/schema/json.ts"

/** A JSON Schema as it comes from a hub: nothing in it is taken on trust. */
export type JsonSchema = boolean | JsonRecord

/** An object of JSON. */
export type JsonRecord = Readonly<Record<string, unknown>>

/** The way to a value: names of properties and positions in arrays. */
export type Path = readonly (string | number)[]

/** A property of its own; never one that every object inherits. */
export function own(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** The named schemas under a keyword. */
export function namedSchemas(
  schema: JsonRecord,
  keyword: string,
): readonly (readonly [string, JsonSchema])[] {
  const map = own(schema, keyword)
  if (!isRecord(map)) return []
  return Object.entries(map).filter((entry): entry is [string, JsonSchema] => isSchema(entry[1]))
}
