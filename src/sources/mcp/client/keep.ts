import type { LazyOperation } from "../../../core/lazy-operation.ts"

/** Something with an operation, and a text that changes when what it is made of does. */
interface Made<TEntry> {
  readonly text: string
  readonly entry: TEntry
}

/**
 * Operations by what they were made of: as long as a definition stays the same, so does its
 * operation, and whoever compares operations sees what has changed.
 */
export class OperationKeeper<TEntry extends { readonly operation: LazyOperation }> {
  #kept: ReadonlyMap<string, Made<TEntry>> = new Map()

  /** The entries, in order. Of two with the same id the first counts, and `onTwice` is told of the second. */
  take(
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
