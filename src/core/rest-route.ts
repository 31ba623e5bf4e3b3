import type { Compiled } from "../schema/compiled.ts"
import { isRecord } from "../internal/guards.ts"
import { isNoValue, listOf, type JsonSchema } from "../schema/json.ts"
import type { OperationSpec, RestRoute } from "./types.ts"
import type { ValueError } from "./validation.ts"

/** Whether a call may change something: a mutation, or a stream that is declared as not read-only. */
export function mayChange({
  type,
  annotations,
}: Pick<OperationSpec, "type" | "annotations">): boolean {
  return type === "mutation" || (type === "subscription" && annotations?.readOnly === false)
}

/** The names of the parameters of a path, in order. */
export function pathParameters(path: string): string[] {
  return path.split("/").flatMap((segment) => (segment.startsWith("{") ? segment.slice(1, -1) : []))
}

/** A path without the names of its parameters: paths of the same shape match the same requests. */
export function shapeOf({ path }: RestRoute): string {
  return path
    .split("/")
    .map((segment) => (segment.startsWith("{") ? "{}" : segment))
    .join("/")
}

const SEGMENT = /^(?:[\w.~-]+|\{[\w$.~-]+\})$/
const PLAIN_TYPES = ["string", "number", "boolean", "integer"]

/** Validates the route of a definition whose fields have the right form. */
export function routeIssues(
  { route, type, annotations }: Pick<OperationSpec, "route" | "type" | "annotations">,
  input: Compiled,
  outputSchema: unknown,
): ValueError[] {
  if (route === undefined) return []
  const issues: ValueError[] = []
  const add = (field: keyof RestRoute, message: string): void => {
    issues.push({ path: `/route/${field}`, message })
  }
  const { method, path, status } = route
  const isStream = type === "subscription"
  if (method === "GET" && mayChange({ type, annotations })) {
    add(
      "method",
      `must not be GET for a ${type} that changes something: links and caches may repeat it. Use POST`,
    )
  } else if (isStream && method !== "GET" && method !== "POST") {
    add("method", "must be GET or POST for a subscription")
  }
  if (status !== undefined && isStream) add("status", "must be omitted for a subscription")
  else if (status === 204 && !isNoValue(outputSchema)) {
    add(
      "status",
      "must not be 204 if there is a result: use outputSchema: Type.Void(), or another status",
    )
  } else if (status === 205 || status === 206) add("status", `must not be ${status}`)
  const [root, ...segments] = path.split("/")
  const isPath = root === "" && segments.every((one) => SEGMENT.test(one) && !/^\.\.?$/.test(one))
  if (!isPath || segments.length === 0) {
    add(
      "path",
      `must be such as "/users/{id}": letters, digits and "._~-", or a whole segment in braces`,
    )
    return issues
  }
  for (const message of parameterIssues(pathParameters(path), input)) add("path", message)
  return issues
}

/** What is wrong with the names of inputs that are written as texts. */
export function parameterIssues(names: readonly string[], { schema, isOpen }: Compiled): string[] {
  // What a reference leads to is not looked up.
  const isUnknown = isOpen || "$ref" in schema
  return names.flatMap((name, at) => {
    if (names.indexOf(name) !== at) return `has the parameter {${name}} twice`
    const property = propertyOf(schema, name)
    if (name === "__proto__" || (property === undefined && !isUnknown)) {
      return `has the parameter {${name}}, which inputSchema does not have`
    }
    const { type = "string", format } = (property ?? {}) as JsonSchema
    const isPlain = [type].flat().some((one) => PLAIN_TYPES.includes(String(one)))
    if (isPlain && format !== "binary") return []
    return `has the parameter {${name}}, which must be a string, a number or a boolean in inputSchema`
  })
}

/** The schema of a property: of the object itself, or of one of the schemas that it combines. */
function propertyOf(schema: unknown, name: string): unknown {
  if (!isRecord(schema)) return undefined
  const { properties, allOf, anyOf, oneOf } = schema
  if (isRecord(properties) && Object.hasOwn(properties, name)) return properties[name]
  const parts = [allOf, anyOf, oneOf].flatMap(listOf)
  return parts.map((part) => propertyOf(part, name)).find((found) => found !== undefined)
}
