// What the parts of the HTTP API have in common: the options, the context they work in, and routes.

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

/** A request on its way to its route. */
export interface RouteRequest {
  readonly incoming: HTTPIncoming
  readonly caller: HTTPCaller
  /** What stands in the path for each `{name}` of the route, decoded, in order. */
  readonly params: readonly string[]
}

/** One method of one path. */
export interface Route {
  /** `HEAD` is answered by the route for `GET`. */
  readonly method: "GET" | "POST"
  /** After the base path: `/operations/{id}`. A `{name}` stands for one whole segment, never empty. */
  readonly path: string
  /** May throw or reject: that becomes a problem. */
  handle(request: RouteRequest): HTTPAnswer | Promise<HTTPAnswer>
}

export type Routes = readonly Route[]

/** What routes work with. */
export interface HTTPContext {
  readonly registry: AnyRegistry
  readonly options: ResolvedHTTPOptions
  readonly clock: Clock
  readonly logger: Logger
  /** True from the moment that `close` was called. */
  readonly isDraining: boolean
  /** The spec of an operation that is external and exposed, whoever asks. */
  find(id: string): OperationSpec | undefined
  /** Whether a caller may be told of an operation that was found. */
  maySee(spec: OperationSpec, caller: HTTPCaller): boolean
  /** The error for an id that does not exist for a caller: hidden and unknown ones are the same. */
  missing(id: string, caller: HTTPCaller): CallError
  /**
   * Runs a query or mutation, with what the headers say: `request-id`, `x-timeout-ms`, `traceparent`.
   * Ends it when the client leaves. Hidden and unknown ids reject alike; always with a `CallError`.
   */
  execute(
    id: string,
    input: unknown,
    incoming: HTTPIncoming,
    caller: HTTPCaller,
  ): Promise<ResponseEnvelope>
  /**
   * Opens a subscription as server-sent events. `render` gives the JSON of one item.
   * Rejects with a `CallError` when the stream fails at once: before anything was sent.
   */
  stream(
    id: string,
    input: unknown,
    incoming: HTTPIncoming,
    caller: HTTPCaller,
    render: (envelope: ResponseEnvelope) => string,
  ): Promise<HTTPAnswer>
  /**
   * The body as JSON; `undefined` when it is empty. Rejects with an `HTTPRefusal`: 413 when it is too
   * long, 400 when it is no JSON or nested too deep. The guard has looked at its type.
   */
  readJSON(incoming: HTTPIncoming): Promise<unknown>
  /** The second half of `readJSON`, for those who read every request: what `readBody` gave, as JSON. */
  parseBody(text: string | undefined): unknown
  /** Text from elsewhere, such as a query parameter, by the same rules. Throws an `HTTPRefusal`. */
  parseJSON(text: string): unknown
  /** A 200 with JSON text, with the headers that all answers have. */
  json(text: string, headers?: Readonly<Record<string, string>>): HTTPAnswer
  /** A 204. */
  empty(): HTTPAnswer
  /**
   * The problem for whatever was thrown, after it was reported where it has to be: `spec` of the operation, for the
   * statuses of declared errors, and who called, for the log.
   */
  problem(
    error: unknown,
    incoming: HTTPIncoming,
    spec?: OperationSpec,
    caller?: HTTPCaller,
  ): HTTPAnswer
  /** The same as JSON, for answers with several. */
  problemText(
    error: unknown,
    incoming: HTTPIncoming,
    spec?: OperationSpec,
    caller?: HTTPCaller,
  ): string
}

/** Headers that every answer has. */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
}

/** What `HTTPRefusal` needs beside its words. */
export interface HTTPRefusalOptions extends CallErrorOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** A `CallError` about the request itself, with a status of its own. */
export class HTTPRefusal extends CallError {
  readonly status: number
  /** For the answer; names in small letters. */
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, code: string, message: string, options: HTTPRefusalOptions = {}) {
    super(code, message, { mayHaveExecuted: false, ...options })
    this.status = status
    this.headers = options.headers ?? {}
  }
}

/** Where REST paths are. */
export interface RestOptions {
  readonly path: string
}

/** Options with everything filled in. */
export interface ResolvedHTTPOptions {
  readonly title: string
  readonly version: string
  readonly description: string | undefined
  /** `""`, or a path with a slash in front and none at its end. */
  readonly basePath: string
  readonly gateway: boolean
  /** `undefined` when there is no REST. Without the base path. */
  readonly rest: RestOptions | undefined
  readonly isExposed: (spec: OperationSpec) => boolean
  /** Some operations may be hidden that are not internal. */
  readonly isFiltered?: boolean | undefined
  readonly auth: AuthOptions | undefined
  readonly authenticate: Authenticate | undefined
  readonly allowedHosts: readonly string[] | undefined
  readonly allowedOrigins: readonly string[] | undefined
  readonly cors: CorsOptions | undefined
  readonly maxBodyBytes: number
  readonly maxBatch: number
  readonly maxDepth: number
  readonly rateLimit: RateLimitOptions | undefined
  readonly maxConcurrency: number
  readonly sse: ResolvedSSEOptions
  readonly timeout: number | undefined
  readonly reporting: ErrorReporting
}

/** Streams of server-sent events. */
export interface ResolvedSSEOptions {
  readonly heartbeatMs: number
  /** Per identity. */
  readonly maxStreams: number
  readonly maxBufferBytes: number
}
