// Schemas by content: many operations share a schema, as one object or as copies.

import { jsonText } from "../internal/message-text.ts"

type Schema = Readonly<Record<string, unknown>>

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
