import type { CallerPeer } from "./callers.ts"
import type { MessageText } from "../wire/frame-builder.ts"
import { KeptResults, KeptText } from "./kept-results.ts"
import { SentItems } from "./sent-items.ts"
import type { WorkerEntry } from "./entry.ts"

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

  /** All of them, as they are now; or all of one caller. */
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
    this.#waitingBytes += entry.bytes
  }

  /** It begins; its input is its handler's now. */
  begin(entry: WorkerEntry): void {
    if (entry.event !== undefined) this.#waitingBytes -= entry.bytes
    entry.event = undefined
    entry.state = "running"
  }

  /** It is over, and this is what was said of it. */
  end(entry: WorkerEntry, message: MessageText, now: number): void {
    entry.state = "done"
    entry.result = new KeptText(entry, message, now)
    this.#kept.add(entry.result)
  }

  /** An item of its stream that the caller may not get. */
  item(entry: WorkerEntry, message: MessageText, now: number): void {
    const item = new KeptText(entry, message, now)
    entry.items ??= new SentItems()
    entry.items.add(item)
    this.#kept.add(item)
  }

  /** Sends something again that was kept. */
  resend(kept: KeptText<WorkerEntry> | undefined, now: number): void {
    if (kept === undefined) return
    this.resent++
    kept.sentAt = now
    kept.owner.caller.outbox.add(kept.text, kept.head)
  }

  /** Its caller has the items of its stream up to this one. */
  received(entry: WorkerEntry, seq: number): void {
    const { items } = entry
    if (items !== undefined) for (const item of items.receivedUpTo(seq)) this.#kept.drop(item)
  }

  /** Knows nothing of it any more. That is safe at any time: a grant with its key runs nothing then. */
  forget(entry: WorkerEntry): void {
    if (this.#entries.get(entry.id) === entry) this.#entries.delete(entry.id)
    if (entry.event !== undefined) this.#waitingBytes -= entry.bytes
    entry.event = undefined
    if (entry.result !== undefined) this.#kept.drop(entry.result)
    this.received(entry, Number.POSITIVE_INFINITY)
  }
}
