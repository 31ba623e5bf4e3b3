import { isRecord } from "../../../../src/internal/guards.ts"
import { hasKeys, listOf, textOf } from "../../../../src/schema/json.ts"
import { flatten, propertiesOf, requiredOf } from "../../../../src/schema/read/flatten.ts"
import type { Flat, Layer, Union } from "../../../../src/schema/read/flatten.ts"
import type { Part, Scope } from "../../../../src/schema/read/resolve-ref.ts"
import { choicesOf, MAX_MEMBERS, typeText, typesOf } from "../../../../src/schema/read/types.ts"
import { valuesOf } from "../../../../src/schema/read/values.ts"

/** What a child is to its parent. */
export type ChildKind = "property" | "names" | "item" | "option" | "choice" | "condition"

/** A part of a schema, and how it belongs to it. */
export interface ChildPart {
  readonly kind: ChildKind
  readonly label: string
  readonly isRequired: boolean
  /** All of these hold at once. */
  readonly parts: readonly Part[]
}

/** The parts of a schema that are shown below it. */
export function childParts(flat: Flat): readonly ChildPart[] {
  return [
    ...properties(flat),
    ...flat.layers.flatMap(otherNames),
    ...flat.layers.flatMap(items),
    ...choices(flat),
    ...flat.layers.flatMap(conditions),
  ]
}

/** Whether there are any; asked of every row, most of which are never opened. */
export function hasChildParts(flat: Flat): boolean {
  if (flat.layers.some(({ schema }) => hasKeys(schema["properties"]))) return true
  return childParts(flat).length > 0
}

function properties(flat: Flat): readonly ChildPart[] {
  const required = requiredOf(flat)
  return Array.from(propertiesOf(flat), ([label, parts]) => ({
    kind: "property",
    label,
    isRequired: required.has(label),
    parts,
  }))
}

function otherNames({ schema, scope }: Layer): readonly ChildPart[] {
  const { patternProperties, additionalProperties, unevaluatedProperties, propertyNames } = schema
  const patterns = isRecord(patternProperties) ? Object.entries(patternProperties) : []
  const open = isRecord(additionalProperties) ? additionalProperties : unevaluatedProperties
  return [
    ...patterns.map(([pattern, value]) => child("names", `names like ${pattern}`, value, scope)),
    ...(isInformative(open) ? [child("names", "other names", open, scope)] : []),
    ...(isInformative(propertyNames) ? [child("names", "each name", propertyNames, scope)] : []),
  ]
}

function items({ schema, scope }: Layer): readonly ChildPart[] {
  const places = listOf(schema["prefixItems"])
  const rest = schema["items"] ?? schema["unevaluatedItems"]
  const { contains } = schema
  const least = typeof schema["minItems"] === "number" ? schema["minItems"] : 0
  return [
    ...places.map((place, index) => ({
      ...child("item", `item ${index + 1}`, place, scope),
      isRequired: index < least,
    })),
    ...(isInformative(rest) && isWorthARow({ schema: rest, scope })
      ? [child("item", places.length > 0 ? "each other item" : "each item", rest, scope)]
      : []),
    ...(isInformative(contains) ? [child("item", "at least one item", contains, scope)] : []),
  ]
}

/** Several choices at once are shown one below the other. */
function choices(flat: Flat): readonly ChildPart[] {
  const unions = choicesOf(flat)
  const [only] = unions
  if (unions.length === 1 && only !== undefined) return options(only)
  return unions.map(({ kind, parts }) => {
    const [first] = parts
    const schema = { [kind]: parts.map((part) => part.schema) }
    const scope = first?.scope as Scope
    return child("choice", kind === "oneOf" ? "one of" : "any of", schema, scope)
  })
}

/** None where the type has said it all: `string | integer`. */
function options({ parts }: Union): readonly ChildPart[] {
  if (parts.length <= MAX_MEMBERS && !parts.some(isWorthARow)) return []
  return parts.map(({ schema, scope }, index) => {
    const name = optionName({ schema, scope })
    const label = name === undefined ? `option ${index + 1}` : `option ${index + 1}: ${name}`
    return child("option", label, schema, scope)
  })
}

/** The name of an option besides its type: its title, or a constant among its properties. */
function optionName(part: Part): string | undefined {
  const flat = flatten([part])
  const title = isRecord(part.schema) ? textOf(part.schema["title"]) : undefined
  if (title !== undefined || flat.name !== undefined) {
    return title === typeText(flat) ? undefined : title
  }
  for (const [name, parts] of propertiesOf(flat)) {
    const values = valuesOf(flatten(parts))
    if (values?.length === 1) return `${name} is ${JSON.stringify(values[0])}`
  }
  return undefined
}

function conditions({ schema, scope }: Layer): readonly ChildPart[] {
  const { not, if: when, then, else: otherwise, dependentSchemas } = schema
  const dependent = isRecord(dependentSchemas) ? Object.entries(dependentSchemas) : []
  return [
    ...(isInformative(not) ? [child("condition", "must not be", not, scope)] : []),
    ...(when === undefined ? [] : [child("condition", "if it is", when, scope)]),
    ...(isInformative(then) ? [child("condition", "then it is", then, scope)] : []),
    ...(isInformative(otherwise) ? [child("condition", "else it is", otherwise, scope)] : []),
    ...dependent.map(([name, value]) => child("condition", `with ${name}`, value, scope)),
  ]
}

function child(kind: ChildKind, label: string, schema: unknown, scope: Scope): ChildPart {
  return { kind, label, isRequired: false, parts: [{ schema, scope }] }
}

function isInformative(schema: unknown): boolean {
  return hasKeys(schema)
}

const IMPLIED_BY_TYPE = new Set(["type", "$comment"])

/** Whether items need a row of their own; `string[]` already describes them. */
function isWorthARow(part: Part): boolean {
  const flat = flatten([part])
  if (typesOf(flat).some((type) => type === "object" || type === "array")) return true
  return (
    flat.unions.length > 0 ||
    flat.layers.some(({ schema }) => Object.keys(schema).some((key) => !IMPLIED_BY_TYPE.has(key)))
  )
}
