// Objects: properties, which of them are required, and which others are allowed.

import { isRecord } from "../internal/guards.ts"
import { getOwn } from "../schema/json.ts"
import { union } from "./combine.ts"
import { commentOf } from "./comments.ts"
import { NEVER, OPEN_OBJECT, UNDEFINED, UNKNOWN } from "./model.ts"
import type { IndexNode, ObjectNode, PropertyNode, TypeNode } from "./model.ts"

/** The part of the converter that objects need. */
export interface ObjectReader {
  convert(schema: unknown): TypeNode
  /** Whether a required property may be left out, because a default fills it in. */
  isFilled(schema: unknown): boolean
}

type Schema = Readonly<Record<string, unknown>>

/** Maximum number of listed keys; more become an index signature. */
const MAX_KEYS = 1000

/** The type of an object schema. */
export function objectType(schema: Schema, reader: ObjectReader): ObjectNode {
  const properties = [...listed(schema, reader)]
  const rest = restOf(schema, reader)
  const keys = new Set(properties.map(({ key }) => key))
  for (const key of requiredKeys(schema)) {
    if (!keys.has(key)) properties.push({ key, type: rest.required, isOptional: false })
    keys.add(key)
  }
  for (const key of rest.keys ?? []) {
    if (!keys.has(key)) properties.push({ key, type: rest.required, isOptional: true })
  }
  if (rest.keys !== undefined) return { kind: "object", properties, index: [] }
  const index = rest.index.map((one) => widened(one, rest.index, properties))
  if (properties.length === 0 && index.length === 0) {
    return rest.isClosed ? { kind: "object", properties, index: [NOTHING] } : OPEN_OBJECT
  }
  return { kind: "object", properties, index }
}

const NOTHING: IndexNode = { prefix: "", type: NEVER }

function* listed(schema: Schema, reader: ObjectReader): Iterable<PropertyNode> {
  const { properties } = schema
  if (!isRecord(properties)) return
  const required = requiredKeys(schema)
  for (const [key, property] of Object.entries(properties)) {
    yield {
      key,
      type: reader.convert(property),
      isOptional: !required.has(key) || reader.isFilled(property),
      comment: isRecord(property) ? commentOf(property) : undefined,
    }
  }
}

function requiredKeys({ required }: Schema): ReadonlySet<string> {
  if (!Array.isArray(required)) return new Set()
  return new Set(required.filter((key) => typeof key === "string"))
}

/** Properties beyond the listed ones. */
interface Rest {
  readonly index: readonly IndexNode[]
  /** The schema allows no others. */
  readonly isClosed: boolean
  /** The only keys that are allowed. */
  readonly keys: readonly string[] | undefined
  /** Type of a required property that is not listed. */
  readonly required: TypeNode
}

function restOf(schema: Schema, reader: ObjectReader): Rest {
  const { additionalProperties: additional, patternProperties } = schema
  const isClosed = additional === false
  const isOpen = additional === undefined
  const patterns = isRecord(patternProperties) ? Object.entries(patternProperties) : []
  const index = patterns.map(([pattern, inner]) => ({
    prefix: prefixOf(pattern),
    type: reader.convert(inner),
  }))
  const others = isClosed ? NEVER : reader.convert(additional ?? true)
  const keys = isClosed || patterns.length > 0 ? undefined : namedKeys(schema["propertyNames"])
  // By default others are allowed but not intended: without an index the compiler finds misspelt keys.
  if (!isClosed && !isOpen) index.push({ prefix: "", type: others })
  else if (isOpen && patterns.length > 0) index.push({ prefix: "", type: UNKNOWN })
  const required = patterns.length > 0 ? UNKNOWN : others
  return { index: grouped(index), isClosed, keys, required }
}

/** The keys that `propertyNames` lists. */
function namedKeys(names: unknown): readonly string[] | undefined {
  const listedKeys = isRecord(names) ? getOwn(names, "enum") : undefined
  if (!Array.isArray(listedKeys) || listedKeys.length > MAX_KEYS) return undefined
  return listedKeys.filter((key) => typeof key === "string")
}

/** The common prefix of keys that match a pattern; "" when there is none. */
function prefixOf(pattern: string): string {
  // A character with a quantifier is not part of the prefix.
  return /^\^([A-Za-z0-9_/ -]+)(?![A-Za-z0-9_/ -]|[?*{+|])(?!.*\|)/.exec(pattern)?.[1] ?? ""
}

/** Merges index entries of one prefix; an entry for all keys absorbs the others. */
function grouped(index: readonly IndexNode[]): IndexNode[] {
  const types = new Map<string, TypeNode[]>()
  const isAny = index.some(({ prefix }) => prefix === "")
  for (const { prefix, type } of index) {
    const at = isAny ? "" : prefix
    types.set(at, [...(types.get(at) ?? []), type])
  }
  return Array.from(types, ([prefix, members]) => ({ prefix, type: union(members) }))
}

/** Widens index types: TypeScript requires them to include listed properties and longer prefixes. */
function widened(
  own: IndexNode,
  all: readonly IndexNode[],
  properties: readonly PropertyNode[],
): IndexNode {
  const covered = properties.filter(({ key }) => key.startsWith(own.prefix))
  const types = [
    own.type,
    ...all.filter(({ prefix }) => prefix.startsWith(own.prefix)).map(({ type }) => type),
    ...covered.map(({ type }) => type),
    ...(covered.some(({ isOptional }) => isOptional) ? [UNDEFINED] : []),
  ]
  return { prefix: own.prefix, type: types.length > MAX_TYPES ? UNKNOWN : union(types) }
}

/** Maximum number of types in the union of an index; more become `unknown`. */
const MAX_TYPES = 12
