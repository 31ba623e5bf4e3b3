// One self-contained schema and the targets of its references.

import { isSchema, pointerTokens } from "../schema/json.ts"
import { resolveRef } from "../schema/read/resolve-ref.ts"
import { percentDecoded } from "../internal/percent.ts"
import { Links, type RefKeyword, type SchemaNode } from "../schema/refs.ts"
import { jsonText } from "../internal/message-text.ts"

type Schema = Readonly<Record<string, unknown>>

/** A schema of an operation, with everything it refers to. */
export class SchemaRoot {
  readonly schema: Schema
  /** Name of a reference to the root. */
  readonly name: string
  /** All references are pointers from the root, so equal texts mean equal targets. */
  readonly isPlain: boolean
  #links: Links | undefined

  constructor(schema: Schema, name: string, texts: SchemaTexts) {
    this.schema = schema
    this.name = name
    this.isPlain = !texts.hasIds(schema)
  }

  /** Whether a reference has the same target in every context. */
  isPointer(reference: string): boolean {
    return this.isPlain && (reference === "#" || reference.startsWith("#/"))
  }

  /** The target of a pointer; `true` (any value) when it does not exist. */
  at(reference: string): SchemaNode {
    const target = resolveRef(this.schema, reference)
    return isSchema(target) ? target : true
  }

  /** The target of a reference within this schema. */
  target(schema: Schema, keyword: RefKeyword): SchemaNode {
    const reference = String(schema[keyword])
    if (keyword === "$ref" && this.isPointer(reference)) return this.at(reference)
    const links = (this.#links ??= new Links(this.schema))
    // A dynamic reference is resolved only where it is used.
    if (keyword === "$dynamicRef" && links.dynamicName(schema)) return true
    return links.target(schema, keyword)
  }

  /** The preferred name of a reference's target. */
  wantedName(reference: string): string {
    if (reference === "#") return this.name
    const fragment = percentDecoded(reference.slice(reference.indexOf("#") + 1))
    const tokens = pointerTokens(fragment) ?? [fragment]
    return tokens.findLast((token) => /\p{L}/u.test(token) && !STRUCTURE.has(token)) ?? this.name
  }
}

const STRUCTURE: ReadonlySet<string> = new Set([
  ...["$defs", "definitions", "properties", "additionalProperties", "items", "prefixItems"],
  ...["allOf", "anyOf", "oneOf"],
])

/** Identifies schemas by their JSON text. */
export class SchemaTexts {
  readonly #originals = new Map<string, object>()
  readonly #originalOf = new WeakMap<object, object>()
  readonly #withIds = new WeakSet<object>()
  /** Whether a definition has an `$id`, by the definitions that schemas of a document share. */
  readonly #anyIds = new WeakMap<object, boolean>()

  /** The first schema with the same text. */
  original(schema: object): object {
    const cached = this.#originalOf.get(schema)
    if (cached !== undefined) return cached
    const text = jsonText(schema)
    if (text === undefined) return schema
    let original = this.#originals.get(text)
    if (original === undefined) {
      this.#originals.set(text, (original = schema))
      if (text.includes('"$id"')) this.#withIds.add(schema)
    }
    this.#originalOf.set(schema, original)
    return original
  }

  /** Whether a schema or one of its definitions may have an `$id`. */
  hasIds(schema: Schema): boolean {
    const { $defs, ...own } = schema
    if (this.#withIds.has(this.original(own))) return true
    if (typeof $defs !== "object" || $defs === null) return false
    let anyIds = this.#anyIds.get($defs)
    if (anyIds === undefined) {
      anyIds = Object.values($defs).some(
        (one) => typeof one === "object" && one !== null && this.#withIds.has(this.original(one)),
      )
      this.#anyIds.set($defs, anyIds)
    }
    return anyIds
  }
}
