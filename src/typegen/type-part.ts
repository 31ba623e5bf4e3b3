// The part of a type at a path.

import { didYouMean } from "../internal/suggest.ts"
import { NEVER } from "./model.ts"
import type { ObjectNode, TypeNode } from "./model.ts"

/** A path that an input does not have. */
export class PartError extends Error {}

/** The part of a type at a path of names. Lists are passed through; a number in the path may name an item. */
export function partAt(root: TypeNode, path: readonly string[]): TypeNode {
  let parts: readonly TypeNode[] = [root]
  for (const [at, name] of path.entries()) {
    const inner = parts.flatMap((part) => membersOf(part, name))
    const isItem = inner.length === 0 && /^\d+$/.test(name)
    if (inner.length === 0 && !isItem) {
      const names = [...new Set(parts.flatMap((part) => namesOf(part)))]
      const place = at === 0 ? "The input" : `"/${path.slice(0, at).join("/")}"`
      const has = names.length === 0 ? "no members" : `the members ${names.slice(0, 20).join(", ")}`
      const wrong = name.slice(0, 100)
      throw new PartError(`${place} has no "${wrong}".${didYouMean(wrong, names)} It has ${has}.`)
    }
    if (!isItem) parts = inner
  }
  const [only] = parts
  return parts.length === 1 && only !== undefined ? bodyOf(only) : { kind: "union", members: parts }
}

/** A type in the place of its name. */
function bodyOf(node: TypeNode): TypeNode {
  return node.kind === "named" ? node.type.body : node
}

function namesOf(node: TypeNode): string[] {
  return objectsIn(node).flatMap(({ properties }) => properties.map(({ key }) => key))
}

function membersOf(node: TypeNode, name: string): TypeNode[] {
  return objectsIn(node).flatMap(({ properties, index }) => {
    const own = properties.find(({ key }) => key === name)?.type
    const rest = index.find(({ prefix }) => name.startsWith(prefix))?.type
    const found = own ?? rest
    return found === undefined || found === NEVER ? [] : [found]
  })
}

/** The objects that a type may be, or that its items may be. */
function objectsIn(node: TypeNode, seen: Set<TypeNode> = new Set()): ObjectNode[] {
  if (seen.has(node)) return []
  seen.add(node)
  switch (node.kind) {
    case "object":
      return [node]
    case "named":
      return objectsIn(node.type.body, seen)
    case "array":
      return objectsIn(node.item, seen)
    case "tuple":
      return [...node.items, ...(node.rest === undefined ? [] : [node.rest])].flatMap((one) =>
        objectsIn(one, seen),
      )
    case "union":
    case "intersection":
      return node.members.flatMap((one) => objectsIn(one, seen))
    default:
      return []
  }
}
