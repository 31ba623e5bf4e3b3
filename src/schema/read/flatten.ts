// A schema as a reader thinks of it: references followed, `allOf` merged, `null` separated.

import { isPlainRecord, listOf } from "../json.ts"
import type { JsonSchema } from "../json.ts"
import { follow, scopeWithin } from "./resolve-ref.ts"
import type { Part, Scope } from "./resolve-ref.ts"

/** One of the schemas that hold at once. */
export interface Layer {
  readonly schema: JsonSchema
  readonly scope: Scope
}

/** Schemas of which one, or at least one, holds. */
export interface Union {
  readonly kind: "oneOf" | "anyOf"
  readonly parts: readonly Part[]
}

/** What holds for a value. */
export interface Flat {
  /** The schema itself first, then what it refers to. */
  readonly layers: readonly Layer[]
  readonly unions: readonly Union[]
  /** What the schema is called where it is defined. */
  readonly name: string | undefined
  /** Every schema on the way, to know one that is met again. */
  readonly seen: ReadonlySet<unknown>
  readonly isNullable: boolean
  /** No value fits. */
  readonly isNothing: boolean
  /** Unresolvable references. */
  readonly lost: readonly string[]
}

// A chain of references longer than this is a mistake or an attack.
const MAX_LAYERS = 200

/** Lays everything together that holds for a value; each schema counts once, so loops end. */
export function flatten(parts: readonly Part[]): Flat {
  const flattening = new Flattening()
  for (const part of parts) flattening.add(part)
  return flattening
}

class Flattening implements Flat {
  readonly layers: Layer[] = []
  readonly unions: Union[] = []
  readonly seen = new Set<unknown>()
  readonly lost: string[] = []
  name: string | undefined
  isNullable = false
  isNothing = false

  add({ schema, scope }: Part): void {
    if (schema === false) this.isNothing = true
    if (!isPlainRecord(schema) || this.seen.has(schema) || this.layers.length >= MAX_LAYERS) return
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

  /** Reduces "X or null" to X, and a choice of one to that one. */
  #unite(kind: Union["kind"], members: readonly unknown[], scope: Scope): void {
    const others = members.filter((member) => !isNull(member))
    if (others.length < members.length) this.isNullable = true
    const [only] = others
    if (others.length === 1) this.add({ schema: only, scope })
    else if (others.length > 1) {
      this.unions.push({ kind, parts: others.map((schema) => ({ schema, scope })) })
    }
  }
}

function isNull(schema: unknown): boolean {
  if (!isPlainRecord(schema)) return false
  if (schema["type"] === "null") return true
  const values = listOf(schema["enum"])
  if (values.length === 1 && values[0] === null) return true
  return Object.hasOwn(schema, "const") && schema["const"] === null
}

function isNothing({ not }: JsonSchema): boolean {
  return not === true || (isPlainRecord(not) && Object.keys(not).length === 0)
}
