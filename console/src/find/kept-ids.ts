import { useSyncExternalStore } from "react"
import { listOf } from "../../../src/schema/json.ts"
import { historyShelf } from "../try/history/history-shelf.ts"
import { StoredValue } from "../ui/stored-value.ts"
import type { Shelf } from "../ui/stored-value.ts"

const MAX_ID = 500

/** Ids of operations that the browser keeps, the newest first. */
export class KeptIds extends StoredValue<readonly string[]> {
  readonly #max: number

  constructor(key: string, max: number, shelf: () => Shelf) {
    super(key, shelf)
    this.#max = max
  }

  /** Makes an id the newest. */
  readonly add = (id: string): void => {
    if (this.get()[0] !== id) this.#store([id, ...this.#others(id)])
  }

  /** Adds an id, or removes it. */
  readonly toggle = (id: string): void => {
    const others = this.#others(id)
    this.#store(others.length < this.get().length ? others : [id, ...others])
  }

  readonly clear = (): void => this.#store([])

  protected fromJson(json: unknown): readonly string[] {
    return [...new Set(listOf(json).filter(isId))].slice(0, this.#max)
  }

  #others(id: string): readonly string[] {
    return this.get().filter((one) => one !== id)
  }

  #store(ids: readonly string[]): void {
    const kept = ids.slice(0, this.#max)
    this.write(kept)
    this.set(kept)
  }
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_ID
}

/** The operations that the user has marked. */
export const favourites = new KeptIds("operations.favourites", 100, () => globalThis.localStorage)

/** The operations that were opened last: in this tab, and beyond it only where the user keeps the history. */
export const recent = new KeptIds("operations.recent", 8, () => historyShelf)

/** Kept ids, also when another tab changes them. */
export function useKeptIds(kept: KeptIds): readonly string[] {
  return useSyncExternalStore(kept.follow, kept.get)
}
