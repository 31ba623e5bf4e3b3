import { errorEvent } from "../core/error-marks.ts"
import type { CallError } from "../core/errors.ts"
import type { CallEvent, CallRequestedEvent, CallRespondedEvent } from "../core/events.ts"
import { CALLER_LEFT, CLOSED, type Endpoint, type ServingSide } from "./endpoint.ts"
import type { Served } from "./pending/table.ts"
import { deferOn } from "../internal/clock.ts"
import type { TransportPeer } from "./transport.ts"

/** Handles incoming requests. */
export interface RequestHandler {
  /** All further requests are refused. */
  readonly isClosed: boolean
  requested(event: CallRequestedEvent, peer?: TransportPeer): void
  /** Ends running requests, and notifies their callers. */
  close(): void
}

/** Items of all streams that are sent in one turn of the event loop; then calls, pings and other links get theirs. */
const ITEMS_PER_TURN = 64

/** The serving side of a link: its running requests, and the dispatch of events to them. */
export class Serving implements ServingSide {
  readonly requests: Map<string, Served> = new Map()
  handler: RequestHandler | undefined
  /** The peer is gone: its requests are being stopped, and none is started. */
  isEnding = false
  readonly #endpoint: Endpoint
  /** Items that may still be sent in this turn, and the next turn once there are none. */
  #itemsLeft = ITEMS_PER_TURN
  #nextTurn: Promise<void> | undefined

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint
  }

  deliver(event: CallEvent, peer?: TransportPeer): void {
    if (event.type === "call.requested") {
      if (!this.#endpoint.isClosed) this.handler?.requested(event, peer)
      return
    }
    const served = this.requests.get(event.requestId)
    if (event.type === "call.credit") served?.credit(event.credit)
    else if (event.type === "call.answered") served?.answered(event)
    else if (event.type === "call.aborted") served?.abort(event.reason ?? CALLER_LEFT)
  }

  /** Counts an item of a stream; a promise while it has to wait for the next turn of the event loop. */
  turn(): Promise<void> | undefined {
    if (this.#nextTurn !== undefined || this.#itemsLeft-- > 0) return this.#nextTurn
    this.#nextTurn = new Promise((resolve) => {
      deferOn(this.#endpoint.settings.clock, () => {
        this.#itemsLeft = ITEMS_PER_TURN
        this.#nextTurn = undefined
        resolve()
      })
    })
    return this.#nextTurn
  }

  /** A result could not be sent: reports that to the caller, and stops the handler. */
  undelivered({ requestId }: CallRespondedEvent, error: CallError): void {
    this.requests.get(requestId)?.abort(error.message)
    this.#endpoint.trySend(errorEvent(requestId, error))
  }

  lost(): void {
    this.isEnding = true
    for (const served of [...this.requests.values()]) served.abort("The caller was lost.")
    this.isEnding = false
  }

  close(): void {
    this.handler?.close()
    for (const [requestId, served] of [...this.requests]) {
      served.abort(CLOSED)
      this.#endpoint.trySend({ type: "call.aborted", requestId, reason: CLOSED })
    }
  }
}

/** The serving side of an endpoint. */
export function servingOf(endpoint: Endpoint): Serving {
  return (endpoint.serving ??= new Serving(endpoint)) as Serving
}
