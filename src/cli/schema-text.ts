import { isRecord } from "../internal/guards.ts"
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
}

/** The properties of an object schema, the required ones first; `undefined` for other schemas. */
export function propertiesOf(schema: unknown): readonly Property[] | undefined {
  return propertiesWithin([partOf(schema)])
}

/** Nesting beyond this is left out; a schema may contain itself. */
const MAX_DEPTH = 6
const MAX_PROPERTIES = 500

/** Properties including nested ones, with the names of a command line: `body.title`; `items[].sku` in the items of a list. */
export function nestedPropertiesOf(schema: unknown): readonly Property[] | undefined {
  const found: Property[] = []
  const add = (properties: readonly Property[], parent: string, depth: number): void => {
    for (const property of properties) {
      if (found.length >= MAX_PROPERTIES) return
      const name = parent === "" ? property.name : `${parent}.${property.name}`
      found.push({ ...property, name })
      if (depth >= MAX_DEPTH) continue
      const items = property.isList ? itemsOf(property.parts) : property.parts
      add(propertiesWithin(items) ?? [], property.isList ? `${name}[]` : name, depth + 1)
    }
  }
  const properties = propertiesOf(schema)
  if (properties === undefined) return undefined
  add(properties, "", 1)
  return found
}

function itemsOf(parts: readonly Part[]): readonly Part[] {
  return flatten(parts).layers.flatMap(({ schema, scope }) =>
    isRecord(schema["items"]) ? [{ schema: schema["items"], scope }] : [],
  )
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
