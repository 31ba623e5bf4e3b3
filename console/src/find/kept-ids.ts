import { useSyncExternalStore } from "react"
import { Listeners } from "../../../src/internal/listeners.ts"
import { HistoryShelf } from "../try/history/history-shelf.ts"
import type { Shelf } from "../try/history/store.ts"

const MAX_ID = 500

/**
 * Ids of operations that the browser keeps, the newest first.
 *
 * Never throws: a full or blocked storage keeps them for as long as the page is open.
 */
export class KeptIds {
  readonly #key: string
  readonly #max: number
  readonly #shelf: () => Shelf
  readonly #listeners = new Listeners()
  #ids: readonly string[] | undefined

  constructor(key: string, max: number, shelf: () => Shelf) {
    this.#key = key
    this.#max = max
    this.#shelf = shelf
  }

  /** Notifies a listener of every change, of other tabs too. */
  readonly follow = (listener: () => void): (() => void) => {
    const stop = this.#listeners.add(listener)
    addEventListener("storage", this.#refresh)
    return () => {
      stop()
      removeEventListener("storage", this.#refresh)
    }
  }

  readonly get = (): readonly string[] => (this.#ids ??= this.#read())

  /** Makes an id the newest. */
  readonly add = (id: string): void => {
    if (this.get()[0] !== id) this.#set([id, ...this.#others(id)])
  }

  /** Adds an id, or removes it. */
  readonly toggle = (id: string): void => {
    const others = this.#others(id)
    this.#set(others.length < this.get().length ? others : [id, ...others])
  }

  readonly clear = (): void => this.#set([])

  readonly #refresh = (): void => {
    this.#ids = undefined
    this.#listeners.notify()
  }

  #others(id: string): readonly string[] {
    return this.get().filter((one) => one !== id)
  }

  #set(ids: readonly string[]): void {
    this.#ids = ids.slice(0, this.#max)
    try {
      this.#shelf().setItem(this.#key, JSON.stringify(this.#ids))
    } catch {
      // The browser keeps nothing for this page, or no more.
    }
    this.#listeners.notify()
  }

  /** What is stored may be from another version, or from another page of the same host. */
  #read(): readonly string[] {
    try {
      const stored: unknown = JSON.parse(this.#shelf().getItem(this.#key) ?? "[]")
      return Array.isArray(stored) ? [...new Set(stored.filter(isId))].slice(0, this.#max) : []
    } catch {
      return []
    }
  }
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_ID
}

/** The operations that the user has marked. */
export const favourites = new KeptIds("operations.favourites", 100, () => globalThis.localStorage)

/** The operations that were opened last: in this tab, and beyond it only where the user keeps the history. */
export const recent = new KeptIds(
  "operations.recent",
  8,
  () =>
    new HistoryShelf(
      () => globalThis.sessionStorage,
      () => globalThis.localStorage,
    ),
)

/** Kept ids, also when another tab changes them. */
export function useKeptIds(kept: KeptIds): readonly string[] {
  return useSyncExternalStore(kept.follow, kept.get)
}
