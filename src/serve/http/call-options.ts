import { isIdempotencyKey } from "../../core/call-policy.ts"
import { readOuterText } from "../../core/outer-call.ts"
import type { CallPolicy, OperationSpec } from "../../core/types.ts"
import { perObject } from "../../internal/per-object.ts"
import { compileSchema } from "../../schema/compiled.ts"
import { viewOf } from "../../schema/read/view.ts"
import type { HTTPIncoming } from "../exchange.ts"
import { badRequest, HTTPRefusal } from "./context.ts"
import { accepts, EVENTS } from "../negotiate.ts"
import { shorter, type RequestTerms } from "./call-sink.ts"

/** Call options from the headers of a request; `longest` is the maximum timeout. */
export function termsOf(
  incoming: Pick<HTTPIncoming, "header">,
  longest: number | undefined,
): RequestTerms {
  const timeout = incoming.header("x-timeout-ms")
  const traceparent = incoming.header("traceparent")
  return {
    timeout: shorter(timeout === undefined ? undefined : milliseconds(timeout), longest),
    metadata: traceparent === undefined ? undefined : { traceparent },
    policy: policyOf(incoming.header("cache-control")),
    idempotencyKey: keyOf(incoming.header("idempotency-key")),
    outer: readOuterText(incoming.header("x-outer-call")),
  }
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
 * valid.
 */
export function inputOrEmpty(input: unknown, spec: OperationSpec): unknown {
  return input === undefined && takesEmpty(spec) ? {} : input
}

const takesEmpty = perObject(({ inputSchema }: OperationSpec): boolean => {
  const compiled = compileSchema(inputSchema)
  const { types } = viewOf(compiled.schema)
  if (types.size !== 1 || !types.has("object") || compiled.check(undefined)) return false
  // A property with a default may be left out even if it is required.
  return compiled.check({}) || compiled.check(compiled.normalizer("defaults").normalize({}).value)
})
