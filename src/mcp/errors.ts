// One idea: what went wrong between us and a server, in the codes that callers know.

import { CallError, isCallError } from "../core/errors.ts"
import type { CallErrorOptions, ErrorCode } from "../core/errors.ts"
import { redactText } from "../internal/redact.ts"
import { errorPartsOf } from "./error-parts.ts"
import type { ErrorParts, JsonRpcFault } from "./error-parts.ts"

/** Which exchange with which server went wrong. */
export interface MCPErrorAbout {
  readonly server: string
  /** The tool, resource or prompt. */
  readonly tool?: string | undefined
  /** Only a call can have had an effect. */
  readonly phase: "connect" | "list" | "call" | "read" | "prompt" | "close"
  /** The request never left: nothing can have happened. */
  readonly isUnsent?: boolean | undefined
  /** How the process ended. */
  readonly exit?: { readonly code: number | null; readonly signal: string | null } | undefined
  readonly stderrTail?: string | undefined
  /** Of a `Retry-After` header. */
  readonly retryAfterMs?: number | undefined
}

/** Why a caller that cannot be asked cannot be served. */
export interface CapabilityDetails {
  readonly reason: "CAPABILITY_REQUIRED"
  /** As in the capabilities of an MCP client. */
  readonly requiredCapabilities: Readonly<Record<string, unknown>>
}

/** `error.code` of a request that needs what its sender did not say it can do. */
const CAPABILITY_CODE = -32021
const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602
/** Codes with which a server says that it did not begin. */
const NOT_BEGUN: ReadonlySet<number> = new Set([
  -32700,
  -32600,
  METHOD_NOT_FOUND,
  INVALID_PARAMS,
  -32020,
  CAPABILITY_CODE,
  -32022,
])

/** The connection was never there. */
const NEVER_SENT: ReadonlySet<string> = new Set([
  "NOT_CONNECTED",
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
])

/** The connection went away. */
const LOST: ReadonlySet<string> = new Set([
  "CONNECTION_CLOSED",
  "SEND_FAILED",
  "ECONNRESET",
  "EPIPE",
  "ECONNABORTED",
  "UND_ERR_SOCKET",
  "ERR_STREAM_PREMATURE_CLOSE",
])

/** Whether a request did not reach its server, or lost it on the way. */
export function isUnreached(thrown: unknown): boolean {
  const { code = "" } = errorPartsOf(thrown)
  return NEVER_SENT.has(code) || LOST.has(code)
}

const LATE: ReadonlySet<string> = new Set([
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
 * The `CallError` for whatever an exchange with a server threw; what was thrown is its `cause`.
 *
 * An abort of our own and a timeout of our own look the same to an SDK: whoever has the signal and the
 * timer asks those first.
 */
export function mcpError(thrown: unknown, about: MCPErrorAbout): CallError {
  if (isCallError(thrown)) return thrown
  const parts = errorPartsOf(thrown)
  const failure = new Failure(about, parts, thrown)
  // A server that answered in its own words said more than a status can.
  if (parts.fault !== undefined && parts.status !== 401 && parts.status !== 403) {
    return failure.answered(parts.fault)
  }
  if (parts.status !== undefined) return failure.refused(parts.status)
  return failure.other()
}

/** The error for a caller that cannot be asked for what a tool needs; `required` as in client capabilities. */
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

/** Whether an error is one of `capabilityRequired`, or says the same for a server. */
export function isCapabilityRequired(
  error: unknown,
): error is CallError<"UNAVAILABLE", CapabilityDetails> {
  if (!isCallError(error, "UNAVAILABLE")) return false
  const { details } = error
  return (
    typeof details === "object" &&
    details !== null &&
    (details as { reason?: unknown }).reason === "CAPABILITY_REQUIRED"
  )
}

/** One failure, told in the words of the exchange it happened in. */
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
  answered(fault: JsonRpcFault): CallError {
    const { server, tool, phase } = this.#about
    const may = this.#mayHaveExecuted && !NOT_BEGUN.has(fault.code)
    const details = { ...fault, server, ...(tool !== undefined && { tool }) }
    if (fault.code === CAPABILITY_CODE) {
      return this.#make(
        "UNAVAILABLE",
        `${this.#what} needs something of its caller that was not offered: ${fault.message} Answer the server's questions: pass requestInput with the call, or set "elicitation", "sampling" or "roots" for the server.`,
        {
          retryable: false,
          mayHaveExecuted: false,
          details: {
            ...details,
            reason: "CAPABILITY_REQUIRED",
            requiredCapabilities: requiredOf(fault),
          },
        },
      )
    }
    if (phase === "call" && tool !== undefined && isUnknownTool(fault, tool)) {
      return this.#make(
        "OPERATION_NOT_FOUND",
        `MCP server "${server}" does not know its tool "${tool}" any more: ${fault.message} Refresh its tools.`,
        { details },
      )
    }
    return this.#make(
      "EXECUTION_ERROR",
      `${this.#what} was answered with error ${fault.code}: ${fault.message || "no reason given."}`,
      { mayHaveExecuted: may, details },
    )
  }

  /** An HTTP status that is no success. */
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
          `${answer}: nothing speaks MCP there, or not this way. Check "url"; for an old server set "type" to "sse".`,
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

  /** Everything that is no answer. */
  other(): CallError {
    const { name, scope } = this.#parts
    const code = this.#parts.code ?? ""
    const { server } = this.#about
    if (name === "UnauthorizedError") return this.#unauthenticated({ server })
    if (name === "InsufficientScopeError") return this.#denied({ server, ...(scope && { scope }) })
    if (LATE.has(code) || name === "TimeoutError") {
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
    if (NEVER_SENT.has(code)) return this.#lost("cannot be reached", false)
    if (LOST.has(code)) return this.#lost("went away", this.#mayHaveExecuted)
    if (code === "INVALID_RESULT" || code === "LIST_PAGINATION_EXCEEDED") {
      return this.#make(
        "EXECUTION_ERROR",
        `${this.#what} was answered with something that is not MCP${this.#because} The server has to be mended.`,
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
    const tail = stderrTail === undefined ? "" : redactText(stderrTail).trim()
    const said = tail === "" ? "" : ` It last wrote: ${tail.slice(-800)}`
    return this.#make(
      "UNAVAILABLE",
      `${this.#what}: the server ${how}${this.#because}${ended}${said}`,
      {
        retryable,
        mayHaveExecuted: may,
        details: { server, ...(exit && { exit }), ...(tail !== "" && { stderrTail: tail }) },
      },
    )
  }

  #unauthenticated(details: Readonly<Record<string, unknown>>): CallError {
    return this.#make(
      "UNAUTHENTICATED",
      `${this.#what}: the server wants to know who is calling, and the credentials it got, if any, are not good. Set "authProvider", or a header such as "Authorization", for the server.`,
      { details },
    )
  }

  #denied(details: Readonly<Record<string, unknown> & { scope?: string }>): CallError {
    const scope = details.scope === undefined ? "" : ` It asks for the scope "${details.scope}".`
    return this.#make(
      "ACCESS_DENIED",
      `${this.#what}: the server does not allow it with these credentials.${scope} Use others, or have them allowed more.`,
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

  /** What was said about it, to end a sentence. */
  get #because(): string {
    const { message, code } = this.#parts
    const text = redactText(message).trim() || code || ""
    return text === "" ? "." : `: ${text}${/[.!?]$/.test(text) ? "" : "."}`
  }

  #make(code: ErrorCode, message: string, options: CallErrorOptions): CallError {
    return new CallError(code, redactText(message), { ...options, cause: this.#cause })
  }
}

/** Whether a server says that it has no such tool, rather than that its arguments are wrong. */
function isUnknownTool({ code, message }: JsonRpcFault, tool: string): boolean {
  if (code === METHOD_NOT_FOUND) return true
  if (code !== INVALID_PARAMS) return false
  const said = message.replaceAll(/["'`]/g, "").toLowerCase()
  const name = tool.replaceAll(/["'`]/g, "").toLowerCase()
  const after = [" not found", " is not found", " does not exist", " was not found", " is unknown"]
  const before = ["unknown tool: ", "unknown tool ", "tool not found: ", "no such tool: "]
  return (
    after.some((words) => said.includes(`tool ${name}${words}`)) ||
    before.some((words) => said.includes(`${words}${name}`))
  )
}

function requiredOf({ data }: JsonRpcFault): Readonly<Record<string, unknown>> {
  const required =
    typeof data === "object" && data !== null
      ? (data as { requiredCapabilities?: unknown }).requiredCapabilities
      : undefined
  return typeof required === "object" && required !== null
    ? (required as Readonly<Record<string, unknown>>)
    : {}
}

function endOf({ code, signal }: NonNullable<MCPErrorAbout["exit"]>): string {
  if (signal !== null) return `Its process was ended by ${signal}.`
  return code === null ? "Its process ended." : `Its process ended with code ${code}.`
}
