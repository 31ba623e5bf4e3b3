import type { CallEvent, CallRespondedEvent } from "../core/events.ts"
import type { CallError } from "../core/errors.ts"
import { INVALID_REQUEST, isEventForCaller } from "../core/is-event.ts"
import { Deadlines } from "../internal/deadlines.ts"
import type { Logger } from "../internal/logger.ts"
import type { Clock } from "../internal/platform.ts"
import type { Transport, TransportPeer } from "./transport.ts"
import type { Deliverer } from "./links.ts"
import { PendingTable, type Pending } from "./pending/table.ts"

/** The part of an endpoint that only ends with a server have. */
export interface ServingSide {
  /** Handles events for requests that this side serves. */
  deliver(event: CallEvent, peer?: TransportPeer): void
  /** A result was not sent. */
  undelivered(event: CallRespondedEvent, error: CallError): void
  /** Ends the requests of a lost peer. */
  lost(): void
  close(): void
}

/** The settings of an endpoint, defaults filled in. */
export interface EndpointSettings {
  readonly clock: Clock
  readonly logger: Logger
  /** Default timeout of a call, in milliseconds. */
  readonly timeout: number
  /** Stream items that may be in flight. */
  readonly window: number
}

/**
 * One side of a link: its pending requests, and the dispatch of events to them and to the serving side.
 *
 * Looking up a request takes constant time, however many there are.
 */
export class Endpoint implements Deliverer {
  readonly settings: EndpointSettings
  readonly link: Transport
  readonly deadlines: Deadlines
  readonly pending: PendingTable = new PendingTable()
  /** Notified when a lost peer is back. */
  readonly restoredListeners: Set<() => void> = new Set()
  /** The map over it: all users of a transport share one, because it can only be opened once. */
  map: object | undefined
  serving: ServingSide | undefined
  /** Whether a received value is an event. The serving side also checks requests. */
  isEvent: (value: unknown) => boolean = isEventForCaller
  /** The request that is being sent: a loopback server finds it here. */
  sending: Pending | undefined
  /** The number of invalid events that arrived. */
  dropped = 0
  isClosed = false

  constructor(link: Transport, settings: EndpointSettings) {
    this.link = link
    this.settings = settings
    this.deadlines = new Deadlines(settings.clock)
    link.open(this)
  }

  event(event: unknown, peer?: TransportPeer): void {
    if (this.#isSound(event)) return this.deliver(event, peer)
    this.dropped++
    this.#refuse(event)
    if (this.dropped > 1) return
    this.settings.logger.warn(
      "An event that does not match CallEventSchema was dropped. Further ones are only counted",
      { event: describe(event) },
    )
  }

  /** Answers an invalid request, so that its caller does not wait for its deadline. */
  #refuse(event: unknown): void {
    if (this.serving === undefined || !isEventForCaller(event)) return
    const { type, requestId } = event
    if (type !== "call.requested") return
    const why = { code: "VALIDATION_ERROR", message: INVALID_REQUEST }
    const terms = { retryable: false, mayHaveExecuted: false }
    this.trySend({ type: "call.error", requestId, ...why, ...terms })
  }

  #isSound(event: unknown): event is CallEvent {
    try {
      return this.isEvent(event)
    } catch {
      // A getter threw.
      return false
    }
  }

  deliver(event: CallEvent, peer?: TransportPeer): void {
    try {
      this.#deliver(event, peer)
    } catch (error) {
      // A listener that throws must not affect other requests.
      const { type, requestId } = event
      this.settings.logger.error("An event could not be handled", { type, requestId, error })
    }
  }

  #deliver(event: CallEvent, peer: TransportPeer | undefined): void {
    const { requestId } = event
    switch (event.type) {
      case "call.responded":
        return this.pending.get(requestId)?.responded(event)
      case "call.requested":
      case "call.answered":
      case "call.credit":
        return this.serving?.deliver(event, peer)
      case "call.completed":
        return this.pending.get(requestId)?.completed(event)
      case "call.error":
        return this.pending.get(requestId)?.failed(event)
      case "call.progress":
        return this.pending.get(requestId)?.progressed(event)
      case "call.asked":
        // Loaded on use: most calls ask nothing.
        import("./pending/answers.ts").then(
          ({ deliverQuestion }) => deliverQuestion(this, event),
          () => this.pending.get(requestId)?.abort(),
        )
        return
      case "call.aborted": {
        const pending = this.pending.get(requestId)
        if (pending === undefined) this.serving?.deliver(event)
        else pending.abortedByPeer(event)
      }
    }
  }

  undelivered(event: CallEvent, error: CallError): void {
    if (event.type === "call.responded") this.serving?.undelivered(event, error)
    if (event.type !== "call.requested") return
    const pending = this.pending.get(event.requestId)
    const { code, message, details, retryable, retryAfterMs, attempts, mayHaveExecuted } = error
    const terms = { details, retryable, retryAfterMs, attempts, mayHaveExecuted }
    pending?.fail(pending.error(code, `was not sent: ${message}`, { ...terms, cause: error }))
  }

  lost(error: CallError): void {
    this.serving?.lost()
    for (const pending of this.pending.all()) {
      pending.fail(
        pending.error(error.code, `got no answer: ${error.message}`, {
          details: error.details,
          mayHaveExecuted: this.link.deliveryStatus?.(pending.requestId)?.mayHaveExecuted ?? true,
          retryable: false,
          cause: error,
        }),
      )
    }
  }

  restored(): void {
    for (const listener of this.restoredListeners) listener()
  }

  /** Sends an event that needs no delivery report, such as an abort or credit. A failure is only logged. */
  trySend(event: CallEvent): void {
    try {
      this.link.send(event)
    } catch (error) {
      const { type, requestId } = event
      this.settings.logger.debug("An event could not be sent", { type, requestId, error })
    }
  }

  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    // Pending requests first: on a loopback link that also ends the requests that are served.
    for (const pending of this.pending.all()) pending.abort(CLOSED)
    this.serving?.close()
    this.deadlines.close(() => undefined)
    this.restoredListeners.clear()
    await this.link.close()
  }
}

/** The reason for ending everything. */
export const CLOSED = "The call protocol was closed."
/** The default reason for stopping a handler. */
export const CALLER_LEFT = "The caller left."

/** Describes an invalid event for the log: its type and fields, no values. */
function describe(event: unknown): string {
  if (typeof event !== "object" || event === null) return typeof event
  try {
    const { type } = event as { type?: unknown }
    const fields = Object.keys(event).slice(0, 20).join(", ")
    return `${typeof type === "string" ? type.slice(0, 40) : "no type"} { ${fields} }`.slice(0, 300)
  } catch {
    return "an unreadable object"
  }
}
