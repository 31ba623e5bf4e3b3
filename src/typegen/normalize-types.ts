// Simplifications that need all types to be known.

import { intersection, union } from "./combine.ts"
import { isOpenObject, mapParts, type NamedType, type TypeNode, UNKNOWN } from "./model.ts"

/** Maximum members of an intersection of unions, which the compiler expands to all pairs. */
const MAX_WIDTH = 2000

/** Outer properties of a type. */
interface Facts {
  /** All values are objects with known properties. */
  readonly isObject: boolean
  /** Number of members of its union. */
  readonly width: number
}

/**
 * Normalizes the bodies of all types, and returns a function that normalizes other types.
 *
 * A type that directly contains itself (`type A = A | B`) is cut there: the compiler
 * rejects it, and no value could be validated against it.
 */
export function normalizeTypes(types: readonly NamedType[]): (node: TypeNode) => TypeNode {
  const normalizer = new TypeNormalizer()
  const { ordered, looping } = inOrder(types)
  for (const type of ordered) normalizer.normalize(type)
  const isLooping = new Set(looping)
  for (const type of looping) type.body = withoutLoops(type.body, isLooping)
  for (const type of looping) normalizer.normalize(type)
  return (node) => normalizer.type(node)
}

class TypeNormalizer {
  readonly #facts = new Map<NamedType, Facts>()

  normalize(type: NamedType): void {
    type.body = this.type(type.body)
    this.#facts.set(type, this.#factsOf(type.body))
  }

  type(node: TypeNode): TypeNode {
    const inner = mapParts(node, (part) => this.type(part))
    if (inner.kind === "union") return union(inner.members)
    return inner.kind === "intersection" ? this.#narrowed(inner.members) : inner
  }

  /** Drops arbitrary objects next to known ones: they would hide misspelt keys. */
  #narrowed(members: readonly TypeNode[]): TypeNode {
    const isKnown = members.some((member) => this.#factsOf(member).isObject)
    let width = 1
    const kept = members.filter((member) => {
      if (isKnown && isOpenObject(member)) return false
      const wider = width * this.#factsOf(member).width
      if (wider > MAX_WIDTH && width > 1) return false
      width = wider
      return true
    })
    return intersection(kept)
  }

  #factsOf(node: TypeNode): Facts {
    switch (node.kind) {
      case "named":
        return this.#facts.get(node.type) ?? { isObject: false, width: 1 }
      case "object":
        return { isObject: !isOpenObject(node), width: 1 }
      case "union": {
        const facts = node.members.map((member) => this.#factsOf(member))
        return {
          isObject: facts.every(({ isObject }) => isObject),
          width: facts.reduce((sum, { width }) => sum + width, 0),
        }
      }
      case "intersection": {
        const facts = node.members.map((member) => this.#factsOf(member))
        return {
          isObject: facts.some(({ isObject }) => isObject),
          width: facts.reduce((product, { width }) => product * width, 1),
        }
      }
      default:
        return { isObject: false, width: 1 }
    }
  }
}

/** Types in order of dependency, and types that depend on themselves. */
function inOrder(types: readonly NamedType[]): { ordered: NamedType[]; looping: NamedType[] } {
  const users = new Map<NamedType, NamedType[]>()
  const missing = new Map<NamedType, number>()
  for (const type of types) {
    const parts = new Set(partsOf(type.body))
    missing.set(type, parts.size)
    for (const part of parts) users.set(part, [...(users.get(part) ?? []), type])
  }
  const ordered = types.filter((type) => missing.get(type) === 0)
  // The list grows during the loop.
  for (const type of ordered) {
    for (const user of users.get(type) ?? []) {
      const left = (missing.get(user) ?? 0) - 1
      missing.set(user, left)
      if (left === 0) ordered.push(user)
    }
  }
  const isOrdered = new Set(ordered)
  return { ordered, looping: types.filter((type) => !isOrdered.has(type)) }
}

/** The named types that a type directly consists of. */
function partsOf(node: TypeNode): NamedType[] {
  if (node.kind === "named") return [node.type]
  return node.kind === "union" || node.kind === "intersection" ? node.members.flatMap(partsOf) : []
}

function withoutLoops(node: TypeNode, looping: ReadonlySet<NamedType>): TypeNode {
  if (node.kind === "named") return looping.has(node.type) ? UNKNOWN : node
  if (node.kind !== "union" && node.kind !== "intersection") return node
  const members = node.members.map((member) => withoutLoops(member, looping))
  return node.kind === "union" ? union(members) : intersection(members)
}
