import type {
  CallAbortedEvent,
  CallCompletedEvent,
  CallErrorEvent,
  CallEvent,
  CallRespondedEvent,
} from "../../../core/events.ts"
import type { CallerCore } from "./state.ts"
import type { CallEntry } from "./model.ts"
import { say } from "./failures.ts"
import type { CallerGrants } from "./grants.ts"
import type { KnownWorker } from "./model.ts"
import type { WorkerMessage } from "../wire/messages.ts"
import type { StreamOrder } from "./stream-order.ts"

type Pong = WorkerMessage & { readonly type: "pong" }

/** Hands on what workers answer, if it is the right one, and streams without a gap. */
export class CallerAnswers {
  readonly #core: CallerCore
  readonly #grants: CallerGrants

  constructor(core: CallerCore, grants: CallerGrants) {
    this.#core = core
    this.#grants = grants
  }

  /** `after` is how many items of a stream came before it, where an event does not say that itself. */
  event(worker: KnownWorker, event: CallEvent, after = 0): void {
    const entry = this.#core.pending.get(event.requestId)
    if (entry === undefined || !entry.isOpenTo(worker)) {
      this.#late(worker, event)
      return
    }
    switch (event.type) {
      case "call.responded":
        if (event.seq !== undefined) this.#item(entry, worker, event, event.seq)
        // Nobody knows where it belongs; what is missing is asked for by its number.
        else if (entry.isStream) this.#core.counts.dropped++
        else this.#succeed(entry, worker, event)
        return
      case "call.completed":
        this.#completed(entry, worker, event)
        return
      case "call.error":
        this.#failed(entry, worker, event, after)
        return
      case "call.aborted":
        this.#aborted(entry, worker, event)
        return
      case "call.progress":
        this.#core.deliver(event)
        return
      default:
        this.#core.counts.dropped++
    }
  }

  /** A worker does not know some of its calls, or has not kept all of a stream. */
  pong(worker: KnownWorker, { unknown, lost }: Pong): void {
    const { pending } = this.#core
    for (const id of unknown) {
      const entry = pending.get(id)
      if (entry?.state !== "granted" || entry.worker !== worker) continue
      this.#grants.lost(entry, "does not know it any more")
    }
    for (const id of lost) {
      const entry = pending.get(id)
      if (entry?.state !== "granted" || entry.worker !== worker) continue
      this.#core.fail(entry, "DATA_LOSS", say.dataLost(entry))
    }
  }

  #succeed(entry: CallEntry, worker: KnownWorker, event: CallEvent): void {
    this.#core.budget.earn()
    this.#core.breaker.succeeded(entry.offer.mark)
    this.#end(entry, worker, event)
  }

  #item(entry: CallEntry, worker: KnownWorker, event: CallRespondedEvent, seq: number): void {
    const order = entry.asStream()
    if (order.take(event, seq)) {
      entry.hasMoved = true
      this.#core.deliver(event)
      if (order.hasGap) this.#catchUp(entry, worker, order)
    }
    if (order.hasGap && !entry.isOver) this.#gap(entry, worker)
  }

  /** Hands on what came before its time, as far as nothing is missing. */
  #catchUp(entry: CallEntry, worker: KnownWorker, order: StreamOrder): void {
    for (let next = order.next(); next !== undefined && !entry.isOver; next = order.next()) {
      if (next.type === "call.responded") this.#core.deliver(next)
      else this.#ended(entry, worker, next)
    }
  }

  #completed(entry: CallEntry, worker: KnownWorker, event: CallCompletedEvent): void {
    if (entry.asStream().end(event, event.seq ?? 0)) this.#ended(entry, worker, event)
    else this.#gap(entry, worker)
  }

  #failed(entry: CallEntry, worker: KnownWorker, event: CallErrorEvent, after: number): void {
    if (after === 0 || entry.asStream().end(event, after)) this.#ended(entry, worker, event)
    else this.#gap(entry, worker)
  }

  #ended(entry: CallEntry, worker: KnownWorker, event: CallEvent): void {
    if (event.type !== "call.error") {
      this.#succeed(entry, worker, event)
      return
    }
    if (this.#grants.wasStranger(entry, worker, event)) {
      worker.finished(entry.requestId)
      return
    }
    // What an earlier worker may have done is not undone by what this one says.
    const isSticky = entry.mayHaveExecutedBefore && event.mayHaveExecuted === false
    const retryable = event.retryable === true && entry.isIdempotent === true
    const told = isSticky ? { ...event, mayHaveExecuted: true, retryable } : event
    this.#end(entry, worker, told)
  }

  /** Something is missing: it is asked for once, and again with the pings that follow. */
  #gap(entry: CallEntry, worker: KnownWorker): void {
    const { lastSeq, requestId } = entry
    if (entry.gapAt === lastSeq) return
    entry.gapAt = lastSeq
    worker.askAgain ??= "gaps"
    worker.ping([], [[requestId, lastSeq]])
  }

  /** The worker gave it up. */
  #aborted(entry: CallEntry, worker: KnownWorker, event: CallAbortedEvent): void {
    const isHere = entry.worker === worker && entry.state === "granted"
    if (isHere && entry.isIdempotent === true && !entry.isStream) {
      this.#grants.lost(entry, "gave it up")
      return
    }
    if (isHere) this.#end(entry, worker, event)
  }

  #end(entry: CallEntry, worker: KnownWorker, event: CallEvent): void {
    const core = this.#core
    entry.offer.queue.answered(entry)
    core.finish(entry, worker)
    worker.finished(entry.requestId)
    // One that the broker chose, and that ran it at once, may be new here.
    if (entry.worker !== worker) core.book.use(worker, core.now())
    core.deliver(event)
  }

  /** Nobody waits for it any more, or not from this worker. */
  #late(worker: KnownWorker, event: CallEvent): void {
    const { requestId } = event
    if (event.type === "call.progress") return
    if (event.type === "call.responded" && event.seq !== undefined) {
      worker.stray(requestId)
      return
    }
    this.#core.counts.lateAnswers++
    worker.finished(requestId)
  }
}
