import { isRecord } from "../internal/guards.ts"
import { isSchema } from "./json.ts"

/** What a keyword holds, as far as walking a schema is concerned. */
export type KeywordShape = "map" | "list" | "single" | "items" | "dependencies" | "data"

const SHAPES = new Map<string, KeywordShape>([
  ...each("map", ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]),
  ...each("list", ["allOf", "anyOf", "oneOf", "prefixItems"]),
  ...each("single", [
    "additionalProperties",
    "additionalItems",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
  ]),
  // Tuples before 2020-12 are lists under `items`; `dependencies` mixes schemas and lists of names.
  ["items", "items"],
  ["dependencies", "dependencies"],
])

/** Keywords whose subschemas look at the same value as the schema that holds them. */
const IN_PLACE: ReadonlySet<string> = new Set([
  "allOf",
  "anyOf",
  "oneOf",
  "not",
  "if",
  "then",
  "else",
  "dependentSchemas",
])

/** Keywords that describe a value and do not affect validation. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$anchor",
  "$dynamicAnchor",
  "$comment",
  "$defs",
  "definitions",
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
])

/** How the value of a keyword is walked. A property that is *named* like a keyword is never asked about. */
export function keywordShape(keyword: string): KeywordShape {
  return SHAPES.get(keyword) ?? "data"
}

/** Called for each direct subschema, with the keyword and, inside a map or list, the key. */
export type SubschemaVisitor = (
  subschema: Record<string, unknown> | boolean,
  keyword: string,
  key: string | number | undefined,
) => void

/** Visits the direct subschemas of an admitted schema. */
export function eachSubschema(schema: Record<string, unknown>, visit: SubschemaVisitor): void {
  for (const keyword of Object.keys(schema)) visitKeyword(schema[keyword], keyword, visit)
}

/** Visits the direct subschemas that look at the same value. */
export function eachInPlace(schema: Record<string, unknown>, visit: SubschemaVisitor): void {
  for (const keyword of Object.keys(schema)) {
    if (IN_PLACE.has(keyword)) visitKeyword(schema[keyword], keyword, visit)
  }
}

function visitKeyword(value: unknown, keyword: string, visit: SubschemaVisitor): void {
  const kind = SHAPES.get(keyword)
  if (kind === undefined) return
  if (kind === "map" && isRecord(value)) {
    for (const [key, member] of Object.entries(value)) {
      if (isSchema(member)) visit(member, keyword, key)
    }
  } else if (kind === "list" && Array.isArray(value)) {
    value.forEach((member: unknown, index) => {
      if (isSchema(member)) visit(member, keyword, index)
    })
  } else if ((kind === "single" || kind === "items") && isSchema(value)) {
    visit(value, keyword, undefined)
  }
}

/** Entries of a map in which several keywords have the same value. */
export function each<const TValue>(
  value: TValue,
  keywords: readonly string[],
): Array<[string, TValue]> {
  return keywords.map((keyword) => [keyword, value])
}
