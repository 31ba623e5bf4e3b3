import type { CallerState } from "./state.ts"
import type { CallEntry, KnownWorker } from "./model.ts"
import { messages } from "./failures.ts"

/** The duration of one search, in milliseconds: a worker may be starting. */
const ROUND_MS = 200
/** The number of searches on a bus without queues. */
const MAX_ROUNDS = 2
/** Discovery is complete this long after the last worker announced itself, in milliseconds. */
const DISCOVERED_MS = 150
/** How long the others get to announce an operation after the first worker did, in milliseconds. */
const GATHER_MS = 10

/** Searches workers for calls that have none, and fails the calls when there is none. */
export class WorkerSearch {
  readonly #state: CallerState
  readonly #post: (entry: CallEntry, worker: KnownWorker | undefined) => void
  readonly #entries = new Set<CallEntry>()
  /** When a worker last announced its operations. */
  #announcedAt = Number.NEGATIVE_INFINITY

  /** `post` sends a request to one worker, or to any. */
  constructor(state: CallerState, post: (entry: CallEntry, worker?: KnownWorker) => void) {
    this.#state = state
    this.#post = post
  }

  /** Starts a search: there was no responder, or no worker is known. */
  start(entry: CallEntry): void {
    const state = this.#state
    const now = state.now()
    if (entry.rounds === 0) entry.seekingSince = now
    entry.state = "seeking"
    entry.step = "search"
    // A broker with queues knows for certain that no worker serves it now.
    if (state.bus.hasQueues && this.#conclude(entry, entry.rounds > 0, now)) return
    entry.rounds++
    this.#entries.add(entry)
    state.arm(entry, now + ROUND_MS)
    state.ask()
  }

  /** Ends the search for a call. */
  stop(entry: CallEntry): void {
    this.#entries.delete(entry)
  }

  /** Handles an announcement, which may be what a call waits for. */
  onAnnouncement(worker: KnownWorker): void {
    const state = this.#state
    const now = state.now()
    this.#announcedAt = now
    if (this.#entries.size === 0) return
    for (const entry of [...this.#entries]) {
      if (entry.isOver || entry.state !== "seeking") this.#entries.delete(entry)
      else if (worker.offers.has(entry.offer))
        state.arm(entry, Math.min(entry.dueAt, now + GATHER_MS))
      else if (state.bus.hasQueues) this.#conclude(entry, false, now)
    }
  }

  /** Handles the end of a search. */
  decide(entry: CallEntry): void {
    const state = this.#state
    const now = state.now()
    this.#entries.delete(entry)
    const worker = state.book.pick(entry.offer, now, entry.version)
    if (worker !== undefined || state.mayGoToAny(entry)) return this.#send(entry, worker)
    const hasLooked = entry.rounds >= MAX_ROUNDS || !entry.offer.wasServed
    if (!this.#conclude(entry, hasLooked && this.#isDiscoveryOver(entry, now), now))
      this.start(entry)
  }

  /** Whether discovery is over: all workers answered, there are none, or none answered for too long. */
  #isDiscoveryOver(entry: CallEntry, now: number): boolean {
    const { book, noWorkersAt: nobodyAt, settings } = this.#state
    if (now - entry.seekingSince >= settings.silentMs) return true
    if (entry.rounds >= MAX_ROUNDS && nobodyAt >= entry.seekingSince) return true
    return now - this.#announcedAt >= DISCOVERED_MS && book.pickAny(now) !== undefined
  }

  /** Sends or fails a call, if that can be decided already; returns whether it did. */
  #conclude(entry: CallEntry, isLast: boolean, now: number): boolean {
    const state = this.#state
    const { offer, version } = entry
    const worker = state.book.pick(offer, now, version) ?? this.#anyWorker(entry, isLast, now)
    if (worker !== undefined) {
      this.#send(entry, worker)
      return true
    }
    if (!isLast || state.isInGrace) return false
    this.#entries.delete(entry)
    state.fail(entry, "UNAVAILABLE", messages.noWorker(entry))
    return true
  }

  /** A worker for an operation that none ever served: its registry reports the unknown id. */
  #anyWorker(entry: CallEntry, isLast: boolean, now: number): KnownWorker | undefined {
    const { bus, book, isInGrace } = this.#state
    // After an outage the workers that serve it may not be back yet.
    if (entry.offer.wasServed || isInGrace || !(bus.hasQueues || isLast)) return undefined
    return book.pickAny(now)
  }

  #send(entry: CallEntry, worker: KnownWorker | undefined): void {
    this.#entries.delete(entry)
    this.#post(entry, worker)
  }
}
