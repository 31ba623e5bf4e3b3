// Equality of types, without comments.

import type { NamedType, TypeNode } from "./model.ts"

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
