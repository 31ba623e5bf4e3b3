import { Listeners } from "../../../../src/internal/listeners.ts"
import type { CallOutcome } from "../../api/model.ts"
import { isRecord } from "../../../../src/internal/guards.ts"
import { withoutSecrets } from "./mask.ts"

/** A call that was made from this browser. */
export interface HistoryEntry {
  readonly id: string
  readonly operationId: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly input: unknown
  /** Pointers of what was left out of the input: secrets and files. */
  readonly removed: readonly string[]
  readonly ok: boolean
  readonly status: number
  /** Of an error: its code. */
  readonly code?: string | undefined
  readonly durationMs: number
  /** The data, or the problem; nothing when it was too large to keep. */
  readonly result?: unknown
}

/** The storage of entries: one of the browser, or a substitute. */
export interface Shelf {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
}

/** The name under which entries are kept. */
export const KEY = "operations.history"
const MAX_ENTRIES = 100
const MAX_RESULT = 48 * 1024
const MAX_TOTAL = 2 * 1024 * 1024

/** Makes an entry: without secrets, and with the result only when it is small. */
export function toEntry(
  operationId: string,
  schema: unknown,
  input: unknown,
  outcome: CallOutcome,
  at: number,
): HistoryEntry {
  const { value, removed } = withoutSecrets(input, schema)
  const found = withoutSecrets(outcome.ok ? outcome.envelope.data : outcome.problem).value
  const size = JSON.stringify(found)?.length ?? 0
  return {
    id: `${at.toString(36)}-${Math.random().toString(36).slice(2, 8)}`,
    operationId,
    at,
    input: value,
    removed,
    ok: outcome.ok,
    status: outcome.status,
    ...(!outcome.ok && { code: outcome.problem.code }),
    durationMs: Math.round(outcome.durationMs),
    ...(size <= MAX_RESULT && found !== undefined && { result: found }),
  }
}

/** The calls of this browser, the newest first. It never throws: a full or blocked storage loses entries. */
export class HistoryStore {
  #entries: readonly HistoryEntry[] | undefined
  readonly #shelf: () => Shelf | undefined
  readonly #listeners = new Listeners()

  constructor(shelf: () => Shelf | undefined) {
    this.#shelf = shelf
  }

  readonly get = (): readonly HistoryEntry[] => {
    this.#entries ??= this.#read()
    return this.#entries
  }

  readonly subscribe = this.#listeners.add

  add(entry: HistoryEntry): void {
    // Another tab may have added some meanwhile.
    this.#set([entry, ...this.#read().filter(({ id }) => id !== entry.id)])
  }

  remove(id: string): void {
    this.#set(this.#read().filter((entry) => entry.id !== id))
  }

  clear(): void {
    this.#set([])
  }

  /** Reads the entries again, after another tab has written. */
  readonly refresh = (): void => {
    this.#entries = undefined
    this.#listeners.notify()
  }

  #set(entries: readonly HistoryEntry[]): void {
    this.#entries = this.#write(bounded(entries))
    this.#listeners.notify()
  }

  #read(): readonly HistoryEntry[] {
    try {
      const parsed: unknown = JSON.parse(this.#shelf()?.getItem(KEY) ?? "[]")
      return Array.isArray(parsed) ? parsed.filter(isEntry).slice(0, MAX_ENTRIES) : []
    } catch {
      return []
    }
  }

  /** Writes as many as there is room for. */
  #write(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
    let kept = entries
    for (;;) {
      try {
        this.#shelf()?.setItem(KEY, JSON.stringify(kept))
        return kept
      } catch {
        if (kept.length === 0) return entries
        kept = kept.slice(0, Math.floor(kept.length / 2))
      }
    }
  }
}

function bounded(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
  const kept: HistoryEntry[] = []
  let total = 0
  for (const entry of entries.slice(0, MAX_ENTRIES)) {
    total += JSON.stringify(entry).length
    if (total > MAX_TOTAL) break
    kept.push(entry)
  }
  return kept
}

/** Stored entries may be from another version, or from another user. */
function isEntry(value: unknown): value is HistoryEntry {
  return (
    isRecord(value) &&
    typeof value["id"] === "string" &&
    typeof value["operationId"] === "string" &&
    typeof value["at"] === "number" &&
    typeof value["ok"] === "boolean" &&
    typeof value["status"] === "number" &&
    typeof value["durationMs"] === "number" &&
    Array.isArray(value["removed"])
  )
}
