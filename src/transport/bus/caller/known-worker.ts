import type { CallerMessage } from "../wire/messages.ts"
import type { CallEntry } from "./entry.ts"
import type { Outbox } from "../wire/outbox.ts"
import type { WorkerStats } from "../stats.ts"
import type { Offer, Offered } from "./offers.ts"
import { doneText, quoted } from "../wire/short-messages.ts"
import { messageText } from "../wire/wire.ts"

/** Results that arrived are confirmed with whatever is sent next, or when there are as many as these. */
const MOST_DONE = 256

/** A worker, as a caller sees it. */
export class KnownWorker {
  readonly address: string
  /** What it serves, and what it says of that. */
  readonly offers: Map<Offer, Offered> = new Map()
  /** Calls that it was given or granted. */
  readonly entries: Set<CallEntry> = new Set()
  /** It has said what it serves, and nothing has changed since. */
  isDescribed = false
  /** It was asked what it serves. */
  isAsked = false
  isLeaving = false
  /** It was waited for in vain when all were asked what they have. */
  wasMissed = false
  /** It said nothing for so long that its calls were given up. */
  isLost = false
  /** Until then it is given nothing, because it did not want something just now. */
  declinesUntil: number = Number.NEGATIVE_INFINITY
  heardAt: number
  /** When it said its last pong, by its own clock. */
  pongAt: number | undefined
  /** What is asked about once more as soon as it answers: what was lost is certain then. */
  askAgain: "all" | "gaps" | undefined
  pingedAt: number = Number.NEGATIVE_INFINITY
  /** When it was last given something. */
  usedAt: number = Number.NEGATIVE_INFINITY
  /** Since when it is pinged; `undefined` while it is not. */
  watchedFrom: number | undefined
  /** Since when nobody listens at its address. */
  goneSince: number | undefined
  readonly #outbox: Outbox
  /** Quoted. */
  #done: string[] = []
  /** Streams that nobody here reads: it was told to stop them, and need not be told with each item. */
  readonly #strays = new Set<string>()

  constructor(address: string, outbox: Outbox, now: number) {
    this.address = address
    this.heardAt = now
    this.#outbox = outbox
  }

  /** Says something, together with all else that it is told in this turn. */
  tell(message: CallerMessage): void {
    this.say(messageText(message))
  }

  /** The same with a message that is text already, or an item of a list that begins with `head`. */
  say(text: string, head?: string): void {
    this.confirm()
    this.#outbox.add(text, head)
  }

  /** Asks whether it is there, what became of calls, and for what is missing of streams. */
  ping(ids: readonly string[], streams: readonly (readonly [string, number])[]): void {
    const heard = this.pongAt
    this.tell({ type: "ping", ids, streams: Object.fromEntries(streams), heard })
  }

  /** An answer arrived: the worker need not keep it. */
  finished(requestId: string): void {
    if (this.#done.push(quoted(requestId)) >= MOST_DONE) this.confirm()
  }

  /** Says which answers arrived. */
  confirm(): void {
    if (this.#done.length === 0) return
    const ids = this.#done
    this.#done = []
    this.#outbox.add(doneText(ids))
  }

  /** Items came of a stream that nobody reads. */
  stray(requestId: string): void {
    if (this.#strays.has(requestId)) return
    this.#strays.add(requestId)
    this.tell({ type: "event", event: { type: "call.aborted", requestId } })
  }

  /** May be told of strays again. */
  forgetStrays(): void {
    this.#strays.clear()
  }

  /** Sends what waits now. */
  flush(): void {
    this.confirm()
    this.#outbox.flush()
  }

  heard(now: number): void {
    this.heardAt = now
    this.goneSince = undefined
    this.isLost = false
  }

  /** Milliseconds for which it was pinged and said nothing. */
  silentFor(now: number): number {
    if (this.watchedFrom === undefined) return 0
    return Math.max(0, now - Math.max(this.heardAt, this.watchedFrom))
  }

  /** It is there for all the broker knows, and says nothing. */
  isSilent(now: number, suspectMs: number): boolean {
    return this.goneSince === undefined && (this.isLost || this.silentFor(now) >= suspectMs)
  }

  /** It can be given something. */
  isLive(now: number, suspectMs: number): boolean {
    if (this.isLeaving || this.isLost || this.goneSince !== undefined) return false
    return now >= this.declinesUntil && this.silentFor(now) < suspectMs
  }

  stats(now: number, suspectMs: number): WorkerStats {
    const { address } = this
    const state = this.#state(now, suspectMs)
    return { address, calls: this.entries.size, silentFor: now - this.heardAt, state }
  }

  #state(now: number, suspectMs: number): WorkerStats["state"] {
    if (this.goneSince !== undefined) return "gone"
    if (this.isLost || this.silentFor(now) >= suspectMs) return "silent"
    return this.isLeaving ? "leaving" : "alive"
  }
}
