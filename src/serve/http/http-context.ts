// What the routes of the HTTP API share: their calls, streams, values and problems.

import { MAX_BIGINT_LENGTH, parseJson } from "../../http-client/json.ts"
import { encodeResult } from "../../core/unread-file.ts"
import { decodeInput } from "./decode-input.ts"
import { Failures } from "../../engine/failures.ts"
import { refusal, type CallError } from "../../core/errors.ts"
import { watchResume } from "../../core/resume.ts"
import type { Logger } from "../../internal/logger.ts"
import { turn } from "../../internal/defer.ts"
import { deferred, withTimeout } from "../../internal/wait.ts"
import type { Clock } from "../../internal/platform.ts"
import type { ServedRegistry } from "../../engine/served-registry.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import type { FromEntry } from "../../core/tracing.ts"
import type { AnsweredOverHTTP } from "../../core/http-response.ts"
import type { CallOptions, OperationSpec } from "../../core/types.ts"
import { isRounded, roundedError } from "../../http-client/exact-json.ts"
import { maySee } from "../../tools/expose.ts"
import type { ValuesFor } from "../mount.ts"
import { whenEnded } from "../expiry.ts"
import { jsonAnswer, streamAnswer, problemAnswer, toProblem } from "./answer.ts"
import {
  HTTPCall,
  inputOrEmpty,
  lastNumberOf,
  httpEntry,
  streamTermsOf,
  termsOf,
  watchAll,
} from "./call-sink.ts"
import type { CallsHost, ItemTerms, RequestTerms } from "./call-sink.ts"
import { responseHostOf } from "./response.ts"
import type { EventStream, Heartbeats } from "./sse.ts"
import type { HTTPAnswer, HTTPIncoming, HTTPCaller } from "../exchange.ts"
import { badRequest, tooLong, type ResolvedHTTPOptions, type RouteRequest } from "./context.ts"

/** The part of a request that one of its calls needs. */
export type CallIncoming = Pick<
  HTTPIncoming,
  "method" | "path" | "header" | "like" | "raw" | "requestId" | "response" | "onGone"
>

/** A request and its caller, as far as they are known. */
interface CallRequest {
  readonly incoming: CallIncoming
  readonly caller?: HTTPCaller | undefined
}

/** What routes need: it runs the calls and streams of requests, and keeps track of them. */
export class HTTPContext implements CallsHost {
  readonly registry: ServedRegistry
  readonly options: ResolvedHTTPOptions
  readonly clock: Clock
  readonly logger: Logger
  /** `close` was called. */
  isDraining = false
  /** Running calls were ended. */
  #isEnded = false
  readonly running: Set<HTTPCall> = new Set()
  #requests = 0
  #whenIdle: (() => void) | undefined
  readonly #streams = new Set<EventStream>()
  #heartbeats: Heartbeats | undefined
  readonly #failures: Failures

  constructor(
    registry: ServedRegistry,
    options: ResolvedHTTPOptions,
    clock: Clock,
    logger: Logger,
  ) {
    this.registry = registry
    this.options = options
    this.clock = clock
    this.logger = logger
    this.#failures = new Failures("http", options, logger)
  }

  /** The spec of an external, exposed operation, for any caller. */
  find(id: string): OperationSpec | undefined {
    const spec = this.registry.getSpec(id)
    return spec !== undefined && this.options.isExposed(spec) ? spec : undefined
  }

  /** The same; throws if there is none. */
  require(id: string, caller: HTTPCaller): OperationSpec {
    const spec = this.find(id)
    if (spec === undefined) throw this.missing(id, caller)
    return spec
  }

  /** The spec of an operation that a caller may see. */
  findFor(caller: HTTPCaller, id: string): OperationSpec | undefined {
    const spec = this.find(id)
    return spec !== undefined && this.isShown(spec, caller) ? spec : undefined
  }

  /** Whether an operation is listed for a caller: some call of it could be allowed. */
  isShown(spec: OperationSpec, { identity }: HTTPCaller): boolean {
    if (!maySee(spec, identity)) return false
    const id = `${spec.namespace}.${spec.name}`
    return this.registry.outlook?.(id, { identity, via: "http" })?.isDenied !== true
  }

  /** The error for an id that does not exist for a caller: hidden and unknown ids look the same. */
  missing(id: string, { identity }: HTTPCaller): CallError {
    // A suggestion could name an operation that is not served here.
    const error =
      this.options.isFiltered === true ? undefined : this.registry.missing?.(id, identity)
    return (
      error ?? refusal("OPERATION_NOT_FOUND", `Operation "${id.slice(0, 200)}" is not registered.`)
    )
  }

  /** What the option `context` provides for a call. */
  readonly valuesFor: ValuesFor = (operationId, incoming, identity) => {
    const { context, authenticateTimeout: timeout } = this.options
    if (context === undefined) return undefined
    const terms = { timeout, clock: this.clock }
    return import("./request-view.ts").then(({ contextValues }) =>
      contextValues(context, incoming, { operationId, identity }, terms),
    )
  }

  /**
   * Runs a query or mutation with options from the headers `request-id`, `x-timeout-ms` and `traceparent`.
   * Cancels it when the client disconnects. Rejects with a `CallError`.
   * A call of a batch has options of its own.
   */
  execute(
    id: string,
    spec: OperationSpec,
    input: unknown,
    { incoming, caller }: CallRequest,
    own?: ItemTerms,
  ): Promise<ResponseEnvelope> {
    type Values = CallOptions["metadata"]
    const start = (values: Values, given: unknown): Promise<ResponseEnvelope> => {
      // Further calls of a batch.
      if (this.#isEnded) throw closing()
      const terms = withValues(termsOf(incoming, this.options.timeout), values)
      const call = new HTTPCall(id, incoming, caller?.identity, terms, this, own)
      return call.run(this.registry, given)
    }
    const run = (values?: Values): Promise<ResponseEnvelope> => {
      const given = inputOrEmpty(input, spec)
      if (!(given instanceof Promise)) return start(values, given)
      return given.then((ready) => start(values, ready))
    }
    try {
      const values = this.valuesFor(id, incoming, caller?.identity)
      return values instanceof Promise ? values.then(run) : run(values)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Answers with what a call would do. `render` returns the JSON of its envelope. */
  async dryRun(
    id: string,
    spec: OperationSpec,
    input: unknown,
    request: CallRequest,
    render: (envelope: ResponseEnvelope) => string,
  ): Promise<HTTPAnswer> {
    const envelope = await this.execute(id, spec, input, request)
    return jsonAnswer(await encodeResult(() => render(envelope)), {
      "x-dry-run": "1",
      "cache-control": "no-store",
    })
  }

  /**
   * Opens a subscription as server-sent events. `render` returns the JSON of one item.
   * Rejects with a `CallError` when the stream fails before anything was sent.
   */
  async stream(
    id: string,
    spec: OperationSpec,
    input: unknown,
    { incoming, caller }: RouteRequest,
    render: (envelope: ResponseEnvelope) => string,
  ): Promise<HTTPAnswer> {
    const sse = await import("./sse.ts")
    const values = await this.valuesFor(id, incoming, caller.identity)
    const terms = withValues(streamTermsOf(incoming), values)
    const { metadata, check } = watchResume(terms.metadata)
    const given = await inputOrEmpty(input, spec)
    const full = caller.openStream()
    if (full !== undefined) throw full
    const { requestId } = incoming
    const { logger } = this
    const options: CallOptions & AnsweredOverHTTP & FromEntry = {
      ...{
        ...terms,
        metadata,
        requestId,
        identity: caller.identity,
        via: "http",
        entry: httpEntry(incoming),
      },
      get answering() {
        return responseHostOf(incoming, id, logger)
      },
    }
    const items = this.registry.subscribe(id, given, options)
    const first = items.next().then((item) => {
      check(id)
      return item
    })
    try {
      // An immediate failure is known by then, and can still set the status.
      await Promise.race([first, turn()])
      if (this.isDraining) throw closing()
    } catch (error) {
      items.return?.().catch(() => undefined)
      throw error
    }
    // The stream handles the rejection, possibly later.
    first.catch(() => undefined)
    const { heartbeatMs, maxBufferBytes } = this.options.sse
    const events: EventStream = new sse.EventStream({
      items,
      first,
      render,
      renderError: (error) => this.problemText(error, { incoming, caller }, spec),
      lastId: lastNumberOf(incoming),
      maxBufferBytes,
      heartbeats: (this.#heartbeats ??= new sse.Heartbeats(this.clock, heartbeatMs)),
      over: () => {
        stop()
        this.#streams.delete(events)
      },
    })
    const stop = whenEnded(caller, this.clock, (error) => events.end(error))
    this.#streams.add(events)
    return streamAnswer(events)
  }

  /** Reads the body of a request as the input of an operation in JSON. */
  async readJSON(incoming: HTTPIncoming, spec: OperationSpec): Promise<unknown> {
    const text = await incoming.readBody(this.options.maxBodyBytes)
    return decodeInput(spec, this.parseBody(text, spec))
  }

  /**
   * Parses the result of `readBody` as JSON; `undefined` when it is empty. Throws an `HTTPRefusal`: 413 when it is too
   * long, 400 when it is not JSON or nested too deeply. The guard has checked its type. Integers beyond those that a
   * number keeps become `BigInt`s for an operation of an OpenAPI document, and are refused for all others.
   */
  parseBody(text: string | undefined, spec?: OperationSpec): unknown {
    if (text !== undefined) return this.parseJSON(text, spec)
    throw tooLong(this.options.maxBodyBytes)
  }

  /** Parses other text, such as a query parameter, by the same rules. Throws an `HTTPRefusal`. */
  parseJSON(text: string, spec?: OperationSpec): unknown {
    return parseBounded(text, this.options.maxDepth, spec)
  }

  /**
   * Reports an error, and returns the problem response for it. Pass the `spec` of the operation for the
   * statuses of declared errors.
   */
  problem(error: unknown, request: CallRequest, spec?: OperationSpec): HTTPAnswer {
    return problemAnswer(this.#visible(error, request, spec), spec, request.incoming.requestId)
  }

  /** Like `problem`, as JSON text, for answers with several problems. */
  problemText(error: unknown, request: CallRequest, spec?: OperationSpec): string {
    const visible = this.#visible(error, request, spec)
    return JSON.stringify(toProblem(visible, spec, request.incoming.requestId))
  }

  /** Counts a request as running until `endRequest`. */
  beginRequest(): void {
    this.#requests++
  }

  endRequest(): void {
    if (--this.#requests === 0) this.#whenIdle?.()
  }

  /** Ends all streams, waits for running requests up to a timeout, then ends their calls. */
  async drain(timeoutMs: number): Promise<void> {
    // Clients may reconnect to another server.
    for (const stream of this.#streams) stream.end(closing(true))
    if (this.#requests > 0) {
      const { promise, resolve } = deferred()
      this.#whenIdle = resolve
      await withTimeout(promise, timeoutMs, () => undefined, { clock: this.clock })
    }
    this.#isEnded = true
    watchAll()
    for (const call of this.running) call.end()
    // Requests that were just ended have one turn to answer.
    if (this.#requests > 0) await turn()
  }

  #visible(error: unknown, { incoming, caller }: CallRequest, spec?: OperationSpec): CallError {
    const { method, path, requestId } = incoming
    return this.#failures.answer(error, {
      operationId: spec === undefined ? `${method} ${path}` : `${spec.namespace}.${spec.name}`,
      requestId,
      parentRequestId: undefined,
      identity: caller?.identity,
    })
  }
}

function withValues(terms: RequestTerms, values: CallOptions["metadata"]): RequestTerms {
  return values === undefined ? terms : { ...terms, metadata: { ...terms.metadata, ...values } }
}

/** The error of a server that is closing. */
export function closing(hadStarted = false): CallError {
  return refusal("UNAVAILABLE", "The server is closing.", {
    mayHaveExecuted: hadStarted,
    retryable: !hadStarted,
    retryAfterMs: 1000,
  })
}

/**
 * Parses untrusted JSON; `undefined` for empty text.
 *
 * `__proto__` is an ordinary key: it changes no prototype.
 */
function parseBounded(text: string, maxDepth: number, spec: OperationSpec | undefined): unknown {
  if (text === "") return undefined
  // Each level needs two brackets, so a short text cannot be too deep. 16 digits may be more than a number keeps.
  const isPlain = text.length <= 2 * maxDepth && !/\d{16}/.test(text)
  // The importer of OpenAPI documents sends `BigInt`s digit for digit.
  const isExact = spec?._meta?.["openapi"] !== undefined
  const parsed = parseJson(text, {
    maxDepth: isPlain ? Number.POSITIVE_INFINITY : maxDepth,
    bigint: isExact ? "exact" : undefined,
  })
  switch (parsed.is) {
    case "value":
      refuseRounded(parsed.bigIntegers, isExact)
      return parsed.value
    case "too-deep":
      throw badRequest(`The JSON is nested more than ${parsed.limit} levels deep.`)
    case "broken":
      // White space alone counts as empty.
      if (text.trim() === "") return undefined
      throw badRequest(`The text is ${parsed.reason}.`)
  }
}

/** Throws for integers whose last digits a number would change: an id would become another one. */
function refuseRounded(integers: readonly string[] = [], isExact: boolean): void {
  const rounded = integers.find(
    (digits) => digits.length > MAX_BIGINT_LENGTH || (!isExact && isRounded(digits)),
  )
  if (rounded !== undefined) throw badRequest(roundedError(rounded).message)
}
