import { ProblemError } from "./model.ts"
import type { HTTPProblem } from "./model.ts"

/** Makes a problem out of what is known here, for answers that are none of the hub's. */
export function ownProblem(
  code: string,
  title: string,
  detail: string,
  more: Partial<HTTPProblem> = {},
): HTTPProblem {
  return {
    type: "about:blank",
    title,
    status: 0,
    detail,
    code,
    retryable: false,
    mayHaveExecuted: false,
    ...more,
  }
}

/** The problem that an answer holds. A proxy in between may answer with anything. */
export async function readProblem(response: Response): Promise<HTTPProblem> {
  const { status, statusText } = response
  try {
    const value: unknown = JSON.parse(await response.text())
    if (isProblem(value)) return value
  } catch {
    // Told below: a page, or half an answer.
  }
  const shown = `${status} ${statusText}`.trim()
  return ownProblem(
    status === 401 ? "UNAUTHENTICATED" : status === 429 ? "RATE_LIMITED" : "UNAVAILABLE",
    "Unexpected answer",
    `The hub, or something between it and this page, answered ${shown} without saying why.`,
    { status, retryable: status === 429 || status >= 500 },
  )
}

/** The hub could not be reached, or went away. */
export function unreachable(mayHaveExecuted: boolean): HTTPProblem {
  return ownProblem(
    "UNAVAILABLE",
    "The hub cannot be reached",
    "The connection to the hub failed. Look whether it runs, and whether this machine is online.",
    { retryable: !mayHaveExecuted, mayHaveExecuted },
  )
}

/** The hub answered with something that only looks like an answer. */
export function notAnAnswer(what: string): ProblemError {
  const detail = `${what} is not what a hub answers. Look whether this page and the hub are of the same version.`
  return new ProblemError(ownProblem("DATA_LOSS", "Unexpected answer", detail), 0)
}

/** Whether a value is a problem as hubs write them. */
export function isProblem(value: unknown): value is HTTPProblem {
  if (typeof value !== "object" || value === null) return false
  const { code, detail } = value as { readonly code?: unknown; readonly detail?: unknown }
  return typeof code === "string" && typeof detail === "string"
}
