import { CallError, isCallError } from "../core/errors.ts"
import { reasonOf } from "../internal/message-text.ts"
import { classifyFailure } from "./connection-failure.ts"
import { isRepeatable } from "./request.ts"
import { maskValue } from "./secrets.ts"

/** The request that an error is about. */
export interface RequestContext {
  readonly signal: AbortSignal
  /** The request may change something on the other side. */
  readonly mayHaveEffect: boolean
  readonly operationId?: string | undefined
  readonly origin?: string | undefined
  readonly method?: string | undefined
  /** Never part of a message. */
  readonly secrets?: readonly string[] | undefined
  /** How messages begin; `The request of "…"` when left out. */
  readonly subject?: string | undefined
}

/** Converts an exception of `fetch`, or of reading the body, to a `CallError`. */
export function networkFailure(thrown: unknown, context: RequestContext): CallError {
  if (context.signal.aborted) return abortError(context)
  if (isCallError(thrown)) return thrown
  const { operationId, origin, method, mayHaveEffect, secrets = [] } = context
  const failure = classifyFailure(thrown)
  const target = origin === undefined ? "" : ` to ${origin}`
  const why = maskValue(failure.why.replaceAll(/\bhttps?:\/\/[^\s"']+/gi, origin ?? "…"), secrets)
  const wasSent = failure.phase !== "before"
  return new CallError("UNAVAILABLE", `${subjectOf(context)}${target} failed: ${why}`, {
    operationId,
    mayHaveExecuted: wasSent && mayHaveEffect,
    retryable: !failure.isPermanent && (!wasSent || isRepeatable(method, mayHaveEffect)),
    details: { reason: failure.kind, ...(failure.code !== undefined && { code: failure.code }) },
    // The platform's message for an invalid header quotes its value.
    ...(isClean(thrown, secrets) && { cause: thrown }),
  })
}

/** The error for an aborted request: the signal's reason if that is a `CallError`. */
export function abortError(context: RequestContext, wasSent = true): CallError {
  const { signal, operationId, method, mayHaveEffect } = context
  const cause: unknown = signal.reason
  if (isCallError(cause)) return cause
  const isTimeout =
    (cause as { readonly name?: unknown } | null | undefined)?.name === "TimeoutError"
  const from = context.origin === undefined ? "" : ` from ${context.origin}`
  return new CallError(
    isTimeout ? "TIMEOUT" : "ABORTED",
    isTimeout
      ? `${subjectOf(context)} got no complete answer${from} in time.`
      : `${subjectOf(context)} was aborted.`,
    {
      operationId,
      cause,
      mayHaveExecuted: wasSent && mayHaveEffect,
      retryable: isTimeout && (!wasSent || isRepeatable(method, mayHaveEffect)),
    },
  )
}

/** The subject of an error message. */
export function subjectOf(context: Pick<RequestContext, "subject" | "operationId">): string {
  const { subject, operationId } = context
  return subject ?? (operationId === undefined ? "The request" : `The request of "${operationId}"`)
}

function isClean(thrown: unknown, secrets: readonly string[]): boolean {
  let text = ""
  for (let at: unknown = thrown, hops = 0; at instanceof Error && hops < 5; at = at.cause, hops++) {
    text += `${reasonOf(at)}\n`
  }
  return maskValue(text, secrets) === text
}
