// Shared by the parts of the HTTP API: options, context and routes.

import type { ErrorReporting } from "../../engine/failures.ts"
import { CallError, type CallErrorOptions } from "../../core/errors.ts"
import { mayChange } from "../../core/rest-route.ts"
import type { OperationSpec, RestRoute } from "../../core/types.ts"
import type { Authenticate } from "../authenticate.ts"
import type { AuthOptions } from "./auth/options.ts"
import type { HTTPAnswer, HTTPIncoming, HTTPCaller } from "../exchange.ts"
import type { ProvideHTTPContext } from "./request-view.ts"

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
  readonly method: RestRoute["method"]
  /** Path after the base path: `/operations/{id}`. A `{name}` matches one whole segment, never empty. */
  readonly path: string
  /** Bodies may be something else than JSON; the handler checks their type. */
  readonly takesFiles?: boolean | undefined
  /** Handles a request. An error becomes a problem response. */
  handle(request: RouteRequest): HTTPAnswer | Promise<HTTPAnswer>
}

export type Routes = readonly Route[]

/** A `CallError` about the request itself, with its own status. */
export class HTTPRefusal extends CallError {
  readonly status: number
  /** Headers of the answer; lower-case names. */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    message: string,
    options: CallErrorOptions & Partial<Pick<HTTPRefusal, "headers">> = {},
  ) {
    super(code, message, { mayHaveExecuted: false, ...options })
    this.status = status
    this.headers = options.headers ?? {}
  }
}

/** Refuses to run an operation by GET if it may change something, as a link, a crawler or a prefetch must not. */
export function refuseGet(id: string, spec: OperationSpec): void {
  if (!mayChange(spec)) return
  const what = spec.type === "mutation" ? "mutation" : "subscription that may change something"
  throw new HTTPRefusal(
    405,
    "INVALID_OPERATION_TYPE",
    `"${id}" is a ${what}: POST its input as JSON.`,
    { operationId: id, headers: { allow: "POST" } },
  )
}

/** The refusal of a request that is malformed. */
export function badRequest(message: string): HTTPRefusal {
  return new HTTPRefusal(400, "VALIDATION_ERROR", message)
}

/** The refusal of a body that is too long. */
export function tooLong(max: number): HTTPRefusal {
  return new HTTPRefusal(
    413,
    "PAYLOAD_TOO_LARGE",
    `The body is longer than the ${max} bytes that are taken.`,
    // The rest of the body is not read.
    { headers: { connection: "close" } },
  )
}

/** Options of REST paths. */
export interface RestOptions {
  readonly path: string
}

/** Options with defaults filled in. */
export interface ResolvedHTTPOptions extends ErrorReporting {
  readonly title: string
  readonly version: string
  readonly description?: string | undefined
  /** `""`, or a path with a leading slash and no trailing one. */
  readonly basePath: string
  readonly gateway: boolean
  /** `undefined` when REST is off. Without the base path. */
  readonly rest: RestOptions | undefined
  readonly isExposed: (spec: OperationSpec) => boolean
  /** Operations other than internal ones may be hidden. */
  readonly isFiltered?: boolean | undefined
  readonly auth?: AuthOptions | undefined
  readonly authenticate?: Authenticate | undefined
  readonly authenticateTimeout?: number | undefined
  readonly context?: ProvideHTTPContext | undefined
  readonly maxBodyBytes: number
  readonly maxUploadBytes: number
  readonly maxBatch: number
  readonly maxDepth: number
  readonly sse: ResolvedSSEOptions
  readonly timeout?: number | undefined
}

/** Options of server-sent events with defaults filled in. */
export interface ResolvedSSEOptions {
  readonly heartbeatMs: number
  readonly maxBufferBytes: number
}
