// A schema as a reader thinks of it: references followed, `allOf` merged, `null` separated.

import { isRecord } from "../../internal/guards.ts"
import { hasKeys, isNoValue, type JsonSchema, listOf } from "../json.ts"
import { follow, type Part, type Scope, scopeWithin } from "./resolve-ref.ts"
import { addToList } from "../../internal/lists.ts"

/** One of the schemas that hold at once. */
export interface Layer {
  readonly schema: JsonSchema
  readonly scope: Scope
}

/** Alternative schemas: exactly one of them applies, or at least one. */
export interface Union {
  readonly kind: "oneOf" | "anyOf"
  readonly parts: readonly Part[]
}

/** All constraints on a value. */
export interface Flat {
  /** The schema itself first, then all others that apply as well. */
  readonly layers: readonly Layer[]
  readonly unions: readonly Union[]
  /** The name under which the schema is defined. */
  readonly name: string | undefined
  /** Every schema on the way, to detect recursion. */
  readonly seen: ReadonlySet<unknown>
  /** A union has `null` among its members, which are then those besides it. */
  readonly isNullable: boolean
  /** No value fits, or only its absence. */
  readonly isNothing: boolean
  /** Unresolvable references. */
  readonly lost: readonly string[]
}

// A chain of references longer than this is a mistake or an attack.
const MAX_LAYERS = 200
// Products of unions grow fast.
const MAX_ALTERNATIVES = 64
const MAX_UNIONS = 16

/** Lays everything together that holds for a value; each schema counts once, so loops end. */
export function flatten(parts: readonly Part[]): Flat {
  const flattening = new Flattening()
  for (const part of parts) flattening.add(part)
  return flattening
}

/** Everything that can hold for a value once a member of each union is chosen; at most `most` ways. */
export function alternativesOf(flat: Flat, most: number = MAX_ALTERNATIVES): readonly Flat[] {
  let alternatives: readonly Flat[] = [flat]
  for (let round = 0; round < MAX_UNIONS; round++) {
    if (alternatives.every(({ unions }) => unions.length === 0)) break
    alternatives = alternatives.flatMap((one) => chooseFirst(one, most)).slice(0, most)
  }
  return alternatives
}

/** Chooses each member of the first union in turn. */
function chooseFirst(flat: Flat, most: number): readonly Flat[] {
  const [first, ...unions] = flat.unions
  if (first === undefined) return [flat]
  return first.parts.slice(0, most).map((part) => withPart({ ...flat, unions }, part))
}

/** Everything that holds for a value, and one more schema. */
export function withPart(flat: Flat, part: Part): Flat {
  const flattening = new Flattening(flat)
  flattening.add(part)
  return flattening
}

class Flattening implements Flat {
  readonly layers: Layer[]
  readonly unions: Union[]
  readonly seen: Set<unknown>
  readonly lost: string[]
  name: string | undefined
  isNullable: boolean
  isNothing: boolean

  constructor(from?: Flat) {
    this.layers = [...(from?.layers ?? [])]
    this.unions = [...(from?.unions ?? [])]
    this.seen = new Set(from?.seen)
    this.lost = [...(from?.lost ?? [])]
    this.name = from?.name
    this.isNullable = from?.isNullable ?? false
    this.isNothing = from?.isNothing ?? false
  }

  add({ schema, scope }: Part): void {
    if (schema === false) this.isNothing = true
    if (!isRecord(schema) || this.seen.has(schema) || this.layers.length >= MAX_LAYERS) return
    this.seen.add(schema)
    const within = scopeWithin(schema, scope)
    this.layers.push({ schema, scope: within })
    if (isNothing(schema)) this.isNothing = true
    this.#follow(schema, within)
    for (const part of listOf(schema["allOf"])) this.add({ schema: part, scope: within })
    for (const kind of ["oneOf", "anyOf"] as const) {
      const members = listOf(schema[kind])
      if (members.length > 0) this.#unite(kind, members, within)
    }
  }

  #follow(schema: JsonSchema, scope: Scope): void {
    for (const keyword of ["$ref", "$dynamicRef"]) {
      const reference = schema[keyword]
      if (typeof reference !== "string") continue
      const target = follow(reference, scope)
      if (target === undefined) this.lost.push(reference)
      else {
        this.name ??= target.name
        this.add(target)
      }
    }
  }

  /** Reduces "X or null" to X, and a choice of one to that one; a member that no value fits is left out. */
  #unite(kind: Union["kind"], members: readonly unknown[], scope: Scope): void {
    const possible = members.filter((member) => member !== false && !isNoValue(member))
    const others = possible.filter((member) => !isNull(member))
    if (others.length > 0 && others.length < possible.length) this.isNullable = true
    const [only = possible[0] ?? members[0]] = others
    if (others.length <= 1) this.add({ schema: only, scope })
    else {
      this.unions.push({ kind, parts: others.map((schema) => ({ schema, scope })) })
    }
  }
}

function isNull(schema: unknown): boolean {
  if (!isRecord(schema)) return false
  if (schema["type"] === "null") return true
  const values = listOf(schema["enum"])
  if (values.length === 1 && values[0] === null) return true
  return Object.hasOwn(schema, "const") && schema["const"] === null
}

function isNothing(schema: JsonSchema): boolean {
  const { not } = schema
  return not === true || (isRecord(not) && !hasKeys(not)) || isNoValue(schema)
}

/** Declared properties by name, in order; a property may have several schemas, which all apply. */
export function propertiesOf({ layers }: Flat): ReadonlyMap<string, readonly Part[]> {
  const byName = new Map<string, Part[]>()
  for (const { schema, scope } of layers) {
    const { properties } = schema
    if (!isRecord(properties)) continue
    for (const [name, property] of Object.entries(properties)) {
      addToList(byName, name, { schema: property, scope })
    }
  }
  return byName
}

/** Names that an object must have. */
export function requiredOf({ layers }: Flat): ReadonlySet<string> {
  return new Set(layers.flatMap(({ schema }) => listOf(schema["required"]).map(String)))
}
