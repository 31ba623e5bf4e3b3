import type { CallerCore } from "./state.ts"
import type { CallEntry } from "./model.ts"
import { say } from "./failures.ts"
import type { KnownWorker } from "./model.ts"

/** Somebody who is just starting has so many milliseconds. */
const ROUND_MS = 200
/** So often callers look for somebody where the broker does not. */
const ROUNDS = 2
/** So long after the last worker has said what it serves, all have. */
const SETTLED_MS = 150
/** Once one has said that it serves something, the others get so many milliseconds to say so too. */
const GATHER_MS = 10

/** How a request is sent: to one worker, or to any. */
type Post = (entry: CallEntry, worker: KnownWorker | undefined) => void

/** Finds somebody for calls that nobody took, and says so when there is nobody. */
export class WorkerSearch {
  readonly #core: CallerCore
  readonly #post: Post
  readonly #entries = new Set<CallEntry>()
  /** When a worker last said what it serves. */
  #foundAt = Number.NEGATIVE_INFINITY

  constructor(core: CallerCore, post: Post) {
    this.#core = core
    this.#post = post
  }

  /** Nobody listened, or nobody is known. */
  start(entry: CallEntry): void {
    const core = this.#core
    const now = core.now()
    if (entry.rounds === 0) entry.seekingSince = now
    entry.state = "seeking"
    entry.step = "search"
    // A broker that finds workers knows for certain that nobody serves it now.
    if (core.bus.hasQueues && this.#conclude(entry, entry.rounds > 0, now)) return
    entry.rounds++
    this.#entries.add(entry)
    core.arm(entry, now + ROUND_MS)
    core.ask()
  }

  /** It is looked for nobody any more. */
  stop(entry: CallEntry): void {
    this.#entries.delete(entry)
  }

  /** A worker says what it serves: that may be what somebody waits for. */
  found(worker: KnownWorker): void {
    const core = this.#core
    const now = core.now()
    this.#foundAt = now
    if (this.#entries.size === 0) return
    for (const entry of [...this.#entries]) {
      if (entry.isOver || entry.state !== "seeking") this.#entries.delete(entry)
      else if (worker.offers.has(entry.offer))
        core.arm(entry, Math.min(entry.dueAt, now + GATHER_MS))
      else if (core.bus.hasQueues) this.#conclude(entry, false, now)
    }
  }

  /** The time to look is over for now. */
  decide(entry: CallEntry): void {
    const core = this.#core
    const now = core.now()
    this.#entries.delete(entry)
    const worker = core.book.pick(entry.offer, now, entry.version)
    if (worker !== undefined || core.mayGoToAny(entry)) {
      this.#send(entry, worker)
      return
    }
    const hasLooked = entry.rounds >= ROUNDS || !entry.offer.wasServed
    if (!this.#conclude(entry, hasLooked && this.#hasHeard(entry, now), now)) this.start(entry)
  }

  /** Somebody answered, it is certain that nobody can, or nobody did for too long. */
  #hasHeard(entry: CallEntry, now: number): boolean {
    const { book, nobodyAt, settings } = this.#core
    if (now - entry.seekingSince >= settings.silentMs) return true
    if (entry.rounds >= ROUNDS && nobodyAt >= entry.seekingSince) return true
    return now - this.#foundAt >= SETTLED_MS && book.pickAny(now) !== undefined
  }

  /** Settles what becomes of an entry, if that is clear already. */
  #conclude(entry: CallEntry, isLast: boolean, now: number): boolean {
    const core = this.#core
    const { offer, version } = entry
    const worker = core.book.pick(offer, now, version) ?? this.#stranger(entry, isLast, now)
    if (worker !== undefined) {
      this.#send(entry, worker)
      return true
    }
    if (!isLast || core.isInGrace) return false
    this.#entries.delete(entry)
    core.fail(entry, "UNAVAILABLE", say.nobody(entry))
    return true
  }

  /** One that does not serve it, for what nobody ever did: its registry says so in its own words. */
  #stranger(entry: CallEntry, isLast: boolean, now: number): KnownWorker | undefined {
    const { bus, book, isInGrace } = this.#core
    // After an outage those who serve it may just not be back.
    if (entry.offer.wasServed || isInGrace || !(bus.hasQueues || isLast)) return undefined
    return book.pickAny(now)
  }

  #send(entry: CallEntry, worker: KnownWorker | undefined): void {
    this.#entries.delete(entry)
    this.#post(entry, worker)
  }
}
