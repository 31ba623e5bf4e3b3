// Objects: properties, which of them have to be there, and what else may.

import { getOwn, isPlainRecord } from "../schema/json.ts"
import { union } from "./combine.ts"
import { commentOf } from "./comments.ts"
import { NEVER, OPEN_OBJECT, UNDEFINED, UNKNOWN } from "./model.ts"
import type { IndexNode, ObjectNode, PropertyNode, TypeNode } from "./model.ts"

/** What reading an object needs of whoever reads its schema. */
export interface ObjectReader {
  convert(schema: unknown): TypeNode
  /** Whether a property may be left out although it is required. */
  isFilled(schema: unknown): boolean
}

type Schema = Readonly<Record<string, unknown>>

/** Keys that are listed one by one; more of them are any key. */
const MAX_KEYS = 1000

/** The type of a schema of objects. */
export function objectType(schema: Schema, reader: ObjectReader): ObjectNode {
  const properties = [...listed(schema, reader)]
  const rest = restOf(schema, reader)
  const known = new Set(properties.map(({ key }) => key))
  for (const key of requiredKeys(schema)) {
    if (!known.has(key)) properties.push({ key, type: rest.required, isOptional: false })
    known.add(key)
  }
  for (const key of rest.keys ?? []) {
    if (!known.has(key)) properties.push({ key, type: rest.required, isOptional: true })
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
  if (!isPlainRecord(properties)) return
  const required = requiredKeys(schema)
  for (const [key, property] of Object.entries(properties)) {
    yield {
      key,
      type: reader.convert(property),
      isOptional: !required.has(key) || reader.isFilled(property),
      comment: isPlainRecord(property) ? commentOf(property) : undefined,
    }
  }
}

function requiredKeys({ required }: Schema): ReadonlySet<string> {
  if (!Array.isArray(required)) return new Set()
  return new Set(required.filter((key) => typeof key === "string"))
}

/** What there may be beside the properties. */
interface Rest {
  readonly index: readonly IndexNode[]
  /** Nothing, as far as the schema says. */
  readonly isClosed: boolean
  /** The only keys there may be. */
  readonly keys: readonly string[] | undefined
  /** The type of a required property that is not listed. */
  readonly required: TypeNode
}

function restOf(schema: Schema, reader: ObjectReader): Rest {
  const { additionalProperties: additional, patternProperties } = schema
  const isClosed = additional === false
  const isOpen = additional === undefined
  const patterns = isPlainRecord(patternProperties) ? Object.entries(patternProperties) : []
  const index = patterns.map(([pattern, inner]) => ({
    prefix: prefixOf(pattern),
    type: reader.convert(inner),
  }))
  const others = isClosed ? NEVER : reader.convert(additional ?? true)
  const keys = isClosed || patterns.length > 0 ? undefined : namedKeys(schema["propertyNames"])
  // Left unsaid, others are allowed but not meant: a misspelt key is to be found.
  if (!isClosed && !isOpen) index.push({ prefix: "", type: others })
  else if (isOpen && patterns.length > 0) index.push({ prefix: "", type: UNKNOWN })
  const required = patterns.length > 0 ? UNKNOWN : others
  return { index: grouped(index), isClosed, keys, required }
}

/** The keys that `propertyNames` lists. */
function namedKeys(names: unknown): readonly string[] | undefined {
  const listedKeys = isPlainRecord(names) ? getOwn(names, "enum") : undefined
  if (!Array.isArray(listedKeys) || listedKeys.length > MAX_KEYS) return undefined
  return listedKeys.filter((key) => typeof key === "string")
}

/** The text that every key of a pattern begins with; "" when it can be any. */
function prefixOf(pattern: string): string {
  // A letter that may be repeated or left out does not belong to it.
  return /^\^([A-Za-z0-9_/ -]+)(?![A-Za-z0-9_/ -]|[?*{+|])(?!.*\|)/.exec(pattern)?.[1] ?? ""
}

/** One of each prefix; where any key may come, there is no other. */
function grouped(index: readonly IndexNode[]): IndexNode[] {
  const types = new Map<string, TypeNode[]>()
  const isAny = index.some(({ prefix }) => prefix === "")
  for (const { prefix, type } of index) {
    const at = isAny ? "" : prefix
    types.set(at, [...(types.get(at) ?? []), type])
  }
  return Array.from(types, ([prefix, found]) => ({ prefix, type: union(found) }))
}

/** TypeScript wants what is listed, and what has a longer prefix, to be among what is not. */
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

/** A union of more types than that says no more than that anything may come. */
const MAX_TYPES = 12
