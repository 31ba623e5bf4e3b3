// What only calls that were refused or have failed need: pages load it with the first of them.

import { refusal, type CallError } from "../../core/errors.ts"
import { problemError } from "../../core/problem.ts"

/** An answer that is no success, with its text as far as it was read. */
interface Failure {
  readonly status: number
  readonly text: string
  readonly retryAfterMs: number | undefined
}

/** The error of such an answer. */
export function problemOf(where: string, { status, text, retryAfterMs }: Failure): CallError {
  try {
    const problem = problemError(JSON.parse(text))
    if (problem !== undefined) return problem
  } catch {
    // Not from a served registry: the status says what is known.
  }
  if (status === 0 || (status >= 300 && status < 400)) {
    const message = `${where} redirects. Redirects are not followed: use the final address.`
    return refusal("UNAVAILABLE", message, { retryable: false })
  }
  if (status === 404) {
    const message = `${where} was answered with 404, and not by a served registry. Check the URL.`
    return refusal("OPERATION_NOT_FOUND", message)
  }
  const isBusy = status === 429 || status === 503
  return refusal(CODES[status] ?? "EXECUTION_ERROR", `${where} was answered with ${status}.`, {
    details: { statusCode: status, body: text.slice(0, 1000) },
    retryable: isBusy,
    mayHaveExecuted: status >= 500 && !isBusy,
    retryAfterMs,
  })
}

/** The code for a status that a proxy answered with. */
const CODES: Readonly<Record<number, string>> = {
  401: "UNAUTHENTICATED",
  403: "ACCESS_DENIED",
  413: "PAYLOAD_TOO_LARGE",
  429: "RATE_LIMITED",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "UNAVAILABLE",
}
