// Unions and intersections, with what is plainly superfluous left out.

import { NEVER, UNKNOWN } from "./model.ts"
import type { ObjectNode, PropertyNode, TypeNode } from "./model.ts"
import { keyOf } from "./key.ts"

/** Any of these. */
export function union(members: readonly TypeNode[]): TypeNode {
  const [first] = members
  if (members.length === 1 && first !== undefined) return first
  const found = new Map<string, TypeNode>()
  for (const member of members.flatMap((one) => (one.kind === "union" ? one.members : [one]))) {
    if (member === UNKNOWN) return UNKNOWN
    if (member !== NEVER) found.set(keyOf(member), member)
  }
  const kept = [...found.values()]
  const [only] = kept
  if (only === undefined) return NEVER
  return kept.length === 1 ? only : { kind: "union", members: kept }
}

/** All of these. */
export function intersection(members: readonly TypeNode[]): TypeNode {
  const known = members.filter((member) => member !== UNKNOWN)
  const [first] = known
  if (known.length === 1 && first !== undefined) return first
  const found = new Map<string, TypeNode>()
  let object: ObjectNode | undefined
  const parts = known.flatMap((one) => (one.kind === "intersection" ? one.members : [one]))
  for (const member of parts) {
    if (member === NEVER) return NEVER
    if (isListed(member)) object = object === undefined ? member : joined(object, member)
    else found.set(keyOf(member), member)
  }
  const kept = [...found.values(), ...(object === undefined ? [] : [object])]
  const [only] = kept
  if (only === undefined) return UNKNOWN
  return kept.length === 1 ? only : { kind: "intersection", members: kept }
}

/** Objects that list their properties can be written as one. */
function isListed(node: TypeNode): node is ObjectNode {
  return node.kind === "object" && node.index.length === 0
}

function joined(left: ObjectNode, right: ObjectNode): ObjectNode {
  const properties = new Map<string, PropertyNode>()
  for (const property of [...left.properties, ...right.properties]) {
    const known = properties.get(property.key)
    properties.set(property.key, known === undefined ? property : both(known, property))
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
