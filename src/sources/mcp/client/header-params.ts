import { toBase64 } from "../../../internal/base64.ts"
import { isObject } from "../../../internal/guards.ts"
import { perObject } from "../../../internal/per-object.ts"
import { valueAt } from "../../../internal/pointer.ts"
import { keywordShape } from "../../../schema/keywords.ts"
import { memberOf } from "./sdk.ts"

const KEY = "x-mcp-header"
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"])
const MAX_DEPTH = 64
// A text that is a header value as it is; one that looks encoded is not.
const PLAIN = /^(?!=\?base64\?.*\?=$)[!-~](?:[\t -~]*[!-~])?$/

/** A parameter that is sent as a header too. */
interface HeaderParam {
  readonly path: readonly string[]
  readonly name: string
}

/**
 * Returns why a tool cannot be called over HTTP: its `x-mcp-header` entries are invalid.
 *
 * A parameter can be sent as a header too, so that intermediaries can see it. It has to be a scalar that is
 * reached by `properties` alone, and needs a header of its own.
 */
export function findHeaderIssue(inputSchema: unknown): string | undefined {
  return visit(inputSchema, [], true, 0, [])
}

/** The headers that repeat parameters of a call; none in a browser, where the server would have to allow each. */
export function paramHeaders(
  definition: unknown,
  input: unknown,
): Readonly<Record<string, string>> {
  const schema = memberOf(definition, "inputSchema")
  if (!isObject(schema)) return {}
  const headers: Record<string, string> = {}
  for (const { path, name } of paramsOf(schema)) {
    const text = headerText(valueAt(input, path))
    if (text !== undefined) headers[`Mcp-Param-${name}`] = text
  }
  return headers
}

const paramsOf = perObject((schema: object): readonly HeaderParam[] => {
  const found: HeaderParam[] = []
  const isBrowser = "window" in globalThis && "document" in globalThis
  return isBrowser || visit(schema, [], true, 0, found) !== undefined ? [] : found
})

function headerText(value: unknown): string | undefined {
  if (typeof value !== "string" && typeof value !== "boolean" && typeof value !== "number") {
    return undefined
  }
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return undefined
  const text = String(value)
  return PLAIN.test(text) ? text : `=?base64?${toBase64(new TextEncoder().encode(text))}?=`
}

type Issue = string | undefined

/** Collects the parameters with a header below a schema; returns the first invalid one. */
function visit(
  node: unknown,
  path: readonly string[],
  isReachable: boolean,
  depth: number,
  found: HeaderParam[],
): Issue {
  if (!isObject(node) || depth > MAX_DEPTH) return undefined
  if (Array.isArray(node)) {
    return firstOf(node, (item) => visit(item, path, false, depth + 1, found))
  }
  const name = memberOf(node, KEY)
  if (name !== undefined) {
    const issue = checkHeader(node, name, path, isReachable, found)
    if (issue !== undefined) return issue
  }
  return firstOf(Object.entries(node), ([key, value]) => {
    const shape = keywordShape(key)
    if (shape === "data") return undefined
    if (shape !== "map" && shape !== "dependencies") {
      return visit(value, path, false, depth + 1, found)
    }
    if (!isObject(value)) return undefined
    const isStillReachable = isReachable && key === "properties"
    return firstOf(Object.entries(value), ([property, child]) =>
      visit(child, [...path, property], isStillReachable, depth + 1, found),
    )
  })
}

function checkHeader(
  node: object,
  name: unknown,
  path: readonly string[],
  isReachable: boolean,
  found: HeaderParam[],
): Issue {
  const at = path.length === 0 ? "its input" : `/${path.join("/")}`
  if (!isReachable || path.length === 0) {
    return `"${KEY}" at ${at} is not on a property that is reached by "properties" alone`
  }
  if (typeof name !== "string" || !TOKEN.test(name)) {
    return `"${KEY}" at ${at} is not the name of a header`
  }
  if (!TYPES.has(memberOf(node, "type"))) {
    return `"${KEY}" at ${at} is not on a string, an integer or a boolean`
  }
  if (found.some((other) => other.name.toLowerCase() === name.toLowerCase())) {
    return `"${KEY}" at ${at} names the header "${name}" a second time`
  }
  found.push({ path, name })
  return undefined
}

function firstOf<TItem>(items: readonly TItem[], look: (item: TItem) => Issue): Issue {
  for (const item of items) {
    const issue = look(item)
    if (issue !== undefined) return issue
  }
  return undefined
}
