// Which named types are one and the same, and what each is called.

import { Names, typeName } from "./identifiers.ts"
import { keyOf } from "./key.ts"
import type { NamedType, TypeNode } from "./model.ts"

/** A declaration to be written. */
export interface Declared {
  readonly name: string
  readonly type: NamedType
}

/** The names of types, and the declarations behind them: one for all that are the same. */
export interface NamedTypes {
  readonly declarations: readonly Declared[]
  readonly nameOf: (type: NamedType) => string
}

/** Names types: equal ones that want the same name share it. None gets a name that is reserved. */
export function nameTypes(
  types: readonly NamedType[],
  reserved: readonly string[] = [],
): NamedTypes {
  const classes = sameTypes(types)
  const firsts = new Map<number, NamedType>()
  // Whoever reads results sees more types than who gives inputs: they come first.
  for (const type of [...types.filter(isOutput), ...types.filter((one) => !isOutput(one))]) {
    const same = classes.get(type) as number
    if (!firsts.has(same)) firsts.set(same, type)
  }
  const names = new Names(reserved)
  const nameOfClass = new Map<number, string>()
  const declarations: Declared[] = []
  for (const [same, type] of firsts) {
    const name = typeName(type.wanted)
    const given = isOutput(type) ? names.take(name) : names.take(name, `${name}Input`)
    nameOfClass.set(same, given)
    declarations.push({ name: given, type })
  }
  declarations.sort((left, right) => (left.name < right.name ? -1 : 1))
  return { declarations, nameOf: (type) => nameOfClass.get(classes.get(type) as number) as string }
}

function isOutput({ view }: NamedType): boolean {
  return view === "output"
}

/**
 * A number for each type, the same for those that are the same all the way down.
 *
 * They are told apart by what is in them, then by what is in those they refer to, and so on until
 * nothing new comes up; loops need no care this way.
 */
function sameTypes(types: readonly NamedType[]): Map<NamedType, number> {
  const refersTo = new Map<NamedType, NamedType[]>()
  let found = numbered(types, (type) => {
    const refs: NamedType[] = []
    refersTo.set(type, refs)
    return `${type.wanted}\n${skeleton(type.body, refs)}`
  })
  for (;;) {
    const { classes, count } = found
    const next = numbered(types, (type) =>
      [type, ...(refersTo.get(type) ?? [])].map((one) => classes.get(one)).join(),
    )
    if (next.count === count) return classes
    found = next
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
