import type { CallErrorEvent } from "../../../core/events.ts"
import type { CallerCore } from "./state.ts"
import type { CallEntry } from "./model.ts"
import { say } from "./failures.ts"
import type { Dispatcher } from "./dispatcher.ts"
import type { KnownWorker } from "./model.ts"
import type { WorkerMessage } from "../wire/messages.ts"
import { goText } from "../wire/short-messages.ts"

type Accepted = WorkerMessage & { readonly type: "accepted" }
type Refused = WorkerMessage & { readonly type: "refused" }

/** Calls younger than this are not asked about; those that take longer are asked about more seldom. */
const FIRST_CHECK = 1000
const LONGEST_CHECK = 5000

/** Lets one worker run a call, and no other; and finds out what becomes of calls whose worker is no more. */
export class CallerGrants {
  readonly #core: CallerCore
  readonly #dispatcher: Dispatcher

  constructor(core: CallerCore, dispatcher: Dispatcher) {
    this.#core = core
    this.#dispatcher = dispatcher
  }

  /** A worker has a call, and waits for its grant; or runs it already. */
  accepted(worker: KnownWorker, message: Accepted, now: number): void {
    const entry = this.#core.pending.get(message.id)
    if (entry === undefined) this.#turnAway(worker, message)
    else if (entry.state === "granted") this.#acceptedAgain(entry, worker, message, now)
    else this.#decide(entry, worker, message, now)
  }

  /** A worker does not have a call, and will not begin it. */
  refused(worker: KnownWorker, { id, attempt, key, elsewhere, error }: Refused): void {
    const entry = this.#core.pending.get(id)
    if (entry === undefined) return
    const isGranted = entry.state === "granted"
    // Nobody but the one that has it now can give it back.
    if (isGranted && (entry.worker !== worker || entry.key !== key)) return
    if (!isGranted && (entry.state !== "sent" || attempt !== entry.attempt)) return
    if (!isGranted && entry.worker !== undefined && entry.worker !== worker) return
    if (elsewhere) this.#dispatcher.elsewhere(entry, worker, error)
    else this.#refusedForGood(entry, worker, error)
  }

  /** A call that was granted will not be answered: it is given to another worker if that does no harm. */
  lost(entry: CallEntry, why: string): void {
    const core = this.#core
    const { worker } = entry
    core.forgetMark(entry)
    core.disarm(entry)
    core.assign(entry, undefined, 0)
    entry.avoid = worker
    const isLast = entry.repeats + 1 >= core.settings.maxAttempts
    if (entry.state !== "granted") {
      if (isLast) core.fail(entry, "UNAVAILABLE", say.notAccepted(entry), { worker })
      else this.#dispatcher.repeat(entry)
      return
    }
    entry.key = undefined
    entry.state = "seeking"
    if (entry.isIdempotent === true && !entry.isStream && !isLast) {
      if (worker !== undefined) entry.openFor(worker)
      this.#dispatcher.repeat(entry)
      return
    }
    // Should it be there after all, it need not go on.
    const { requestId } = entry
    worker?.tell({ type: "event", event: { type: "call.aborted", requestId } })
    core.fail(entry, "WORKER_LOST", say.lost(entry, why), { worker })
  }

  /**
   * A worker that was only asked because nobody seemed to serve an operation does not know it, and by now
   * somebody does: that one gets it.
   */
  wasStranger(entry: CallEntry, worker: KnownWorker, error: CallErrorEvent): boolean {
    const { book } = this.#core
    if (error.code !== "OPERATION_NOT_FOUND" || error.mayHaveExecuted !== false) return false
    if (entry.state !== "granted" || entry.worker !== worker) return false
    if (worker.offers.has(entry.offer)) return false
    const { offer, version } = entry
    if (book.pick(offer, this.#core.now(), version, worker) === undefined) return false
    this.#dispatcher.elsewhere(entry, worker, error)
    return true
  }

  #refusedForGood(entry: CallEntry, worker: KnownWorker, error: CallErrorEvent): void {
    entry.undoAttempt()
    const { code, message, retryAfterMs, details } = error
    const retryable = error.retryable === true && entry.fate().retryable
    // It has nothing that could be stopped.
    entry.state = "seeking"
    this.#core.fail(entry, code, message, { retryable, retryAfterMs, details, worker })
  }

  #acceptedAgain(entry: CallEntry, worker: KnownWorker, message: Accepted, now: number): void {
    const isSame = entry.worker === worker && entry.key === message.key
    if (!isSame) this.#turnAway(worker, message)
    // The grant was lost.
    else if (message.runs !== true) this.#go(entry, worker, message.key, now)
  }

  #decide(entry: CallEntry, worker: KnownWorker, message: Accepted, now: number): void {
    const { isIdempotent, runs, attempt } = message
    const core = this.#core
    core.book.learn(worker, entry.offer, isIdempotent)
    if (runs === true && !entry.isOpenTo(worker)) {
      this.#turnAway(worker, message)
      return
    }
    const isLatest = attempt === entry.attempt
    if (runs !== true) {
      // The only one that has it has not begun.
      if (isLatest && entry.state === "sent") entry.undoAttempt()
      if (entry.mayHaveExecuted && !isIdempotent) {
        this.#tooLate(entry, worker, message)
        return
      }
      if (entry.deadline <= now) {
        this.#turnAway(worker, message)
        return
      }
    }
    if (isLatest) core.latency.observe(now - entry.sentAt)
    else if (attempt === 1) core.latency.observe(now - entry.firstSentAt)
    this.#bind(entry, worker, message, now)
    if (runs !== true) this.#go(entry, worker, message.key, now)
  }

  /** From now on this worker has it, and nobody else. */
  #bind(entry: CallEntry, worker: KnownWorker, message: Accepted, now: number): void {
    const core = this.#core
    core.forgetMark(entry)
    core.disarm(entry)
    entry.offer.queue.answered(entry)
    this.#dispatcher.search.stop(entry)
    core.assign(entry, worker, now)
    entry.state = "granted"
    entry.key = message.key
    entry.isIdempotent = message.isIdempotent
    if (message.runs !== true) entry.mayHaveExecutedBefore = entry.mayHaveExecuted
    entry.mayHaveExecuted = true
    entry.rounds = 0
    entry.nextCheck = now + FIRST_CHECK
  }

  #go(entry: CallEntry, worker: KnownWorker, key: string, now: number): void {
    const { text, head } = goText(entry.idText, key, entry.left(now))
    worker.say(text, head)
  }

  /** Another worker may have run it, and for this one a second run is not harmless. */
  #tooLate(entry: CallEntry, worker: KnownWorker, message: Accepted): void {
    this.#turnAway(worker, message)
    entry.isIdempotent = false
    const why = "was lost, and others must not run it a second time"
    this.#core.fail(entry, "WORKER_LOST", say.lost(entry, why))
  }

  /** Nobody wants it of this worker. */
  #turnAway(worker: KnownWorker, { id, key, runs }: Accepted): void {
    if (runs !== true) worker.tell({ type: "nogo", id, key })
    else worker.tell({ type: "event", event: { type: "call.aborted", requestId: id } })
  }
}

/** When to ask about a call again. */
export function nextCheck(entry: CallEntry, now: number): number {
  return now + Math.min(Math.max(0, (now - entry.sentAt) / 4), LONGEST_CHECK)
}
