import { useSyncExternalStore } from "react"
import { listOf } from "../../../src/schema/json.ts"
import { printJson } from "../ui/json-text.ts"
import { StoredValue } from "../ui/stored-value.ts"
import type { Shelf } from "../ui/stored-value.ts"
import { withoutSecrets } from "./history/mask.ts"

/** An input that was entered, without its secrets. */
export interface Draft {
  readonly input: unknown
  /** Pointers of what was left out: secrets and files. */
  readonly removed: readonly string[]
  /** A link brought it, and it has not been changed since. */
  readonly isFromLink?: boolean | undefined
}

const KEY = "operations.drafts"
const MAX_DRAFTS = 30
const MAX_TEXT = 100_000

/** The last input of each operation, the oldest first, for as long as the tab is open. */
export class Drafts extends StoredValue<ReadonlyMap<string, Draft>> {
  constructor(shelf: () => Shelf) {
    super(KEY, shelf)
  }

  readonly draftOf = (id: string): Draft | undefined => this.get().get(id)

  /** Keeps an input without its secrets. */
  keep(id: string, input: unknown, schema: unknown): void {
    const { value, removed } = withoutSecrets(input, schema)
    this.put(id, value === undefined ? undefined : { input: value, removed })
  }

  /** Replaces the draft of an operation; `undefined` removes it. */
  put(id: string, draft: Draft | undefined): void {
    const drafts = new Map(this.get())
    drafts.delete(id)
    if (draft !== undefined) drafts.set(id, draft)
    this.#store(drafts)
  }

  /** Forgets everything, for the next user. */
  clear(): void {
    this.#store(new Map())
  }

  protected fromJson(json: unknown): ReadonlyMap<string, Draft> {
    const entries = listOf(json).filter(isEntry)
    return new Map(entries.map(([id, input, removed]) => [id, { input, removed }]))
  }

  /** Later: a draft may be put while a view is rendered. */
  protected override notify(): void {
    queueMicrotask(() => super.notify())
  }

  #store(drafts: Map<string, Draft>): void {
    const entries = Array.from(drafts, ([id, { input, removed }]) => [id, input, removed])
    while (entries.length > MAX_DRAFTS || (printJson(entries)?.length ?? 0) > MAX_TEXT) {
      drafts.delete(String(entries.shift()?.[0]))
    }
    this.write(entries)
    this.set(drafts)
  }
}

/** The drafts of this tab. */
export const drafts = new Drafts(() => globalThis.sessionStorage)

/** The last input of an operation. */
export function useDraft(id: string): Draft | undefined {
  return useSyncExternalStore(drafts.subscribe, () => drafts.draftOf(id))
}

type Entry = readonly [id: string, input: unknown, removed: readonly string[]]

/** What is stored may be from another version. */
function isEntry(value: unknown): value is Entry {
  return Array.isArray(value) && typeof value[0] === "string" && Array.isArray(value[2])
}
