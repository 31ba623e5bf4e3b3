import type { FailedCall, Failures } from "../../engine/failures.ts"
import type { CallError } from "../../core/errors.ts"
import { HIDDEN_MESSAGE } from "../../internal/error-text.ts"
import { isCapabilityRequired } from "../../mcp/errors.ts"
import { mapError } from "../../core/map-error.ts"
import { isPlainRecord } from "../../schema/json.ts"
import { ProtocolError } from "./model.ts"
import type { SurfaceResult } from "./model.ts"
import type { OperationTool } from "./tool.ts"

const MAX_DETAILS = 4096
const MAX_ISSUES = 32

/** No such tool; the same words for one that this caller may not use. */
export function unknownTool(name: string): ProtocolError {
  return new ProtocolError(-32602, `Unknown tool: ${name.slice(0, 200)}`)
}

/**
 * A failed call as a result that a model can read and mend, after it was reported where it has to be.
 *
 * Throws `ProtocolFault` for what the protocol has codes of its own for. `pointer` is where the
 * operation's input is among the arguments.
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

/** An error in words; nothing that `CallError.toJSON` would keep back. */
export function errorText(
  thrown: unknown,
  pointer: string,
  tool?: OperationTool,
  callId?: string,
): SurfaceResult {
  const json = mapError(thrown).toJSON()
  const { code, message, details, retryAfterMs, retryable, mayHaveExecuted } = json
  const { requestId } = callId === undefined ? json : { requestId: callId }
  const issues = code === "VALIDATION_ERROR" ? issueLines(details, tool, pointer) : []
  // The message names the faults, too, with paths that the caller did not write.
  const lines = [
    `${code}: ${issues.length > 0 ? message.split(" is invalid: ")[0] + " is invalid:" : message}`,
  ]
  lines.push(...issues)
  // What to ask the operator about: nothing else is said of such an error.
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
        ...(requestId !== undefined && { requestId }),
      },
    },
  }
}

function protocolErrorOf(error: CallError, tool: OperationTool): ProtocolError | undefined {
  const { details, message } = error.toJSON()
  if (isCapabilityRequired(error)) {
    const { requiredCapabilities = {}, message: theirs } = isPlainRecord(details) ? details : {}
    // Of an imported tool: what its server said, without advice for whoever runs this one.
    const words = tool.raw !== undefined && typeof theirs === "string" ? theirs : message
    return new ProtocolError(-32021, words, { requiredCapabilities }, 400)
  }
  // What the server behind an imported tool answered is handed on as it was.
  if (tool.raw === undefined || !isPlainRecord(details)) return undefined
  const { code, message: theirs, data } = details
  if (typeof code !== "number" || !Number.isInteger(code)) return undefined
  return new ProtocolError(code, typeof theirs === "string" ? theirs : message, data)
}

/** One line for each fault, with the path as the caller wrote the input. */
function issueLines(details: unknown, tool: OperationTool | undefined, pointer: string): string[] {
  if (!isPlainRecord(details) || !Array.isArray(details["errors"])) return []
  const isOwn = details["operationId"] === undefined || details["operationId"] === tool?.id
  const issues: unknown[] = details["errors"]
  const lines = issues.slice(0, MAX_ISSUES).flatMap((fault) => {
    if (!isPlainRecord(fault) || typeof fault["path"] !== "string") return []
    const path = `${isOwn ? pointer : ""}${fault["path"]}`
    return [`- ${path === "" ? "(the whole input)" : path}: ${String(fault["message"])}`]
  })
  if (issues.length > MAX_ISSUES) lines.push(`- and ${issues.length - MAX_ISSUES} more`)
  return lines
}

function isDeclared(code: string, tool: OperationTool | undefined): boolean {
  return tool?.spec.errorSchemas?.some((declared) => declared.code === code) === true
}

function detailLine(details: unknown): string {
  const json = JSON.stringify(details) ?? ""
  return `Details: ${json.length > MAX_DETAILS ? `${json.slice(0, MAX_DETAILS)}…` : json}`
}
