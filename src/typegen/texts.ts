// Schemas by what is in them: the same one comes with many operations, as one object or as copies.

type Schema = Readonly<Record<string, unknown>>

/** Knows schemas by their text. */
export class SchemaTexts {
  readonly #originals = new Map<string, object>()
  readonly #originalOf = new WeakMap<object, object>()
  readonly #withIds = new WeakSet<object>()

  /** The first schema that had the same text. */
  original(schema: object): object {
    const known = this.#originalOf.get(schema)
    if (known !== undefined) return known
    const text = textOf(schema)
    if (text === undefined) return schema
    let original = this.#originals.get(text)
    if (original === undefined) {
      this.#originals.set(text, (original = schema))
      if (text.includes('"$id"')) this.#withIds.add(schema)
    }
    this.#originalOf.set(schema, original)
    return original
  }

  /** Whether a schema, or a definition of it, may have an address of its own. */
  hasIds(schema: Schema): boolean {
    const { $defs, ...own } = schema
    if (this.#withIds.has(this.original(own))) return true
    if (typeof $defs !== "object" || $defs === null) return false
    return Object.values($defs).some(
      (one) => typeof one === "object" && one !== null && this.#withIds.has(this.original(one)),
    )
  }
}

/** `undefined` for what is nested deeper than a stack: it is like nothing else. */
function textOf(schema: object): string | undefined {
  try {
    return JSON.stringify(schema)
  } catch {
    return undefined
  }
}
