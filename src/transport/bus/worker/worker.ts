import type { CallErrorEvent, CallEvent } from "../../../core/events.ts"
import type { ServedOperations, TransportReceiver } from "../../../protocol/transport.ts"
import { CallerPeers } from "./callers.ts"
import type { CallerPeer } from "./callers.ts"
import type { MessageText } from "../wire/frame-builder.ts"
import type { CallerMessage } from "../wire/messages.ts"
import type { GuardSettings } from "../options.ts"
import { bytesBeyond } from "../wire/outbox.ts"
import type { ServingStats } from "../stats.ts"
import { Ticker } from "../ticker.ts"
import type { Bus, BusCaller } from "../types.ts"
import { resultText } from "../wire/short-messages.ts"
import { messageText, readCallerFrame } from "../wire/wire.ts"
import { WorkerAdmission } from "./admission.ts"
import type { Arrival } from "./admission.ts"
import { WorkerCalls } from "./calls.ts"
import { giveUp } from "./state.ts"
import type { WorkerDesk, WorkerParts } from "./state.ts"
import type { WorkerEntry } from "./entry.ts"
import { WorkerOffer } from "./offer.ts"
import { answerTooLarge, notServing, stoodStill, wrongAddress } from "./refusals.ts"
import { WorkerResending } from "./resending.ts"

export type { WorkerParts } from "./state.ts"

type Request = CallerMessage & { readonly type: "request" }

/** After a deadline, for results that are on their way. */
const GRACE = 5000

/** The serving end of the guard. */
export class GuardedWorker {
  readonly #bus: Bus
  readonly #desk: WorkerDesk
  readonly #admission: WorkerAdmission
  readonly #resending: WorkerResending
  readonly #ticker: Ticker
  #receiver: TransportReceiver | undefined
  #isClosed = false

  constructor(bus: Bus, settings: GuardSettings, parts: WorkerParts) {
    const { clock, logger } = parts
    const { address } = bus
    const maxBytes = (): number => bus.maxPayload
    const answer = (reply: string, text: string): void => this.#answer(reply, text)
    this.#bus = bus
    this.#desk = {
      settings,
      parts: { ...parts, ticketRisk: () => bus.ticketRisk?.() },
      offer: new WorkerOffer(bus, clock, logger),
      callers: new CallerPeers({ address, maxBytes, clock, answer }),
      calls: new WorkerCalls(settings.maxKeptBytes),
      counts: { refused: 0, notGranted: 0, callersLost: 0, stalls: 0, dropped: 0 },
      receiver: () => this.#receiver,
    }
    this.#admission = new WorkerAdmission(this.#desk)
    this.#resending = new WorkerResending(this.#desk)
    this.#ticker = new Ticker(clock, settings.pingMs, (stalledFor) => this.#tick(stalledFor))
  }

  open(receiver: TransportReceiver): void {
    this.#receiver = receiver
  }

  /** Takes requests from now on. */
  serve(served: ServedOperations): void {
    if (!this.#isClosed) this.#desk.offer.serve(served)
  }

  /** Takes no more; what was accepted and not granted goes elsewhere, what runs goes on. */
  leave(): void {
    this.#desk.offer.leave()
    this.#admission.handBack(notServing)
  }

  /** A result, an item, an end, an error or progress. Throws `PAYLOAD_TOO_LARGE` for what does not fit. */
  send(event: CallEvent): void {
    const { calls, parts, settings } = this.#desk
    const entry = calls.get(event.requestId)
    // Its caller left, or was given up.
    if (entry?.state !== "running") return
    const now = parts.clock.now()
    const message = this.#textOf(event, entry)
    if (event.type === "call.responded" && event.seq !== undefined) calls.item(entry, message, now)
    else if (event.type !== "call.progress") {
      // Without a deadline it is kept as long as its caller may be silent.
      if (entry.expires === Number.POSITIVE_INFINITY) entry.expires = now + settings.callerSilentMs
      calls.end(entry, message, now)
    }
    entry.caller.outbox.add(message.text, message.head)
  }

  fromCaller(text: string, from: BusCaller): void {
    if (this.#isClosed) return
    this.#ticker.check()
    // What no bus would have taken is not even parsed.
    const frame = text.length > this.#bus.maxPayload ? undefined : readCallerFrame(text)
    if (frame === undefined) {
      this.#drop(1, from)
      return
    }
    if (frame.dropped > 0) this.#drop(frame.dropped, from)
    const now = this.#desk.parts.clock.now()
    const caller = this.#desk.callers.heard(from, now)
    const bytes = text.length / frame.messages.length
    for (const message of frame.messages) {
      if (message.type === "request") this.#requested(message, caller, from, { bytes, now })
      else this.#told(message, caller, from)
    }
  }

  /** The broker is reached (again): says what is served. */
  connected(): void {
    this.#resending.connected()
    this.#desk.callers.excuse(Number.POSITIVE_INFINITY)
    this.#desk.offer.announce()
  }

  stats(): ServingStats {
    const { calls, callers, counts } = this.#desk
    return {
      waiting: calls.count("checking") + calls.count("waiting"),
      running: calls.count("running"),
      kept: calls.keptCount,
      keptBytes: calls.keptBytes,
      callers: callers.size,
      resent: calls.resent,
      ...counts,
    }
  }

  close(): void {
    if (this.#isClosed) return
    this.leave()
    this.#isClosed = true
    this.#ticker.stop()
    const { calls, callers } = this.#desk
    callers.close()
    for (const entry of calls.all()) calls.forget(entry)
  }

  #requested(message: Request, caller: CallerPeer, from: BusCaller, arrival: Arrival): void {
    const { operationId, timeout } = message.event
    if (from.operationId !== operationId) {
      const why = wrongAddress(operationId, from.operationId)
      this.#admission.refuse(caller, message, why, false)
    } else if (timeout !== undefined && timeout <= 0) {
      // Its caller has given it up.
      this.#drop(1, from)
    } else {
      this.#ticker.start()
      this.#admission.requested(message, caller, from, arrival)
    }
  }

  #told(message: Exclude<CallerMessage, Request>, caller: CallerPeer, from: BusCaller): void {
    switch (message.type) {
      case "go":
        this.#admission.granted(message, caller)
        return
      case "nogo":
        this.#admission.notGranted(message.id, message.key, caller)
        return
      case "event":
        if (!this.#heard(message.event, caller)) this.#drop(1, from)
        return
      case "ping":
        this.#resending.pinged(message, caller)
        return
      case "done":
        this.#received(message.ids, caller)
        return
      case "who": {
        const answer = this.#desk.offer.answer()
        if (answer !== undefined) caller.outbox.add(answer)
      }
    }
  }

  #received(ids: readonly string[], caller: CallerPeer): void {
    const { calls } = this.#desk
    for (const id of ids) {
      const entry = calls.of(caller, id)
      if (entry?.state === "done") calls.forget(entry)
    }
  }

  /** Whether an event is one that a caller may send: that it left, or credit. */
  #heard(event: CallEvent, caller: CallerPeer): boolean {
    if (event.type !== "call.aborted" && event.type !== "call.credit") return false
    const { calls } = this.#desk
    const entry = calls.of(caller, event.requestId)
    if (entry === undefined) return true
    if (event.type === "call.aborted") {
      giveUp(this.#desk, entry, event.reason)
      return true
    }
    if (entry.window !== undefined) calls.received(entry, event.credit - entry.window)
    if (entry.state === "running") this.#receiver?.event(event, entry.peer)
    return true
  }

  #tick(stalledFor: number): void {
    const { settings, callers, counts } = this.#desk
    if (stalledFor > 0) {
      counts.stalls++
      callers.excuse(stalledFor)
      // Their callers have most likely gone elsewhere: nothing is begun for somebody who gave it up.
      if (stalledFor > settings.silentMs - settings.pingMs) {
        this.#admission.handBack((operationId) => stoodStill(operationId, stalledFor))
      }
    }
    // Who cannot be heard says nothing.
    if (!this.#bus.isConnected) callers.excuse(Number.POSITIVE_INFINITY)
    this.#look()
    for (const caller of callers.takeSilent(settings.callerSilentMs)) this.#lose(caller)
    if (callers.size === 0) this.#ticker.stop()
  }

  #look(): void {
    const { calls, parts } = this.#desk
    const now = parts.clock.now()
    for (const entry of calls.all()) {
      const hasBegun = entry.state === "running" || entry.state === "done"
      const end = entry.expires + (hasBegun ? GRACE : 0)
      if (now >= end) giveUp(this.#desk, entry, "Its time is over.")
      else this.#admission.remind(entry)
    }
  }

  #lose(caller: CallerPeer): void {
    const { calls, parts, counts, settings } = this.#desk
    const entries = calls.all(caller)
    if (entries.some(({ state }) => state !== "done")) {
      counts.callersLost++
      const fields = { user: caller.user, calls: entries.length, after: settings.callerSilentMs }
      parts.logger.info("A caller says nothing any more; what it wanted was given up", fields)
    }
    for (const entry of entries) giveUp(this.#desk, entry, "The caller was lost.")
  }

  #textOf(event: CallEvent, entry: WorkerEntry): MessageText {
    // Its caller must not take an error for the end of what came before it.
    const after = event.type === "call.error" ? (entry.items?.count ?? 0) : 0
    const about = after > 0 ? { after } : {}
    const short = event.type === "call.responded" ? resultText(entry.idText, event) : undefined
    const message = short ?? { text: messageText({ type: "event", event, ...about }) }
    const { maxPayload, address } = this.#bus
    const bytes = bytesBeyond(maxPayload, address, message)
    if (bytes === undefined) return message
    if (event.type !== "call.error") {
      throw answerTooLarge(event.requestId, entry.operationId, bytes, maxPayload)
    }
    // An error that does not fit would be told to nobody: it goes without its details.
    return { text: messageText({ type: "event", event: withoutDetails(event), ...about }) }
  }

  #answer(reply: string, text: string): void {
    try {
      this.#bus.answer(reply, text)
    } catch (error) {
      // What matters is kept, and sent again when its caller asks.
      this.#desk.parts.logger.debug("An answer could not be sent", { bytes: text.length, error })
    }
  }

  #drop(count: number, { user, address }: BusCaller): void {
    const { counts, parts } = this.#desk
    if (counts.dropped === 0) {
      parts.logger.warn(
        "A message of a caller made no sense and was dropped. Further ones are counted only",
        { user, address },
      )
    }
    counts.dropped += count
  }
}

function withoutDetails({ details: _, ...event }: CallErrorEvent): CallErrorEvent {
  return event
}
