import { useSyncExternalStore } from "react"
import { Listeners } from "../../../src/internal/listeners.ts"
import { parseJson, printJson } from "../ui/json-text.ts"
import { withoutSecrets } from "./history/mask.ts"
import type { Shelf } from "./history/store.ts"

/** An input that was entered, without its secrets. */
export interface Draft {
  readonly input: unknown
  /** Pointers of what was left out: secrets and files. */
  readonly removed: readonly string[]
}

const KEY = "operations.drafts"
const MAX_DRAFTS = 30
const MAX_TEXT = 100_000

/** The last input of each operation, for as long as the tab is open. Never throws: a full storage loses drafts. */
export class Drafts {
  readonly #shelf: () => Shelf
  readonly #listeners = new Listeners()
  /** By operation; the oldest first. */
  #drafts: ReadonlyMap<string, Draft> | undefined

  constructor(shelf: () => Shelf) {
    this.#shelf = shelf
  }

  readonly subscribe = this.#listeners.add

  readonly get = (id: string): Draft | undefined => this.#all().get(id)

  /** Keeps an input without its secrets. */
  keep(id: string, input: unknown, schema: unknown): void {
    const { value, removed } = withoutSecrets(input, schema)
    this.put(id, value === undefined ? undefined : { input: value, removed })
  }

  /** Puts a draft in place of an operation's own; `undefined` removes it. */
  put(id: string, draft: Draft | undefined): void {
    const drafts = new Map(this.#all())
    drafts.delete(id)
    if (draft !== undefined) drafts.set(id, draft)
    this.#write(drafts)
  }

  /** Forgets everything, for the next user. */
  clear(): void {
    this.#write(new Map())
  }

  #all(): ReadonlyMap<string, Draft> {
    this.#drafts ??= this.#read()
    return this.#drafts
  }

  #read(): ReadonlyMap<string, Draft> {
    try {
      const stored = parseJson(this.#shelf().getItem(KEY) ?? "[]")
      const entries = Array.isArray(stored) ? stored.filter(isEntry) : []
      return new Map(entries.map(([id, input, removed]) => [id, { input, removed }]))
    } catch {
      return new Map()
    }
  }

  #write(drafts: Map<string, Draft>): void {
    const entries = Array.from(drafts, ([id, { input, removed }]) => [id, input, removed])
    let text = printJson(entries) ?? ""
    while (entries.length > MAX_DRAFTS || text.length > MAX_TEXT) {
      drafts.delete(String(entries.shift()?.[0]))
      text = printJson(entries) ?? ""
    }
    this.#drafts = drafts
    try {
      this.#shelf().setItem(KEY, text)
    } catch {
      // The browser keeps nothing for this page, or no more.
    }
    // Later: a draft may be put while a view is drawn.
    queueMicrotask(() => this.#listeners.notify())
  }
}

/** The drafts of this tab. */
export const drafts = new Drafts(() => globalThis.sessionStorage)

/** The last input of an operation. */
export function useDraft(id: string): Draft | undefined {
  return useSyncExternalStore(drafts.subscribe, () => drafts.get(id))
}

type Entry = readonly [id: string, input: unknown, removed: readonly string[]]

/** What is stored may be from another version. */
function isEntry(value: unknown): value is Entry {
  return Array.isArray(value) && typeof value[0] === "string" && Array.isArray(value[2])
}
