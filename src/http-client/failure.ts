import { CallError, isCallError } from "../core/errors.ts"
import { reasonOf } from "../internal/describe.ts"
import { faultOf } from "./fault.ts"
import { isRepeatable } from "./repeat.ts"
import { maskValue } from "./secrets.ts"

/** Which request an error is about. */
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

/** The error for an exchange that broke off: what `fetch` or a read of the body threw. */
export function networkFailure(thrown: unknown, context: RequestContext): CallError {
  if (context.signal.aborted) return abortion(context)
  if (isCallError(thrown)) return thrown
  const { operationId, origin, method, mayHaveEffect, secrets = [] } = context
  const fault = faultOf(thrown)
  const reached = origin === undefined ? "" : ` to ${origin}`
  const why = maskValue(fault.why.replaceAll(/\bhttps?:\/\/[^\s"']+/gi, origin ?? "…"), secrets)
  const wasSent = fault.phase !== "before"
  return new CallError("UNAVAILABLE", `${subjectOf(context)}${reached} failed: ${why}`, {
    operationId,
    mayHaveExecuted: wasSent && mayHaveEffect,
    retryable: !fault.isLasting && (!wasSent || isRepeatable(method, mayHaveEffect)),
    details: { reason: fault.kind, ...(fault.code !== undefined && { code: fault.code }) },
    // What a platform says of a bad header quotes it.
    ...(isClean(thrown, secrets) && { cause: thrown }),
  })
}

/** The error for a request whose signal fired: its reason if that is an error of ours. */
export function abortion(context: RequestContext, wasSent = true): CallError {
  const { signal, operationId, method, mayHaveEffect } = context
  const cause: unknown = signal.reason
  if (isCallError(cause)) return cause
  const isTimeout = nameOf(cause) === "TimeoutError"
  const from = context.origin === undefined ? "" : ` from ${context.origin}`
  return new CallError(
    isTimeout ? "TIMEOUT" : "ABORTED",
    isTimeout
      ? `${subjectOf(context)} got no complete answer${from} in the time it had.`
      : `${subjectOf(context)} was aborted.`,
    {
      operationId,
      cause,
      mayHaveExecuted: wasSent && mayHaveEffect,
      retryable: isTimeout && (!wasSent || isRepeatable(method, mayHaveEffect)),
    },
  )
}

/** Who failed, as a message begins. */
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

function nameOf(value: unknown): unknown {
  return typeof value === "object" && value !== null
    ? (value as { name?: unknown }).name
    : undefined
}
