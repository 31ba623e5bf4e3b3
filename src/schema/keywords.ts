import { isRecord } from "../internal/guards.ts"
import { isSchema, type JsonSchema, setOwn } from "./json.ts"

/** What the library knows about a keyword. */
export interface Keyword {
  /**
   * It refuses values, describes them, is how a schema is found, or names another schema. `older` ones are replaced when
   * a schema is admitted.
   */
  readonly kind: "assertion" | "annotation" | "address" | "reference" | "older"
  /** Where its subschemas are. Tuples before 2020-12 are lists under `items`; `dependencies` mixes schemas and lists of names. */
  readonly holds?: "map" | "list" | "single" | "items" | "dependencies"
  /** The form of its value, where that is not a schema. */
  readonly form?: KeywordForm
  /** The type of the values that it is about. */
  readonly of?: "object" | "array" | "string" | "number"
  /** Its subschemas look at the same value as the schema that holds them. */
  readonly isInPlace?: true
  /** It applies to an object or array as a whole: any change may affect its result. */
  readonly isDelicate?: true
  /** A value may have to be changed to match its subschemas. */
  readonly isNormalized?: true
}

export type KeywordForm =
  | ("count" | "number" | "positive" | "flag" | "text" | "data")
  | ("type" | "values" | "names" | "namesByName")

const assertion = { kind: "assertion" } as const
const applied = { kind: "assertion", isInPlace: true } as const
const annotation = { kind: "annotation" } as const
const ofObjects = { kind: "assertion", of: "object" } as const
const ofArrays = { kind: "assertion", of: "array" } as const

/** Every keyword of JSON Schema and of OpenAPI's dialects; those of one row differ in nothing. */
const ROWS: Readonly<Record<string, Keyword>> = {
  type: { ...assertion, form: "type" },
  const: { ...assertion, form: "data" },
  enum: { ...assertion, form: "values" },
  "minLength maxLength": { ...assertion, of: "string", form: "count" },
  "pattern format": { ...assertion, of: "string", form: "text" },
  "minimum maximum": { ...assertion, of: "number", form: "number" },
  "exclusiveMinimum exclusiveMaximum": { ...assertion, of: "number", form: "number" },
  multipleOf: { ...assertion, of: "number", form: "positive" },
  "minItems maxItems": { ...ofArrays, form: "count" },
  uniqueItems: { ...ofArrays, form: "flag", isDelicate: true },
  prefixItems: { ...ofArrays, holds: "list", isNormalized: true },
  items: { ...ofArrays, holds: "items", isNormalized: true },
  "contains unevaluatedItems": { ...ofArrays, holds: "single", isDelicate: true },
  "minContains maxContains": { ...assertion, form: "count" },
  "minProperties maxProperties": { ...ofObjects, form: "count", isDelicate: true },
  required: { ...ofObjects, form: "names" },
  dependentRequired: { ...ofObjects, form: "namesByName", isDelicate: true },
  "properties patternProperties": { ...ofObjects, holds: "map", isNormalized: true },
  additionalProperties: { ...ofObjects, holds: "single", isNormalized: true },
  "propertyNames unevaluatedProperties": { ...ofObjects, holds: "single", isDelicate: true },
  dependentSchemas: {
    ...applied,
    of: "object",
    holds: "map",
    isDelicate: true,
    isNormalized: true,
  },
  "allOf anyOf oneOf": { ...applied, holds: "list", isNormalized: true },
  not: { ...applied, holds: "single", isDelicate: true },
  if: { ...applied, holds: "single", isDelicate: true, isNormalized: true },
  "then else": { ...applied, holds: "single", isNormalized: true },
  "title description $comment": { ...annotation, form: "text" },
  "contentEncoding contentMediaType": { ...annotation, form: "text" },
  contentSchema: { ...annotation, holds: "single" },
  "deprecated readOnly writeOnly": { ...annotation, form: "flag" },
  "default examples example externalDocs": { ...annotation, form: "data" },
  "$schema $id $anchor $dynamicAnchor": { kind: "address", form: "text" },
  "$defs definitions": { kind: "address", holds: "map" },
  "$ref $dynamicRef": { kind: "reference", form: "text" },
  additionalItems: { kind: "older", holds: "single" },
  dependencies: { kind: "older", holds: "dependencies" },
}

/** Every keyword that the library knows. */
export const KEYWORDS: ReadonlyMap<string, Keyword> = new Map(
  Object.entries(ROWS).flatMap(([names, row]) => names.split(" ").map((name) => [name, row])),
)

/** The keywords whose rows pass a test, in the order of the table. */
export function keywordsWhere(test: (row: Keyword) => boolean | undefined): ReadonlySet<string> {
  return new Set([...KEYWORDS].flatMap(([name, row]) => (test(row) === true ? [name] : [])))
}

/** Keywords that affect validation. The others only cost the compiler time. */
export const ASSERTIONS: ReadonlySet<string> = keywordsWhere(({ kind }) => kind === "assertion")

/** Keywords whose subschemas look at the same value as the schema that holds them. */
export const IN_PLACE: ReadonlySet<string> = keywordsWhere(({ isInPlace }) => isInPlace)

/** Keywords by which a schema is found. */
export const ADDRESSES: ReadonlySet<string> = keywordsWhere(({ kind }) => kind === "address")

/** Keywords that describe or name a schema and do not affect validation. */
export const ANNOTATIONS: ReadonlySet<string> = keywordsWhere(
  ({ kind }) => kind === "annotation" || kind === "address",
)

/** How the value of a keyword is walked. A property that is *named* like a keyword is never asked about. */
export function keywordShape(keyword: string): NonNullable<Keyword["holds"]> | "data" {
  return KEYWORDS.get(keyword)?.holds ?? "data"
}

/** Called for each direct subschema, with the keyword and, inside a map or list, the key. */
export type SubschemaVisitor = (
  subschema: Record<string, unknown> | boolean,
  keyword: string,
  key: string | number | undefined,
) => void

/** Visits the direct subschemas of an admitted schema, of all keywords or of some. */
export function eachSubschema(
  schema: Record<string, unknown>,
  visit: SubschemaVisitor,
  keywords?: ReadonlySet<string>,
): void {
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword]
    const shape = keywordShape(keyword)
    if (shape === "data" || keywords?.has(keyword) === false) continue
    if (shape === "map" && isRecord(value)) {
      for (const [key, member] of Object.entries(value)) {
        if (isSchema(member)) visit(member, keyword, key)
      }
    } else if (shape === "list" && Array.isArray(value)) {
      value.forEach((member: unknown, index) => {
        if (isSchema(member)) visit(member, keyword, index)
      })
    } else if ((shape === "single" || shape === "items") && isSchema(value)) {
      visit(value, keyword, undefined)
    }
  }
}

/** The value of a keyword with something else in the place of each subschema. */
export function mapSubschemas(
  keyword: string,
  value: unknown,
  change: (subschema: unknown) => unknown,
): unknown {
  const shape = keywordShape(keyword)
  if (shape === "data") return value
  if (Array.isArray(value)) return value.map((member) => change(member))
  if (shape === "single" || shape === "items") return change(value)
  if (!isRecord(value)) return value
  const members = {}
  for (const [key, member] of Object.entries(value)) setOwn(members, key, change(member))
  return members
}

/** Changes every schema in a schema, the outer ones first. */
export function mapSchemas(
  schema: JsonSchema,
  change: (node: JsonSchema) => JsonSchema,
  isWithin: (node: JsonSchema) => boolean = () => true,
): JsonSchema {
  const out: Record<string, unknown> = {}
  const inner = (value: unknown): unknown =>
    isRecord(value) && isWithin(value) ? mapSchemas(value, change, isWithin) : value
  for (const [keyword, value] of Object.entries(change(schema))) {
    setOwn(out, keyword, mapSubschemas(keyword, value, inner))
  }
  return out
}
