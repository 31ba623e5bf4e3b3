import { isRecord, isString, isStrings } from "../../../internal/guards.ts"
import { isSchema } from "../../../schema/json.ts"
import { each } from "../../../schema/keywords.ts"
import { isNumber } from "./lower.ts"

/** How a keyword of a schema is converted. */
export interface KeywordRule {
  readonly kind:
    | ("schema" | "list" | "map" | "items" | "properties" | "patternProperties")
    | ("type" | "required" | "pattern" | "format" | "limit" | "nullable" | "example" | "examples")
    /** Kept as it is, unless it is nested too deep. */
    | "data"
    | "kept"
    | "skipped"
  /** Whether it may have a value; one that does not fit is left out. */
  readonly fits?: (value: unknown) => boolean
  /** What a value has to be; one that does not fit is noted. */
  readonly expected?: string
}

const SKIPPED: KeywordRule = { kind: "skipped" }
const TEXT: KeywordRule = { kind: "kept", fits: isString, expected: "a text" }
const FLAG: KeywordRule = { kind: "kept", fits: (value) => typeof value === "boolean" }
const NUMBER: KeywordRule = { kind: "kept", fits: isNumber, expected: "a number" }
const COUNT: KeywordRule = { kind: "kept", fits: isCount, expected: "a whole number of 0 or more" }
const SCHEMA: KeywordRule = { kind: "schema", fits: isSchema, expected: "a schema" }
const MAP: KeywordRule = { kind: "map", fits: isRecord, expected: "an object of schemas" }
const LIST: KeywordRule = { kind: "list", fits: isList, expected: "a list of one or more schemas" }

const RULES = new Map<string, KeywordRule>([
  ["type", { kind: "type" }],
  ["properties", { ...MAP, kind: "properties" }],
  [
    "items",
    {
      kind: "items",
      fits: (value) => isSchema(value) || Array.isArray(value),
      expected: "a schema",
    },
  ],
  [
    "required",
    {
      kind: "required",
      fits: (value) => Array.isArray(value) || typeof value === "boolean",
      expected: "a list of names",
    },
  ],
  ["enum", { kind: "data", fits: isList, expected: "a list of one or more values" }],
  ["format", { ...TEXT, kind: "format" }],
  ["example", { kind: "example" }],
  ["examples", { kind: "examples" }],
  ["pattern", { kind: "pattern" }],
  ["patternProperties", { ...MAP, kind: "patternProperties" }],
  ["multipleOf", { ...NUMBER, fits: (value) => isNumber(value) && value > 0 }],
  [
    "dependentRequired",
    {
      kind: "kept",
      fits: (value) => isRecord(value) && Object.values(value).every(isStrings),
      expected: "an object of lists of names",
    },
  ],
  ...each<KeywordRule>({ kind: "nullable" }, ["nullable", "x-nullable"]),
  ...each<KeywordRule>({ kind: "data" }, ["default", "const", "discriminator"]),
  ...each<KeywordRule>(
    {
      kind: "limit",
      fits: (value) => typeof value === "boolean" || isNumber(value),
      expected: "a number or a boolean",
    },
    ["exclusiveMinimum", "exclusiveMaximum"],
  ),
  ...each(TEXT, ["description", "title", "contentEncoding", "contentMediaType"]),
  ...each(FLAG, ["readOnly", "writeOnly", "deprecated", "uniqueItems"]),
  ...each(NUMBER, ["minimum", "maximum"]),
  ...each(COUNT, ["minLength", "maxLength", "minItems", "maxItems", "minProperties"]),
  ...each(COUNT, ["maxProperties", "minContains", "maxContains"]),
  ...each(LIST, ["allOf", "anyOf", "oneOf", "prefixItems"]),
  ...each(MAP, ["dependentSchemas"]),
  ...each(SCHEMA, ["additionalProperties", "not", "if", "then", "else", "contains"]),
  ...each(SCHEMA, ["propertyNames", "unevaluatedProperties", "unevaluatedItems"]),
  // Definitions are reached through references; the others do not affect values.
  ...each(SKIPPED, ["$ref", "$dynamicRef", "$recursiveRef", "$defs", "definitions", "$id", "id"]),
  ...each(SKIPPED, ["$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema", "$comment"]),
  ...each(SKIPPED, ["$vocabulary", "xml", "externalDocs", "contentSchema", "additionalItems"]),
])

/** Keywords whose subschemas apply to the same value as the schema itself. */
export const IN_PLACE: ReadonlySet<string> = new Set([
  ...["allOf", "anyOf", "oneOf", "not", "if", "then", "else"],
])

/** How a keyword is converted; `undefined` for unknown ones. */
export function keywordRule(keyword: string): KeywordRule | undefined {
  return RULES.get(keyword)
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0
}

function isList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0
}
