import { getOwn, isPlainRecord } from "../schema/json.ts"

/** A property of an object, for display. */
export interface Property {
  readonly name: string
  readonly isRequired: boolean
  readonly type: string
  /** Its description, default and bounds. */
  readonly text: string
  readonly schema: unknown
  /** The property that contains it. */
  readonly parent?: string | undefined
}

// Maximum depth of a type text; deeper objects are shown as "object".
const MAX_DEPTH = 3
const MAX_CHOICES = 8

/** The properties of an object schema; `undefined` for other schemas. */
export function propertiesOf(
  schema: unknown,
  root: unknown = schema,
): readonly Property[] | undefined {
  const object = followed(schema, root)
  if (!isPlainRecord(object)) return undefined
  const members = [object, ...listOf(object["allOf"]).map((part) => followed(part, root))]
  const found = new Map<string, unknown>()
  const required = new Set<unknown>()
  for (const member of members.filter(isPlainRecord)) {
    for (const name of listOf(member["required"])) required.add(name)
    const { properties } = member
    if (isPlainRecord(properties)) {
      for (const name of Object.keys(properties)) found.set(name, properties[name])
    }
  }
  if (found.size === 0 && object["type"] !== "object") return undefined
  return Array.from(found, ([name, property]) => ({
    name,
    isRequired: required.has(name),
    type: typeText(property, root),
    text: wordsOf(followed(property, root), property),
    schema: property,
  })).toSorted((left, right) => Number(right.isRequired) - Number(left.isRequired))
}

/** Properties including nested ones, with the names of a command line: `body.title`. */
export function nestedPropertiesOf(schema: unknown): readonly Property[] | undefined {
  return propertiesOf(schema)?.flatMap((property) => {
    const inner = propertiesOf(property.schema, schema) ?? []
    const { name: parent } = property
    return [property, ...inner.map((one) => ({ ...one, name: `${parent}.${one.name}`, parent }))]
  })
}

/** A schema as a short type: `string[]`, `"a" | "b"`, `integer | null`. */
export function typeText(schema: unknown, root: unknown = schema, depth = 0): string {
  if (schema === false) return "nothing"
  const node = followed(schema, root)
  if (!isPlainRecord(node)) return "anything"
  if (depth > MAX_DEPTH) return typeof node["type"] === "string" ? node["type"] : "…"
  if ("const" in node) return JSON.stringify(node["const"])
  const choices = node["enum"]
  if (Array.isArray(choices)) return union(choices.map((value) => JSON.stringify(value)))
  const any = [...listOf(node["anyOf"]), ...listOf(node["oneOf"])]
  if (any.length > 0) return union(any.map((one) => typeText(one, root, depth + 1)))
  const { type } = node
  if (Array.isArray(type)) {
    return union(type.map((one) => typeText({ ...node, type: one as unknown }, root, depth + 1)))
  }
  return single(node, type, root, depth)
}

function single(
  node: Readonly<Record<string, unknown>>,
  type: unknown,
  root: unknown,
  depth: number,
): string {
  if (type === "array") {
    const item = typeText(node["items"], root, depth + 1)
    return item.includes(" ") ? `(${item})[]` : `${item}[]`
  }
  if (type === "string") {
    const { format } = node
    return typeof format === "string" ? `string (${format})` : "string"
  }
  if (typeof type === "string") return type
  if (isPlainRecord(node["properties"]) || Array.isArray(node["allOf"])) return "object"
  return "anything"
}

function union(types: readonly string[]): string {
  const different = [...new Set(types)]
  const more = different.length - MAX_CHOICES
  return more > 0
    ? `${different.slice(0, MAX_CHOICES).join(" | ")} | … ${more} more`
    : different.join(" | ")
}

function wordsOf(followedNode: unknown, property: unknown): string {
  const nodes = [property, followedNode].filter(isPlainRecord)
  const first = (key: string): unknown =>
    nodes.map((node) => node[key]).find((value) => value !== undefined)
  const description = first("description") ?? first("title")
  const given = first("default")
  return [
    ...(first("deprecated") === true ? ["(deprecated)"] : []),
    ...(typeof description === "string" ? [description.trim()] : []),
    ...(given === undefined ? [] : [`(default: ${JSON.stringify(given)})`]),
  ].join(" ")
}

/** Resolves references within a schema; returns the schema itself when a target is missing. */
function followed(schema: unknown, root: unknown): unknown {
  let node = schema
  for (let hops = 0; hops < 32; hops++) {
    const target = isPlainRecord(node) ? node["$ref"] : undefined
    if (typeof target !== "string") return node
    const found = target === "#" ? root : lookUp(target, root)
    if (found === undefined) return node
    node = found
  }
  return node
}

function lookUp(target: string, root: unknown): unknown {
  if (!target.startsWith("#/")) return undefined
  let node = root
  for (const part of target.slice(2).split("/")) {
    if (typeof node !== "object" || node === null) return undefined
    node = getOwn(node, unescaped(part))
  }
  return node
}

function unescaped(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~")
  } catch {
    return part
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
