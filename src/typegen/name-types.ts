// Which named types are equal, and the name of each.

import { Names, typeName } from "./identifiers.ts"
import { keyOf } from "./combine.ts"
import type { NamedType, TypeNode } from "./model.ts"

/** A declaration to be written. */
export interface Declared {
  readonly name: string
  readonly type: NamedType
}

/** Names of types, and one declaration for all equal types. */
export interface NamedTypes {
  readonly declarations: readonly Declared[]
  readonly nameOf: (type: NamedType) => string
}

/** Assigns names to types: equal types that want the same name share it. Reserved names are not used. */
export function nameTypes(
  types: readonly NamedType[],
  reserved: readonly string[] = [],
): NamedTypes {
  const classes = sameTypes(types)
  const firsts = new Map<number, NamedType>()
  // Types of outputs get their names first: users see more of them than of inputs.
  for (const type of [...types.filter(isOutput), ...types.filter((one) => !isOutput(one))]) {
    const same = classes.get(type) as number
    if (!firsts.has(same)) firsts.set(same, type)
  }
  const names = new Names(reserved)
  const nameOfClass = new Map<number, string>()
  const declarations: Declared[] = []
  for (const [same, type] of firsts) {
    const name = typeName(type.wanted)
    const uniqueName = isOutput(type) ? names.take(name) : names.take(name, `${name}Input`)
    nameOfClass.set(same, uniqueName)
    declarations.push({ name: uniqueName, type })
  }
  declarations.sort((left, right) => (left.name < right.name ? -1 : 1))
  return { declarations, nameOf: (type) => nameOfClass.get(classes.get(type) as number) as string }
}

function isOutput({ view }: NamedType): boolean {
  return view === "output"
}

/**
 * A number for each type, which is the same for types that are equal in depth.
 *
 * Types are distinguished by their bodies, then by the bodies they refer to, and so on until
 * nothing changes; this handles loops, too.
 */
function sameTypes(types: readonly NamedType[]): Map<NamedType, number> {
  const refersTo = new Map<NamedType, NamedType[]>()
  let current = numbered(types, (type) => {
    const refs: NamedType[] = []
    refersTo.set(type, refs)
    return `${type.wanted}\n${skeleton(type.body, refs)}`
  })
  for (;;) {
    const { classes, count } = current
    const next = numbered(types, (type) =>
      [type, ...(refersTo.get(type) ?? [])].map((one) => classes.get(one)).join(),
    )
    if (next.count === count) return classes
    current = next
  }
}

function numbered(
  types: readonly NamedType[],
  textOf: (type: NamedType) => string,
): { classes: Map<NamedType, number>; count: number } {
  const numbers = new Map<string, number>()
  const classes = new Map<NamedType, number>()
  for (const type of types) {
    const text = textOf(type)
    let number = numbers.get(text)
    if (number === undefined) numbers.set(text, (number = numbers.size))
    classes.set(type, number)
  }
  return { classes, count: numbers.size }
}

function skeleton(body: TypeNode, refs: NamedType[]): string {
  return keyOf(body, (type) => {
    refs.push(type)
    return ""
  })
}
