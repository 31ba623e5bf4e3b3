import { isRecord } from "../../internal/guards.ts"
import { isNoValue, type JsonSchema } from "../json.ts"
import { eachSubschema, keywordsWhere } from "../keywords.ts"
import { declaresKeys, opensObject, schemaList, schemaMap, type Subschema } from "./subschemas.ts"
import type { Links } from "../refs.ts"

/** A schema that applies to a value, and whether its defaults may be used. */
export interface Entry {
  readonly schema: Subschema
  readonly fill: boolean
}

/** An `Entry` in object form. */
export interface Member extends Entry {
  readonly schema: JsonSchema
}

/** Every schema that applies to one value without any condition. */
export interface Flat {
  readonly members: readonly Member[]
  /** One of them has an unresolvable reference, so that the list is incomplete. */
  readonly isPartial: boolean
}

/** Follows `$ref` and `allOf`, each schema once, nearest first. */
export function flatten(entries: readonly Entry[], refs: Links): Flat {
  const fills = new Map<JsonSchema, boolean>()
  let isPartial = false
  const visit = ({ schema, fill }: Entry): void => {
    if (!isRecord(schema)) return
    const before = fills.get(schema)
    // If a schema is reached twice, its defaults are usable if either way allows it.
    if (before === true || before === fill) return
    fills.set(schema, fill)
    const targets = refs.certain(schema)
    if (targets === undefined) isPartial = true
    else for (const target of targets) visit({ schema: target, fill })
    for (const part of schemaList(schema, "allOf")) visit({ schema: part, fill })
  }
  for (const entry of entries) visit(entry)
  const members = Array.from(fills, ([schema, fill]) => ({ schema, fill }))
  return { members, isPartial }
}

/** The schemas that apply with `schema`. */
export function flattenOne(schema: Subschema, refs: Links): Flat {
  return flatten([{ schema, fill: true }], refs)
}

/** A set of JSON types, one bit each. Integers and other numbers are distinct. */
export type TypeMask = number

const NULL = 1
export const BOOLEAN = 2
export const INTEGER = 4
export const FRACTION = 8
export const STRING = 16
export const ARRAY = 32
export const OBJECT = 64
export const ANY: TypeMask = 127

const BITS = new Map<unknown, TypeMask>([
  ["null", NULL],
  ["boolean", BOOLEAN],
  ["integer", INTEGER],
  ["number", INTEGER | FRACTION],
  ["string", STRING],
  ["array", ARRAY],
  ["object", OBJECT],
])

/** The type of a value; 0 for what JSON does not know, such as bigint. */
export function typeOf(value: unknown): TypeMask {
  switch (typeof value) {
    case "string":
      return STRING
    case "number":
      return Number.isInteger(value) ? INTEGER : FRACTION
    case "boolean":
      return BOOLEAN
    case "object":
      return value === null ? NULL : Array.isArray(value) ? ARRAY : OBJECT
    default:
      return 0
  }
}

/**
 * Every type that a valid value may have; possibly some more, never fewer.
 *
 * `cache` holds earlier results. A schema inside itself counts as any type.
 */
export function typesOf(
  schema: Subschema,
  refs: Links,
  cache: Map<JsonSchema, TypeMask>,
): TypeMask {
  if (typeof schema === "boolean") return schema ? ANY : 0
  const before = cache.get(schema)
  if (before !== undefined) return before
  cache.set(schema, ANY)
  let mask = ANY
  for (const { schema: member } of flattenOne(schema, refs).members) {
    mask &= isNoValue(member) ? 0 : declared(member["type"])
    if (Object.hasOwn(member, "const")) mask &= typeOf(member["const"])
    if (Array.isArray(member["enum"])) mask &= union(member["enum"].map(typeOf))
    for (const keyword of ["anyOf", "oneOf"]) {
      if (!Array.isArray(member[keyword])) continue
      mask &= union(schemaList(member, keyword).map((branch) => typesOf(branch, refs, cache)))
    }
  }
  cache.set(schema, mask)
  return mask
}

function declared(type: unknown): TypeMask {
  if (typeof type === "string") return BITS.get(type) ?? ANY
  return Array.isArray(type) ? union(type.map((name) => BITS.get(name) ?? ANY)) : ANY
}

function union(masks: readonly TypeMask[]): TypeMask {
  return masks.reduce((all, mask) => all | mask, 0)
}

const NORMALIZED = keywordsWhere(({ isNormalized }) => isNormalized)

/**
 * Decides which schemas may require a change of a valid value: a key to strip, a default to fill in.
 *
 * When unsure, it returns true.
 */
export class Work {
  readonly #refs: Links
  readonly #options: { readonly strip: boolean; readonly defaults: boolean }
  readonly #cache = new Map<JsonSchema, boolean>()

  constructor(refs: Links, options: { readonly strip: boolean; readonly defaults: boolean }) {
    this.#refs = refs
    this.#options = options
  }

  /** Whether there may be work at or below `schema`. */
  reaches(schema: Subschema): boolean {
    if (typeof schema === "boolean" || (!this.#options.strip && !this.#options.defaults))
      return false
    const visited = new Set<JsonSchema>()
    if (this.#search(schema, visited)) return true
    // None of the visited schemas has work.
    for (const idle of visited) this.#cache.set(idle, false)
    return false
  }

  /** Whether an absent property of this schema has a default to fill in. */
  hasDefault(schema: Subschema): boolean {
    const { members } = flattenOne(schema, this.#refs)
    return (
      this.#options.defaults && members.some((member) => Object.hasOwn(member.schema, "default"))
    )
  }

  #search(schema: JsonSchema, visited: Set<JsonSchema>): boolean {
    const cached = this.#cache.get(schema)
    if (cached !== undefined) return cached
    if (visited.has(schema)) return false
    visited.add(schema)
    const hasWork =
      this.#isWork(schema) ||
      this.#below(schema).some((child) => isRecord(child) && this.#search(child, visited))
    if (hasWork) this.#cache.set(schema, true)
    return hasWork
  }

  #isWork(schema: JsonSchema): boolean {
    if (this.#options.strip && declaresKeys(schema) && !opensObject(schema)) return true
    return schemaMap(schema, "properties").some(([, property]) => this.hasDefault(property))
  }

  #below(schema: JsonSchema): Subschema[] {
    const below = [...(this.#refs.certain(schema) ?? [])]
    eachSubschema(schema, (child) => below.push(child), NORMALIZED)
    return below
  }
}
