import { CallSink } from "../../engine/sink.ts"
import { isCallError, type CallError } from "../../core/errors.ts"
import { defer } from "../../internal/defer.ts"
import { mapError } from "../../core/map-error.ts"
import type { AnsweredOverHTTP, ResponseHost } from "../../core/http-response.ts"
import type { Logger } from "../../internal/logger.ts"
import { closing } from "../../protocol/refusals.ts"
import { executeInto, type ServedRegistry } from "../../engine/served-registry.ts"
import type { ResponseEnvelope } from "../../core/envelope.ts"
import { isIdempotencyKey } from "../../core/call-policy.ts"
import { readTrace, type CallEntry, type FromEntry } from "../../core/tracing.ts"
import { readOuterText, type NestedInOuter, type OuterCall } from "../../core/outer-call.ts"
import type { CallOptions, CallPolicy, Identity, OperationSpec } from "../../core/types.ts"
import { perObject } from "../../internal/per-object.ts"
import { compileSchema } from "../../schema/compiled.ts"
import type { HTTPIncoming } from "../exchange.ts"
import { accepts, EVENTS } from "../negotiate.ts"
import { badRequest, HTTPRefusal } from "./context.ts"
import { responseHostOf, type RespondingRequest } from "./response.ts"

/** Call options from the headers of a request. */
export interface RequestTerms
  extends
    Pick<CallOptions, "timeout" | "metadata" | "policy" | "idempotencyKey" | "dryRun">,
    NestedInOuter {}

/** What a call of a batch sets for itself; its timeout counts if it is shorter than that of the request. */
export interface ItemTerms
  extends RequestTerms, Pick<CallOptions, "parentRequestId" | "progress"> {}

type CallOrigin = Pick<HTTPIncoming, "method" | "header" | "requestId" | "onGone"> &
  RespondingRequest

/** The calls of a server. */
export interface CallsHost {
  readonly running: Set<HTTPCall>
  readonly logger: Logger
}

/**
 * The call of an HTTP request: its options, its abort signal and its promise in one object.
 *
 * It is in `running` if it takes longer than a turn, and is cancelled when its client disconnects.
 */
export class HTTPCall
  extends CallSink
  implements CallOptions, NestedInOuter, AnsweredOverHTTP, FromEntry
{
  // The headers have been validated, and the id is created on first use.
  override readonly isValidated: boolean = true
  readonly via = "http"
  readonly identity: Identity | undefined
  readonly timeout: number | undefined
  readonly metadata: Readonly<Record<string, unknown>> | undefined
  readonly policy: CallPolicy | undefined
  readonly idempotencyKey: string | undefined
  readonly dryRun: boolean
  readonly outer: OuterCall | undefined
  readonly parentRequestId: string | undefined
  readonly progress: ItemTerms["progress"] | undefined
  readonly #operationId: string
  readonly #incoming: CallOrigin
  readonly #host: CallsHost
  #isOver = false
  #stopListening: (() => void) | undefined
  #resolve: ((envelope: ResponseEnvelope) => void) | undefined
  #reject: ((error: CallError) => void) | undefined

  constructor(
    operationId: string,
    incoming: CallOrigin,
    identity: Identity | undefined,
    terms: RequestTerms,
    host: CallsHost,
    own?: ItemTerms,
  ) {
    super()
    this.#operationId = operationId
    this.#incoming = incoming
    this.#host = host
    this.identity = identity
    this.timeout = shorter(own?.timeout, terms.timeout)
    // A call of a batch may belong to another trace than the request.
    this.metadata = own?.metadata ? { ...terms.metadata, ...own.metadata } : terms.metadata
    this.policy = own?.policy ?? terms.policy
    this.idempotencyKey = own?.idempotencyKey ?? terms.idempotencyKey
    this.dryRun = own?.dryRun === true || terms.dryRun === true
    this.outer = own?.outer ?? terms.outer
    this.parentRequestId = own?.parentRequestId
    this.progress = own?.progress
  }

  get requestId(): string {
    return this.#incoming.requestId
  }

  get entry(): CallEntry {
    return httpEntry(this.#incoming)
  }

  get answering(): ResponseHost {
    return responseHostOf(this.#incoming, this.#operationId, this.#host.logger)
  }

  run(registry: ServedRegistry, input: unknown): Promise<ResponseEnvelope> {
    watchSoon(this)
    const outcome = new Promise<ResponseEnvelope>((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    executeInto(registry, this.#operationId, input, this)
    return outcome
  }

  /** Ends the call because its server is closed. */
  end(): void {
    this.fail(closing(this.#operationId, true))
    this.cancel("The server was closed.")
  }

  /** Adds the call to `running`, and cancels it when its client disconnects. */
  watch(): void {
    if (this.#isOver) return
    this.#host.running.add(this)
    this.#stopListening = this.#incoming.onGone(() => this.cancel("The client left."))
  }

  succeed(envelope: ResponseEnvelope): void {
    this.#over()
    this.#resolve?.(envelope)
  }

  fail(thrown: unknown): void {
    this.#over()
    if (isCallError(thrown)) this.#reject?.(thrown)
    else {
      const { requestId } = this
      const operationId = this.#operationId
      this.#reject?.(mapError(thrown, undefined, { operationId, requestId }))
    }
  }

  #over(): void {
    this.#isOver = true
    if (this.#stopListening === undefined) return
    this.#stopListening()
    this.#host.running.delete(this)
  }
}

/** What tracers receive about a request. */
export function httpEntry(incoming: Pick<HTTPIncoming, "method" | "header">): CallEntry {
  return {
    isPublic: true,
    program: incoming.header(CLIENT_HEADER) === "console" ? "console" : undefined,
    attributes: { "http.request.method": incoming.method },
  }
}

/** Says that the console sends a request. */
const CLIENT_HEADER = "x-operations-client"

/** The shorter of two timeouts, if there are any. */
function shorter(asked: number | undefined, longest: number | undefined): number | undefined {
  return asked === undefined || longest === undefined
    ? (asked ?? longest)
    : Math.min(asked, longest)
}

let unwatched: HTTPCall[] = []

/**
 * Watches a call's client after the current turn: most calls have finished by then, and no client can
 * disconnect unnoticed before.
 */
function watchSoon(call: HTTPCall): void {
  if (unwatched.push(call) === 1) defer(watchAll)
}

/** Watches the clients of all new calls now. */
export function watchAll(): void {
  const calls = unwatched
  unwatched = []
  for (const call of calls) call.watch()
}

/** Call options from the headers of a request; `longest` is the maximum timeout. */
export function termsOf(
  incoming: Pick<HTTPIncoming, "header">,
  longest: number | undefined,
): RequestTerms {
  const timeout = incoming.header("x-timeout-ms")
  return {
    timeout: shorter(timeout === undefined ? undefined : milliseconds(timeout), longest),
    metadata: readTrace((name) => incoming.header(name)) as RequestTerms["metadata"],
    policy: policyOf(incoming.header("cache-control")),
    idempotencyKey: keyOf(incoming.header("idempotency-key")),
    dryRun: asksForDryRun(incoming),
    outer: readOuterText(incoming.header("x-outer-call")),
  }
}

/** Whether a request asks what its call would do. Any value but a plain no counts: nothing may run by mistake. */
export function asksForDryRun(incoming: Pick<HTTPIncoming, "header">): boolean {
  const value = incoming.header("x-dry-run")
  return value !== undefined && !/^(?:0|false)?$/i.test(value.trim())
}

/** The cache directives of a request, which apply to our caches, too. */
function policyOf(cacheControl: string | undefined): CallPolicy | undefined {
  if (cacheControl === undefined) return undefined
  if (/\bno-store\b/i.test(cacheControl)) return SKIP
  return /\bno-cache\b/i.test(cacheControl) ? REFRESH : undefined
}

const SKIP: CallPolicy = { cache: "skip" }
const REFRESH: CallPolicy = { cache: "refresh" }

/** The key of a header, which may be quoted. */
function keyOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header
  if (isIdempotencyKey(key)) return key
  throw badRequest("The header idempotency-key must have 1 to 255 characters.")
}

/** Options of a stream, which has no timeout and may resume after an event. */
export function streamTermsOf(incoming: HTTPIncoming): RequestTerms {
  const terms = termsOf(incoming, undefined)
  const lastEventId = incoming.header("last-event-id")
  if (lastEventId === undefined || lastEventId.length > 256) return terms
  const only = incoming.header("x-resume") === "only" && { resume: "only" }
  return { ...terms, metadata: { ...terms.metadata, lastEventId, ...only } }
}

/** The number of the last event that a client has seen; 0 for none. */
export function lastNumberOf(incoming: HTTPIncoming): number {
  const text = incoming.header("last-event-id") ?? ""
  return /^\d{1,15}$/.test(text) ? Number(text) : 0
}

/** Throws when the client of a subscription does not accept server-sent events. */
export function checkAcceptsEvents(accept: string | undefined, id: string): void {
  if (accepts(accept, EVENTS)) return
  throw new HTTPRefusal(
    406,
    "INVALID_OPERATION_TYPE",
    `"${id}" is a subscription. Send "Accept: text/event-stream" to read it as server-sent events.`,
    { operationId: id, details: { operationId: id, type: "subscription" } },
  )
}

function milliseconds(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text)
  throw badRequest("The header x-timeout-ms must be a whole number of milliseconds, such as 5000.")
}

/**
 * Returns the input; a missing one becomes the empty object if the operation takes only objects and `{}` is
 * valid. A promise, if the schema has no single type: what reads such a schema is loaded with the first of them.
 */
export function inputOrEmpty(input: unknown, spec: OperationSpec): unknown {
  if (input !== undefined) return input
  const isEmpty = takesEmpty(spec)
  const choose = (chosen: boolean): object | undefined => (chosen ? {} : undefined)
  return isEmpty instanceof Promise ? isEmpty.then(choose) : choose(isEmpty)
}

const takesEmpty = perObject(({ inputSchema }: OperationSpec): boolean | Promise<boolean> => {
  const compiled = compileSchema(inputSchema)
  const { type } = compiled.schema
  if (typeof type === "string" && type !== "object") return false
  if (compiled.isOpen || compiled.check(undefined)) return false
  // A property with a default may be left out even if it is required.
  const isEmptyValid = (): boolean =>
    compiled.check({}) || compiled.check(compiled.normalizer("defaults").normalize({}).value)
  if (type === "object") return isEmptyValid()
  return import("../../schema/read/view.ts").then(({ viewOf }) => {
    const { types } = viewOf(compiled.schema)
    return types.size === 1 && types.has("object") && isEmptyValid()
  })
})
