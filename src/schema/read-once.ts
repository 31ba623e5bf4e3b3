import { getOwn, isPlainRecord, type JsonSchema, setOwn } from "./json.ts"
import { eachInPlace } from "./keywords.ts"
import {
  isObject,
  isOfBytes,
  looks,
  OF_ARRAYS,
  OF_OBJECTS,
  schemaOfValue,
  seesAll,
} from "./looked-at.ts"
import { isDataObject } from "./normalize/data.ts"
import { isSubschema, mentionedKeys, schemaList, schemaMap } from "./normalize/keywords.ts"
import type { Subschema } from "./normalize/keywords.ts"
import type { References } from "./normalize/references.ts"
import { hasKey } from "./presence.ts"
import { generateCopy } from "./read-code.ts"
import type { Copier, CopyParts } from "./read-code.ts"
import { safeRegExp } from "./regex/safe-regexp.ts"

/** Copies what the check of a schema looks at; everything is read once. Throws where something cannot be read. */
export type ReadOnce = (value: object) => unknown

/**
 * Compiles the copy that some schemas need of a value, so that nothing they look at can change after the check.
 *
 * Objects and arrays that no schema looks into, functions and what is no data stay the same objects. An instance of
 * a class that a schema looks into becomes a plain object: its own enumerable properties, and those that the schemas
 * name. It stays the same object if it has none of them, such as a `Date`, or where the schema allows bytes.
 */
export function compileReadOnce(schemas: readonly JsonSchema[], refs: References): ReadOnce {
  const place = new Places(refs).of(schemas, false)
  return place.isRead ? place.compile() : (value) => value
}

/** A schema that looks at one value within another, and accepts everything. */
export function schemaOfPath(path: readonly string[]): JsonSchema {
  return path.reduceRight<JsonSchema>(
    (below, key) => ({ properties: { [key]: below }, items: below }),
    {},
  )
}

/** The places of a schema: each is a set of schemas that look at the same value. */
class Places {
  readonly #refs: References
  readonly #places = new Map<string, Place>()
  readonly #numbers = new Map<JsonSchema, number>()
  readonly #constants = new Map<JsonSchema, readonly JsonSchema[]>()

  constructor(refs: References) {
    this.#refs = refs
  }

  /** With `isDeep`, something looks at all that is in the value. */
  of(schemas: readonly Subschema[], isDeep: boolean): Place {
    const found = new Set<JsonSchema>()
    let isAll = isDeep
    const visit = (schema: Subschema): void => {
      if (typeof schema === "boolean" || found.has(schema)) return
      found.add(schema)
      if (seesAll(schema)) isAll = true
      const targets = this.#refs.of(schema)
      if (targets === undefined) isAll = true
      else for (const target of targets) visit(target)
      eachInPlace(schema, visit)
      for (const constant of this.#constantsOf(schema)) visit(constant)
    }
    for (const schema of schemas) visit(schema)
    const members = [...found].filter(
      (schema) => looks(schema, OF_OBJECTS) || looks(schema, OF_ARRAYS) || isOfBytes(schema),
    )
    const numbers = members.map((schema) => this.#number(schema)).toSorted((a, b) => a - b)
    const key = `${numbers.join()}${isAll ? "!" : ""}`
    let place = this.#places.get(key)
    if (place === undefined) this.#places.set(key, (place = new Place(this, members, isAll)))
    return place
  }

  #number(schema: JsonSchema): number {
    const known = this.#numbers.get(schema)
    if (known === undefined) this.#numbers.set(schema, this.#numbers.size)
    return known ?? this.#numbers.size - 1
  }

  /** Schemas that look at what is compared with the constants of a schema. */
  #constantsOf(schema: JsonSchema): readonly JsonSchema[] {
    let known = this.#constants.get(schema)
    if (known === undefined) {
      const { enum: list } = schema
      const values = [schema["const"], ...(Array.isArray(list) ? list : [])]
      this.#constants.set(schema, (known = values.filter(isObject).map(schemaOfValue)))
    }
    return known
  }
}

/** A value within the data, and what has to be copied of it. */
class Place implements Copier {
  /** Whether objects and arrays here are looked into. */
  readonly isRead: boolean
  readonly #places: Places
  readonly #members: readonly JsonSchema[]
  readonly #isDeep: boolean
  /** Instances of classes stay what they are. */
  readonly #keepsInstances: boolean

  constructor(places: Places, members: readonly JsonSchema[], isDeep: boolean) {
    this.#places = places
    this.#members = members
    this.#isDeep = isDeep
    const isDescribed = members.some((schema) => looks(schema, OF_OBJECTS))
    this.isRead = isDeep || isDescribed || members.some((schema) => looks(schema, OF_ARRAYS))
    this.#keepsInstances = !isDescribed || members.some(isOfBytes)
  }

  /** Compiled when something is there for the first time: schemas may contain themselves. */
  copy: ReadOnce = (value) => {
    this.copy = this.compile()
    return this.copy(value)
  }

  compile(): ReadOnce {
    const members = this.#members
    const declared = new Set(members.flatMap((schema) => Object.keys(propertiesOf(schema))))
    // Reading it where it is absent gives the prototype, which no copy may be written to.
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

  /** Whatever is no array; `undefined` for what is not copied. */
  #copyOther(value: object, names: ReadonlySet<string>): Record<string, unknown> | undefined {
    if (isDataObject(value)) {
      const isBare = Object.getPrototypeOf(value) === null
      return isBare ? Object.assign(Object.create(null), value) : { ...value }
    }
    if (this.#keepsInstances || ArrayBuffer.isView(value)) return undefined
    const copy: Record<string, unknown> = { ...value }
    for (const name of names) {
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

/** Goes into all properties but those that are declared. */
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

/** By index and into a plain array: a class of its own or an iterator could answer in any way. */
function copyArray(value: readonly unknown[], items: Copier | undefined): unknown[] {
  const copy: unknown[] = []
  const { length } = value
  for (let at = 0; at < length; at++) {
    const item = value[at]
    copy.push(items !== undefined && isObject(item) ? items.copy(item) : item)
  }
  return copy
}

/** Schemas of one object's property; the unevaluated ones may hold for it. */
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
  const found = getOwn(schema, keyword)
  return isSubschema(found) ? [found] : []
}

function propertiesOf(schema: JsonSchema): JsonSchema {
  const properties = getOwn(schema, "properties")
  return isPlainRecord(properties) ? properties : {}
}
