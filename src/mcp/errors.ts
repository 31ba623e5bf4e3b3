// Converts failures of MCP exchanges to `CallError`s.

import { changedError, setOutward } from "../core/error-marks.ts"
import { CallError, isCallError } from "../core/errors.ts"
import type { CallErrorOptions, ErrorCode } from "../core/errors.ts"
import { isRecord } from "../internal/guards.ts"
import { redactText } from "../internal/redact.ts"
import { readErrorParts } from "./error-parts.ts"
import type { ErrorParts, JsonRpcError } from "./error-parts.ts"

/** The exchange that failed. */
export interface MCPErrorAbout {
  readonly server: string
  /** The tool, resource or prompt. */
  readonly tool?: string | undefined
  /** Only a `call` can have had an effect. */
  readonly phase: "connect" | "list" | "call" | "read" | "prompt" | "close"
  /** The request was never sent, so it had no effect. */
  readonly isUnsent?: boolean | undefined
  /** The exit status of the server's process. */
  readonly exit?: { readonly code: number | null; readonly signal: string | null } | undefined
  readonly stderrTail?: string | undefined
  /** From a `Retry-After` header. */
  readonly retryAfterMs?: number | undefined
}

/** The client capabilities that a caller lacks. */
export interface CapabilityDetails {
  readonly reason: "CAPABILITY_REQUIRED"
  /** In the format of MCP client capabilities. */
  readonly requiredCapabilities: Readonly<Record<string, unknown>>
}

/** `error.code` of a request that needs a capability its sender did not declare. */
export const CAPABILITY_CODE = -32021
const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
/** Codes with which a server refuses a request before executing it. */
const NOT_STARTED: ReadonlySet<number> = new Set([
  -32700,
  -32600,
  METHOD_NOT_FOUND,
  INVALID_PARAMS,
  -32020,
  CAPABILITY_CODE,
  -32022,
])

/** Statuses that say why a request was not executed, whatever the body. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 413, 429, 503])

/** Codes of connections that were never established. */
const NEVER_SENT: ReadonlySet<string> = new Set([
  "NOT_CONNECTED",
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
])

/** Codes of lost connections. */
const CONNECTION_LOST: ReadonlySet<string> = new Set([
  "CONNECTION_CLOSED",
  "SEND_FAILED",
  "ECONNRESET",
  "EPIPE",
  "ECONNABORTED",
  "UND_ERR_SOCKET",
  "ERR_STREAM_PREMATURE_CLOSE",
])

/** Whether a request did not reach its server, or lost the connection. */
export function isUnreached(thrown: unknown): boolean {
  const { code = "" } = readErrorParts(thrown)
  return NEVER_SENT.has(code) || CONNECTION_LOST.has(code)
}

const TIMED_OUT: ReadonlySet<string> = new Set([
  "REQUEST_TIMEOUT",
  "ETIMEDOUT",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
])

const UNSUPPORTED: ReadonlySet<string> = new Set([
  "CAPABILITY_NOT_SUPPORTED",
  "METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION",
  "UNSUPPORTED_RESULT_TYPE",
  "INPUT_REQUIRED_ROUNDS_EXCEEDED",
])

/**
 * Converts an exception of an exchange with a server to a `CallError`, with the exception as its `cause`.
 *
 * The SDK does not distinguish an abort from a timeout of ours: callers check their signal and timer first.
 */
export function mcpError(thrown: unknown, about: MCPErrorAbout): CallError {
  if (isCallError(thrown)) return thrown
  const parts = readErrorParts(thrown)
  const failure = new Failure(about, parts, thrown)
  // The server's own error is more specific than the other HTTP statuses.
  if (parts.rpcError !== undefined && !REFUSALS.has(parts.status ?? 0)) {
    return failure.answered(parts.rpcError)
  }
  if (parts.status !== undefined) return failure.refused(parts.status)
  return failure.other()
}

/** The error for a caller that lacks capabilities a tool needs; `required` in the format of client capabilities. */
export function capabilityRequired(
  required: Readonly<Record<string, unknown>>,
  message: string,
): CallError<"UNAVAILABLE", CapabilityDetails> {
  return new CallError("UNAVAILABLE", message, {
    retryable: false,
    mayHaveExecuted: false,
    details: { reason: "CAPABILITY_REQUIRED", requiredCapabilities: required },
  })
}

/**
 * Adds the last output of the server's process to an error. Callers outside the application do not see it: it may
 * contain local paths, and what other callers did.
 */
export function withOutput(error: CallError, stderrTail: string | undefined): CallError {
  const tail = redactText(stderrTail ?? "").trim()
  if (tail === "") return error
  const { message, details } = error
  const whole = changedError(error, {
    message: `${message} It last wrote: ${tail.slice(-800)}`,
    details: { ...(details as object), stderrTail: tail },
  })
  return setOutward(whole, { message, details })
}

/** Whether an error reports missing client capabilities, ours or a server's. */
export function isCapabilityRequired(
  error: unknown,
): error is CallError<"UNAVAILABLE", CapabilityDetails> {
  if (!isCallError(error, "UNAVAILABLE")) return false
  return isRecord(error.details) && error.details["reason"] === "CAPABILITY_REQUIRED"
}

/** Builds the error of one failed exchange. */
class Failure {
  readonly #about: MCPErrorAbout
  readonly #parts: ErrorParts
  readonly #cause: unknown

  constructor(about: MCPErrorAbout, parts: ErrorParts, cause: unknown) {
    this.#about = about
    this.#parts = parts
    this.#cause = cause
  }

  /** A JSON-RPC error. */
  answered(error: JsonRpcError): CallError {
    const { server, tool, phase } = this.#about
    const may = this.#mayHaveExecuted && !NOT_STARTED.has(error.code)
    const details = { ...error, server, ...(tool !== undefined && { tool }) }
    if (error.code === CAPABILITY_CODE) {
      return this.#make(
        "UNAVAILABLE",
        `${this.#what} needs a client capability that was not offered: ${error.message} Answer the server's questions: pass requestInput with the call, or set "elicitation", "sampling" or "roots" for the server.`,
        {
          retryable: false,
          mayHaveExecuted: false,
          details: {
            ...details,
            reason: "CAPABILITY_REQUIRED",
            requiredCapabilities: requiredOf(error),
          },
        },
      )
    }
    if (phase === "call" && tool !== undefined && isUnknownTool(error, tool)) {
      return this.#make(
        "OPERATION_NOT_FOUND",
        `MCP server "${server}" no longer has the tool "${tool}": ${error.message} Refresh its tools.`,
        { details },
      )
    }
    return this.#make(
      "EXECUTION_ERROR",
      `${this.#what} was answered with error ${error.code}: ${error.message || "no reason given."}`,
      { mayHaveExecuted: may, details },
    )
  }

  /** An unsuccessful HTTP status. */
  refused(status: number): CallError {
    const { server, retryAfterMs } = this.#about
    const details = { status, server, ...(this.#parts.scope && { scope: this.#parts.scope }) }
    const answer = `${this.#what}: the server answered ${status}`
    const nothing = { mayHaveExecuted: false, details }
    switch (status) {
      case 401:
        return this.#unauthenticated(details)
      case 403:
        return this.#denied(details)
      case 404:
      case 405:
        return this.#make(
          "UNAVAILABLE",
          `${answer}: there is no MCP endpoint for this transport. Check "url"; for an old server set "type" to "sse".`,
          { ...nothing, retryable: false },
        )
      case 413:
        return this.#make("PAYLOAD_TOO_LARGE", `${answer}: the input is too large for it.`, nothing)
      case 429:
        return this.#make("RATE_LIMITED", `${answer}: too many requests. Try later.`, {
          ...nothing,
          retryAfterMs,
        })
      case 503:
        return this.#make("UNAVAILABLE", `${answer}: it is busy or down. Try later.`, {
          ...nothing,
          retryAfterMs,
        })
    }
    if (status >= 500) {
      const may = this.#mayHaveExecuted
      return this.#make("UNAVAILABLE", `${answer}. Its own log should say why.`, {
        details,
        retryable: !may,
        mayHaveExecuted: may,
      })
    }
    return this.#make("EXECUTION_ERROR", `${answer}${this.#because}`, nothing)
  }

  /** Every failure without a response. */
  other(): CallError {
    const { name, scope } = this.#parts
    const code = this.#parts.code ?? ""
    const { server } = this.#about
    if (name === "UnauthorizedError") return this.#unauthenticated({ server })
    if (name === "InsufficientScopeError") return this.#denied({ server, ...(scope && { scope }) })
    if (TIMED_OUT.has(code) || name === "TimeoutError") {
      return this.#make(
        "TIMEOUT",
        `${this.#what} got no answer in time. Raise "timeout" of the server if it needs longer.`,
        { mayHaveExecuted: this.#mayHaveExecuted, retryable: !this.#mayHaveExecuted },
      )
    }
    if (name === "AbortError") {
      return this.#make("ABORTED", `${this.#what} was aborted.`, {
        mayHaveExecuted: this.#mayHaveExecuted,
      })
    }
    if (NEVER_SENT.has(code)) return this.#lost(`cannot be reached (${code})`, false)
    if (CONNECTION_LOST.has(code)) return this.#lost("went away", this.#mayHaveExecuted)
    if (code === "INVALID_RESULT" || code === "LIST_PAGINATION_EXCEEDED") {
      return this.#make(
        "EXECUTION_ERROR",
        `${this.#what} was answered with something that is not MCP${this.#because} The server has to be fixed.`,
        { mayHaveExecuted: this.#mayHaveExecuted, details: { reason: "INVALID_RESULT", server } },
      )
    }
    if (UNSUPPORTED.has(code)) {
      return this.#make(
        "EXECUTION_ERROR",
        `${this.#what} needs something that is not supported${this.#because}`,
        { mayHaveExecuted: this.#mayHaveExecuted, details: { reason: "UNSUPPORTED", server } },
      )
    }
    if (this.#about.phase === "connect") return this.#lost("cannot be used", false, false)
    return this.#make("EXECUTION_ERROR", `${this.#what} failed${this.#because}`, {
      mayHaveExecuted: this.#mayHaveExecuted,
    })
  }

  #lost(how: string, may: boolean, retryable: boolean = !may): CallError {
    const { server, exit, stderrTail } = this.#about
    const ended = exit === undefined ? "" : ` ${endOf(exit)}`
    const error = this.#make(
      "UNAVAILABLE",
      `${this.#what}: the server ${how}${this.#because}${ended}`,
      { retryable, mayHaveExecuted: may, details: { server, ...(exit && { exit }) } },
    )
    return withOutput(error, stderrTail)
  }

  #unauthenticated(details: Readonly<Record<string, unknown>>): CallError {
    return this.#make(
      "UNAUTHENTICATED",
      `${this.#what}: the server requires authentication, and the credentials it got, if any, are not valid. Set "authProvider", or a header such as "Authorization", for the server.`,
      { details },
    )
  }

  #denied(details: Readonly<Record<string, unknown> & { scope?: string }>): CallError {
    const scope = details.scope === undefined ? "" : ` It asks for the scope "${details.scope}".`
    return this.#make(
      "ACCESS_DENIED",
      `${this.#what}: the server does not allow it with these credentials.${scope} Use other credentials, or have their permissions extended.`,
      { details },
    )
  }

  get #mayHaveExecuted(): boolean {
    return this.#about.phase === "call" && this.#about.isUnsent !== true
  }

  get #what(): string {
    const { server, tool, phase } = this.#about
    const named = tool === undefined ? "" : ` "${tool}"`
    switch (phase) {
      case "connect":
        return `Connecting to MCP server "${server}"`
      case "list":
        return `Listing${named === "" ? "" : ` the ${tool}`} of MCP server "${server}"`
      case "call":
        return `Calling tool${named} of MCP server "${server}"`
      case "read":
        return `Reading resource${named} of MCP server "${server}"`
      case "prompt":
        return `Getting prompt${named} of MCP server "${server}"`
      case "close":
        return `Closing MCP server "${server}"`
    }
  }

  /** The reason of the failure, as the end of a sentence. */
  get #because(): string {
    const { message, code } = this.#parts
    const text = redactText(message).trim() || code || ""
    return text === "" ? "." : `: ${text}${/[.!?]$/.test(text) ? "" : "."}`
  }

  #make(code: ErrorCode, message: string, options: CallErrorOptions): CallError {
    return new CallError(code, redactText(message), { ...options, cause: this.#cause })
  }
}

/** Whether an error means that the tool does not exist, rather than that its arguments are wrong. */
function isUnknownTool({ code, message }: JsonRpcError, tool: string): boolean {
  if (code === METHOD_NOT_FOUND) return true
  if (code !== INVALID_PARAMS) return false
  const text = message.replaceAll(/["'`]/g, "").toLowerCase()
  const name = tool.replaceAll(/["'`]/g, "").toLowerCase()
  const after = [" not found", " is not found", " does not exist", " was not found", " is unknown"]
  const before = ["unknown tool: ", "unknown tool ", "tool not found: ", "no such tool: "]
  return (
    after.some((words) => text.includes(`tool ${name}${words}`)) ||
    before.some((words) => text.includes(`${words}${name}`))
  )
}

function requiredOf({ data }: JsonRpcError): Readonly<Record<string, unknown>> {
  const required = isRecord(data) ? data["requiredCapabilities"] : undefined
  return isRecord(required) ? required : {}
}

function endOf({ code, signal }: NonNullable<MCPErrorAbout["exit"]>): string {
  if (signal !== null) return `Its process was ended by ${signal}.`
  return code === null ? "Its process ended." : `Its process ended with code ${code}.`
}
