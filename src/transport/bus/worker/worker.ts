import type { CallEvent } from "../../../core/events.ts"
import type { ServedOperations, TransportReceiver } from "../../../protocol/transport.ts"
import { CallerPeers, type CallerPeer } from "./callers.ts"
import { bytesBeyond, type MessageText } from "../wire/frames.ts"
import { messageText, resultText, type CallerMessage } from "../wire/messages.ts"
import type { BusContext } from "../options.ts"
import type { ServingStats } from "../stats.ts"
import { Ticker } from "../ticker.ts"
import type { MessageOrigin } from "../types.ts"
import { readCallerFrame } from "../wire/wire.ts"
import { WorkerAdmission, type WorkerState } from "./admission.ts"
import type { Arrival, WorkerEntry } from "./entry.ts"
import { WorkerCalls } from "./calls.ts"
import { WorkerOffer } from "./offer.ts"
import { answerTooLarge, invalidRequest, notServing, stoodStill, wrongAddress } from "./refusals.ts"

type Request = CallerMessage & { readonly type: "request" }

/** How long results are kept after the deadline, in milliseconds: they may be in flight. */
const GRACE = 5000

/** The serving end of a bus transport. */
export class BusWorker {
  readonly #state: WorkerState
  readonly #admission: WorkerAdmission
  readonly #ticker: Ticker
  #isClosed = false

  constructor(context: BusContext) {
    const { settings, clock } = context
    this.#state = {
      ...context,
      offer: new WorkerOffer(context),
      callers: new CallerPeers(context),
      calls: new WorkerCalls(settings.maxKeptBytes),
    }
    this.#admission = new WorkerAdmission(this.#state)
    const onTick = (stalledFor: number): void => this.#tick(stalledFor)
    this.#ticker = new Ticker(clock, settings.pingMs, onTick)
  }

  open(receiver: TransportReceiver): void {
    this.#state.calls.receiver = receiver
  }

  /** Starts accepting requests. */
  serve(served: ServedOperations): void {
    if (!this.#isClosed) this.#state.offer.serve(served)
  }

  /** Stops accepting requests; calls that were not granted go to other workers, and running ones continue. */
  leave(): void {
    this.#state.offer.leave()
    this.#admission.handBack(notServing)
  }

  /** Sends a result, an item, an end, an error, progress or a question. Throws `PAYLOAD_TOO_LARGE` for what does not fit. */
  send(event: CallEvent): void {
    const { calls, clock, settings } = this.#state
    const entry = calls.get(event.requestId)
    // The caller left, or was given up.
    if (entry?.state !== "running") return
    const now = clock.now()
    const message = this.#textOf(event, entry)
    entry.usedAt = now
    if (event.type === "call.responded" && event.seq !== undefined) calls.item(entry, message, now)
    else if (event.type === "call.asked") calls.ask(entry, event.question, message, now)
    else if (event.type !== "call.progress") {
      // Without a deadline the result is kept as long as its caller may be silent.
      if (entry.expires === Number.POSITIVE_INFINITY) entry.expires = now + settings.callerSilentMs
      calls.end(entry, message, now)
    }
    entry.caller.outbox.add(message.text, message.head)
  }

  /** Back pressure of a stream: a promise while its caller has much to receive. */
  ready(requestId: string): Promise<void> | undefined {
    return this.#state.calls.get(requestId)?.caller.items.ready()
  }

  fromCaller(text: string, from: MessageOrigin): void {
    if (this.#isClosed) return
    this.#ticker.check()
    // A message beyond the limit is not even parsed.
    const frame = text.length > this.#state.bus.maxPayload ? undefined : readCallerFrame(text)
    if (frame === undefined) return this.#drop(1, from)
    if (frame.dropped > 0) this.#drop(frame.dropped, from)
    const now = this.#state.clock.now()
    const caller = this.#state.callers.receivedFrom(from, now)
    const bytes = text.length / frame.messages.length
    for (const message of frame.messages) {
      if (message.type === "request") this.#requested(message, caller, from, { bytes, now })
      else this.#onMessage(message, caller, from)
    }
  }

  /** Handles a (re)connect: announces the operations. */
  connected(): void {
    const { calls, callers, clock, offer } = this.#state
    calls.connectedAt = clock.now()
    callers.extendSilence(Number.POSITIVE_INFINITY)
    offer.announce()
  }

  stats(): ServingStats {
    const { calls, callers } = this.#state
    return {
      waiting: calls.count("checking") + calls.count("waiting"),
      running: calls.count("running"),
      kept: calls.kept.count,
      keptBytes: calls.kept.bytes,
      callers: callers.size,
      ...calls.counts,
    }
  }

  close(): void {
    if (this.#isClosed) return
    this.leave()
    this.#isClosed = true
    this.#ticker.stop()
    const { calls, callers } = this.#state
    callers.close()
    for (const entry of calls.all()) calls.forget(entry)
  }

  #requested(message: Request, caller: CallerPeer, from: MessageOrigin, arrival: Arrival): void {
    const { operationId, timeout } = message.event
    if (from.operationId !== operationId) {
      const why = wrongAddress(operationId, from.operationId)
      this.#admission.refuse(caller, message, why, false)
    } else if (timeout !== undefined && timeout <= 0) {
      // The call has already timed out at its caller.
      this.#drop(1, from)
    } else {
      this.#ticker.start()
      this.#admission.requested(message, caller, from, arrival)
    }
  }

  #onMessage(
    message: Exclude<CallerMessage, Request>,
    caller: CallerPeer,
    from: MessageOrigin,
  ): void {
    switch (message.type) {
      case "invalid":
        this.#drop(1, from)
        // A request with this id was received before, and may run.
        if (this.#state.calls.of(caller, message.event.requestId) !== undefined) return
        return this.#admission.refuse(caller, message, invalidRequest(), false)
      case "go":
        // The calls before it in the same frame may have taken long, or this process was frozen since.
        this.#ticker.check()
        return this.#admission.granted(message, caller)
      case "nogo":
        return this.#admission.notGranted(message.id, message.key, caller)
      case "event":
        if (!this.#onEvent(message.event, caller)) this.#drop(1, from)
        return
      case "ping":
        return this.#state.calls.onPing(message, caller, this.#state.clock.now())
      case "done":
        return this.#received(message.ids, caller)
      case "who": {
        const answer = this.#state.offer.answer()
        if (answer !== undefined) caller.outbox.add(answer)
      }
    }
  }

  #received(ids: readonly string[], caller: CallerPeer): void {
    const { calls } = this.#state
    for (const id of ids) {
      const entry = calls.of(caller, id)
      if (entry?.state === "done") calls.forget(entry)
    }
  }

  /** Handles an abort, credit or an answer; `false` for events that a caller must not send. */
  #onEvent(event: CallEvent, caller: CallerPeer): boolean {
    const { calls } = this.#state
    const entry = calls.of(caller, event.requestId)
    switch (event.type) {
      case "call.aborted":
        if (entry !== undefined) calls.giveUp(entry, event.reason)
        return true
      case "call.credit":
        if (entry?.window !== undefined) calls.received(entry, event.credit - entry.window)
        break
      case "call.answered":
        // An answer counts once.
        if (entry?.questions?.delete(event.question) !== true) return true
        break
      default:
        return false
    }
    if (entry?.state === "running") calls.receiver?.event(event, entry.peer)
    return true
  }

  #tick(stalledFor: number): void {
    const { settings, callers, calls } = this.#state
    if (stalledFor > 0) {
      calls.counts.stalls++
      callers.extendSilence(stalledFor)
      // Their callers have most likely given up, so that nothing should begin for them.
      if (stalledFor > settings.silentMs - settings.pingMs) {
        this.#admission.handBack((operationId) => stoodStill(operationId, stalledFor))
      }
    }
    // While it is disconnected, callers cannot be received.
    if (!this.#state.bus.isConnected) callers.extendSilence(Number.POSITIVE_INFINITY)
    this.#checkEntries(stalledFor === 0 && this.#state.bus.isConnected)
    for (const caller of callers.takeSilent(settings.callerSilentMs)) this.#lose(caller)
    if (callers.size === 0) this.#ticker.stop()
  }

  #checkEntries(couldReceive: boolean): void {
    const { calls, clock, settings } = this.#state
    const now = clock.now()
    for (const entry of calls.all()) {
      const hasBegun = entry.state === "running" || entry.state === "done"
      const end = entry.expires + (hasBegun ? GRACE : 0)
      if (!couldReceive) entry.usedAt = now
      // Twice, because a caller that was silent for shorter is not lost, and asks again when it is back.
      const isUnused = now - entry.usedAt >= 2 * settings.callerSilentMs
      if (isUnused && entry.isStream && entry.state === "running")
        calls.giveUp(entry, "Its caller left it.")
      else if (now >= end) calls.giveUp(entry, "Its deadline has passed.")
      else this.#admission.remind(entry)
    }
  }

  #lose(caller: CallerPeer): void {
    const { calls, logger, settings } = this.#state
    const entries = calls.all(caller)
    if (entries.some(({ state }) => state !== "done")) {
      calls.counts.callersLost++
      const fields = { user: caller.user, calls: entries.length, after: settings.callerSilentMs }
      logger.info("A caller stopped responding; its calls were given up", fields)
    }
    for (const entry of entries) calls.giveUp(entry, "The caller was lost.")
  }

  #textOf(event: CallEvent, entry: WorkerEntry): MessageText {
    // The caller must wait for all items before the error.
    const after = event.type === "call.error" ? entry.sent : 0
    const about = after > 0 ? { after } : {}
    const short = event.type === "call.responded" ? resultText(entry.idText, event) : undefined
    const message = short ?? { text: messageText({ type: "event", event, ...about }) }
    const { maxPayload, address } = this.#state.bus
    const bytes = bytesBeyond(maxPayload, address, message)
    if (bytes === undefined) return message
    if (event.type !== "call.error") {
      throw answerTooLarge(event, entry.operationId, bytes, maxPayload)
    }
    // An error that does not fit is sent without its details.
    const { details: _, ...bare } = event
    return { text: messageText({ type: "event", event: bare, ...about }) }
  }

  #drop(count: number, { user, address }: MessageOrigin): void {
    const { calls, logger } = this.#state
    const { counts } = calls
    if (counts.dropped === 0) {
      const what = "An invalid message of a caller was dropped. Further ones are only counted"
      logger.warn(what, { user, address })
    }
    counts.dropped += count
  }
}
