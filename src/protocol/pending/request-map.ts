import { isCallError, refusal, type CallError } from "../../core/errors.ts"
import { errorEvent } from "../../core/error-marks.ts"
import type { CallRespondedEvent } from "../../core/events.ts"
import { NotReady } from "../../core/not-ready.ts"
import { encodeResult } from "../../core/unread-file.ts"
import { validateOptions } from "../../internal/options.ts"
import { isCallEvent } from "../../core/is-event.ts"
import { isResponseEnvelope, type ResponseEnvelope } from "../../core/envelope.ts"
import { reasonOf, typeName } from "../../internal/message-text.ts"
import type { Transport } from "../transport.ts"
import { Endpoint } from "../endpoint.ts"
import { LoopbackLink } from "../links.ts"
import { servingOf } from "../serving.ts"
import { requestError, type PendingOptions } from "./options.ts"
import {
  endpointOver,
  linkOf,
  openEndpoint,
  PENDING_MAP_OPTIONS,
  registerEndpoint,
  startCall,
} from "./requests.ts"
import type { PendingRequestMapOptions, PendingResponse, PendingSubscription } from "./requests.ts"
import { startStream } from "./stream.ts"

/**
 * The caller's side of the call protocol: sends requests over a link, and matches answers to them.
 *
 * The link is an `EventTarget`, a transport, or nothing for calls within this process. Close the map when you are
 * done; that also closes its transport.
 */
export class PendingRequestMap {
  readonly #endpoint: Endpoint

  constructor(link?: EventTarget | Transport, options: PendingRequestMapOptions = {}) {
    validateOptions("new PendingRequestMap", options, PENDING_MAP_OPTIONS)
    // `callMapOver` passes an endpoint that others use, too.
    const made: unknown = link === undefined ? new LoopbackLink() : link
    this.#endpoint = made instanceof Endpoint ? made : openEndpoint(linkOf(made), options)
    this.#endpoint.isEvent = isCallEvent
    servingOf(this.#endpoint)
    registerEndpoint(this, this.#endpoint)
  }

  /** Calls an operation of the peer. */
  call(operationId: string, input?: unknown, options?: PendingOptions): PendingResponse {
    return startCall(this.#endpoint, requestError, operationId, input, options)
  }

  /** Opens a stream of the peer. The request is sent when the first item is requested. */
  subscribe(operationId: string, input?: unknown, options?: PendingOptions): PendingSubscription {
    return startStream(this.#endpoint, operationId, input, options)
  }

  /**
   * Answers a request: the result of a call, or with `seq` one item of a stream.
   *
   * Throws on a raw value: the call handler wraps results, so a raw one means it was bypassed.
   */
  respond(requestId: string, output: ResponseEnvelope, seq?: number): void {
    if (!isResponseEnvelope(output)) {
      throw new TypeError(
        `respond("${String(requestId)}") requires an envelope, got ${typeName(output)}; wrap the value with localEnvelope().`,
      )
    }
    const { link } = this.#endpoint
    const about = { type: "call.responded", requestId, output } as const
    const event: CallRespondedEvent = seq === undefined ? about : { ...about, seq }
    try {
      link.send(event)
    } catch (thrown) {
      if (!(thrown instanceof NotReady)) throw thrown
      encodeResult(() => link.send(event)).catch((error: unknown) =>
        this.#endpoint.undelivered(
          event,
          isCallError(error) ? error : refusal("UNAVAILABLE", reasonOf(error), { cause: error }),
        ),
      )
    }
  }

  /** Ends a stream; `seq` is the number of its items. */
  complete(requestId: string, seq?: number): void {
    const event = { type: "call.completed", requestId } as const
    this.#endpoint.link.send(seq === undefined ? event : { ...event, seq })
  }

  /** Answers a request with an error: a `CallError`, or its code and message. */
  emitError(requestId: string, error: CallError): void
  emitError(requestId: string, code: string, message: string, details?: unknown): void
  emitError(
    requestId: string,
    codeOrError: string | CallError,
    message = "The call failed.",
    details?: unknown,
  ): void {
    const error = isCallError(codeOrError)
      ? codeOrError
      : refusal(codeOrError, message, { details })
    this.#endpoint.link.send(errorEvent(requestId, error))
  }

  /** Aborts a request that is pending or served here. Unknown and finished ids are ignored. */
  abort(requestId: string, reason?: string): void {
    const { requests } = servingOf(this.#endpoint)
    const waiting = this.#endpoint.pending.get(requestId)
    if (waiting !== undefined) return waiting.abort(reason)
    const working = requests.get(requestId)
    if (working === undefined) return
    working.abort(reason ?? "The call was aborted.")
    const event = { type: "call.aborted", requestId } as const
    this.#endpoint.trySend(reason === undefined ? event : { ...event, reason })
  }

  /** The number of pending calls and streams. */
  getPendingCount(): number {
    return this.#endpoint.pending.size
  }

  /** The number of events that arrived and did not match `CallEventSchema`. */
  get droppedCount(): number {
    return this.#endpoint.dropped
  }

  /** Ends everything with `ABORTED`, notifies the peer, and closes the transport. */
  async close(): Promise<void> {
    await this.#endpoint.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

/** Anything that carries calls. */
export type CallLink = EventTarget | Transport | PendingRequestMap

/** The map over a link. All users of a transport share one map, because a transport can only be opened once. */
export function callMapOver(link: CallLink, options?: PendingRequestMapOptions): PendingRequestMap {
  if (link instanceof PendingRequestMap) return link
  const endpoint = endpointOver(link, options)
  return (endpoint.map ??= new PendingRequestMap(endpoint as never)) as PendingRequestMap
}
