import { keywordShape } from "../../../schema/keywords.ts"
import { memberOf } from "./framed-transport.ts"

const KEY = "x-mcp-header"
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"])
const MAX_DEPTH = 64

/**
 * Returns why a tool cannot be called over HTTP: its `x-mcp-header` entries are invalid.
 *
 * A parameter can be sent as a header too, so that intermediaries can see it. It has to be a scalar that is
 * reached by `properties` alone, and needs a header of its own.
 */
export function findHeaderIssue(inputSchema: unknown): string | undefined {
  const names = new Set<string>()
  const visit = (node: unknown, path: string, isReachable: boolean, depth: number): Issue => {
    if (typeof node !== "object" || node === null || depth > MAX_DEPTH) return undefined
    if (Array.isArray(node)) {
      return firstOf(node, (item) => visit(item, path, false, depth + 1))
    }
    const name = memberOf(node, KEY)
    if (name !== undefined) {
      const issue = checkHeader(node, name, path, isReachable, names)
      if (issue !== undefined) return issue
    }
    return firstOf(Object.entries(node), ([key, value]) => {
      const shape = keywordShape(key)
      if (shape === "data") return undefined
      if (shape !== "map" && shape !== "dependencies") return visit(value, path, false, depth + 1)
      const isProperties = key === "properties"
      if (typeof value !== "object" || value === null) return undefined
      return firstOf(Object.entries(value), ([property, child]) =>
        visit(child, `${path}/${property}`, isReachable && isProperties, depth + 1),
      )
    })
  }
  return visit(inputSchema, "", true, 0)
}

const cache = new WeakMap<object, boolean>()

/** Whether parameters of a tool are sent as headers too; cached per definition. */
export function hasHeaders(definition: unknown): boolean {
  const schema = memberOf(definition, "inputSchema")
  if (typeof schema !== "object" || schema === null) return false
  let has = cache.get(schema)
  if (has === undefined) {
    has = JSON.stringify(schema).includes(`"${KEY}"`)
    cache.set(schema, has)
  }
  return has
}

type Issue = string | undefined

function checkHeader(
  node: object,
  name: unknown,
  path: string,
  isReachable: boolean,
  names: Set<string>,
): Issue {
  const at = path === "" ? "its input" : path
  if (!isReachable || path === "") {
    return `"${KEY}" at ${at} is not on a property that is reached by "properties" alone`
  }
  if (typeof name !== "string" || !TOKEN.test(name)) {
    return `"${KEY}" at ${at} is not the name of a header`
  }
  if (!TYPES.has(memberOf(node, "type"))) {
    return `"${KEY}" at ${at} is not on a string, an integer or a boolean`
  }
  const lower = name.toLowerCase()
  if (names.has(lower)) return `"${KEY}" at ${at} names the header "${name}" a second time`
  names.add(lower)
  return undefined
}

function firstOf<TItem>(items: readonly TItem[], look: (item: TItem) => Issue): Issue {
  for (const item of items) {
    const issue = look(item)
    if (issue !== undefined) return issue
  }
  return undefined
}
