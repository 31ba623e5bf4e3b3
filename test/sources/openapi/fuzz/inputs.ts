import { HOSTILE } from "./junk.ts"
import type { Random } from "./random.ts"

type Node = Readonly<Record<string, unknown>>

const MAX_DEPTH = 4

/** A value that a schema may accept; now and then one that nobody would send in good faith. */
export function valueFor(schema: unknown, root: Node, random: Random, depth = 0): unknown {
  if (random.once(12)) return hostile(random)
  if (typeof schema !== "object" || schema === null) return hostile(random)
  const node = schema as Node
  const { $ref, $defs, enum: values, anyOf, oneOf, allOf, type } = node
  const top = $defs === undefined ? root : node
  if (typeof $ref === "string") {
    const name = $ref.replace("#/$defs/", "")
    const definitions = (top["$defs"] ?? {}) as Node
    if (depth > MAX_DEPTH || !Object.hasOwn(definitions, name)) return hostile(random)
    return valueFor(definitions[name], top, random, depth + 1)
  }
  if ("const" in node) return node["const"]
  if (isFilled(values)) return random.pick(values)
  const either = [anyOf, oneOf].find(isFilled)
  if (either !== undefined) return valueFor(random.pick(either), top, random, depth + 1)
  if (isFilled(allOf)) {
    const members = allOf.slice(0, 5).map((member) => valueFor(member, top, random, depth + 1))
    return members.every(isObject) ? Object.assign({}, ...members) : members[0]
  }
  const kinds = Array.isArray(type) ? (type as unknown[]) : [type]
  switch (kinds.length === 0 ? undefined : random.pick(kinds)) {
    case "string":
      return random.once(3) ? random.pick(HOSTILE) : "text"
    case "integer":
      return random.pick([0, 1, -7, 2 ** 53])
    case "number":
      return random.pick([0, 1.5, -1e21])
    case "boolean":
      return random.once(2)
    case "null":
      return null
    case "array":
      return listFor(node, top, random, depth)
    case "object":
      return objectFor(node, top, random, depth)
    case undefined:
      if (isObject(node["properties"])) return objectFor(node, top, random, depth)
      return node["format"] === "binary" ? new Uint8Array([1, 2]) : hostile(random)
    default:
      return hostile(random)
  }
}

function listFor(node: Node, root: Node, random: Random, depth: number): unknown[] {
  const length = depth > MAX_DEPTH ? 0 : random.below(4)
  return Array.from({ length }, () => valueFor(node["items"], root, random, depth + 1))
}

function objectFor(node: Node, root: Node, random: Random, depth: number): object {
  const out: Record<string, unknown> = {}
  const { properties, required } = node
  if (!isObject(properties)) return random.once(3) ? { [random.pick(HOSTILE)]: "x" } : out
  const wanted = new Set(Array.isArray(required) ? (required as unknown[]) : [])
  for (const key of Object.keys(properties).slice(0, 30)) {
    const isWanted = wanted.has(key) ? !random.once(20) : depth <= MAX_DEPTH && random.once(2)
    if (!isWanted) continue
    const value = valueFor((properties as Node)[key], root, random, depth + 1)
    Object.defineProperty(out, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return out
}

function hostile(random: Random): unknown {
  return random.pick<() => unknown>([
    () => random.pick(HOSTILE),
    () => random.pick(HOSTILE),
    () => null,
    () => undefined,
    () => [],
    () => [random.pick(HOSTILE), null, { a: [1] }],
    () => ({}),
    () => JSON.parse('{"__proto__":{"polluted":true},"a":{"b":[1,{"c":"\\r\\n"}]}}') as unknown,
    () => 1e21,
    () => Number.NaN,
    () => 10n,
    () => new Date(0),
    () => new Uint8Array([0, 255]),
    () => new Blob(["x"], { type: "text/plain\r\n" }),
    () => new Map([["a", 1]]),
    () => Symbol("x"),
    () => () => 1,
    () => {
      const cyclic: { self?: unknown } = {}
      cyclic.self = cyclic
      return cyclic
    },
  ])()
}

function isFilled(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
