import { ProblemError } from "./model.ts"
import type { CallOptions, CallOutcome, HTTPProblem, ResponseEnvelope } from "./model.ts"
import { localProblem, readProblem, unreachable } from "./problems.ts"
import { parseJson, printJson } from "../ui/json-text.ts"
import type { Requests } from "./requests.ts"

/** How much longer the page waits than the hub, so that the hub's own error arrives first. */
const EXTRA_TIMEOUT_MS = 3000

/**
 * Calls an operation. Never rejects: every end is an outcome, including cancellation.
 *
 * Bytes in a result stay base64; `binary` of the envelope says where they are.
 */
export async function callOperation(
  requests: Requests,
  id: string,
  input: unknown,
  options: CallOptions,
): Promise<CallOutcome> {
  const { signal, timeoutMs } = options
  const started = performance.now()
  const late =
    timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs + EXTRA_TIMEOUT_MS)
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

/** An envelope from JSON, in which large integers keep their digits. That of a void result has no `data`. */
export function readEnvelope(text: string): ResponseEnvelope {
  const value = parseJson(text)
  if (typeof value === "object" && value !== null && "meta" in value) {
    return value as ResponseEnvelope
  }
  throw new SyntaxError("not an envelope")
}

/** The problem of a call that was cancelled here. */
export function cancelled(id: string): HTTPProblem {
  const about = { operationId: id, mayHaveExecuted: true }
  return localProblem("ABORTED", "Cancelled", `The call of "${id}" was cancelled here.`, about)
}

/** No input means no body: the hub knows which operations accept that. */
function bodyOf(input: unknown): string | null {
  return printJson(input) ?? null
}

function problemOf(
  error: unknown,
  id: string,
  signal: AbortSignal,
  late: AbortSignal | undefined,
): HTTPProblem {
  const about = { operationId: id, mayHaveExecuted: true }
  if (signal.aborted) return cancelled(id)
  if (late?.aborted === true) {
    const detail = `No answer from the hub to "${id}" in time; the connection may be broken.`
    return localProblem("TIMEOUT", "No answer in time", detail, about)
  }
  if (error instanceof ProblemError) return { ...error.problem, operationId: id }
  if (error instanceof SyntaxError) {
    const detail = `The answer to "${id}" is not an envelope. Something between this page and the hub may have changed it.`
    return localProblem("DATA_LOSS", "Unexpected answer", detail, about)
  }
  // The connection broke during the response.
  return { ...unreachable(true), operationId: id }
}
