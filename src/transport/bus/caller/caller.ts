import type { CallAbortedEvent, CallEvent, CallRequestedEvent } from "../../../core/events.ts"
import type { CallError } from "../../../core/errors.ts"
import type { CallFate, TransportReceiver } from "../../../protocol/transport.ts"
import { CallerAnswers } from "./answers.ts"
import { CallerCore } from "./state.ts"
import type { CallerParts } from "./state.ts"
import { CallEntry } from "./model.ts"
import { closed, knownId, unknownId } from "./failures.ts"
import { CallerGrants } from "./grants.ts"
import { CallerServices } from "./services.ts"
import { Detector } from "./detector.ts"
import { Dispatcher } from "./dispatcher.ts"
import type { KnownWorker } from "./model.ts"
import type { WorkerMessage } from "../wire/messages.ts"
import type { GuardSettings } from "../options.ts"
import type { CallingStats } from "../stats.ts"
import type { Bus } from "../types.ts"
import { readWorkerFrame } from "../wire/wire.ts"
import { workerOfMark } from "./worker-book.ts"

export type { CallerParts } from "./state.ts"

/** The calling end of the guard. */
export class GuardedCaller {
  readonly #core: CallerCore
  readonly #dispatcher: Dispatcher
  readonly #grants: CallerGrants
  readonly #answers: CallerAnswers
  readonly #detector: Detector
  readonly #services: CallerServices
  /** Something was called: before that, who serves what is nobody's business here. */
  #isCalling = false
  #hasConnected = false
  #isClosed = false

  constructor(bus: Bus, settings: GuardSettings, parts: CallerParts) {
    this.#core = new CallerCore(bus, settings, parts, {
      onChange: () => this.#services.changed(),
      onWatch: () => this.#detector.start(),
    })
    this.#dispatcher = new Dispatcher(this.#core)
    this.#grants = new CallerGrants(this.#core, this.#dispatcher)
    this.#answers = new CallerAnswers(this.#core, this.#grants)
    this.#detector = new Detector(this.#core, this.#grants)
    this.#services = new CallerServices(this.#core)
  }

  open(receiver: TransportReceiver): void {
    this.#core.receiver = receiver
  }

  /** Whether a request is one of those that wait here. */
  has(requestId: string): boolean {
    return this.#core.pending.has(requestId) || this.#services.has(requestId)
  }

  /** A request, that its caller left, or credit. Throws a `CallError` for a request that cannot be sent. */
  send(event: CallEvent): void {
    if (event.type === "call.requested") this.#request(event)
    else if (event.type === "call.aborted") this.#leave(event)
    else if (event.type === "call.credit") this.#credit(event.requestId, event.credit)
  }

  fateOf(requestId: string): CallFate | undefined {
    return this.#core.pending.get(requestId)?.fate() ?? this.#services.fateOf(requestId)
  }

  fromWorker(text: string): void {
    if (this.#isClosed || !this.#isCalling) return
    this.#detector.check()
    const frame = readWorkerFrame(text)
    if (frame === undefined) {
      this.#core.counts.dropped++
      return
    }
    this.#core.counts.dropped += frame.dropped
    const now = this.#core.now()
    const worker = this.#core.book.heard(frame.from, now)
    if (worker === undefined) return
    for (const message of frame.messages) this.#told(worker, message, now)
    if (worker.isDescribed || worker.isAsked) return
    worker.isAsked = true
    worker.tell({ type: "who" })
  }

  /** Nobody listened where a message with this mark went. */
  unheard(mark: string): void {
    if (this.#isClosed) return
    this.#detector.check()
    const entries = this.#core.marked(mark)
    for (const entry of entries) this.#dispatcher.unheard(entry)
    if (entries.length > 0) return
    const address = workerOfMark(mark)
    const worker = address === undefined ? undefined : this.#core.book.get(address)
    if (worker !== undefined) this.#detector.unheard(worker)
    else if (!this.#core.unasked(mark)) this.#services.unheard(mark)
  }

  /** The broker did not let a message with this mark through. */
  denied(mark: string, error: CallError): void {
    if (this.#isClosed) return
    const entries = this.#core.marked(mark)
    for (const entry of entries) this.#dispatcher.denied(entry, error)
    if (entries.length === 0) this.#services.denied(mark, error)
  }

  connected(): void {
    const isAgain = this.#hasConnected
    this.#hasConnected = true
    if (isAgain) this.#core.startGrace()
    if (this.#isClosed || !this.#isCalling) return
    this.#core.ask()
    this.#detector.reconnected()
    for (const entry of [...this.#core.pending.values()]) {
      if (entry.state !== "granted") this.#dispatcher.resume(entry, isAgain)
    }
    this.#services.connected(isAgain)
  }

  disconnected(): void {
    for (const entry of this.#core.pending.values()) {
      if (entry.state !== "granted" && !entry.isSigning) this.#dispatcher.hold(entry)
    }
    this.#services.disconnected()
  }

  stats(): CallingStats {
    const { pending, book, budget, counts } = this.#core
    let held = this.#services.held
    for (const { state } of pending.values()) if (state === "held") held++
    return {
      pending: pending.size + this.#services.size,
      held,
      workers: book.stats(this.#core.now()),
      retryBudget: budget.left,
      budgetDenied: budget.denied,
      ...counts,
    }
  }

  /** Says what there is still to say, and leaves no timer. What was held back is undelivered. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const { pending, receiver } = this.#core
    const held = [...pending.values()].filter(({ attempt }) => attempt === 0)
    this.#detector.stop()
    this.#dispatcher.close()
    this.#services.close()
    this.#core.close()
    for (const { event, operationId } of held) receiver?.undelivered(event, closed(operationId))
  }

  #request(event: CallRequestedEvent): void {
    const { operationId, requestId } = event
    if (this.#isClosed) throw closed(operationId)
    if (this.has(requestId)) throw knownId(operationId, requestId)
    const core = this.#core
    if (!this.#isCalling) {
      this.#isCalling = true
      core.ask()
    }
    if (this.#services.takes(event)) {
      this.#services.begin(event)
      return
    }
    const offer = core.book.offers.of(operationId)
    if (offer === undefined) throw unknownId(operationId)
    const isSigned = core.signer !== undefined && event.identity !== undefined
    const now = core.now()
    const entry = new CallEntry(this.#host, event, offer, isSigned, now)
    core.pending.set(requestId, entry)
    try {
      this.#dispatcher.begin(entry, now)
    } catch (thrown) {
      core.finish(entry)
      throw thrown
    }
  }

  readonly #host = {
    due: (entry: CallEntry): void => this.#dispatcher.due(entry),
  }

  #leave(event: CallAbortedEvent): void {
    const { requestId, reason } = event
    const entry = this.#core.pending.get(requestId)
    if (entry === undefined) {
      this.#services.leave(requestId)
      return
    }
    const { worker, state } = entry
    this.#dispatcher.search.stop(entry)
    this.#core.finish(entry, undefined, reason)
    // One that was only asked may have it all the same.
    if (state === "sent") worker?.tell({ type: "event", event })
  }

  #credit(requestId: string, credit: number): void {
    const entry = this.#core.pending.get(requestId)
    if (entry === undefined) {
      this.#services.credit(requestId, credit)
      return
    }
    entry.credit = credit
    if (entry.state !== "granted") return
    entry.worker?.tell({ type: "event", event: { type: "call.credit", requestId, credit } })
  }

  #told(worker: KnownWorker, message: WorkerMessage, now: number): void {
    const { book } = this.#core
    switch (message.type) {
      case "accepted":
        if (!this.#services.accepted(worker, message)) this.#grants.accepted(worker, message, now)
        return
      case "refused":
        if (!this.#services.refused(worker, message)) this.#grants.refused(worker, message)
        return
      case "event":
        if (this.#services.event(worker, message.event)) return
        this.#answers.event(worker, message.event, message.after)
        return
      case "pong":
        this.#answers.pong(worker, message)
        this.#detector.ponged(worker, message.at)
        return
      case "here":
        book.describe(worker, message)
        this.#dispatcher.search.found(worker)
        return
      case "changed":
        book.changed(worker)
        return
      case "bye":
        book.leave(worker)
    }
  }
}
