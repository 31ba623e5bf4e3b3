// Unions and intersections, without redundant members.

import { NEVER, UNKNOWN } from "./model.ts"
import type { NamedType, ObjectNode, PropertyNode, TypeNode } from "./model.ts"

/** A union of types. */
export function union(members: readonly TypeNode[]): TypeNode {
  const [first] = members
  if (members.length === 1 && first !== undefined) return first
  const byKey = new Map<string, TypeNode>()
  for (const member of members.flatMap((one) => (one.kind === "union" ? one.members : [one]))) {
    if (member === UNKNOWN) return UNKNOWN
    if (member !== NEVER) byKey.set(keyOf(member), member)
  }
  const kept = [...byKey.values()]
  const [only] = kept
  if (only === undefined) return NEVER
  return kept.length === 1 ? only : { kind: "union", members: kept }
}

/** An intersection of types. */
export function intersection(members: readonly TypeNode[]): TypeNode {
  const constraints = members.filter((member) => member !== UNKNOWN)
  const [first] = constraints
  if (constraints.length === 1 && first !== undefined) return first
  const byKey = new Map<string, TypeNode>()
  let object: ObjectNode | undefined
  const parts = constraints.flatMap((one) => (one.kind === "intersection" ? one.members : [one]))
  for (const member of parts) {
    if (member === NEVER) return NEVER
    if (isListed(member)) object = object === undefined ? member : joined(object, member)
    else byKey.set(keyOf(member), member)
  }
  const kept = [...byKey.values(), ...(object === undefined ? [] : [object])]
  const [only] = kept
  if (only === undefined) return UNKNOWN
  return kept.length === 1 ? only : { kind: "intersection", members: kept }
}

/** Whether a type is an object with listed properties; several of these merge into one. */
function isListed(node: TypeNode): node is ObjectNode {
  return node.kind === "object" && node.index.length === 0
}

function joined(left: ObjectNode, right: ObjectNode): ObjectNode {
  const properties = new Map<string, PropertyNode>()
  for (const property of [...left.properties, ...right.properties]) {
    const existing = properties.get(property.key)
    properties.set(property.key, existing === undefined ? property : both(existing, property))
  }
  return { kind: "object", properties: [...properties.values()], index: [] }
}

function both(left: PropertyNode, right: PropertyNode): PropertyNode {
  return {
    key: left.key,
    type: intersection([left.type, right.type]),
    isOptional: left.isOptional && right.isOptional,
    comment: right.comment ?? left.comment,
  }
}

const numbers = new WeakMap<NamedType, number>()
let count = 0

function numberOf(type: NamedType): string {
  let number = numbers.get(type)
  if (number === undefined) numbers.set(type, (number = ++count))
  return String(number)
}

/**
 * A text that is equal for equal types.
 *
 * Named types are compared by `named`; by default each is different from all others.
 */
export function keyOf(node: TypeNode, named: (type: NamedType) => string = numberOf): string {
  const key = (inner: TypeNode): string => keyOf(inner, named)
  switch (node.kind) {
    case "word":
      return node.text
    case "literal":
      return JSON.stringify(node.value)
    case "named":
      return `#${named(node.type)}#`
    case "object": {
      const properties = node.properties.map(
        ({ key: name, isOptional, type }) =>
          `${JSON.stringify(name)}${isOptional ? "?" : ""}:${key(type)}`,
      )
      const index = node.index.map(({ prefix, type }) => `[${JSON.stringify(prefix)}]:${key(type)}`)
      return `{${[...properties, ...index].join()}}`
    }
    case "array":
      return `[]${key(node.item)}`
    case "tuple":
      return `[${node.items.map(key).join()};${node.minItems};${node.rest ? key(node.rest) : ""}]`
    case "union":
      return `(${node.members.map(key).join("|")})`
    case "intersection":
      return `(${node.members.map(key).join("&")})`
    case "error":
      return `!${JSON.stringify(node.code)}${key(node.details)}`
  }
}
