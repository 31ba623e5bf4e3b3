import fc from "fast-check"
import { isRecord } from "../../../src/internal/guards.ts"

type Node = Readonly<Record<string, unknown>>

const MAX_DEPTH = 24
const MAX_BRANCHES = 12

/** A schema that goes on for ever, or that no value fits as far as this can tell. */
class Stuck extends Error {}

/**
 * The smallest value that fits a closed schema of an imported operation: only what is required, and
 * the first of several alternatives that comes to an end.
 */
export function minimalValue(schema: unknown): unknown {
  const root = isRecord(schema) ? schema : {}
  return make([schema], isRecord(root["$defs"]) ? root["$defs"] : {}, 0)
}

/** One value for all of these schemas. */
function make(schemas: readonly unknown[], $defs: Node, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new Stuck()
  const nodes = flatten(schemas, $defs)
  for (const node of nodes) if (Object.hasOwn(node, "const")) return node["const"]
  const values = common(nodes.map(({ enum: list }) => list).filter((list) => Array.isArray(list)))
  if (values !== undefined) return pick(values, nodes)
  for (const keyword of ["oneOf", "anyOf"]) {
    const index = nodes.findIndex((node) => Array.isArray(node[keyword]))
    if (index === -1) continue
    const { [keyword]: branches, ...rest } = nodes[index] as Node
    const others = [...nodes.slice(0, index), rest, ...nodes.slice(index + 1)]
    return firstOf(branches as unknown[], (branch) => make([...others, branch], $defs, depth + 1))
  }
  switch (typeOf(nodes)) {
    case "null":
      return null
    case "boolean":
      return true
    case "integer":
    case "number":
      return numberFor(nodes)
    case "string":
      return textFor(nodes)
    case "array":
      return listFor(nodes, $defs, depth)
    case "object":
      return objectFor(nodes, $defs, depth)
    case "binary":
      return new Uint8Array([1])
    default:
      return "x"
  }
}

/** The schemas without references and `allOf`. */
function flatten(schemas: readonly unknown[], $defs: Node): Node[] {
  const found: Node[] = []
  const seen = new Set<unknown>()
  const visit = (schema: unknown): void => {
    if (schema === false) throw new Stuck()
    if (!isRecord(schema) || seen.has(schema)) return
    seen.add(schema)
    const { $ref, allOf, ...own } = schema
    found.push(own)
    if (typeof $ref === "string") visit($defs[$ref.replace("#/$defs/", "")])
    if (Array.isArray(allOf)) for (const member of allOf) visit(member)
  }
  for (const schema of schemas) visit(schema)
  return found
}

function firstOf(branches: readonly unknown[], build: (branch: unknown) => unknown): unknown {
  let last: unknown
  // One that may be null says the least.
  const isNull = (branch: unknown): boolean => isRecord(branch) && branch["type"] === "null"
  const ordered = [...branches.filter((one) => !isNull(one)), ...branches.filter(isNull)]
  for (const branch of ordered.slice(0, MAX_BRANCHES)) {
    try {
      return build(branch)
    } catch (error) {
      if (!(error instanceof Stuck)) throw error
      last = error
    }
  }
  throw last ?? new Stuck()
}

function common(lists: ReadonlyArray<readonly unknown[]>): readonly unknown[] | undefined {
  const [first, ...others] = lists
  return first?.filter((value) =>
    others.every((list) => list.some((one) => JSON.stringify(one) === JSON.stringify(value))),
  )
}

function pick(values: readonly unknown[], nodes: readonly Node[]): unknown {
  const type = typeOf(nodes)
  const fits = (value: unknown): boolean =>
    type === undefined ||
    type === (value === null ? "null" : typeof value) ||
    (type === "integer" && typeof value === "number")
  const found = values.filter(fits).find((value) => value !== "") ?? values[0]
  if (values.length === 0) throw new Stuck()
  return found
}

function typeOf(nodes: readonly Node[]): string | undefined {
  const lists = nodes.flatMap(({ type }) =>
    type === undefined ? [] : [Array.isArray(type) ? (type as string[]) : [type as string]],
  )
  const [first, ...others] = lists
  if (first === undefined) {
    if (nodes.some(({ properties, required }) => properties ?? required)) return "object"
    if (nodes.some(({ items, prefixItems }) => items ?? prefixItems)) return "array"
    if (nodes.some(({ format }) => format === "binary")) return "binary"
    if (nodes.some(({ pattern, minLength }) => pattern ?? minLength)) return "string"
    if (nodes.some(({ minimum, maximum }) => minimum ?? maximum)) return "number"
    return undefined
  }
  const fits = (type: string): boolean =>
    others.every((list) => list.includes(type) || (type === "integer" && list.includes("number")))
  const types = [...first, ...others.flat()]
    .filter((type) => first.includes(type) || (type === "integer" && first.includes("number")))
    .filter(fits)
  const found = types.find((type) => type !== "null") ?? types[0]
  if (found === undefined) throw new Stuck()
  return found
}

function limit(nodes: readonly Node[], key: string, choose: "max" | "min"): number | undefined {
  const found = nodes.map((node) => node[key]).filter((value) => typeof value === "number")
  return found.length === 0 ? undefined : Math[choose](...found)
}

function numberFor(nodes: readonly Node[]): number {
  const isWhole = nodes.some(
    ({ type }) => type === "integer" || (Array.isArray(type) && type.includes("integer")),
  )
  const step = limit(nodes, "multipleOf", "max") ?? (isWhole ? 1 : undefined)
  const most = limit(nodes, "maximum", "min")
  const above = limit(nodes, "exclusiveMinimum", "max")
  const below = limit(nodes, "exclusiveMaximum", "min")
  let value = limit(nodes, "minimum", "max") ?? Math.min(1, most ?? 1)
  if (above !== undefined && value <= above) value = above + (step ?? 0.5)
  if (below !== undefined && value >= below) value = below - (step ?? 0.5)
  return step === undefined ? value : Math.ceil(value / step) * step
}

const FORMATS: Readonly<Record<string, string>> = {
  date: "2024-01-31",
  "date-time": "2024-01-31T12:00:00Z",
  time: "12:00:00Z",
  duration: "PT1S",
  email: "ada@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/x",
  url: "https://example.com/x",
  "uri-reference": "/x",
  uuid: "7b6f4d0e-6a0c-4a64-9a54-0f3b6a1f6c11",
  byte: "eA==",
  "json-pointer": "/x",
  regex: "x",
}

function textFor(nodes: readonly Node[]): string {
  const least = limit(nodes, "minLength", "max") ?? 0
  const most = limit(nodes, "maxLength", "min") ?? Infinity
  const patterns = nodes.map(({ pattern }) => pattern).filter((one) => typeof one === "string")
  const formats = nodes
    .map(({ format }) => FORMATS[String(format)])
    .filter((one) => one !== undefined)
  const candidates = [...formats, "x".repeat(Math.max(1, least)), "1".repeat(Math.max(1, least))]
  const fits = (text: string): boolean =>
    text.length >= least &&
    text.length <= most &&
    patterns.every((pattern) => new RegExp(pattern, "u").test(text))
  const found = candidates.find(fits) ?? sampled(patterns).find(fits)
  if (found === undefined) throw new Stuck()
  return found
}

/** Samples by their pattern: making them takes long, and the operations of a document share their patterns. */
const samples = new Map<string, readonly string[]>()

/** Texts that fit the longest of some patterns, always the same ones. */
function sampled(patterns: readonly string[]): readonly string[] {
  const [longest] = patterns.toSorted((left, right) => right.length - left.length)
  if (longest === undefined) return []
  const known = samples.get(longest) ?? sample(longest)
  samples.set(longest, known)
  return known
}

function sample(pattern: string): readonly string[] {
  try {
    return fc.sample(fc.stringMatching(new RegExp(pattern)), { numRuns: 200, seed: 7 })
  } catch {
    return []
  }
}

function listFor(nodes: readonly Node[], $defs: Node, depth: number): unknown[] {
  const least = limit(nodes, "minItems", "max") ?? 0
  const isUnique = nodes.some(({ uniqueItems }) => uniqueItems === true)
  const items = nodes.map((node) => node["items"]).filter((one) => one !== undefined)
  const list: unknown[] = []
  for (let index = 0; index < Math.min(least, 50); index++) {
    const prefix = nodes.flatMap(({ prefixItems }) =>
      Array.isArray(prefixItems) && index < prefixItems.length
        ? [prefixItems[index] as unknown]
        : [],
    )
    const value = make(prefix.length > 0 ? prefix : items, $defs, depth + 1)
    list.push(isUnique && index > 0 && typeof value === "string" ? value + index : value)
  }
  return list
}

function objectFor(nodes: readonly Node[], $defs: Node, depth: number): object {
  const required = new Set(
    nodes.flatMap((node) =>
      Array.isArray(node["required"]) ? (node["required"] as string[]) : [],
    ),
  )
  const least = limit(nodes, "minProperties", "max") ?? 0
  const known = nodes.flatMap(({ properties }) =>
    isRecord(properties) ? Object.keys(properties) : [],
  )
  for (const name of known) if (required.size < least) required.add(name)
  for (let index = 0; required.size < least; index++) required.add(`p${index}`)
  const value: Record<string, unknown> = {}
  for (const name of required) {
    const schemas = nodes.flatMap(({ properties, additionalProperties }) => {
      if (isRecord(properties) && Object.hasOwn(properties, name)) return [properties[name]]
      return additionalProperties === undefined ? [] : [additionalProperties]
    })
    Object.defineProperty(value, name, {
      value: make(schemas, $defs, depth + 1),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return value
}
