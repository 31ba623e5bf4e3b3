// What a schema says about one place of an input: how the form draws it, and what is below it.

import { isRecord } from "../../../../src/internal/guards.ts"
import { hasKeys, listOf } from "../../../../src/schema/json.ts"
import { factsOf } from "../../../../src/schema/read/facts.ts"
import type { Facts } from "../../../../src/schema/read/facts.ts"
import { flatten, propertiesOf, requiredOf, withPart } from "../../../../src/schema/read/flatten.ts"
import type { Flat, Union } from "../../../../src/schema/read/flatten.ts"
import { scopeOf } from "../../../../src/schema/read/resolve-ref.ts"
import type { Part, Scope } from "../../../../src/schema/read/resolve-ref.ts"
import { choicesOf, typesOf } from "../../../../src/schema/read/types.ts"
import { valuesOf } from "../../../../src/schema/read/values.ts"
import { createCheck } from "./issues.ts"
import type { InputCheck } from "./issues.ts"
import { own } from "./json.ts"
import type { JsonRecord } from "./json.ts"

/** What a field of the form is drawn as; `scalar` is a text or a number, `several` some of a list of values. */
export type FieldKind =
  | "object"
  | "array"
  | "several"
  | "choice"
  | "values"
  | "text"
  | "number"
  | "scalar"
  | "boolean"
  | "null"
  | "json"

/** One of the schemas of a choice. */
export interface Option {
  readonly title: string
  readonly description: string | undefined
  readonly field: Field
}

/** Choices and fixed items beyond these are left to the JSON editor. */
const MAX_OPTIONS = 60
const MAX_FIXED = 50
/** A value of more types can be anything. */
const MAX_TYPES = 5
/** Conditions within conditions. */
const MAX_CONDITIONS = 4

/** The field of a schema. */
export function fieldOf(schema: unknown): Field {
  return new Field(flatten([{ schema, scope: scopeOf(schema) }]))
}

/** One place of an input. What is below it is read when it is drawn, so that a schema may be recursive. */
export class Field {
  readonly #flat: Flat
  readonly #children = new Map<string, Field>()
  #properties: ReadonlyMap<string, readonly Part[]> | undefined
  #names: readonly string[] | undefined
  #facts: Facts | undefined
  #kind: FieldKind | undefined
  #options: readonly Option[] | undefined

  constructor(flat: Flat) {
    this.#flat = flat
  }

  get kind(): FieldKind {
    return (this.#kind ??= this.#findKind())
  }

  get facts(): Facts {
    return (this.#facts ??= factsOf(this.#flat))
  }

  /** The first value of a keyword, of the schema itself or of what it refers to. */
  first(keyword: string): unknown {
    const layer = this.#flat.layers.find(({ schema }) => Object.hasOwn(schema, keyword))
    return layer?.schema[keyword]
  }

  /** The same if it is a number. */
  number(keyword: string): number | undefined {
    const value = this.first(keyword)
    return typeof value === "number" ? value : undefined
  }

  /** JSON types, without `null`. */
  get types(): readonly string[] {
    const types = typesOf(this.#flat).filter((type) => type !== "null")
    const [union] = types.length === 0 ? choicesOf(this.#flat) : []
    if (union === undefined || !union.parts.every(isTextOrNumber)) return types
    return [...new Set(union.parts.map(({ schema }) => String(own(schema, "type"))))]
  }

  get isNullable(): boolean {
    if (this.kind === "json" || this.kind === "null") return false
    const types = typesOf(this.#flat)
    const values = valuesOf(this.#flat) ?? []
    return this.#flat.isNullable || types.includes("null") || values.includes(null)
  }

  /** Whether the form only shows it where there is a value. */
  get isGroup(): boolean {
    if (this.kind !== "choice") return this.kind === "object" || this.kind === "array"
    return this.options.some(({ field }) => field.isGroup)
  }

  /** The only value that fits. */
  get constant(): unknown {
    return this.first("const")
  }

  /** The values to choose from, with their names; `undefined` if there are others. */
  get values():
    | readonly { readonly value: unknown; readonly title?: string | undefined }[]
    | undefined {
    const [union, ...others] = this.#flat.unions
    if (union !== undefined && others.length === 0) {
      const fields = union.parts.map((part) => new Field(flatten([part])))
      const lists = fields.map((field) => valuesOf(field.#flat))
      if (lists.every((list) => list !== undefined)) {
        return lists.flatMap((list, at) =>
          list.map((value) => ({
            value,
            title: list.length === 1 ? fields[at]?.facts.title : undefined,
          })),
        )
      }
    }
    return valuesOf(this.#flat)
      ?.filter((value) => value !== null)
      .map((value) => ({ value }))
  }

  /** What a value can be one of: the members of a union, or several types. */
  get options(): readonly Option[] {
    return (this.#options ??= this.#findOptions())
  }

  /** Declared names, in order. */
  get declared(): readonly string[] {
    return [...this.#declared.keys()]
  }

  /** Declared names that a caller sets, the required ones first: what is required cannot be left to the server. */
  get names(): readonly string[] {
    if (this.#names === undefined) {
      const { required } = this
      const set = this.declared.filter(
        (name) => required.has(name) || this.property(name)?.first("readOnly") !== true,
      )
      this.#names = [
        ...set.filter((name) => required.has(name)),
        ...set.filter((name) => !required.has(name)),
      ]
    }
    return this.#names
  }

  get required(): ReadonlySet<string> {
    return requiredOf(this.#flat)
  }

  /** The field of a declared name. */
  property(name: string): Field | undefined {
    const parts = this.#declared.get(name)
    return parts && this.#child(name, () => flatten(parts))
  }

  /** The field of other names; `undefined` if there are none, or if anything is allowed. */
  get rest(): Field | undefined {
    for (const { schema, scope } of this.#flat.layers) {
      const { additionalProperties: others, patternProperties } = schema
      const [pattern, ...more] = isRecord(patternProperties) ? Object.values(patternProperties) : []
      const rest = hasKeys(others) ? others : more.length === 0 ? pattern : undefined
      if (rest !== undefined) return this.#child("/rest", () => flatten([{ schema: rest, scope }]))
    }
    return undefined
  }

  /** The number of items that have a schema by their place. */
  get fixed(): number {
    return Math.min(listOf(this.first("prefixItems")).length, MAX_FIXED)
  }

  /** The field of an item; `undefined` if the form has none for it. */
  item(index: number): Field | undefined {
    const isFixed = index < this.fixed
    const keyword = isFixed ? "prefixItems" : "items"
    for (const { schema, scope } of this.#flat.layers) {
      const { [keyword]: items } = schema
      const item = isFixed ? listOf(items)[index] : hasKeys(items) ? items : undefined
      if (item !== undefined) {
        return this.#child(isFixed ? `/${index}` : "/", () => flatten([{ schema: item, scope }]))
      }
    }
    return undefined
  }

  /** The field, with what its conditions add for a value. */
  under(value: unknown): Field {
    if (!this.hasConditions) return this
    let parts: readonly Part[] = []
    let field: Field = this
    for (let round = 0; round < MAX_CONDITIONS; round++) {
      const met = field.#flat.layers.flatMap(({ schema, scope }) => metBy(value, schema, scope))
      if (met.length === parts.length && round > 0) break
      parts = met
      field = parts.reduce<Field>((at, part) => new Field(withPart(at.#flat, part)), this)
    }
    return field
  }

  get #declared(): ReadonlyMap<string, readonly Part[]> {
    return (this.#properties ??= propertiesOf(this.#flat))
  }

  /** Whether there are fields that depend on the value of others. */
  get hasConditions(): boolean {
    return this.#flat.layers.some(({ schema }) =>
      CONDITIONS.some((keyword) => isRecord(schema[keyword])),
    )
  }

  #child(key: string, read: () => Flat): Field {
    let child = this.#children.get(key)
    if (child === undefined) this.#children.set(key, (child = new Field(read())))
    return child
  }

  #findKind(): FieldKind {
    if (this.#flat.isNothing || this.#flat.lost.length > 0) return "json"
    const { types } = this
    const values = this.values ?? []
    if (values.length > 0) return "values"
    const [union] = choicesOf(this.#flat)
    if (union !== undefined) {
      return this.#declared.size === 0 && union.parts.every(isTextOrNumber) ? "scalar" : "choice"
    }
    if (types.length > 1) {
      if (types.every((type) => SCALARS.has(type))) return "scalar"
      return types.length > MAX_TYPES ? "json" : "choice"
    }
    const [type] = types
    switch (type) {
      case "object": {
        const isKnown =
          this.first("additionalProperties") === false || isRecord(this.first("properties"))
        return isKnown || this.rest !== undefined || this.hasConditions ? "object" : "json"
      }
      case "array":
        if (this.item(0) === undefined) return "json"
        return this.first("uniqueItems") === true &&
          this.item(0)?.kind === "values" &&
          this.fixed === 0
          ? "several"
          : "array"
      case "number":
      case "integer":
        return "number"
      case "boolean":
        return "boolean"
      case "string":
        return "text"
      default:
        if (typesOf(this.#flat).includes("null")) return "null"
        return this.facts.format === undefined && this.first("pattern") === undefined
          ? "json"
          : "text"
    }
  }

  #findOptions(): readonly Option[] {
    const [union] = choicesOf(this.#flat)
    const { layers } = this.#flat
    const scope = layers[0]?.scope ?? scopeOf({})
    const parts =
      union?.parts.slice(0, MAX_OPTIONS) ??
      this.types.map((type) => ({ schema: { type, title: type }, scope }))
    const outer = { ...this.#flat, unions: this.#flat.unions.filter((one) => one !== union) }
    const titles = parts.map(optionTitle)
    return parts.map((part, at) => {
      const title = titles[at] ?? `Choice ${at + 1}`
      const isTwice = titles.indexOf(titles[at]) !== titles.lastIndexOf(titles[at])
      return {
        title: isTwice && titles[at] !== undefined ? `${title} (${at + 1})` : title,
        description: factsOf(flatten([part])).description,
        field: new Field(withPart(outer, part)),
      }
    })
  }
}

const CONDITIONS = ["if", "dependentSchemas", "dependentRequired"] as const
const SCALARS: ReadonlySet<string> = new Set(["string", "number", "integer"])
const ODD = ["$ref", "allOf", "enum", "const", "format"] as const

/** Whether a member of a union is a plain text or number: what is entered decides which. */
function isTextOrNumber({ schema }: Union["parts"][number]): boolean {
  if (!isRecord(schema) || ODD.some((keyword) => keyword in schema)) return false
  return typeof schema["type"] === "string" && SCALARS.has(schema["type"])
}

/** A name for a member of a union: its title, the value that distinguishes it, its reference, or its type. */
function optionTitle(part: Part): string | undefined {
  const flat = flatten([part])
  const field = new Field(flat)
  const { title, format } = field.facts
  if (title !== undefined) return title
  const properties = [...propertiesOf(flat)]
  for (const [, parts] of properties) {
    const { constant } = new Field(flatten(parts))
    if (typeof constant === "string") return constant
  }
  if (flat.name !== undefined) return flat.name
  const [type, ...more] = field.types
  if (type === "object") {
    const names = properties.slice(0, 2).map(([name]) => name)
    return names.length === 0 ? "object" : `with ${names.join(", ")}`
  }
  if (type === "array") return "list"
  return more.length === 0 ? (format ?? type) : undefined
}

/** What the conditions of a schema add to it for a value. */
function metBy(value: unknown, schema: JsonRecord, scope: Scope): readonly Part[] {
  const { if: condition, then, else: otherwise, dependentSchemas, dependentRequired } = schema
  const met: unknown[] = []
  if (isRecord(condition)) met.push(isMet(condition, value) ? then : otherwise)
  for (const [name, part] of Object.entries(isRecord(dependentSchemas) ? dependentSchemas : {})) {
    if (own(value, name) !== undefined) met.push(part)
  }
  for (const [name, list] of Object.entries(isRecord(dependentRequired) ? dependentRequired : {})) {
    if (own(value, name) !== undefined) met.push({ required: list })
  }
  return met.filter(isRecord).map((part) => ({ schema: part, scope }))
}

const checks = new WeakMap<object, InputCheck>()

/** Whether a condition holds; one with references is never met. */
function isMet(condition: JsonRecord, value: unknown): boolean {
  let check = checks.get(condition)
  if (check === undefined) {
    const hasRef = JSON.stringify(condition).includes('"$ref"')
    checks.set(condition, (check = createCheck(hasRef ? false : condition)))
  }
  return check(value ?? {}).length === 0
}
