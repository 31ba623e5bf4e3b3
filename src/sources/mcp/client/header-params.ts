import { memberOf } from "./frames.ts"

const KEY = "x-mcp-header"
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"])
const DEEPEST = 64

/**
 * Why a tool cannot be called over HTTP: what it says about headers breaks the rules.
 *
 * A parameter may ask to be sent as a header too, so that what is on the way can see it. It has to
 * be a plain value that is reached by `properties` alone, and to have a header of its own.
 */
export function headerFault(inputSchema: unknown): string | undefined {
  const names = new Set<string>()
  const visit = (node: unknown, path: string, isReachable: boolean, depth: number): Fault => {
    if (typeof node !== "object" || node === null || depth > DEEPEST) return undefined
    if (Array.isArray(node)) {
      return firstOf(node, (item) => visit(item, path, false, depth + 1))
    }
    const name = memberOf(node, KEY)
    if (name !== undefined) {
      const fault = judge(node, name, path, isReachable, names)
      if (fault !== undefined) return fault
    }
    return firstOf(Object.entries(node), ([key, value]) => {
      if (key === KEY || !isSchemaKeyword(key)) return undefined
      const isProperties = key === "properties"
      if (!isProperties && !MAPS.has(key)) return visit(value, path, false, depth + 1)
      if (typeof value !== "object" || value === null) return undefined
      return firstOf(Object.entries(value), ([property, child]) =>
        visit(child, `${path}/${property}`, isReachable && isProperties, depth + 1),
      )
    })
  }
  return visit(inputSchema, "", true, 0)
}

const known = new WeakMap<object, boolean>()

/** Whether parameters of a tool are sent as headers too; looked up once for each definition. */
export function hasHeaders(definition: unknown): boolean {
  const schema = memberOf(definition, "inputSchema")
  if (typeof schema !== "object" || schema === null) return false
  let has = known.get(schema)
  if (has === undefined) {
    has = JSON.stringify(schema).includes(`"${KEY}"`)
    known.set(schema, has)
  }
  return has
}

type Fault = string | undefined

const MAPS: ReadonlySet<string> = new Set([
  "patternProperties",
  "dependentSchemas",
  "$defs",
  "definitions",
])

const SCHEMAS: ReadonlySet<string> = new Set([
  "properties",
  "items",
  "prefixItems",
  "contains",
  "additionalProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "propertyNames",
  "oneOf",
  "anyOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
  ...MAPS,
])

function isSchemaKeyword(key: string): boolean {
  return SCHEMAS.has(key)
}

function judge(
  node: object,
  name: unknown,
  path: string,
  isReachable: boolean,
  names: Set<string>,
): Fault {
  const at = path === "" ? "its input" : path
  if (!isReachable || path === "") {
    return `"${KEY}" at ${at} is not on a property that is reached by "properties" alone`
  }
  if (typeof name !== "string" || !TOKEN.test(name)) {
    return `"${KEY}" at ${at} is not the name of a header`
  }
  if (!TYPES.has(memberOf(node, "type"))) {
    return `"${KEY}" at ${at} is on something else than a string, an integer or a boolean`
  }
  const lower = name.toLowerCase()
  if (names.has(lower)) return `"${KEY}" at ${at} names the header "${name}" a second time`
  names.add(lower)
  return undefined
}

function firstOf<TItem>(items: readonly TItem[], look: (item: TItem) => Fault): Fault {
  for (const item of items) {
    const fault = look(item)
    if (fault !== undefined) return fault
  }
  return undefined
}
