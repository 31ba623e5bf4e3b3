import { isObject, isRecord } from "../internal/guards.ts"
import { getOwn, type JsonSchema, setOwn, isSchema } from "./json.ts"
import { eachSubschema, IN_PLACE, keywordsWhere } from "./keywords.ts"
import { isDataObject } from "./normalize/data.ts"
import { mentionedKeys, schemaList, schemaMap, type Subschema } from "./normalize/subschemas.ts"
import type { Links } from "./refs.ts"
import { hasKey } from "./presence.ts"
import { type Copier, type CopyParts, generateCopy } from "./read-code.ts"
import { safeRegExp } from "./regex/safe-regexp.ts"

/** Copies what the check of a schema reads; everything is read once. Throws if something cannot be read. */
export type ReadOnce = (value: object) => unknown

const OF_OBJECTS = keywordsWhere((row) => row.of === "object")
const OF_ARRAYS = keywordsWhere((row) => row.of === "array")

/**
 * Compiles the copy that some schemas need of a value, so that nothing they read can change after the check.
 *
 * Objects and arrays that no schema reads, and functions, stay the same objects. An instance of a class that a
 * schema reads becomes a plain object with its own enumerable properties and those that the schemas name. It stays
 * the same object if it has none of them, such as a `Date`, or if the schema allows bytes.
 */
export function compileReadOnce(schemas: readonly JsonSchema[], refs: Links): ReadOnce {
  const place = new Places(refs).of(schemas, false)
  return place.isRead ? place.compile() : (value) => value
}

/** A schema that reads one value within another, and accepts everything. */
export function schemaOfPath(path: readonly string[]): JsonSchema {
  return path.reduceRight<JsonSchema>(
    (below, key) => ({ properties: { [key]: below }, items: below }),
    {},
  )
}

/** The places of a schema: each is a set of schemas that read the same value. */
class Places {
  readonly #refs: Links
  readonly #places = new Map<string, Place>()
  readonly #numbers = new Map<JsonSchema, number>()
  readonly #constants = new Map<JsonSchema, readonly JsonSchema[]>()

  constructor(refs: Links) {
    this.#refs = refs
  }

  /** With `isDeep`, everything in the value is read. */
  of(schemas: readonly Subschema[], isDeep: boolean): Place {
    const visited = new Set<JsonSchema>()
    let isAll = isDeep
    const visit = (schema: Subschema): void => {
      if (typeof schema === "boolean" || visited.has(schema)) return
      visited.add(schema)
      if (looksAtEverything(schema)) isAll = true
      const targets = this.#refs.certain(schema)
      if (targets === undefined) isAll = true
      else for (const target of targets) visit(target)
      eachSubschema(schema, visit, IN_PLACE)
      for (const constant of this.#constantsOf(schema)) visit(constant)
    }
    for (const schema of schemas) visit(schema)
    const members = [...visited].filter(
      (schema) =>
        looksInto(schema, OF_OBJECTS) || looksInto(schema, OF_ARRAYS) || isOfBytes(schema),
    )
    const numbers = members.map((schema) => this.#number(schema)).toSorted((a, b) => a - b)
    const key = `${numbers.join()}${isAll ? "!" : ""}`
    let place = this.#places.get(key)
    if (place === undefined) this.#places.set(key, (place = new Place(this, members, isAll)))
    return place
  }

  #number(schema: JsonSchema): number {
    const cached = this.#numbers.get(schema)
    if (cached === undefined) this.#numbers.set(schema, this.#numbers.size)
    return cached ?? this.#numbers.size - 1
  }

  /** Schemas that read what is compared with the constants of a schema. */
  #constantsOf(schema: JsonSchema): readonly JsonSchema[] {
    let cached = this.#constants.get(schema)
    if (cached === undefined) {
      const { enum: list } = schema
      const values = [schema["const"], ...(Array.isArray(list) ? list : [])]
      this.#constants.set(schema, (cached = values.filter(isObject).map(schemaOfValue)))
    }
    return cached
  }
}

/** A place within the data, and the parts of it that have to be copied. */
class Place implements Copier {
  /** Whether parts of objects and arrays here are read. */
  readonly isRead: boolean
  readonly #places: Places
  readonly #members: readonly JsonSchema[]
  readonly #isDeep: boolean
  /** Instances of classes are not copied. */
  readonly #keepsInstances: boolean

  constructor(places: Places, members: readonly JsonSchema[], isDeep: boolean) {
    this.#places = places
    this.#members = members
    this.#isDeep = isDeep
    const isDescribed = members.some((schema) => looksInto(schema, OF_OBJECTS))
    this.isRead = isDeep || isDescribed || members.some((schema) => looksInto(schema, OF_ARRAYS))
    this.#keepsInstances = !(isDescribed || isDeep) || members.some(isOfBytes)
  }

  /** Compiled at the first value: schemas may contain themselves. */
  copy: ReadOnce = (value) => {
    this.copy = this.compile()
    return this.copy(value)
  }

  compile(): ReadOnce {
    const members = this.#members
    const declared = new Set(members.flatMap((schema) => Object.keys(propertiesOf(schema))))
    // Reading it where it is absent gives the prototype, which must not be copied.
    declared.delete("__proto__")
    const fields = Array.from(declared).flatMap((key) => {
      const place = this.#below(members.flatMap((schema) => rulesOf(schema, key)))
      return place === undefined ? [] : { key, place }
    })
    const items = this.#below(members.flatMap(itemsOf))
    const rest = this.#below(members.flatMap(restOf))
    const finish = rest && ((copy: Record<string, unknown>) => copyRest(copy, rest, declared))
    const names = new Set([...declared, ...members.flatMap(mentionedKeys)])
    const other = (value: object): unknown => {
      const copy = this.#copyOther(value, names)
      if (copy === undefined) return value
      copyFields(copy, fields)
      finish?.(copy)
      return copy
    }
    return (
      generateCopy({ fields, items, finish, other }) ??
      ((value) => (Array.isArray(value) ? copyArray(value, items) : other(value)))
    )
  }

  /** Copies anything but arrays; `undefined` for values that are not copied. */
  #copyOther(value: object, names: ReadonlySet<string>): Record<string, unknown> | undefined {
    if (isDataObject(value)) {
      const isBare = Object.getPrototypeOf(value) === null
      return isBare ? Object.assign(Object.create(null), value) : { ...value }
    }
    if (this.#keepsInstances || ArrayBuffer.isView(value)) return undefined
    const copy: Record<string, unknown> = { ...value }
    const inherited: string[] = []
    if (this.#isDeep) for (const name in value) inherited.push(name)
    for (const name of [...names, ...inherited]) {
      if (Object.hasOwn(copy, name) || !hasKey(value, name)) continue
      setOwn(copy, name, (value as Record<string, unknown>)[name])
    }
    return Object.keys(copy).length === 0 ? undefined : copy
  }

  #below(schemas: readonly Subschema[]): Place | undefined {
    const place = this.#places.of(schemas, this.#isDeep)
    return place.isRead ? place : undefined
  }
}

function copyFields(copy: Record<string, unknown>, fields: CopyParts["fields"]): void {
  for (const { key, place } of fields) {
    const item = copy[key]
    if (isObject(item)) copy[key] = place.copy(item)
  }
}

/** Copies the parts of all undeclared properties. */
function copyRest(
  copy: Record<string, unknown>,
  rest: Copier,
  declared: ReadonlySet<string>,
): void {
  for (const key of Object.keys(copy)) {
    const item = copy[key]
    if (isObject(item) && !declared.has(key)) copy[key] = rest.copy(item)
  }
}

/** By index and into a plain array, because a subclass or an iterator could return anything. */
function copyArray(value: readonly unknown[], items: Copier | undefined): unknown[] {
  const copy: unknown[] = []
  const { length } = value
  for (let at = 0; at < length; at++) {
    const item = value[at]
    copy.push(items !== undefined && isObject(item) ? items.copy(item) : item)
  }
  return copy
}

/** Schemas that may apply to one property of an object, including the unevaluated ones. */
function rulesOf(schema: JsonSchema, key: string): Subschema[] {
  const own = one(propertiesOf(schema), key)
  const rules = [...own]
  for (const [pattern, rule] of schemaMap(schema, "patternProperties")) {
    if (mayMatch(pattern, key)) rules.push(rule)
  }
  if (rules.length === 0) rules.push(...one(schema, "additionalProperties"))
  return own.length > 0 ? rules : [...rules, ...one(schema, "unevaluatedProperties")]
}

/** Schemas of the properties that are not declared. */
function restOf(schema: JsonSchema): Subschema[] {
  return [
    ...schemaMap(schema, "patternProperties").map(([, rule]) => rule),
    ...one(propertiesOf(schema), "__proto__"),
    ...one(schema, "additionalProperties"),
    ...one(schema, "unevaluatedProperties"),
  ]
}

function itemsOf(schema: JsonSchema): Subschema[] {
  const each = ["items", "contains", "unevaluatedItems"]
  return [...schemaList(schema, "prefixItems"), ...each.flatMap((keyword) => one(schema, keyword))]
}

function mayMatch(pattern: string, key: string): boolean {
  try {
    return safeRegExp(pattern).test(key)
  } catch {
    return true
  }
}

function one(schema: JsonSchema, keyword: string): Subschema[] {
  const subschema = getOwn(schema, keyword)
  return isSchema(subschema) ? [subschema] : []
}

function propertiesOf(schema: JsonSchema): JsonSchema {
  const properties = getOwn(schema, "properties")
  return isRecord(properties) ? properties : {}
}

/** Whether a schema reads parts of values through one of these keywords. */
function looksInto(schema: JsonSchema, keywords: ReadonlySet<string>): boolean {
  return Object.keys(schema).some((keyword) => {
    const value = schema[keyword]
    if (!keywords.has(keyword) || value === true) return false
    // An empty value requires nothing, except for `contains`, which requires an item.
    return keyword === "contains" || !(isObject(value) && Object.keys(value).length === 0)
  })
}

/** Whether a schema may read everything in a value. */
function looksAtEverything(schema: JsonSchema): boolean {
  if (schema["uniqueItems"] === true) return true
  if (!Object.hasOwn(schema, "~refine")) return false
  const { type } = schema
  const types = Array.isArray(type) ? type : [type ?? "object"]
  return types.includes("object") || types.includes("array")
}

/** Whether a schema describes bytes, in any form that the platform has. */
function isOfBytes({ format, contentEncoding, contentMediaType }: JsonSchema): boolean {
  return format === "binary" || contentEncoding !== undefined || contentMediaType !== undefined
}

/** A schema that reads everything that a value contains. */
function schemaOfValue(value: unknown): JsonSchema {
  if (Array.isArray(value)) return { minItems: 0, prefixItems: value.map(schemaOfValue) }
  if (!isObject(value)) return {}
  const entries = Object.entries(value).map(([key, item]) => [key, schemaOfValue(item)])
  return { minProperties: 0, properties: Object.fromEntries(entries) }
}
