import type { LazyOperation } from "../../../core/lazy-operation.ts"

/** An entry with an operation, and a text that identifies its definition. */
interface Made<TEntry> {
  readonly text: string
  readonly entry: TEntry
}

/**
 * Keeps the same operation object as long as its definition stays the same, so that comparing operations
 * shows what has changed.
 */
export class OperationCache<TEntry extends { readonly operation: LazyOperation }> {
  #kept: ReadonlyMap<string, Made<TEntry>> = new Map()

  /** The entries, in order. Of two with the same id the first is used, and `onTwice` receives the second. */
  update(
    made: readonly Made<TEntry>[],
    onTwice: (entry: TEntry, id: string) => void,
  ): readonly TEntry[] {
    const kept = new Map<string, Made<TEntry>>()
    for (const one of made) {
      const { namespace, name } = one.entry.operation
      const id = `${namespace}.${name}`
      const before = this.#kept.get(id)
      if (kept.has(id)) onTwice(one.entry, id)
      else kept.set(id, before?.text === one.text ? before : one)
    }
    this.#kept = kept
    return Array.from(kept.values(), ({ entry }) => entry)
  }
}
