import { Listeners } from "../../../../src/internal/listeners.ts"
import type { CallOutcome } from "../../api/model.ts"
import { endingOf } from "../../api/outcome.ts"
import type { Tone } from "../../ui/tone.ts"
import { parseJson, printJson } from "../../ui/json-text.ts"
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
  /** How it ended: the status, or a word. */
  readonly ending: string
  readonly tone: Tone
  /** The code of an error. */
  readonly code?: string | undefined
  readonly durationMs: number
  /** The data, or the problem; missing if it was too large to keep. */
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
  const result = withoutSecrets(outcome.ok ? outcome.envelope.data : outcome.problem).value
  const size = printJson(result)?.length ?? 0
  const { text, tone, code } = endingOf(outcome)
  return {
    id: `${at.toString(36)}-${Math.random().toString(36).slice(2, 8)}`,
    operationId,
    at,
    input: value,
    removed,
    ending: text,
    tone,
    ...(code !== undefined && { code }),
    durationMs: Math.round(outcome.durationMs),
    ...(size <= MAX_RESULT && result !== undefined && { result }),
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
      const parsed: unknown = parseJson(this.#shelf()?.getItem(KEY) ?? "[]")
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
        this.#shelf()?.setItem(KEY, printJson(kept) ?? "[]")
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
    total += printJson(entry)?.length ?? 0
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
    typeof value["ending"] === "string" &&
    typeof value["tone"] === "string" &&
    typeof value["durationMs"] === "number" &&
    Array.isArray(value["removed"])
  )
}
