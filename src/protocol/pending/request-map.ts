import { isCallError } from "../../core/errors.ts"
import type { CallError } from "../../core/errors.ts"
import { refusal } from "../../core/errors.ts"
import type { EnvelopeStream } from "../../core/infer.ts"
import { systemClock } from "../../internal/clock.ts"
import { errorEvent } from "../../core/error-event.ts"
import { hasMethods, validateOptions } from "../../internal/options.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Clock } from "../../internal/platform.ts"
import { isResponseEnvelope } from "../../core/envelope.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import { typeName } from "../../internal/describe.ts"
import type { Transport } from "../transport.ts"
import { Endpoint } from "../endpoint.ts"
import { EventTargetLink, isEventTarget, LoopbackLink } from "../links.ts"
import { PendingCall } from "./call.ts"
import { checkRequest } from "./options.ts"
import type { PendingOptions } from "./options.ts"
import { PendingStream } from "./stream.ts"
import { isolatedLogger } from "../../internal/notify.ts"

/** Options of `PendingRequestMap`. */
export interface PendingRequestMapOptions {
  /** Milliseconds a call may take when its caller gives no deadline; 30,000. `Infinity` for no limit. */
  readonly timeout?: number | undefined
  /** Stream items that may be in flight to their consumer; 256. */
  readonly window?: number | undefined
  readonly logger?: Logger | undefined
  readonly clock?: Clock | undefined
}

export const PENDING_MAP_OPTIONS: OptionsSchema<PendingRequestMapOptions> = {
  timeout: "duration",
  window: { min: 1, max: Number.MAX_SAFE_INTEGER, whole: true },
  logger: "logger",
  clock: "clock",
}

/** The result of `call`: a promise with the id of its request. */
export interface PendingResponse<TOutput = unknown> extends Promise<ResponseEnvelope<TOutput>> {
  readonly requestId: string
  /** Ends the call with `ABORTED`, and its handler on the other side. */
  abort(reason?: string): void
}

/** The result of `subscribe`: a stream with the id of its request. */
export interface PendingSubscription<TOutput = unknown> extends EnvelopeStream<TOutput> {
  readonly requestId: string
  /** Ends the stream with `ABORTED`, and its handler on the other side. */
  abort(reason?: string): void
}

let reach: (map: PendingRequestMap) => Endpoint

/**
 * The caller's side of the call protocol: sends requests over a link, and matches answers to them.
 *
 * The link is an `EventTarget`, a transport, or nothing for calls within this process. Close the map when you are
 * done; that also closes its transport.
 */
export class PendingRequestMap {
  readonly #endpoint: Endpoint

  static {
    reach = (map) => map.#endpoint
  }

  constructor(link?: EventTarget | Transport, options: PendingRequestMapOptions = {}) {
    validateOptions("new PendingRequestMap", options, PENDING_MAP_OPTIONS)
    const { timeout = 30_000, window = 256, clock = systemClock } = options
    const logger = isolatedLogger(options.logger)
    this.#endpoint = new Endpoint(linkOf(link), { timeout, window, logger, clock })
  }

  /** Calls an operation of the peer. */
  call(operationId: string, input?: unknown, options?: PendingOptions): PendingResponse {
    return startCall(this.#endpoint, operationId, input, options)
  }

  /** Opens a stream of the peer. The request is sent when the first item is requested. */
  subscribe(operationId: string, input?: unknown, options?: PendingOptions): PendingSubscription {
    const invalid = requestError(operationId, options)
    const validOptions = invalid === undefined ? options : undefined
    const stream = new PendingStream(this.#endpoint, operationId, input, validOptions)
    if (invalid !== undefined) stream.fail(invalid)
    return stream
  }

  /**
   * Answers a request: the result of a call, or with `seq` one item of a stream.
   *
   * Throws on a raw value: the call handler wraps results, so a raw one means it was bypassed.
   */
  respond(requestId: string, output: ResponseEnvelope, seq?: number): void {
    if (!isResponseEnvelope(output)) {
      throw new TypeError(
        `respond("${String(requestId)}") takes an envelope, got ${typeName(output)}; wrap the value with localEnvelope().`,
      )
    }
    this.#endpoint.link.send(
      seq === undefined
        ? { type: "call.responded", requestId, output }
        : { type: "call.responded", requestId, output, seq },
    )
  }

  /** Ends a stream; `seq` is the number of its items. */
  complete(requestId: string, seq?: number): void {
    this.#endpoint.link.send(
      seq === undefined
        ? { type: "call.completed", requestId }
        : { type: "call.completed", requestId, seq },
    )
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
    const { pending, served } = this.#endpoint
    const waiting = pending.get(requestId)
    if (waiting !== undefined) {
      waiting.abort(reason)
      return
    }
    const working = served.get(requestId)
    if (working === undefined) return
    working.abort(reason ?? "The call was aborted.")
    this.#endpoint.trySend(
      reason === undefined
        ? { type: "call.aborted", requestId }
        : { type: "call.aborted", requestId, reason },
    )
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

/** Starts a call. `failed` receives its error first, and whether the peer sent it. */
export function startCall(
  endpoint: Endpoint,
  operationId: string,
  input: unknown,
  options: PendingOptions | undefined,
  failed?: (error: CallError, isAnswer: boolean) => void,
): PendingResponse {
  const call = new PendingCall(endpoint, operationId, options)
  const promise = new Promise(capture) as Promise<ResponseEnvelope> & {
    requestId: string
    abort: (reason?: string) => void
  }
  call.resolve = capturedResolve
  call.reject = capturedReject
  call.failing = failed
  promise.requestId = call.requestId
  promise.abort = (reason) => call.abort(reason)
  const invalid = requestError(operationId, options)
  if (invalid === undefined) call.begin(input, options?.deadline)
  else call.fail(invalid)
  return promise
}

/** The endpoint behind a map, for other parts of the protocol. */
export function endpointOf(map: PendingRequestMap): Endpoint {
  return reach(map)
}

/** Anything that carries calls. */
export type CallLink = EventTarget | Transport | PendingRequestMap

const maps = new WeakMap<object, PendingRequestMap>()

/** The map over a link. All users of a transport share one map, because a transport can only be opened once. */
export function callMapOver(link: CallLink, options?: PendingRequestMapOptions): PendingRequestMap {
  if (link instanceof PendingRequestMap) return link
  if (isEventTarget(link)) return new PendingRequestMap(link, options)
  let map = maps.get(link)
  if (map === undefined || reach(map).isClosed) {
    map = new PendingRequestMap(link, options)
    maps.set(link, map)
  }
  return map
}

function linkOf(link: EventTarget | Transport | undefined): Transport {
  if (link === undefined) return new LoopbackLink()
  if (isEventTarget(link)) return new EventTargetLink(link)
  if (hasMethods(link, ["open", "send", "close"])) return link
  throw new TypeError(
    `new PendingRequestMap(link): link must be an EventTarget or a transport, got ${typeName(link)}.`,
  )
}

function requestError(
  operationId: unknown,
  options: PendingOptions | undefined,
): CallError | undefined {
  try {
    return checkRequest(operationId, options)
  } catch (cause) {
    return refusal("VALIDATION_ERROR", `The options of a call cannot be read.`, { cause })
  }
}

// One shared executor, whose result is read at once: a closure per promise would cost one more object per call.
let capturedResolve: (value: ResponseEnvelope) => void
let capturedReject: (error: CallError) => void
function capture(
  resolve: (value: ResponseEnvelope) => void,
  reject: (error: unknown) => void,
): void {
  capturedResolve = resolve
  capturedReject = reject
}
