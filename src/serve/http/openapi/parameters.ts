import { getOwn, isNoValue, isPlainRecord } from "../../../schema/json.ts"
import type { JsonSchema } from "../../../schema/json.ts"
import type { OperationSpec } from "../../../core/types.ts"
import { queryForm } from "../query-input.ts"
import type { QueryParameter } from "../query-input.ts"
import { typesOf } from "../../../schema/read/properties.ts"
import { isShowable, namedExamples } from "./examples.ts"
import type { JsonObject } from "./model.ts"
import type { SchemaPool } from "./schema-pool.ts"

/** Keywords of an object that parameters can express; others would be lost. */
const EXPRESSIBLE: ReadonlySet<string> = new Set([
  ...["type", "properties", "required", "additionalProperties", "title", "description", "examples"],
  ...["$id", "$schema", "$defs", "$comment", "$anchor", "deprecated"],
])

/**
 * The query parameters of an input, if they can express every value; `undefined` when there
 * are values that cannot be sent like this.
 */
export function parametersOf(
  id: string,
  { inputSchema, examples }: OperationSpec,
  pool: SchemaPool,
): JsonObject[] | undefined {
  const schema = inputSchema as JsonSchema
  if (isNoValue(schema)) return []
  const { type, additionalProperties } = schema
  if (type !== "object" || !Object.keys(schema).every((key) => EXPRESSIBLE.has(key))) {
    return undefined
  }
  if (additionalProperties !== undefined && additionalProperties !== false) return undefined
  const { parameters } = queryForm(schema)
  const required = Array.isArray(schema["required"]) ? schema["required"] : []
  const names = new Set(parameters.map(({ name }) => name))
  // A required property without a schema can only be sent in a body.
  if (!required.every((name) => names.has(String(name)))) return undefined
  const given = isPlainRecord(schema["properties"]) ? Object.values(schema["properties"]) : []
  if (!given.every(isPlainRecord)) return undefined
  if (!parameters.every((one) => isSendable(one, schema))) return undefined
  const shown = (examples ?? []).filter(isPlainRecord).filter(isShowable)
  return parameters.map((one) => parameterOf(id, one, schema, shown, pool))
}

function isSendable({ name, schema, kind, isRequired }: QueryParameter, root: JsonSchema): boolean {
  if (name === "" || name === "__proto__") return false
  switch (kind) {
    case "text":
      return !typesOf(schema, root).has("null")
    case "list": {
      const { items, minItems } = schema
      const hasNull = isPlainRecord(items) && typesOf(items, root).has("null")
      // An empty list is sent as nothing, which is fine if it may be left out.
      const mayBeEmpty = typeof minItems !== "number" || minItems < 1
      return typesOf(schema, root).size === 1 && !hasNull && !(isRequired && mayBeEmpty)
    }
    default:
      return true
  }
}

function parameterOf(
  id: string,
  { name, schema, kind, isRequired }: QueryParameter,
  root: JsonSchema,
  examples: ReadonlyArray<Record<string, unknown>>,
  pool: SchemaPool,
): JsonObject {
  const { description, deprecated } = schema
  const value = pool.add(schema, "input", `${id}.input.${name}`, root)
  const isJson = kind === "json" || (kind === "literal" && typesOf(schema, root).has("null"))
  // All values of one example have the same name, so that it can be reassembled.
  const shown = namedExamples(examples.map((one) => getOwn(one, name)))
  const said = { schema: value, ...(shown !== undefined && { examples: shown }) }
  return {
    name,
    in: "query",
    ...(typeof description === "string" && description !== "" && { description }),
    ...(isRequired && { required: true }),
    ...(deprecated === true && { deprecated: true }),
    ...(isJson ? { content: { "application/json": said } } : said),
  }
}
