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
  ...all("text", ["contentEncoding", "contentMediaType"]),
  ...all("flag", ["readOnly", "writeOnly", "deprecated", "uniqueItems"]),
  ...all("number", ["minimum", "maximum", "multipleOf"]),
  ...all("count", ["minLength", "maxLength", "minItems", "maxItems", "minProperties"]),
  ...all("count", ["maxProperties", "minContains", "maxContains"]),
  ...all("list", ["allOf", "anyOf", "oneOf", "prefixItems"]),
  ...all("map", ["dependentSchemas"]),
  ...all("schema", ["additionalProperties", "not", "if", "then", "else", "contains"]),
  ...all("schema", ["propertyNames", "unevaluatedProperties", "unevaluatedItems"]),
  // Definitions are reached through references; the others do not affect values.
  ...all("skip", ["$ref", "$dynamicRef", "$recursiveRef", "$defs", "definitions", "$id", "id"]),
  ...all("skip", ["$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema", "$comment"]),
  ...all("skip", ["$vocabulary", "xml", "externalDocs", "contentSchema", "additionalItems"]),
])

/** Keywords whose subschemas apply to the same value as the schema itself. */
export const IN_PLACE: ReadonlySet<string> = new Set([
  ...["allOf", "anyOf", "oneOf", "not", "if", "then", "else"],
])

/** How a keyword is converted; `undefined` for unknown ones. */
export function keywordKind(keyword: string): KeywordKind | undefined {
  return KINDS.get(keyword)
}

function all(kind: KeywordKind, keywords: readonly string[]): Array<[string, KeywordKind]> {
  return keywords.map((keyword) => [keyword, kind])
}
