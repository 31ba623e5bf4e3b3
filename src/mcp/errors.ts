// Converts failures of MCP exchanges to `CallError`s.

import { setOutward } from "../core/error-marks.ts"
import { changedError } from "../core/error-changes.ts"
import { CallError, isCallError, type CallErrorOptions, type ErrorCode } from "../core/errors.ts"
import { isRecord } from "../internal/guards.ts"
import { redactText } from "../internal/redact.ts"
import { readErrorParts, type ErrorParts, type JsonRpcError } from "./error-parts.ts"

/** The exchange that failed. */
export interface MCPErrorAbout {
  readonly server: string
  /** Who issues tokens for it. */
  readonly issuer?: string | undefined
  /** The tool, resource or prompt. */
  readonly tool?: string | undefined
  /** Only a `call` can have had an effect. */
  readonly phase: "connect" | "list" | "call" | "read" | "prompt" | "complete"
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
const CAPABILITY_CODE = -32021
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
const NEVER_SENT =
  /^(?:NOT_CONNECTED|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

/** Codes of lost connections. */
const CONNECTION_LOST =
  /^(?:CONNECTION_CLOSED|SEND_FAILED|ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET|ERR_STREAM_PREMATURE_CLOSE)$/

/** Whether a request did not reach its server, or lost the connection. */
export function isUnreached(thrown: unknown): boolean {
  const { code = "" } = readErrorParts(thrown)
  return NEVER_SENT.test(code) || CONNECTION_LOST.test(code)
}

const TIMED_OUT = /^(?:REQUEST_TIMEOUT|ETIMEDOUT|UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT)$/

const UNSUPPORTED =
  /^(?:CAPABILITY_NOT_SUPPORTED|METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION|UNSUPPORTED_RESULT_TYPE|INPUT_REQUIRED_ROUNDS_EXCEEDED)$/

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
  readonly #mayHaveExecuted: boolean

  constructor(about: MCPErrorAbout, parts: ErrorParts, cause: unknown) {
    this.#about = about
    this.#parts = parts
    this.#cause = cause
    this.#mayHaveExecuted = about.phase === "call" && about.isUnsent !== true
  }

  /** A JSON-RPC error. */
  answered(error: JsonRpcError): CallError {
    const { server, tool, phase } = this.#about
    const details = { ...error, server, ...(tool !== undefined && { tool }) }
    if (error.code === CAPABILITY_CODE) {
      const required = isRecord(error.data) ? error.data["requiredCapabilities"] : undefined
      const requiredCapabilities = isRecord(required) ? required : {}
      return this.#make(
        "UNAVAILABLE",
        ` needs a client capability that was not offered: ${error.message} Answer the server's questions: pass requestInput with the call, or set "elicitation", "sampling" or "roots" for the server.`,
        {
          retryable: false,
          mayHaveExecuted: false,
          details: { ...details, reason: "CAPABILITY_REQUIRED", requiredCapabilities },
        },
      )
    }
    if (phase === "call" && tool !== undefined && isUnknownTool(error, tool)) {
      const message = `MCP server "${server}" no longer has the tool "${tool}": ${error.message} Refresh its tools.`
      return new CallError("OPERATION_NOT_FOUND", redactText(message), {
        details,
        cause: this.#cause,
      })
    }
    const mayHaveExecuted = this.#mayHaveExecuted && !NOT_STARTED.has(error.code)
    const reason = error.message || "no reason given."
    return this.#make("EXECUTION_ERROR", ` was answered with error ${error.code}: ${reason}`, {
      mayHaveExecuted,
      details,
    })
  }

  /** An unsuccessful HTTP status. */
  refused(status: number): CallError {
    const { server, retryAfterMs } = this.#about
    const { scope } = this.#parts
    const details = { status, server, ...(scope && { scope }) }
    if (status === 401) return this.#unauthenticated(details)
    if (status === 403) return this.#denied(details)
    const answer = `: the server answered ${status}`
    const [code, why, retryable] = STATUSES.get(status) ?? []
    if (code !== undefined) {
      const options = { mayHaveExecuted: false, details, retryable, retryAfterMs }
      return this.#make(code, `${answer}: ${why}`, options)
    }
    if (status >= 500) {
      const may = this.#mayHaveExecuted
      const options = { details, retryable: !may, mayHaveExecuted: may }
      return this.#make("UNAVAILABLE", `${answer}. Its own log should say why.`, options)
    }
    const options = { mayHaveExecuted: false, details }
    return this.#make("EXECUTION_ERROR", `${answer}${this.#because}`, options)
  }

  /** Every failure without a response. */
  other(): CallError {
    const { name, scope, code = "" } = this.#parts
    const { server, phase } = this.#about
    const mayHaveExecuted = this.#mayHaveExecuted
    if (name === "UnauthorizedError") return this.#unauthenticated({ server })
    if (name === "InsufficientScopeError") return this.#denied({ server, ...(scope && { scope }) })
    if (TIMED_OUT.test(code) || name === "TimeoutError") {
      return this.#make(
        "TIMEOUT",
        ` got no answer in time. Raise "timeout" of the server if it needs longer.`,
        { mayHaveExecuted, retryable: !mayHaveExecuted },
      )
    }
    if (name === "AbortError") return this.#make("ABORTED", " was aborted.", { mayHaveExecuted })
    if (NEVER_SENT.test(code)) return this.#lost(`cannot be reached (${code})`, false)
    if (CONNECTION_LOST.test(code)) return this.#lost("went away", mayHaveExecuted)
    if (code === "INVALID_RESULT" || code === "LIST_PAGINATION_EXCEEDED") {
      return this.#make(
        "EXECUTION_ERROR",
        ` was answered with something that is not MCP${this.#because} The server has to be fixed.`,
        { mayHaveExecuted, details: { reason: "INVALID_RESULT", server } },
      )
    }
    if (UNSUPPORTED.test(code)) {
      const text = ` needs something that is not supported${this.#because}`
      const details = { reason: "UNSUPPORTED", server }
      return this.#make("EXECUTION_ERROR", text, { mayHaveExecuted, details })
    }
    if (phase === "connect") return this.#lost("cannot be used", false, false)
    return this.#make("EXECUTION_ERROR", ` failed${this.#because}`, { mayHaveExecuted })
  }

  #lost(how: string, may: boolean, retryable: boolean = !may): CallError {
    const { server, exit, stderrTail } = this.#about
    const ended = exit === undefined ? "" : ` ${endOf(exit)}`
    const error = this.#make("UNAVAILABLE", `: the server ${how}${this.#because}${ended}`, {
      retryable,
      mayHaveExecuted: may,
      details: { server, ...(exit && { exit }) },
    })
    return withOutput(error, stderrTail)
  }

  #unauthenticated(details: Readonly<Record<string, unknown>>): CallError {
    const { issuer } = this.#about
    const [how, from] =
      issuer === undefined ? ["", "that it or its provider issues"] : [" (OAuth)", `of ${issuer}`]
    return this.#make(
      "UNAUTHENTICATED",
      `: the server requires authentication${how}, and the credentials it got, if any, are not valid. Set a header such as "Authorization" for the server (on the command line: --header "Authorization: Bearer \${env:TOKEN}", with a token ${from}), or "authProvider" in a program.`,
      { details: { ...details, ...(issuer !== undefined && { issuer }) } },
    )
  }

  #denied(details: Readonly<Record<string, unknown> & { scope?: string }>): CallError {
    const scope = details.scope === undefined ? "" : ` It asks for the scope "${details.scope}".`
    return this.#make(
      "ACCESS_DENIED",
      `: the server does not allow it with these credentials.${scope} Use other credentials, or have their permissions extended.`,
      { details },
    )
  }

  /** The reason of the failure, as the end of a sentence. */
  get #because(): string {
    const { message, code } = this.#parts
    const text = redactText(message).trim() || code || ""
    return text === "" ? "." : `: ${text}${/[.!?]$/.test(text) ? "" : "."}`
  }

  /** An error whose message begins with what was tried. */
  #make(code: ErrorCode, message: string, options: CallErrorOptions): CallError {
    const { server, tool, phase } = this.#about
    const subject = phase === "list" ? `the ${tool}` : `"${tool}"`
    const named = tool === undefined ? "" : ` ${subject}`
    const what = phase === "connect" ? "Connecting to" : `${PHASES[phase]}${named} of`
    const text = redactText(`${what} MCP server "${server}"${message}`)
    return new CallError(code, text, { ...options, cause: this.#cause })
  }
}

const PHASES = {
  list: "Listing",
  call: "Calling tool",
  read: "Reading resource",
  prompt: "Getting prompt",
  complete: "Completing an argument",
} as const

const NO_ENDPOINT = [
  "UNAVAILABLE",
  `there is no MCP endpoint for this transport. Check "url"; for an old server set "type" to "sse".`,
  false,
] as const

/** The errors of HTTP statuses: code, reason, and whether repeating helps, where the code does not say so. */
const STATUSES = new Map<number, readonly [ErrorCode, string, boolean?]>([
  [404, NO_ENDPOINT],
  [405, NO_ENDPOINT],
  [413, ["PAYLOAD_TOO_LARGE", "the input is too large for it."]],
  [429, ["RATE_LIMITED", "too many requests. Try later."]],
  [503, ["UNAVAILABLE", "it is busy or down. Try later."]],
])

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

function endOf({ code, signal }: NonNullable<MCPErrorAbout["exit"]>): string {
  if (signal !== null) return `Its process was ended by ${signal}.`
  return code === null ? "Its process ended." : `Its process ended with code ${code}.`
}
