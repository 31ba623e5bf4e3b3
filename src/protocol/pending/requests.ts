import { capture, capturedReject, capturedResolve } from "../../internal/captured.ts"
import type { CallCompletedEvent, CallErrorEvent, CallRespondedEvent } from "../../core/events.ts"
import type { CallError } from "../../core/errors.ts"
import type { EnvelopeStream } from "../../core/infer.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import { snapshot } from "../../core/plain-json.ts"
import { systemClock } from "../../internal/clock.ts"
import { typeName } from "../../internal/message-text.ts"
import type { Logger } from "../../internal/logger.ts"
import { isolatedLogger } from "../../internal/notify.ts"
import { hasMethods, type OptionsSchema } from "../../internal/options.ts"
import type { Clock } from "../../internal/platform.ts"
import { Endpoint } from "../endpoint.ts"
import { eventTargetLink, isEventTarget } from "../links.ts"
import type { Transport } from "../transport.ts"
import type { PendingOptions } from "./options.ts"
import { PendingRequest } from "./pending.ts"

/** Options of `PendingRequestMap`. */
export interface PendingRequestMapOptions {
  /** Timeout in milliseconds for calls without a deadline; 30,000. `Infinity` for no limit. */
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

/** Checks the id and the options of a request. Returns a promise if the check must be loaded first. */
export type CheckRequest = (
  operationId: string,
  options: PendingOptions | undefined,
) => CallError | undefined | Promise<CallError | undefined>

/** A pending call. */
export class PendingCall extends PendingRequest {
  readonly kind = "call"
  resolve: ((envelope: ResponseEnvelope) => void) | undefined = undefined
  reject: ((error: CallError) => void) | undefined = undefined
  failing: ((error: CallError, isAnswer: boolean) => void) | undefined = undefined
  #isAnswer = false

  responded(event: CallRespondedEvent): void {
    if (event.seq !== undefined) {
      const why = "is a stream: use subscribe(), not call()."
      const error = this.error("INVALID_OPERATION_TYPE", why)
      return this.leave(error, "A single response was expected.")
    }
    this.arrive(event.output)
  }

  /** Resolves the call; a handler on the same side calls it directly. */
  arrive(output: ResponseEnvelope): void {
    this.finish()
    this.resolve?.(output)
  }

  completed(_event: CallCompletedEvent): void {
    this.fail(this.error("ABORTED", "was completed without a response."))
  }

  override failed(event: CallErrorEvent): void {
    this.#isAnswer = true
    super.failed(event)
  }

  protected settle(error: CallError): void {
    this.failing?.(error, this.#isAnswer)
    this.reject?.(error)
  }
}

/** Starts a call. `failed` receives its error first, and whether the peer sent it. */
export function startCall(
  endpoint: Endpoint,
  check: CheckRequest,
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
  const invalid = check(operationId, options)
  if (invalid instanceof Promise) void beginLater(call, input, invalid)
  else if (invalid === undefined) call.begin(input)
  else call.fail(invalid)
  return promise
}

/** Begins a call when its options were checked. What the caller changes meanwhile is not sent. */
async function beginLater(
  call: PendingCall,
  input: unknown,
  checked: Promise<CallError | undefined>,
): Promise<void> {
  const copy = snapshot(input)
  const error = await checked.catch((thrown: unknown) => call.sendFailure(thrown))
  if (error !== undefined) call.fail(error)
  else if (!call.isOver) call.begin(copy)
}

/** The endpoints of maps, and of transports: a transport can only be opened once, so that all its users share one. */
const endpoints = new WeakMap<object, Endpoint>()

/** Makes an endpoint the one of a map. */
export function registerEndpoint(map: object, endpoint: Endpoint): void {
  endpoints.set(map, endpoint)
}

/** The endpoint of a map or a link. A closed transport is opened again. */
export function endpointOver(link: object, options: PendingRequestMapOptions = {}): Endpoint {
  const known = endpoints.get(link)
  if (known !== undefined && (known.link !== link || !known.isClosed)) return known
  const made = openEndpoint(linkOf(link), options)
  if (made.link === link) endpoints.set(link, made)
  return made
}

/** Opens a link, with defaults for the settings that are missing. */
export function openEndpoint(link: Transport, options: PendingRequestMapOptions): Endpoint {
  const { timeout = 30_000, window = 256, clock = systemClock, logger } = options
  return new Endpoint(link, { timeout, window, clock, logger: isolatedLogger(logger) })
}

/** The link over an event target, or a transport itself. */
export function linkOf(link: unknown): Transport {
  if (isEventTarget(link)) return eventTargetLink(link)
  if (hasMethods(link, ["open", "send", "close"])) return link as Transport
  throw new TypeError(
    `new PendingRequestMap(link): link must be an EventTarget or a transport, got ${typeName(link)}.`,
  )
}
