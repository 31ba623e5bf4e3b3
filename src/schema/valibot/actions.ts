import { isRecord, isString } from "../../internal/guards.ts"

const FORMATS: Readonly<Record<string, string>> = {
  email: "email",
  rfc_email: "email",
  url: "uri",
  uuid: "uuid",
  ipv4: "ipv4",
  ipv6: "ipv6",
  iso_date: "date",
  iso_timestamp: "date-time",
}

/** Keywords of actions whose requirement is the keyword's value. */
const NUMBERS: Readonly<Record<string, readonly string[]>> = {
  min_value: ["minimum"],
  max_value: ["maximum"],
  gt_value: ["exclusiveMinimum"],
  lt_value: ["exclusiveMaximum"],
  multiple_of: ["multipleOf"],
  code_points: ["minLength", "maxLength"],
  min_code_points: ["minLength"],
  max_code_points: ["maxLength"],
  entries: ["minProperties", "maxProperties"],
  min_entries: ["minProperties"],
  max_entries: ["maxProperties"],
}

/** Transformations whose result is a string. */
const TO_TEXT: ReadonlySet<string> = new Set([
  ...["trim", "trim_start", "trim_end", "normalize", "to_lower_case", "to_upper_case"],
  ...["to_camel_case", "to_kebab_case", "to_pascal_case", "to_snake_case", "to_string"],
  "stringify_json",
])

/** The result type of other transformations, where their names imply one. */
const RESULTS: Readonly<Record<string, Json>> = {
  to_number: { type: "number" },
  to_boolean: { type: "boolean" },
  parse_boolean: { type: "boolean" },
  parse_json: {},
  map_items: { type: "array" },
}

/** A schema with one more action of its pipe. */
export function applyAction(json: Json, action: ValibotNode): Json {
  if (action.kind === "metadata") return { ...json, ...annotations(json, action) }
  if (action.kind === "transformation") return transformed(json, action)
  return narrowed(json, restriction(json, action))
}

/** Whether a value is plain JSON, which a `default` or an example has to be. */
export function isJson(value: unknown, depth = 0): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true
  if (typeof value === "number") return Number.isFinite(value)
  if (typeof value !== "object" || depth > 50) return false
  if (!Array.isArray(value) && Object.prototype.toString.call(value) !== "[object Object]") {
    return false
  }
  return Object.values(value).every((member) => isJson(member, depth + 1))
}

function annotations(json: Json, action: ValibotNode): Json {
  const source = action.type === "metadata" ? action["metadata"] : action
  const metadata: Json = {}
  if (!isRecord(source)) return metadata
  if (typeof source["title"] === "string") metadata["title"] = source["title"]
  if (typeof source["description"] === "string") metadata["description"] = source["description"]
  if (Array.isArray(source["examples"])) {
    const before = (json["examples"] as unknown[] | undefined) ?? []
    metadata["examples"] = [...before, ...source["examples"].filter((example) => isJson(example))]
  }
  return metadata
}

/** Drops the constraints from before a transformation, and keeps the title and the description. */
function transformed(json: Json, action: ValibotNode): Json {
  const { type, items, title, description } = json
  const words = {
    ...(title === undefined ? undefined : { title }),
    ...(description === undefined ? undefined : { description }),
  }
  switch (action.type) {
    case "filter_items":
    case "sort_items":
      return { ...words, type: "array", ...(items === undefined ? undefined : { items }) }
    case "to_min_value":
    case "to_max_value":
      return { ...words, ...(type === undefined ? undefined : { type }) }
  }
  if (TO_TEXT.has(action.type)) return { ...words, type: "string" }
  if (!Object.hasOwn(RESULTS, action.type)) throw unsupported(action)
  return { ...words, ...RESULTS[action.type] }
}

/** The keywords for the requirement of an action; empty if only a function can check it. */
function restriction(json: Json, { type, requirement }: ValibotNode): Json {
  const format = Object.hasOwn(FORMATS, type) ? FORMATS[type] : undefined
  if (format !== undefined) return { format }
  if (Object.hasOwn(NUMBERS, type)) {
    return Number.isFinite(requirement) ? fill(NUMBERS[type]!, requirement) : {}
  }
  switch (type) {
    case "integer":
      return { type: "integer" }
    case "safe_integer":
      return {
        type: "integer",
        minimum: Number.MIN_SAFE_INTEGER,
        maximum: Number.MAX_SAFE_INTEGER,
      }
    case "length":
      return sized(json, ["min", "max"], requirement)
    case "min_length":
      return sized(json, ["min"], requirement)
    case "max_length":
      return sized(json, ["max"], requirement)
    case "non_empty":
      return sized(json, ["min"], 1)
    case "empty":
      return sized(json, ["max"], 0)
    case "value":
      return isJson(requirement) ? { const: requirement } : {}
    case "values":
      return isJson(requirement) ? { enum: requirement } : {}
    case "not_value":
      return isJson(requirement) ? { not: { const: requirement } } : {}
    case "not_values":
      return isJson(requirement) ? { not: { enum: requirement } } : {}
    case "starts_with":
      return isString(requirement) ? { pattern: `^${literal(requirement)}` } : {}
    case "ends_with":
      return isString(requirement) ? { pattern: `${literal(requirement)}$` } : {}
    case "includes":
      return isString(requirement) ? { pattern: literal(requirement) } : {}
    case "excludes":
      return isString(requirement) ? { not: { pattern: literal(requirement) } } : {}
    case "base64":
      return { contentEncoding: "base64" }
    default:
      return patternOf(requirement)
  }
}

/** The length of a string or of an array; both keywords if the type is unknown. */
function sized(json: Json, ends: readonly ("min" | "max")[], requirement: unknown): Json {
  if (!Number.isFinite(requirement)) return {}
  const of =
    json["type"] === "string"
      ? ["Length"]
      : json["type"] === "array"
        ? ["Items"]
        : ["Length", "Items"]
  return fill(
    ends.flatMap((end) => of.map((what) => end + what)),
    requirement,
  )
}

function fill(keywords: readonly string[], value: unknown): Json {
  return Object.fromEntries(keywords.map((keyword) => [keyword, value]))
}

/** A pattern without flags: JSON Schema does not support them. */
function patternOf(requirement: unknown): Json {
  const { source, flags } = (requirement ?? {}) as { source?: unknown; flags?: unknown }
  if (!isString(source) || !isString(flags) || /[^dgu]/.test(flags)) return {}
  return { pattern: source }
}

/** Adds constraints to the existing ones. */
function narrowed(json: Json, more: Json): Json {
  const { type } = json
  const added =
    type === "number" && more["type"] === "integer" ? { ...json, type: "integer" } : json
  const { type: _, ...rest } = more
  const extra = added === json ? more : rest
  if (!Object.keys(extra).some((keyword) => keyword in added)) return { ...added, ...extra }
  return { ...added, allOf: [...((added["allOf"] as unknown[] | undefined) ?? []), extra] }
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")
}

/** The input or the output of a schema. */
export type Side = "input" | "output"

/** A JSON Schema under construction. */
export type Json = Record<string, unknown>

/** A schema or an action of Valibot, by its structure: nothing here needs Valibot. */
export interface ValibotNode {
  readonly kind: string
  readonly type: string
  readonly [key: string]: unknown
}

/** Whether a value is a schema of Valibot as it comes from `v.object()` and the like. */
export function isValibotSchema(value: unknown): value is ValibotNode {
  return isRecord(value) && value["kind"] === "schema" && typeof value["type"] === "string"
}

/** The error for a schema without a JSON Schema form. */
export function unsupported(node: ValibotNode, what = ""): TypeError {
  return new TypeError(
    `Valibot's "${node.type}"${what} has no JSON Schema form. Use a type that JSON has, or describe the wire form with toStandardJsonSchema() from "@valibot/to-json-schema".`,
  )
}
