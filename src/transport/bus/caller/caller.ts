import type {
  CallAbortedEvent,
  CallAnsweredEvent,
  CallEvent,
  CallRequestedEvent,
} from "../../../core/events.ts"
import type { CallError } from "../../../core/errors.ts"
import type { DeliveryStatus, TransportReceiver } from "../../../protocol/transport.ts"
import { CallerState } from "./state.ts"
import { CallEntry, type KnownWorker } from "./model.ts"
import { closed, duplicateId, tooLarge, unknownId } from "./failures.ts"
import { CallerGrants } from "./grants.ts"
import { CallerServices } from "./services.ts"
import { Detector } from "./detector.ts"
import { Dispatcher } from "./dispatcher.ts"
import type { WorkerMessage } from "../wire/messages.ts"
import type { BusContext } from "../options.ts"
import type { CallingStats } from "../stats.ts"
import { bytesBeyond } from "../wire/frames.ts"
import { readWorkerFrame } from "../wire/wire.ts"

/** The calling end of a bus transport. */
export class BusCaller {
  readonly #state: CallerState
  readonly #dispatcher: Dispatcher
  readonly #grants: CallerGrants
  readonly #detector: Detector
  readonly #services: CallerServices
  /** The first call was made; until then messages of workers are ignored. */
  #isCalling = false
  #hasConnected = false
  #isClosed = false

  constructor(context: BusContext) {
    this.#state = new CallerState(context)
    this.#dispatcher = new Dispatcher(this.#state)
    this.#grants = new CallerGrants(this.#state, this.#dispatcher)
    this.#detector = new Detector(this.#state, this.#grants)
    this.#services = new CallerServices(this.#state)
    this.#state.book.onChange = () => this.#services.changed()
    this.#state.book.onWatch = () => this.#detector.ticker.start()
  }

  open(receiver: TransportReceiver): void {
    this.#state.receiver = receiver
  }

  /** Whether a request is pending here. */
  has(requestId: string): boolean {
    return this.#state.pending.has(requestId) || this.#services.has(requestId)
  }

  /** Sends a request, an abort, credit or an answer. Throws a `CallError` for a request or answer that cannot be sent. */
  send(event: CallEvent): void {
    if (event.type === "call.requested") this.#request(event)
    else if (event.type === "call.aborted") this.#leave(event)
    else if (event.type === "call.credit") this.#credit(event.requestId, event.credit)
    else if (event.type === "call.answered") this.#answer(event)
  }

  deliveryStatus(requestId: string): DeliveryStatus | undefined {
    return (
      this.#state.pending.get(requestId)?.deliveryStatus() ??
      this.#services.deliveryStatus(requestId)
    )
  }

  fromWorker(text: string): void {
    if (this.#isClosed || !this.#isCalling) return
    this.#detector.ticker.check()
    const frame = readWorkerFrame(text)
    if (frame === undefined) {
      this.#state.counts.dropped++
      return
    }
    this.#state.counts.dropped += frame.dropped
    const now = this.#state.now()
    const worker = this.#state.book.receivedFrom(frame.from, now)
    if (worker === undefined) return
    for (const message of frame.messages) this.#onMessage(worker, message, now)
    this.#detector.received(worker, text.length)
    if (worker.isDescribed || worker.isAsked) return
    worker.isAsked = true
    worker.send({ type: "who" })
  }

  /** Handles "no responders" for the message with this correlation id. */
  noResponders(correlationId: string): void {
    if (this.#isClosed) return
    this.#detector.ticker.check()
    const entries = this.#state.entriesOf(correlationId)
    for (const entry of entries) this.#dispatcher.noResponders(entry)
    if (entries.length > 0) return
    const worker = this.#state.book.ofCorrelationId(correlationId)
    if (worker !== undefined) this.#detector.noResponders(worker)
    else if (!this.#state.noResponders(correlationId))
      this.#services.gatherSentAs(correlationId)?.noResponders()
  }

  /** Handles a message that the broker did not permit. */
  denied(correlationId: string, error: CallError): void {
    if (this.#isClosed) return
    const entries = this.#state.entriesOf(correlationId)
    for (const entry of entries) this.#dispatcher.denied(entry, error)
    if (entries.length === 0) this.#services.gatherSentAs(correlationId)?.fail(error)
  }

  connected(): void {
    const isReconnect = this.#hasConnected
    this.#hasConnected = true
    if (isReconnect) this.#state.startGrace()
    if (this.#isClosed || !this.#isCalling) return
    this.#state.ask()
    this.#detector.reconnected()
    for (const entry of [...this.#state.pending.values()]) {
      if (entry.state !== "granted") this.#dispatcher.resume(entry, isReconnect)
    }
    this.#services.connected(isReconnect)
  }

  disconnected(): void {
    for (const entry of this.#state.pending.values()) {
      if (entry.state !== "granted" && !entry.isSigning) this.#dispatcher.hold(entry)
    }
    this.#services.disconnected()
  }

  stats(): CallingStats {
    const { pending, book, budget, counts } = this.#state
    let held = this.#services.held
    for (const { state } of pending.values()) if (state === "held") held++
    return {
      pending: pending.size + this.#services.size,
      held,
      workers: book.stats(this.#state.now()),
      retryBudget: budget.left,
      budgetDenied: budget.denied,
      ...counts,
    }
  }

  /** Sends what is still queued, and stops all timers. Calls that were never sent are undelivered. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const { pending, receiver } = this.#state
    const held = [...pending.values()].filter(({ attempt }) => attempt === 0)
    this.#detector.ticker.stop()
    this.#dispatcher.close()
    this.#services.close()
    this.#state.close()
    for (const { event, operationId } of held) receiver?.undelivered(event, closed(operationId))
  }

  #request(event: CallRequestedEvent): void {
    const { operationId, requestId } = event
    if (this.#isClosed) throw closed(operationId)
    if (this.has(requestId)) throw duplicateId(operationId, requestId)
    const state = this.#state
    if (!this.#isCalling) {
      this.#isCalling = true
      state.ask()
    }
    if (this.#services.takes(event)) return this.#services.begin(event)
    const offer = state.book.offers.of(operationId)
    if (offer === undefined) throw unknownId(operationId)
    const isSigned = state.signer !== undefined && event.identity !== undefined
    const now = state.now()
    const entry = new CallEntry(this.#onDue, event, offer, isSigned, now)
    state.pending.set(requestId, entry)
    try {
      this.#dispatcher.begin(entry, now)
    } catch (thrown) {
      state.finish(entry)
      throw thrown
    }
  }

  readonly #onDue = (entry: CallEntry): void => this.#dispatcher.due(entry)

  #leave(event: CallAbortedEvent): void {
    const { requestId, reason } = event
    const entry = this.#state.pending.get(requestId)
    if (entry === undefined) return this.#services.leave(requestId)
    const { worker, state } = entry
    this.#dispatcher.search.stop(entry)
    this.#state.finish(entry, undefined, reason)
    // The worker may have the call, although it has not accepted it yet.
    if (state === "sent") worker?.send({ type: "event", event })
  }

  #credit(requestId: string, credit: number): void {
    const entry = this.#state.pending.get(requestId)
    if (entry === undefined) return this.#services.credit(requestId, credit)
    entry.credit = credit
    if (entry.state !== "granted") return
    entry.worker?.send({ type: "event", event: { type: "call.credit", requestId, credit } })
  }

  #answer(event: CallAnsweredEvent): void {
    const entry = this.#state.pending.get(event.requestId)
    const { maxPayload, address } = this.#state.bus
    entry?.questions?.answered(event, (text) => {
      const bytes = bytesBeyond(maxPayload, address, { text })
      if (bytes !== undefined) throw tooLarge(entry, bytes, maxPayload, "An answer")
    })
  }

  #onMessage(worker: KnownWorker, message: WorkerMessage, now: number): void {
    const { book } = this.#state
    const services = this.#services
    switch (message.type) {
      case "accepted":
        return (services.gatherOf(message.id) ?? this.#grants).accepted(worker, message, now)
      case "refused":
        return (services.gatherOf(message.id) ?? this.#grants).refused(worker, message)
      case "event":
        return (services.gatherOf(message.event.requestId) ?? this.#grants).answered(
          worker,
          message.event,
          message.after,
        )
      case "pong":
        this.#grants.pong(worker, message)
        return this.#detector.onPong(worker, message.at)
      case "here":
        book.describe(worker, message)
        return this.#dispatcher.search.onAnnouncement(worker)
      case "changed":
        return book.changed(worker)
      case "bye":
        book.leave(worker)
    }
  }
}
