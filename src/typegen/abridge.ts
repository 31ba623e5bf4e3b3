// Types without their details, for readers with little space.

import { OPEN_INDEX, STRING, UNKNOWN } from "./model.ts"
import type { NamedType, ObjectNode, TypeNode, UnionNode } from "./model.ts"

/** How much of a type is kept. */
export interface Extent {
  /** Objects within objects, down to this level. */
  readonly depth: number
  /** Properties of an object, or members of a union. */
  readonly members: number
}

/** Maximum length of keys and strings; longer ones are generated. */
const MAX_TEXT = 200

/** Cuts a type at a depth: deeper types become `unknown`. Declared types keep their names. */
export function abridged(node: TypeNode, extent: Extent): TypeNode {
  const inner = (one: TypeNode): TypeNode => abridged(one, extent)
  switch (node.kind) {
    case "word":
    case "named":
      return node
    case "literal":
      return typeof node.value === "string" && node.value.length > MAX_TEXT ? STRING : node
    case "object":
      return extent.depth > 0 ? abridgedObject(node, extent) : UNKNOWN
    case "array":
      return { ...node, item: inner(node.item) }
    case "tuple": {
      const items = node.items.slice(0, extent.members).map(inner)
      const isWhole = items.length === node.items.length
      const rest = isWhole ? node.rest && inner(node.rest) : UNKNOWN
      return { kind: "tuple", items, minItems: Math.min(node.minItems, items.length), rest }
    }
    case "union":
      return abridgedUnion(node, extent)
    case "intersection":
      return { ...node, members: node.members.slice(0, extent.members).map(inner) }
    case "error":
      return { ...node, details: inner(node.details) }
  }
}

/** The declared types that a type mentions. */
export function mentioned(node: TypeNode): NamedType[] {
  switch (node.kind) {
    case "word":
    case "literal":
      return []
    case "named":
      return [node.type]
    case "object":
      return [...node.properties, ...node.index].flatMap(({ type }) => mentioned(type))
    case "array":
      return mentioned(node.item)
    case "tuple":
      return [...node.items, ...(node.rest === undefined ? [] : [node.rest])].flatMap(mentioned)
    case "union":
    case "intersection":
      return node.members.flatMap(mentioned)
    case "error":
      return mentioned(node.details)
  }
}

function abridgedObject(node: ObjectNode, extent: Extent): ObjectNode {
  const deeper = { ...extent, depth: extent.depth - 1 }
  const kept = node.properties
    .filter(({ key }) => key.length <= MAX_TEXT)
    .slice(0, extent.members)
    .map((one) => ({ ...one, type: abridged(one.type, deeper) }))
  const isWhole = kept.length === node.properties.length
  const index = node.index
    .filter(({ prefix }) => prefix.length <= MAX_TEXT)
    .map((one) => ({ ...one, type: abridged(one.type, deeper) }))
  return { ...node, properties: kept, index: isWhole ? index : [OPEN_INDEX] }
}

function abridgedUnion(node: UnionNode, extent: Extent): TypeNode {
  const members = node.members.slice(0, extent.members).map((one) => abridged(one, extent))
  if (members.includes(UNKNOWN)) return UNKNOWN
  if (members.length === node.members.length) return { kind: "union", members }
  const isText = node.members.every(
    (one) => one.kind === "literal" && typeof one.value === "string",
  )
  return isText ? { kind: "union", members: [...members, STRING] } : UNKNOWN
}
