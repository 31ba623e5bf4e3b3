import { isRecord } from "../../../internal/guards.ts"
import { pathParameters } from "../../../core/rest-route.ts"
import { getOwn, isNoValue, listOf, type JsonSchema, mayBeVoid } from "../../../schema/json.ts"
import type { OperationSpec, RestRoute } from "../../../core/types.ts"
import { queryForm, WHOLE_INPUT, type QueryParameter } from "../../query-input.ts"
import { isShowable, namedExamples, type JsonObject } from "./model.ts"
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
  { inputSchema, examples, _meta }: OperationSpec,
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
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {}
  const schemaOf = ({ name }: QueryParameter): unknown => getOwn(properties, name)
  if (!Object.values(properties).every(isRecord)) return undefined
  const forwarded = forwardedNames(_meta?.["openapi"])
  const isSent = (one: QueryParameter): boolean =>
    isSendable(one, schemaOf(one) as JsonSchema, !one.isRequired && forwarded.has(one.name))
  if (!parameters.every(isSent)) return undefined
  const shown = (examples ?? []).filter(isRecord).filter(isShowable)
  return parameters.map((one) => {
    const property = schemaOf(one) as JsonSchema
    const value = pool.add(property, "input", `${id}.input.${one.name}`, schema)
    return parameterOf(one, property, value, shown)
  })
}

/** How the input of an own route is sent: its parameters, and the spec of what is left for the body. */
export function routedInput(
  id: string,
  spec: OperationSpec,
  { method, path }: RestRoute,
  pool: SchemaPool,
): { readonly parameters: JsonObject[]; readonly body: OperationSpec | undefined } {
  const schema = spec.inputSchema as JsonSchema
  const inPath = new Set(pathParameters(path))
  const isQuery = method === "GET" || method === "DELETE"
  const { parameters, isWhole } = queryForm(schema)
  if (isWhole && isQuery && !isNoValue(schema)) {
    const content = { "application/json": { schema: pool.add(schema, "input", `${id}.input`) } }
    const required = !mayBeVoid(schema)
    return { parameters: [{ name: WHOLE_INPUT, in: "query", required, content }], body: undefined }
  }
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {}
  const shown = (spec.examples ?? []).filter(isRecord).filter(isShowable)
  const sent = parameters.filter(({ name }) => isQuery || inPath.has(name))
  return {
    parameters: sent.map((one) => {
      const own = getOwn(properties, one.name)
      const property = isRecord(own) ? own : {}
      const value = pool.add(property, "input", `${id}.input.${one.name}`, schema)
      return parameterOf(one, property, value, shown, inPath.has(one.name) ? "path" : "query")
    }),
    body: isQuery ? undefined : withoutNames(spec, inPath),
  }
}

/** A spec whose input lacks some names; `undefined` if nothing is left. */
function withoutNames(spec: OperationSpec, names: ReadonlySet<string>): OperationSpec | undefined {
  if (names.size === 0) return spec
  const without = (value: unknown): Record<string, unknown> =>
    Object.fromEntries(Object.entries(value ?? {}).filter(([name]) => !names.has(name)))
  const schema = spec.inputSchema as JsonSchema
  const properties = without(schema["properties"])
  const required = listOf(schema["required"]).filter((name) => !names.has(String(name)))
  const isRest = isRecord(schema["additionalProperties"]) || schema["additionalProperties"] === true
  const isExpressed = Object.keys(schema).every((key) => EXPRESSIBLE.has(key))
  if (Object.keys(properties).length === 0 && isExpressed && !isRest) return undefined
  const examples = spec.examples?.map((one) => (isRecord(one) ? without(one) : one))
  const { examples: _, ...others } = schema
  const inputSchema = { ...others, properties, required }
  return { ...spec, inputSchema, examples }
}

/** Inputs that an imported operation sends as parameters, where `null` means that the parameter is left out. */
function forwardedNames(openapi: unknown): ReadonlySet<unknown> {
  const inputs = isRecord(openapi) ? openapi["inputs"] : undefined
  const all = Array.isArray(inputs) ? inputs.filter(isRecord) : []
  return new Set(all.filter((one) => one["in"] !== "body").map(({ key }) => key))
}

function isSendable(
  { name, kind, types, item, isRequired }: QueryParameter,
  { minItems }: JsonSchema,
  omitsNull: boolean,
): boolean {
  if (name === "" || name === "__proto__") return false
  switch (kind) {
    case "text":
      return omitsNull || !types.has("null")
    case "list": {
      const hasNull = item?.types.has("null") === true
      // An empty list is sent as nothing, which is fine if it may be left out.
      const mayBeEmpty = typeof minItems !== "number" || minItems < 1
      const isList = omitsNull || types.size === 1
      return isList && !hasNull && !(isRequired && mayBeEmpty)
    }
    default:
      return true
  }
}

function parameterOf(
  { name, kind, types, isRequired }: QueryParameter,
  { description, deprecated }: JsonSchema,
  value: JsonObject,
  examples: ReadonlyArray<Record<string, unknown>>,
  place: "path" | "query" = "query",
): JsonObject {
  const isText = place === "path"
  const isJson = !isText && (kind === "json" || (kind === "literal" && types.has("null")))
  // All values of one example have the same name, so that it can be reassembled.
  const shown = namedExamples(examples.map((one) => getOwn(one, name)))
  const said = { schema: value, ...(shown !== undefined && { examples: shown }) }
  return {
    name,
    in: place,
    ...(typeof description === "string" && description !== "" && { description }),
    ...((isRequired || isText) && { required: true }),
    ...(deprecated === true && { deprecated: true }),
    ...(isJson ? { content: { "application/json": said } } : said),
  }
}
