import type { CallerPeer } from "./callers.ts"
import type { MessageText } from "../wire/frames.ts"
import { KeptResults, KeptText, SentItems } from "./entry.ts"
import type { WorkerEntry } from "./entry.ts"
import { MAX_ASKED_MS } from "../../../internal/asked-time.ts"

/** The requests that a worker has, and the results that it keeps. */
export class WorkerCalls {
  readonly #entries = new Map<string, WorkerEntry>()
  readonly kept: KeptResults
  /** Bytes of requests that have not begun. */
  waitingBytes = 0
  /** How often something was sent again. */
  resent = 0

  constructor(maxKeptBytes: number) {
    this.kept = new KeptResults(maxKeptBytes, (kept) => {
      // Without its answer a call is useless; a stream continues without some of its items.
      if (kept.owner.result === kept) this.forget(kept.owner)
    })
  }

  get(id: string): WorkerEntry | undefined {
    return this.#entries.get(id)
  }

  /** The entry of a caller; callers cannot touch each other's. */
  of(caller: CallerPeer, id: string): WorkerEntry | undefined {
    const entry = this.#entries.get(id)
    return entry?.caller === caller ? entry : undefined
  }

  /** A copy of all entries, or of those of one caller. */
  all(caller?: CallerPeer): WorkerEntry[] {
    const entries = [...this.#entries.values()]
    return caller === undefined ? entries : entries.filter((entry) => entry.caller === caller)
  }

  count(state: WorkerEntry["state"]): number {
    let count = 0
    for (const entry of this.#entries.values()) if (entry.state === state) count++
    return count
  }

  add(entry: WorkerEntry): void {
    this.#entries.set(entry.id, entry)
    this.waitingBytes += entry.bytes
  }

  /** Marks an entry as running, and releases its input. */
  begin(entry: WorkerEntry): void {
    if (entry.event !== undefined) this.waitingBytes -= entry.bytes
    entry.event = undefined
    entry.state = "running"
  }

  /** Marks an entry as done, and keeps its answer. */
  end(entry: WorkerEntry, message: MessageText, now: number): void {
    entry.state = "done"
    entry.result = new KeptText(entry, message, now)
    this.kept.add(entry.result)
  }

  /** Keeps a stream item until the caller confirms it. */
  item(entry: WorkerEntry, message: MessageText, now: number): void {
    const item = new KeptText(entry, message, now)
    entry.items ??= new SentItems()
    entry.items.add(item)
    entry.caller.items.used += item.text.length
    this.kept.add(item)
  }

  /** Keeps a question until it is answered. The clock of the call stops meanwhile, so that it may run longer. */
  ask(entry: WorkerEntry, question: number, message: MessageText, now: number): void {
    entry.expires += MAX_ASKED_MS
    entry.questions ??= new Map()
    entry.questions.set(question, new KeptText(entry, message, now))
  }

  /** Sends a kept message again. */
  resend(kept: KeptText | undefined, now: number): void {
    if (kept === undefined) return
    this.resent++
    kept.sentAt = now
    kept.owner.caller.outbox.add(kept.text, kept.head)
  }

  /** Drops stream items that the caller has received. */
  received(entry: WorkerEntry, seq: number): void {
    for (const item of entry.items?.receivedUpTo(seq) ?? []) {
      this.kept.drop(item)
      entry.caller.items.free(item.text.length)
    }
  }

  /** Forgets an entry. That is safe at any time: a later grant with its key runs nothing. */
  forget(entry: WorkerEntry): void {
    if (this.#entries.get(entry.id) === entry) this.#entries.delete(entry.id)
    if (entry.event !== undefined) this.waitingBytes -= entry.bytes
    entry.event = undefined
    if (entry.result !== undefined) this.kept.drop(entry.result)
    this.received(entry, Number.POSITIVE_INFINITY)
  }
}
