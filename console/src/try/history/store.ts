import type { CallOutcome } from "../../api/model.ts"
import { endingOf, isLarge, resultOf } from "../../api/outcome.ts"
import type { Tone } from "../../ui/tone.ts"
import { printJson } from "../../ui/json-text.ts"
import { StoredValue } from "../../ui/stored-value.ts"
import type { Shelf } from "../../ui/stored-value.ts"
import { isRecord } from "../../../../src/internal/guards.ts"
import { listOf } from "../../../../src/schema/json.ts"
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
  // Of what is large nothing is kept, and little is read.
  const result = isLarge(outcome) ? undefined : withoutSecrets(resultOf(outcome)).value
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

/** The calls of this browser, the newest first. A full or blocked storage loses entries. */
export class HistoryStore extends StoredValue<readonly HistoryEntry[]> {
  constructor(shelf: () => Shelf) {
    super(KEY, shelf)
  }

  add(entry: HistoryEntry): void {
    // Another tab may have added some meanwhile.
    this.#store([entry, ...this.read().filter(({ id }) => id !== entry.id)])
  }

  remove(id: string): void {
    this.#store(this.read().filter((entry) => entry.id !== id))
  }

  clear(): void {
    this.#store([])
  }

  protected fromJson(json: unknown): readonly HistoryEntry[] {
    return listOf(json).filter(isEntry).slice(0, MAX_ENTRIES)
  }

  /** Stores as many as there is room for; without a storage all stay in the page. */
  #store(entries: readonly HistoryEntry[]): void {
    const all = bounded(entries)
    let kept = all
    while (!this.write(kept)) {
      if (kept.length === 0) return this.set(all)
      kept = kept.slice(0, Math.floor(kept.length / 2))
    }
    this.set(kept)
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
