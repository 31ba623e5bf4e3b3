import type {
  CallAbortedEvent,
  CallErrorEvent,
  CallEvent,
  CallRespondedEvent,
} from "../../../core/events.ts"
import type { CallerState } from "./state.ts"
import type { CallEntry, KnownWorker } from "./model.ts"
import { messages } from "./failures.ts"
import type { Dispatcher } from "./dispatcher.ts"
import type { WorkerMessage } from "../wire/messages.ts"
import { CallQuestions } from "./questions.ts"
import type { StreamOrder } from "./stream-order.ts"

type Accepted = WorkerMessage & { readonly type: "accepted" }
type Pong = WorkerMessage & { readonly type: "pong" }
type Refused = WorkerMessage & { readonly type: "refused" }

/** Pings ask about calls older than this; the longer a call takes, the less often they ask. */
const FIRST_CHECK_MS = 1000
const MAX_CHECK_MS = 5000

/**
 * Grants each call to exactly one worker, decides about calls whose worker is lost, and delivers answers: only those of
 * the right worker, and stream items in order.
 */
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
    else if (entry.state !== "granted") this.#decide(entry, worker, message, now)
    else if (entry.worker !== worker || entry.key !== message.key) this.#reject(worker, message)
    // The grant was lost.
    else if (message.runs !== true) worker.go(entry.idText, message.key, entry.left(now))
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
  #redirectIfUnknown(entry: CallEntry, worker: KnownWorker, error: CallErrorEvent): boolean {
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
    if (runs !== true) worker.go(entry.idText, message.key, entry.left(now))
  }

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

  /** `after` is the number of stream items that came before an error, which the event itself does not contain. */
  answered(worker: KnownWorker, event: CallEvent, after = 0): void {
    const entry = this.#state.pending.get(event.requestId)
    if (entry === undefined || !entry.isOpenTo(worker)) return this.#late(worker, event)
    switch (event.type) {
      case "call.responded":
        if (event.seq !== undefined) this.#item(entry, worker, event, event.seq)
        // An item without a number has no place; missing items are requested by number.
        else if (entry.isStream) this.#state.counts.dropped++
        else this.#succeed(entry, worker, event)
        return
      case "call.completed":
        return this.#over(entry, worker, event, event.seq ?? 0)
      case "call.error":
        return this.#over(entry, worker, event, after)
      case "call.aborted":
        return this.#aborted(entry, worker, event)
      case "call.progress":
        return this.#state.deliver(event)
      case "call.asked": {
        entry.questions ??= new CallQuestions()
        const asked = entry.questions.asked(worker, event)
        if (asked !== undefined) this.#state.deliver(asked)
        return
      }
      default:
        this.#state.counts.dropped++
    }
  }

  /** Handles a pong: calls that the worker no longer knows, and streams whose items it no longer has. */
  pong(worker: KnownWorker, { unknown, lost }: Pong): void {
    const { pending } = this.#state
    for (const id of unknown) {
      const entry = pending.get(id)
      if (entry?.state !== "granted" || entry.worker !== worker) continue
      this.lost(entry, "does not know it any more")
    }
    for (const id of lost) {
      const entry = pending.get(id)
      if (entry?.state !== "granted" || entry.worker !== worker) continue
      this.#state.fail(entry, "DATA_LOSS", messages.dataLost(entry))
    }
  }

  #succeed(entry: CallEntry, worker: KnownWorker, event: CallEvent): void {
    this.#state.budget.earn()
    this.#state.breaker.succeeded(entry.offer.operationHash)
    this.#finish(entry, worker, event)
  }

  #item(entry: CallEntry, worker: KnownWorker, event: CallRespondedEvent, seq: number): void {
    const order = entry.asStream()
    if (order.take(event, seq)) {
      entry.hasMoved = true
      this.#state.deliver(event)
      if (order.hasGap) this.#catchUp(entry, worker, order)
    }
    if (order.hasGap && !entry.isOver) this.#gap(entry, worker)
  }

  /** Delivers items that arrived early, up to the next gap. */
  #catchUp(entry: CallEntry, worker: KnownWorker, order: StreamOrder): void {
    for (let next = order.next(); next !== undefined && !entry.isOver; next = order.next()) {
      if (next.type === "call.responded") this.#state.deliver(next)
      else this.#ended(entry, worker, next)
    }
  }

  /** Ends a request after so many items, as soon as they have arrived. */
  #over(entry: CallEntry, worker: KnownWorker, event: CallEvent, after: number): void {
    if (after === 0 || entry.asStream().end(event, after)) this.#ended(entry, worker, event)
    else this.#gap(entry, worker)
  }

  #ended(entry: CallEntry, worker: KnownWorker, event: CallEvent): void {
    if (event.type !== "call.error") return this.#succeed(entry, worker, event)
    if (this.#redirectIfUnknown(entry, worker, event)) {
      return worker.finished(entry.requestId)
    }
    // An earlier worker may have run it, whatever this one reports.
    const isSticky = entry.mayHaveExecutedBefore && event.mayHaveExecuted === false
    const retryable = event.retryable === true && entry.isIdempotent === true
    this.#finish(entry, worker, isSticky ? { ...event, mayHaveExecuted: true, retryable } : event)
  }

  /** Requests missing items once; later pings request them again. */
  #gap(entry: CallEntry, worker: KnownWorker): void {
    const { lastSeq, requestId } = entry
    if (entry.gapAt === lastSeq) return
    entry.gapAt = lastSeq
    worker.askAgain ??= "gaps"
    worker.ping([], [[requestId, lastSeq]])
  }

  #aborted(entry: CallEntry, worker: KnownWorker, event: CallAbortedEvent): void {
    const isHere = entry.worker === worker && entry.state === "granted"
    if (isHere && entry.isIdempotent === true && !entry.isStream) {
      return this.lost(entry, "gave it up")
    }
    if (isHere) this.#finish(entry, worker, event)
  }

  #finish(entry: CallEntry, worker: KnownWorker, event: CallEvent): void {
    const state = this.#state
    entry.offer.queue.answered(entry)
    state.finish(entry, worker)
    worker.finished(entry.requestId)
    // A worker that the broker chose, and that ran the call at once, may be new here.
    if (entry.worker !== worker) state.book.use(worker, state.now())
    state.deliver(event)
  }

  /** Handles an answer that is no longer awaited, or not from this worker. */
  #late(worker: KnownWorker, event: CallEvent): void {
    const { requestId } = event
    if (event.type === "call.progress") return
    const isItem = event.type === "call.responded" && event.seq !== undefined
    if (isItem || event.type === "call.asked") return worker.stopStray(requestId)
    this.#state.counts.lateAnswers++
    worker.finished(requestId)
  }
}

/** When to ask about a call again. */
export function nextCheck(entry: CallEntry, now: number): number {
  return now + Math.min(Math.max(0, (now - entry.sentAt) / 4), MAX_CHECK_MS)
}
