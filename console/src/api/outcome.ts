import { isRecord } from "../../../src/internal/guards.ts"
import { perObject } from "../../../src/internal/per-object.ts"
import { weigh } from "../../../src/internal/weigh.ts"
import type { Tone } from "../ui/tone.ts"
import type { CallOutcome, HTTPProblem } from "./model.ts"

/** How a call ended, in a word. */
export interface Ending {
  readonly text: string
  readonly tone: Tone
  /** The code of a failure. */
  readonly code?: string | undefined
}

/** The end of a call: its status, or that of the API that it called. */
export function endingOf(outcome: CallOutcome): Ending {
  if (outcome.ok) {
    return isToolError(outcome)
      ? { text: "tool error", tone: "bad", code: "EXECUTION_ERROR" }
      : { text: String(outcome.status), tone: "good" }
  }
  const { problem, status } = outcome
  const { code } = problem
  if (code === "ABORTED") return { text: "cancelled", tone: "warn", code }
  const shown = upstreamStatus(problem) ?? status
  return { text: shown === 0 ? "no response" : String(shown), tone: "bad", code: codeOf(problem) }
}

/** What a call came to: its data, or its problem. */
export function resultOf(outcome: CallOutcome): unknown {
  return outcome.ok ? outcome.envelope.data : outcome.problem
}

const LARGE = 1_000_000

/** Whether a result has more than a million characters. Looked at once: of many names, a look takes long. */
export const isLarge: (result: object) => boolean = perObject(
  (result) => weigh(result, LARGE) === LARGE,
)

/** Whether an MCP tool reports a failure as its result. */
function isToolError(outcome: CallOutcome): boolean {
  return outcome.ok && outcome.envelope.meta.source === "mcp" && outcome.envelope.meta.isError
}

/** The status with which an API answered, for an operation that is a request to it. */
export function upstreamStatus({ code, details }: HTTPProblem): number | undefined {
  const { statusCode } = isRecord(details) ? details : {}
  return code === "EXECUTION_ERROR" && typeof statusCode === "number" ? statusCode : undefined
}

/** The code that the operation declares for a problem, else that of the hub. */
export function codeOf({ code, details }: HTTPProblem): string {
  const { declared } = isRecord(details) ? details : {}
  return typeof declared === "string" ? declared : code
}
