import type { CallAbortedEvent, CallEvent, CallRespondedEvent } from "../../../core/events.ts"
import type { CallerState } from "./state.ts"
import type { CallEntry, KnownWorker } from "./model.ts"
import { messages } from "./failures.ts"
import type { CallerGrants } from "./grants.ts"
import type { WorkerMessage } from "../wire/messages.ts"
import { CallQuestions } from "./questions.ts"
import type { StreamOrder } from "./stream-order.ts"

type Pong = WorkerMessage & { readonly type: "pong" }

/** Delivers answers of workers: only those of the right worker, and stream items in order. */
export class CallerAnswers {
  readonly #state: CallerState
  readonly #grants: CallerGrants

  constructor(state: CallerState, grants: CallerGrants) {
    this.#state = state
    this.#grants = grants
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
      this.#grants.lost(entry, "does not know it any more")
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
    this.#end(entry, worker, event)
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
    if (this.#grants.redirectIfUnknown(entry, worker, event)) {
      return worker.finished(entry.requestId)
    }
    // An earlier worker may have run it, whatever this one reports.
    const isSticky = entry.mayHaveExecutedBefore && event.mayHaveExecuted === false
    const retryable = event.retryable === true && entry.isIdempotent === true
    this.#end(entry, worker, isSticky ? { ...event, mayHaveExecuted: true, retryable } : event)
  }

  /** Requests missing items once; later pings request them again. */
  #gap(entry: CallEntry, worker: KnownWorker): void {
    const { lastSeq, requestId } = entry
    if (entry.gapAt === lastSeq) return
    entry.gapAt = lastSeq
    worker.askAgain ??= "gaps"
    worker.ping([], [[requestId, lastSeq]])
  }

  /** The worker aborted the call. */
  #aborted(entry: CallEntry, worker: KnownWorker, event: CallAbortedEvent): void {
    const isHere = entry.worker === worker && entry.state === "granted"
    if (isHere && entry.isIdempotent === true && !entry.isStream) {
      return this.#grants.lost(entry, "gave it up")
    }
    if (isHere) this.#end(entry, worker, event)
  }

  #end(entry: CallEntry, worker: KnownWorker, event: CallEvent): void {
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
