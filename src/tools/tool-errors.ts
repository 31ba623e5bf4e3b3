import type { FailedCall, Failures } from "../engine/failures.ts"
import type { CallError } from "../core/errors.ts"
import { HIDDEN_MESSAGE } from "../internal/error-text.ts"
import { isCapabilityRequired } from "../mcp/errors.ts"
import { cutText } from "../internal/message-text.ts"
import { mapError } from "../core/map-error.ts"
import { isRecord } from "../internal/guards.ts"
import { ProtocolError, type SurfaceResult } from "./model.ts"
import type { OperationTool } from "./tool.ts"

const MAX_DETAILS = 4096
const MAX_ISSUES = 32

/**
 * Reports a failed call, and converts it to a result that a model can read and act on.
 *
 * Throws `ProtocolError` for errors with their own code in the protocol. `pointer` is the place of the
 * operation's input in the arguments.
 */
export function failureOf(
  thrown: unknown,
  tool: OperationTool,
  pointer: string,
  call: Omit<FailedCall, "surface" | "operationId">,
  failures: Failures,
): SurfaceResult {
  const error = mapError(thrown)
  // The client's mistake, not the operation's.
  if (error.cause instanceof ProtocolError) throw error.cause
  const visible = failures.answer(error, { ...call, operationId: tool.id })
  const protocolError = protocolErrorOf(error, tool)
  if (protocolError !== undefined) throw protocolError
  return errorText(visible, pointer, tool, call.requestId)
}

/** An error as text; without anything that `CallError.toJSON` hides. */
export function errorText(
  thrown: unknown,
  pointer: string,
  tool?: OperationTool,
  callId?: string,
): SurfaceResult {
  const json = mapError(thrown).toJSON()
  const { code, message, details, retryAfterMs, retryable, mayHaveExecuted, attempts } = json
  const { requestId } = callId === undefined ? json : { requestId: callId }
  const issues = code === "VALIDATION_ERROR" ? issueLines(details, tool, pointer) : []
  // The message also lists the issues, but with paths in the operation's input.
  const lines = [
    `${code}: ${issues.length > 0 ? message.split(" is invalid: ")[0] + " is invalid:" : message}`,
  ]
  lines.push(...issues)
  // The caller can give the id to the operator: the message itself is hidden.
  if (message === HIDDEN_MESSAGE && requestId !== undefined) lines.push(`Request id: ${requestId}`)
  if (isDeclared(code, tool) && details !== undefined) lines.push(detailLine(details))
  if (retryAfterMs !== undefined) {
    lines.push(`It can be tried again in ${Math.ceil(retryAfterMs / 1000)} s.`)
  }
  return {
    content: [{ type: "text", text: lines.join("\n") }],
    isError: true,
    _meta: {
      "alkdev.operations/error": {
        code,
        retryable,
        mayHaveExecuted,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
        ...(attempts !== undefined && { attempts }),
        ...(requestId !== undefined && { requestId }),
      },
    },
  }
}

function protocolErrorOf(error: CallError, tool: OperationTool): ProtocolError | undefined {
  const { details, message } = error.toJSON()
  if (isCapabilityRequired(error)) {
    const { requiredCapabilities = {}, message: theirs } = isRecord(details) ? details : {}
    // For an imported tool: its server's message, without advice for the operator of this one.
    const words = tool.origin !== undefined && typeof theirs === "string" ? theirs : message
    return new ProtocolError(-32021, words, { requiredCapabilities }, 400)
  }
  // Errors of the server of an imported tool are passed on unchanged.
  if (tool.origin === undefined || !isRecord(details)) return undefined
  const { code, message: theirs, data } = details
  if (typeof code !== "number" || !Number.isInteger(code)) return undefined
  return new ProtocolError(code, typeof theirs === "string" ? theirs : message, data)
}

/** One line per issue, with the path in the caller's arguments. */
function issueLines(details: unknown, tool: OperationTool | undefined, pointer: string): string[] {
  if (!isRecord(details) || !Array.isArray(details["errors"])) return []
  const isOwn = details["operationId"] === undefined || details["operationId"] === tool?.id
  const issues: unknown[] = details["errors"]
  const lines = issues.slice(0, MAX_ISSUES).flatMap((issue) => {
    if (!isRecord(issue) || typeof issue["path"] !== "string") return []
    const path = `${isOwn ? pointer : ""}${issue["path"]}`
    return [`- ${path === "" ? "(the whole input)" : path}: ${String(issue["message"])}`]
  })
  if (issues.length > MAX_ISSUES) lines.push(`- and ${issues.length - MAX_ISSUES} more`)
  return lines
}

function isDeclared(code: string, tool: OperationTool | undefined): boolean {
  return tool?.spec.errorSchemas?.some((declared) => declared.code === code) === true
}

function detailLine(details: unknown): string {
  return `Details: ${cutText(JSON.stringify(details) ?? "", MAX_DETAILS)}`
}
