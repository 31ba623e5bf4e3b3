import type { CallRequestedEvent } from "../../core/events.ts"
import { ERROR_REPORTING, Failures, loggerOf, type ErrorReporting } from "../../engine/failures.ts"
import type { CallError } from "../../core/errors.ts"
import { isCallEvent } from "../../core/is-event.ts"
import { validateOptions, type OptionsSchema } from "../../internal/options.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Clock } from "../../internal/platform.ts"
import type { AnyRegistry } from "../../engine/registry.ts"
import { requireRegistry } from "../../engine/served-registry.ts"
import { callMapOver, PendingRequestMap, type CallLink } from "../pending/request-map.ts"
import { endpointOver } from "../pending/requests.ts"
import { servingOf } from "../serving.ts"
import { RequestServer, SERVE_LIMITS } from "./server.ts"
import type { ResolveIdentity, ServeLimits, ServerOptions } from "./server.ts"
import { isolatedLogger } from "../../internal/notify.ts"

// From here, and not by the main entry: in that file, unused schemas would not be removed from pages.
export { CallEventMap, CallEventSchema } from "../../core/events.ts"

/** Options of `buildCallHandler`. */
export interface CallHandlerOptions extends ServeLimits, ErrorReporting {
  readonly registry: AnyRegistry
  /** The map that sends the answers. */
  readonly callMap: PendingRequestMap
  /**
   * Identifies the caller. Without it the identity is that of the transport, or, within this process and from a
   * trusted peer, that of the event.
   */
  readonly resolveIdentity?: ResolveIdentity | undefined
}

const CALL_MAP = { methods: ["call", "respond"], expected: "a PendingRequestMap" }

const SHARED_OPTIONS: OptionsSchema<ServeLimits & ErrorReporting> & {
  readonly resolveIdentity: "function"
} = { ...SERVE_LIMITS, ...ERROR_REPORTING, resolveIdentity: "function" }

export const CALL_HANDLER_OPTIONS: OptionsSchema<CallHandlerOptions> = {
  ...SHARED_OPTIONS,
  registry: { required: "registry" },
  callMap: { required: CALL_MAP },
}

/** An alias of `CallHandlerOptions`. */
export type CallHandlerConfig = CallHandlerOptions

/**
 * Runs the operation of a request, and answers. Resolves when that is over, whatever the outcome;
 * rejects with a `TypeError` only for an argument that is not a request.
 */
export type CallHandler = (event: CallRequestedEvent | Event) => Promise<void>

/**
 * Creates a handler that runs requests against a registry, for you to attach. `serveCalls` attaches one itself.
 *
 * Aborts, and credit for streams, reach it through the map.
 */
export function buildCallHandler(options: CallHandlerOptions): CallHandler {
  validateOptions("buildCallHandler", options, CALL_HANDLER_OPTIONS)
  const server = serverOf(options.registry, options, options.callMap, "buildCallHandler")
  return (request) =>
    new Promise((resolve) => {
      server.requested(requestOf(request), undefined, resolve)
    })
}

/** Options of `serveCalls`: a map, or a transport to create one for. */
export interface ServeCallsOptions extends ServerOptions, ErrorReporting {
  readonly callMap?: PendingRequestMap | undefined
  readonly transport?: CallLink | undefined
  readonly logger?: Logger | undefined
  readonly clock?: Clock | undefined
}

export const SERVE_CALLS_OPTIONS: OptionsSchema<ServeCallsOptions> = {
  ...SHARED_OPTIONS,
  callMap: CALL_MAP,
  transport: { methods: [], expected: "a transport or an EventTarget" },
  accountOf: "function",
  logger: "logger",
  clock: "clock",
}

/** Options of `drain`. */
export interface DrainOptions {
  /** Milliseconds that running requests get to finish; default: 10,000. */
  readonly grace?: number | undefined
  /** Ends streams at once, with an error that says that they may be opened again. */
  readonly endStreams?: boolean | undefined
}

export const DRAIN_OPTIONS: OptionsSchema<DrainOptions> = {
  grace: { min: 0 },
  endStreams: "boolean",
}

/** A registry that answers calls over a link. */
export interface CallServer extends AsyncDisposable {
  readonly callMap: PendingRequestMap
  /** Requests that run or wait. */
  readonly inFlight: number
  /**
   * Ends running requests with `UNAVAILABLE`, or with the code and message of `why`, in the order in which they
   * arrived. Closes the map if `serveCalls` created it.
   */
  close(why?: CallError): Promise<void>
  /** Accepts no new requests, waits for running ones, and closes. Requests that still run after `grace` end as with `close`. */
  drain(options?: DrainOptions): Promise<void>
}

/** Answers the calls that arrive over a link, until it is closed. */
export function serveCalls(registry: AnyRegistry, options: ServeCallsOptions): CallServer {
  requireRegistry("serveCalls", registry)
  validateOptions("serveCalls", options, SERVE_CALLS_OPTIONS)
  const { callMap: ownMap, transport, logger, clock } = options
  if (ownMap === undefined && transport === undefined) {
    throw new TypeError(
      "serveCalls(registry, options): pass either callMap or transport, over which calls arrive; got neither.",
    )
  }
  const callMap = ownMap ?? callMapOver(transport as CallLink, { logger, clock })
  const endpoint = endpointOver(callMap)
  const serving = servingOf(endpoint)
  if (serving.handler?.isClosed === false) {
    throw new TypeError(
      "serveCalls(registry, options): this link is served already; close that server first.",
    )
  }
  const server = serverOf(registry, options, callMap, "serveCalls")
  serving.handler = server
  endpoint.link.serve?.(server)
  const close = async (why?: CallError): Promise<void> => {
    // It stays attached, to refuse later requests.
    server.close(why)
    if (ownMap === undefined && !(transport instanceof PendingRequestMap)) await callMap.close()
  }
  return {
    callMap,
    get inFlight() {
      return server.inFlight
    },
    close,
    async drain(limits = {}) {
      validateOptions("drain", limits, DRAIN_OPTIONS)
      // A link that can leave redirects new requests to other workers; over other links they are refused.
      if (endpoint.link.leave === undefined) server.isLeaving = true
      else endpoint.link.leave()
      if (limits.endStreams === true) server.endStreams()
      await server.idle(limits.grace ?? 10_000)
      await close()
    },
    [Symbol.asyncDispose]: () => close(),
  }
}

function serverOf(
  registry: AnyRegistry,
  options: ServeCallsOptions,
  callMap: PendingRequestMap,
  name: string,
): RequestServer {
  if (!(callMap instanceof PendingRequestMap)) {
    throw new TypeError(`${name}(options): callMap must be a PendingRequestMap.`)
  }
  const endpoint = endpointOver(callMap)
  const { link, settings } = endpoint
  const logger = isolatedLogger(options.logger ?? loggerOf(registry, settings.logger))
  const isOneApplication = link.isLocal === true || link.isOneApplication === true
  const failures = new Failures(
    link.surface ?? (link.isLocal === true ? "memory" : "calls"),
    options,
    logger,
    isOneApplication ? "expose" : "hide",
  )
  return new RequestServer(endpoint, registry, options, failures)
}

/** The event passed to a handler: the event itself, its fields, or a `CustomEvent` around it. */
function requestOf(request: unknown): CallRequestedEvent {
  const inner =
    request instanceof Event ? (request as Partial<CustomEvent<unknown>>).detail : request
  const event =
    typeof inner === "object" && inner !== null && !("type" in inner)
      ? { ...inner, type: "call.requested" }
      : inner
  if (isCallEvent(event) && event.type === "call.requested") return event
  throw new TypeError(
    `A call handler takes a "call.requested" event: { requestId, operationId, input, … }.`,
  )
}
