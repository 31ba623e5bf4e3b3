import { each } from "../../../schema/keywords.ts"

/** How a keyword of a schema is converted. */
export type KeywordKind =
  | "schema"
  | "list"
  | "map"
  | "items"
  | "number"
  | "count"
  | "text"
  | "flag"
  | "data"
  | "type"
  | "required"
  | "enum"
  | "pattern"
  | "patternProperties"
  | "properties"
  | "example"
  | "examples"
  | "limit"
  | "nullable"
  | "dependentRequired"
  | "format"
  | "skip"

const KINDS = new Map<string, KeywordKind>([
  ["type", "type"],
  ["properties", "properties"],
  ["description", "text"],
  ["items", "items"],
  ["required", "required"],
  ["enum", "enum"],
  ["format", "format"],
  ["title", "text"],
  ["nullable", "nullable"],
  ["x-nullable", "nullable"],
  ["example", "example"],
  ["examples", "examples"],
  ["default", "data"],
  ["const", "data"],
  ["discriminator", "data"],
  ["pattern", "pattern"],
  ["patternProperties", "patternProperties"],
  ["exclusiveMinimum", "limit"],
  ["exclusiveMaximum", "limit"],
  ["dependentRequired", "dependentRequired"],
  ...each("text", ["contentEncoding", "contentMediaType"]),
  ...each("flag", ["readOnly", "writeOnly", "deprecated", "uniqueItems"]),
  ...each("number", ["minimum", "maximum", "multipleOf"]),
  ...each("count", ["minLength", "maxLength", "minItems", "maxItems", "minProperties"]),
  ...each("count", ["maxProperties", "minContains", "maxContains"]),
  ...each("list", ["allOf", "anyOf", "oneOf", "prefixItems"]),
  ...each("map", ["dependentSchemas"]),
  ...each("schema", ["additionalProperties", "not", "if", "then", "else", "contains"]),
  ...each("schema", ["propertyNames", "unevaluatedProperties", "unevaluatedItems"]),
  // Definitions are reached through references; the others do not affect values.
  ...each("skip", ["$ref", "$dynamicRef", "$recursiveRef", "$defs", "definitions", "$id", "id"]),
  ...each("skip", ["$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema", "$comment"]),
  ...each("skip", ["$vocabulary", "xml", "externalDocs", "contentSchema", "additionalItems"]),
])

/** Keywords whose subschemas apply to the same value as the schema itself. */
export const IN_PLACE: ReadonlySet<string> = new Set([
  ...["allOf", "anyOf", "oneOf", "not", "if", "then", "else"],
])

/** How a keyword is converted; `undefined` for unknown ones. */
export function keywordKind(keyword: string): KeywordKind | undefined {
  return KINDS.get(keyword)
}
