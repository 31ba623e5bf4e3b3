import { factsOf } from "../schema/read/facts.ts"
import { flatten, propertiesOf as declaredProperties, requiredOf } from "../schema/read/flatten.ts"
import { scopeOf, type Part } from "../schema/read/resolve-ref.ts"
import { completeTypeText, typesOf } from "../schema/read/types.ts"

/** A property of an object, for display. */
export interface Property {
  readonly name: string
  readonly isRequired: boolean
  readonly isList: boolean
  readonly type: string
  /** Its description and default. */
  readonly text: string
  /** Its schemas, which all apply. */
  readonly parts: readonly Part[]
  /** The property that contains it. */
  readonly parent?: string | undefined
}

/** The properties of an object schema, the required ones first; `undefined` for other schemas. */
export function propertiesOf(schema: unknown): readonly Property[] | undefined {
  return propertiesWithin([partOf(schema)])
}

/** Properties including nested ones, with the names of a command line: `body.title`. */
export function nestedPropertiesOf(schema: unknown): readonly Property[] | undefined {
  return propertiesOf(schema)?.flatMap((property) => {
    const inner = propertiesWithin(property.parts) ?? []
    const { name: parent } = property
    return [property, ...inner.map((one) => ({ ...one, name: `${parent}.${one.name}`, parent }))]
  })
}

/** A schema as a short type: `string[]`, `"a" | "b"`, `integer | null`. */
export function typeText(schema: unknown): string {
  return completeTypeText(flatten([partOf(schema)]))
}

function partOf(schema: unknown): Part {
  return { schema, scope: scopeOf(schema) }
}

function propertiesWithin(parts: readonly Part[]): readonly Property[] | undefined {
  const object = flatten(parts)
  const properties = declaredProperties(object)
  if (properties.size === 0 && !typesOf(object).includes("object")) return undefined
  const required = requiredOf(object)
  return Array.from(properties, ([name, own]) =>
    propertyOf(name, own, required.has(name)),
  ).toSorted((left, right) => Number(right.isRequired) - Number(left.isRequired))
}

function propertyOf(name: string, parts: readonly Part[], isRequired: boolean): Property {
  const flat = flatten(parts)
  const { title, description = title, default: preset, isDeprecated } = factsOf(flat)
  const words = [
    ...(isDeprecated ? ["(deprecated)"] : []),
    ...(description === undefined ? [] : [description.trim()]),
    ...(preset === undefined ? [] : [`(default: ${preset})`]),
  ]
  const isList = typesOf(flat).join() === "array"
  return { name, isRequired, isList, type: completeTypeText(flat), text: words.join(" "), parts }
}
