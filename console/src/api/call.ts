import { ProblemError } from "./model.ts"
import type { CallOutcome, HTTPProblem, ResponseEnvelope } from "./model.ts"
import { ownProblem, readProblem, unreachable } from "./problems.ts"
import type { Requests } from "./requests.ts"

/** How much longer than the hub the page waits: the hub's own words come first. */
const PATIENCE_MS = 3000

/**
 * Calls an operation. Never rejects: whatever happens is an outcome, cancelling included.
 *
 * Bytes in a result stay base64; `binary` of the envelope says where they are.
 */
export async function callOperation(
  requests: Requests,
  id: string,
  input: unknown,
  options: { readonly signal: AbortSignal; readonly timeoutMs?: number | undefined },
): Promise<CallOutcome> {
  const { signal, timeoutMs } = options
  const started = performance.now()
  const late = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs + PATIENCE_MS)
  const spent = (): number => performance.now() - started
  try {
    signal.throwIfAborted()
    const response = await requests.send(`operations/${encodeURIComponent(id)}`, {
      method: "POST",
      body: bodyOf(input),
      headers: {
        accept: "application/json",
        "content-type": "application/json",
        ...(timeoutMs !== undefined && { "x-timeout-ms": String(Math.ceil(timeoutMs)) }),
      },
      signal: late === undefined ? signal : AbortSignal.any([signal, late]),
    })
    const { status } = response
    const headers = Object.fromEntries(response.headers)
    if (!response.ok) {
      const problem = await readProblem(response)
      return { ok: false, problem, status, headers, durationMs: spent() }
    }
    const envelope = readEnvelope(await response.text())
    return { ok: true, envelope, status, headers, durationMs: spent() }
  } catch (error) {
    const problem = problemOf(error, id, signal, late)
    return { ok: false, problem, status: problem.status, headers: {}, durationMs: spent() }
  }
}

/** An envelope of the wire. What a call without a result gave has no `data` there. */
export function readEnvelope(text: string): ResponseEnvelope {
  const value: unknown = JSON.parse(text)
  if (typeof value === "object" && value !== null && "meta" in value) {
    return value as ResponseEnvelope
  }
  throw new SyntaxError("not an envelope")
}

/** No input at all is no body: the hub knows which operations take that. */
function bodyOf(input: unknown): string | null {
  return input === undefined ? null : JSON.stringify(input)
}

function problemOf(
  error: unknown,
  id: string,
  signal: AbortSignal,
  late: AbortSignal | undefined,
): HTTPProblem {
  const about = { operationId: id, mayHaveExecuted: true }
  if (signal.aborted) {
    return ownProblem("ABORTED", "Cancelled", `The call of "${id}" was cancelled here.`, about)
  }
  if (late?.aborted === true) {
    const detail = `No answer from the hub to "${id}" in time; the connection may be broken.`
    return ownProblem("TIMEOUT", "No answer in time", detail, about)
  }
  if (error instanceof ProblemError) return { ...error.problem, operationId: id }
  if (error instanceof SyntaxError) {
    const detail = `The answer to "${id}" is no envelope. Something between this page and the hub may have changed it.`
    return ownProblem("DATA_LOSS", "Unexpected answer", detail, about)
  }
  // The connection broke within the answer.
  return { ...unreachable(true), operationId: id }
}
