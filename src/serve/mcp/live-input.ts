import { CallError } from "../../core/errors.ts"
import { capabilityRequired } from "../../mcp/errors.ts"
import type { InputRequest, InputResponse } from "../../core/types.ts"
import { lacking } from "./input-rounds.ts"
import { missingCapabilities, readAnswer, wireQuestion } from "./questions.ts"
import type { WireQuestion } from "./questions.ts"
import { ANYTHING } from "./sdk.ts"
import type { SDKContext } from "./sdk.ts"

/** The receiver of a live question. */
export interface LiveCaller {
  readonly tool: string
  readonly context: SDKContext
  readonly capabilities: Readonly<Record<string, unknown>> | undefined
  readonly timeoutMs: number
}

/** Asks over an open connection while the handler waits, for clients up to 2025-11-25. */
export function liveInput(caller: LiveCaller): (request: InputRequest) => Promise<InputResponse> {
  const { tool, context, capabilities, timeoutMs } = caller
  return async (request) => {
    const wire = wireQuestion(request)
    const missing = missingCapabilities(wire, capabilities)
    if (missing !== undefined) throw capabilityRequired(missing, lacking(tool, wire, missing))
    let value: unknown
    try {
      const { signal } = context.mcpReq
      value = await context.mcpReq.send(named(wire), ANYTHING, { timeout: timeoutMs, signal })
    } catch (error) {
      throw unanswered(caller, wire, error)
    }
    const answer = readAnswer(wire, value)
    if (answer !== undefined) return answer
    throw new CallError(
      "UNAVAILABLE",
      `The client of "${tool}" sent an invalid answer to ${wire.method}.`,
      { retryable: false, mayHaveExecuted: true, details: { reason: "INPUT_UNAVAILABLE" } },
    )
  }
}

// In that era a visit to a web page has an id, so that its completion can be announced.
function named(wire: WireQuestion): WireQuestion {
  if (wire.params?.["mode"] !== "url") return wire
  return { ...wire, params: { ...wire.params, elicitationId: crypto.randomUUID() } }
}

function unanswered(caller: LiveCaller, { method }: WireQuestion, cause: unknown): CallError {
  const { tool, context, timeoutMs } = caller
  if (context.mcpReq.signal.aborted) {
    return new CallError("ABORTED", `The call of "${tool}" ended before its caller answered.`, {
      cause,
    })
  }
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown }
  if (code === "REQUEST_TIMEOUT") {
    return new CallError(
      "TIMEOUT",
      `The client of "${tool}" did not answer ${method} within ${timeoutMs} ms. inputTimeoutMs sets the limit.`,
      { cause },
    )
  }
  return new CallError(
    "UNAVAILABLE",
    `The client of "${tool}" could not answer ${method}: ${String(message)}`,
    {
      cause,
      retryable: false,
      mayHaveExecuted: true,
      details: { reason: "INPUT_UNAVAILABLE", code },
    },
  )
}
