// Shared by the parts of the HTTP API: options, context and routes.

import type { ErrorReporting } from "../../engine/failures.ts"
import { CallError } from "../../core/errors.ts"
import type { CallErrorOptions } from "../../core/errors.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Clock } from "../../internal/platform.ts"
import type { AnyRegistry } from "../../engine/registry.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import type { OperationSpec } from "../../core/types.ts"
import type { Authenticate } from "../gate.ts"
import type { AuthOptions } from "./auth/options.ts"
import type { CorsOptions } from "./cors.ts"
import type { RateLimitOptions } from "../accounts.ts"
import type { HTTPAnswer, HTTPIncoming } from "../exchange.ts"
import type { HTTPCaller } from "../caller.ts"
import type { ItemTerms } from "./call-sink.ts"

/** A request for a route. */
export interface RouteRequest {
  readonly incoming: HTTPIncoming
  readonly caller: HTTPCaller
  /** Decoded values of the `{name}` segments of the route, in order. */
  readonly params: readonly string[]
}

/** A route: one method of one path. */
export interface Route {
  /** The route for `GET` also answers `HEAD`. */
  readonly method: "GET" | "POST"
  /** Path after the base path: `/operations/{id}`. A `{name}` matches one whole segment, never empty. */
  readonly path: string
  /** Bodies may be something else than JSON; the handler checks their type. */
  readonly takesFiles?: boolean | undefined
  /** Handles a request. An error becomes a problem response. */
  handle(request: RouteRequest): HTTPAnswer | Promise<HTTPAnswer>
}

export type Routes = readonly Route[]

/** Everything that routes need. */
export interface HTTPContext {
  readonly registry: AnyRegistry
  readonly options: ResolvedHTTPOptions
  readonly clock: Clock
  readonly logger: Logger
  /** `close` was called. */
  readonly isDraining: boolean
  /** The spec of an external, exposed operation, for any caller. */
  find(id: string): OperationSpec | undefined
  /** Whether a caller may see an operation. */
  maySee(spec: OperationSpec, caller: HTTPCaller): boolean
  /** The error for an id that does not exist for a caller: hidden and unknown ids look the same. */
  missing(id: string, caller: HTTPCaller): CallError
  /**
   * Runs a query or mutation with options from the headers `request-id`, `x-timeout-ms` and `traceparent`.
   * Cancels it when the client disconnects. Rejects with a `CallError`, the same for hidden and unknown ids.
   * A call of a batch has options of its own.
   */
  execute(
    id: string,
    input: unknown,
    incoming: HTTPIncoming,
    caller: HTTPCaller,
    own?: ItemTerms,
  ): Promise<ResponseEnvelope>
  /**
   * Opens a subscription as server-sent events. `render` returns the JSON of one item.
   * Rejects with a `CallError` when the stream fails before anything was sent.
   */
  stream(
    id: string,
    input: unknown,
    incoming: HTTPIncoming,
    caller: HTTPCaller,
    render: (envelope: ResponseEnvelope) => string,
  ): Promise<HTTPAnswer>
  /**
   * Reads the body as JSON; `undefined` when it is empty. Rejects with an `HTTPRefusal`: 413 when it is too
   * long, 400 when it is not JSON or nested too deeply. The guard has checked its type.
   */
  readJSON(incoming: HTTPIncoming, spec?: OperationSpec): Promise<unknown>
  /**
   * The second half of `readJSON`: parses the result of `readBody`. Integers beyond those that a number keeps become
   * `BigInt`s for an operation of an OpenAPI document, and are refused for all others.
   */
  parseBody(text: string | undefined, spec?: OperationSpec): unknown
  /** Parses other text, such as a query parameter, by the same rules. Throws an `HTTPRefusal`. */
  parseJSON(text: string, spec?: OperationSpec): unknown
  /** A 200 with JSON text and the common headers. */
  json(text: string, headers?: Readonly<Record<string, string>>): HTTPAnswer
  /** A 204. */
  empty(): HTTPAnswer
  /**
   * Reports an error, and returns the problem response for it. Pass the `spec` of the operation for the
   * statuses of declared errors, and the caller for the log.
   */
  problem(
    error: unknown,
    incoming: HTTPIncoming,
    spec?: OperationSpec,
    caller?: HTTPCaller,
  ): HTTPAnswer
  /** Like `problem`, as JSON text, for answers with several problems. */
  problemText(
    error: unknown,
    incoming: HTTPIncoming,
    spec?: OperationSpec,
    caller?: HTTPCaller,
  ): string
}

/** Headers of every answer. */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
}

/** Options of an `HTTPRefusal`. */
export interface HTTPRefusalOptions extends CallErrorOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** A `CallError` about the request itself, with its own status. */
export class HTTPRefusal extends CallError {
  readonly status: number
  /** Headers of the answer; lower-case names. */
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: string, message: string, options: HTTPRefusalOptions = {}) {
    super(code, message, { mayHaveExecuted: false, ...options })
    this.status = status
    this.headers = options.headers ?? {}
  }
}

/** Options of REST paths. */
export interface RestOptions {
  readonly path: string
}

/** Options with defaults filled in. */
export interface ResolvedHTTPOptions {
  readonly title: string
  readonly version: string
  readonly description: string | undefined
  /** `""`, or a path with a leading slash and no trailing one. */
  readonly basePath: string
  readonly gateway: boolean
  /** `undefined` when REST is off. Without the base path. */
  readonly rest: RestOptions | undefined
  readonly isExposed: (spec: OperationSpec) => boolean
  /** Operations other than internal ones may be hidden. */
  readonly isFiltered?: boolean | undefined
  readonly auth: AuthOptions | undefined
  readonly authenticate: Authenticate | undefined
  readonly allowedHosts: readonly string[] | undefined
  readonly allowedOrigins: readonly string[] | undefined
  readonly cors: CorsOptions | undefined
  readonly maxBodyBytes: number
  readonly maxUploadBytes: number
  readonly maxBatch: number
  readonly maxDepth: number
  readonly rateLimit: RateLimitOptions | undefined
  readonly maxConcurrency: number
  readonly sse: ResolvedSSEOptions
  readonly timeout: number | undefined
  readonly reporting: ErrorReporting
}

/** Options of server-sent events with defaults filled in. */
export interface ResolvedSSEOptions {
  readonly heartbeatMs: number
  /** Per identity. */
  readonly maxStreams: number
  readonly maxBufferBytes: number
}
