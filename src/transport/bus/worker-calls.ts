import type { CallerPeer } from "./callers.ts"
import { KeptResults, KeptText } from "./kept-results.ts"
import type { WorkerEntry } from "./worker-entry.ts"

/** The requests that a worker has, and what it keeps of them. */
export class WorkerCalls {
  readonly #entries = new Map<string, WorkerEntry>()
  readonly #kept: KeptResults<WorkerEntry>
  #waitingBytes = 0
  /** How often something was sent again. */
  resent = 0

  constructor(maxKeptBytes: number) {
    this.#kept = new KeptResults(maxKeptBytes, (kept) => {
      // Without its answer nothing is left to say; a stream goes on without some of its items.
      if (kept.owner.result === kept) this.forget(kept.owner)
    })
  }

  /** Bytes of requests that have not begun. */
  get waitingBytes(): number {
    return this.#waitingBytes
  }

  get keptCount(): number {
    return this.#kept.count
  }

  get keptBytes(): number {
    return this.#kept.bytes
  }

  get(id: string): WorkerEntry | undefined {
    return this.#entries.get(id)
  }

  /** An entry of this caller: nobody touches another's. */
  of(caller: CallerPeer, id: string): WorkerEntry | undefined {
    const entry = this.#entries.get(id)
    return entry?.caller === caller ? entry : undefined
  }

  /** All of them, as they are now. */
  all(): WorkerEntry[] {
    return [...this.#entries.values()]
  }

  count(state: WorkerEntry["state"]): number {
    let count = 0
    for (const entry of this.#entries.values()) if (entry.state === state) count++
    return count
  }

  add(entry: WorkerEntry): void {
    this.#entries.set(entry.id, entry)
    entry.caller.entries.add(entry)
    this.#waitingBytes += entry.bytes
  }

  /** It begins; its input is its handler's now. */
  begin(entry: WorkerEntry): void {
    if (entry.event !== undefined) this.#waitingBytes -= entry.bytes
    entry.event = undefined
    entry.state = "running"
  }

  /** It is over, and this is what was said of it. */
  end(entry: WorkerEntry, text: string, now: number): void {
    entry.state = "done"
    entry.result = new KeptText(entry, text, now)
    this.#kept.add(entry.result)
  }

  /** An item of its stream that the caller may not get. */
  item(entry: WorkerEntry, text: string, now: number): void {
    const item = new KeptText(entry, text, now)
    entry.items.add(item)
    this.#kept.add(item)
  }

  /** Sends something again that was kept. */
  resend(kept: KeptText<WorkerEntry> | undefined, now: number): void {
    if (kept === undefined) return
    this.resent++
    kept.sentAt = now
    kept.owner.caller.outbox.add(kept.text)
  }

  /** Its caller has the items of its stream up to this one. */
  received(entry: WorkerEntry, seq: number): void {
    for (const item of entry.items.receivedUpTo(seq)) this.#kept.drop(item)
  }

  /** Knows nothing of it any more. That is safe at any time: a grant with its key runs nothing then. */
  forget(entry: WorkerEntry): void {
    if (this.#entries.get(entry.id) === entry) this.#entries.delete(entry.id)
    entry.caller.entries.delete(entry)
    if (entry.event !== undefined) this.#waitingBytes -= entry.bytes
    entry.event = undefined
    if (entry.result !== undefined) this.#kept.drop(entry.result)
    this.received(entry, Number.POSITIVE_INFINITY)
  }
}
