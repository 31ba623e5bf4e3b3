import type { CallErrorEvent } from "../../../core/events.ts"
import type { CallerState } from "./state.ts"
import type { CallEntry, KnownWorker } from "./model.ts"
import { messages } from "./failures.ts"
import type { Dispatcher } from "./dispatcher.ts"
import type { WorkerMessage } from "../wire/messages.ts"
import { goText } from "../wire/short-messages.ts"

type Accepted = WorkerMessage & { readonly type: "accepted" }
type Refused = WorkerMessage & { readonly type: "refused" }

/** Pings ask about calls older than this; the longer a call takes, the less often they ask. */
const FIRST_CHECK_MS = 1000
const MAX_CHECK_MS = 5000

/** Grants each call to exactly one worker, and decides about calls whose worker is lost. */
export class CallerGrants {
  readonly #state: CallerState
  readonly #dispatcher: Dispatcher

  constructor(state: CallerState, dispatcher: Dispatcher) {
    this.#state = state
    this.#dispatcher = dispatcher
  }

  /** Handles `accepted`: a worker has a call, and waits for its grant or runs it already. */
  accepted(worker: KnownWorker, message: Accepted, now: number): void {
    const entry = this.#state.pending.get(message.id)
    if (entry === undefined) this.#reject(worker, message)
    else if (entry.state === "granted") this.#acceptedAgain(entry, worker, message, now)
    else this.#decide(entry, worker, message, now)
  }

  /** Handles `refused`: a worker will not run a call. */
  refused(worker: KnownWorker, { id, attempt, key, elsewhere, error }: Refused): void {
    const entry = this.#state.pending.get(id)
    if (entry === undefined) return
    const isGranted = entry.state === "granted"
    // Only the worker that was granted the call can refuse it now.
    if (isGranted && (entry.worker !== worker || entry.key !== key)) return
    if (!isGranted && (entry.state !== "sent" || attempt !== entry.attempt)) return
    if (!isGranted && entry.worker !== undefined && entry.worker !== worker) return
    if (elsewhere) this.#dispatcher.redirect(entry, worker, error)
    else this.#refusedForGood(entry, worker, error)
  }

  /** Handles a call that its worker will not answer: retries it elsewhere if that is safe, else fails it. */
  lost(entry: CallEntry, why: string): void {
    const state = this.#state
    const { worker } = entry
    state.leaveGroup(entry)
    state.disarm(entry)
    state.assign(entry, undefined, 0)
    entry.avoid = worker
    const isLast = entry.repeats + 1 >= state.settings.maxAttempts
    if (entry.state !== "granted") {
      if (isLast) state.fail(entry, "UNAVAILABLE", messages.notAccepted(entry), { worker })
      else this.#dispatcher.repeat(entry)
      return
    }
    entry.key = undefined
    entry.state = "seeking"
    if (entry.isIdempotent === true && !entry.isStream && !isLast) {
      if (worker !== undefined) entry.openFor(worker)
      return this.#dispatcher.repeat(entry)
    }
    // If the worker is alive after all, it should stop.
    const { requestId } = entry
    worker?.send({ type: "event", event: { type: "call.aborted", requestId } })
    state.fail(entry, "WORKER_LOST", messages.workerLost(entry, why), { worker })
  }

  /**
   * Redirects a call from a worker that does not know the operation, and was only tried because no worker seemed to
   * serve it, if another worker serves it by now. Returns whether it did.
   */
  redirectIfUnknown(entry: CallEntry, worker: KnownWorker, error: CallErrorEvent): boolean {
    const { book } = this.#state
    if (error.code !== "OPERATION_NOT_FOUND" || error.mayHaveExecuted !== false) return false
    if (entry.state !== "granted" || entry.worker !== worker) return false
    if (worker.offers.has(entry.offer)) return false
    const { offer, version } = entry
    if (book.pick(offer, this.#state.now(), version, worker) === undefined) return false
    this.#dispatcher.redirect(entry, worker, error)
    return true
  }

  #refusedForGood(entry: CallEntry, worker: KnownWorker, error: CallErrorEvent): void {
    entry.undoAttempt()
    const { code, message, retryAfterMs, details } = error
    const retryable = error.retryable === true && entry.deliveryStatus().retryable
    // Nothing runs that could be stopped.
    entry.state = "seeking"
    this.#state.fail(entry, code, message, { retryable, retryAfterMs, details, worker })
  }

  #acceptedAgain(entry: CallEntry, worker: KnownWorker, message: Accepted, now: number): void {
    const isSame = entry.worker === worker && entry.key === message.key
    if (!isSame) this.#reject(worker, message)
    // The grant was lost.
    else if (message.runs !== true) this.#go(entry, worker, message.key, now)
  }

  #decide(entry: CallEntry, worker: KnownWorker, message: Accepted, now: number): void {
    const { isIdempotent, runs, attempt } = message
    const state = this.#state
    state.book.learn(worker, entry.offer, isIdempotent)
    if (runs === true && !entry.isOpenTo(worker)) return this.#reject(worker, message)
    const isLatest = attempt === entry.attempt
    if (runs !== true) {
      // The only worker that has the call has not begun it.
      if (isLatest && entry.state === "sent") entry.undoAttempt()
      if (entry.mayHaveExecuted && !isIdempotent) return this.#tooLate(entry, worker, message)
      if (entry.deadline <= now) return this.#reject(worker, message)
    }
    if (isLatest) state.latency.observe(now - entry.sentAt)
    else if (attempt === 1) state.latency.observe(now - entry.firstSentAt)
    this.#bind(entry, worker, message, now)
    if (runs !== true) this.#go(entry, worker, message.key, now)
  }

  /** Binds a call to the worker that runs it. */
  #bind(entry: CallEntry, worker: KnownWorker, message: Accepted, now: number): void {
    const state = this.#state
    state.leaveGroup(entry)
    state.disarm(entry)
    entry.offer.queue.answered(entry)
    this.#dispatcher.search.stop(entry)
    state.assign(entry, worker, now)
    entry.state = "granted"
    entry.key = message.key
    entry.isIdempotent = message.isIdempotent
    if (message.runs !== true) entry.mayHaveExecutedBefore = entry.mayHaveExecuted
    entry.mayHaveExecuted = true
    entry.rounds = 0
    entry.nextCheck = now + FIRST_CHECK_MS
  }

  #go(entry: CallEntry, worker: KnownWorker, key: string, now: number): void {
    const { text, head } = goText(entry.idText, key, entry.left(now))
    worker.sendText(text, head)
  }

  /** Fails a call that another worker may have run, and that is not idempotent at this one. */
  #tooLate(entry: CallEntry, worker: KnownWorker, message: Accepted): void {
    this.#reject(worker, message)
    entry.isIdempotent = false
    const why = "was lost, and no other may run it a second time"
    this.#state.fail(entry, "WORKER_LOST", messages.workerLost(entry, why))
  }

  /** Tells a worker not to run a call, or to stop it. */
  #reject(worker: KnownWorker, { id, key, runs }: Accepted): void {
    if (runs !== true) worker.send({ type: "nogo", id, key })
    else worker.send({ type: "event", event: { type: "call.aborted", requestId: id } })
  }
}

/** When to ask about a call again. */
export function nextCheck(entry: CallEntry, now: number): number {
  return now + Math.min(Math.max(0, (now - entry.sentAt) / 4), MAX_CHECK_MS)
}
