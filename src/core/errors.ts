import { CALL_ERROR, hasBrand } from "../internal/brands.ts"
import { redact, redactText } from "../internal/redact.ts"

/** The properties of one of the library's error codes. */
export interface ErrorCodeInfo {
  /** Status of an HTTP response. */
  readonly httpStatus: number
  /** `error.code` of a JSON-RPC response. */
  readonly jsonRpc: number
  /** Exit code of the command line: 1 the operation failed, 2 the call was wrong. */
  readonly exitCode: number
  /** Default of `CallError.retryable`. */
  readonly retryable: boolean
  /** Default of `CallError.mayHaveExecuted`. */
  readonly mayHaveExecuted: boolean
}

/** The library's own codes. Operations add theirs through `errorSchemas`. */
export const ErrorCode = {
  OPERATION_NOT_FOUND: "OPERATION_NOT_FOUND",
  INVALID_OPERATION_TYPE: "INVALID_OPERATION_TYPE",
  UNAUTHENTICATED: "UNAUTHENTICATED",
  ACCESS_DENIED: "ACCESS_DENIED",
  VALIDATION_ERROR: "VALIDATION_ERROR",
  OUTPUT_VALIDATION_ERROR: "OUTPUT_VALIDATION_ERROR",
  CALL_DEPTH_EXCEEDED: "CALL_DEPTH_EXCEEDED",
  TIMEOUT: "TIMEOUT",
  ABORTED: "ABORTED",
  UNAVAILABLE: "UNAVAILABLE",
  OVERLOADED: "OVERLOADED",
  RATE_LIMITED: "RATE_LIMITED",
  WORKER_LOST: "WORKER_LOST",
  PAYLOAD_TOO_LARGE: "PAYLOAD_TOO_LARGE",
  DATA_LOSS: "DATA_LOSS",
  SLOW_CONSUMER: "SLOW_CONSUMER",
  CONFLICT: "CONFLICT",
  EGRESS_BLOCKED: "EGRESS_BLOCKED",
  CIRCUIT_OPEN: "CIRCUIT_OPEN",
  EXECUTION_ERROR: "EXECUTION_ERROR",
  UNKNOWN_ERROR: "UNKNOWN_ERROR",
} as const

export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode]

/** Codes whose errors are `retryable` unless they say otherwise. */
const RETRYABLE: ReadonlySet<string> = /* @__PURE__ */ new Set<ErrorCode>([
  "UNAVAILABLE",
  "OVERLOADED",
  "RATE_LIMITED",
  "CIRCUIT_OPEN",
])

/** Codes that mean that the handler did not start. */
const NOT_EXECUTED: ReadonlySet<string> = /* @__PURE__ */ new Set<ErrorCode>([
  "OPERATION_NOT_FOUND",
  "INVALID_OPERATION_TYPE",
  "UNAUTHENTICATED",
  "ACCESS_DENIED",
  "VALIDATION_ERROR",
  "CALL_DEPTH_EXCEEDED",
  "UNAVAILABLE",
  "OVERLOADED",
  "RATE_LIMITED",
  "PAYLOAD_TOO_LARGE",
  "CONFLICT",
  "EGRESS_BLOCKED",
  "CIRCUIT_OPEN",
])

/** Every code with its numbers; `docs/errors.md` shows the same table. */
export const ERROR_CODES: Readonly<Record<ErrorCode, ErrorCodeInfo>> = {
  OPERATION_NOT_FOUND: /* @__PURE__ */ row("OPERATION_NOT_FOUND", 404, -32601, 2),
  INVALID_OPERATION_TYPE: /* @__PURE__ */ row("INVALID_OPERATION_TYPE", 400, -32600, 2),
  UNAUTHENTICATED: /* @__PURE__ */ row("UNAUTHENTICATED", 401, -32001, 1),
  ACCESS_DENIED: /* @__PURE__ */ row("ACCESS_DENIED", 403, -32002, 1),
  VALIDATION_ERROR: /* @__PURE__ */ row("VALIDATION_ERROR", 400, -32602, 2),
  OUTPUT_VALIDATION_ERROR: /* @__PURE__ */ row("OUTPUT_VALIDATION_ERROR", 502, -32003, 1),
  CALL_DEPTH_EXCEEDED: /* @__PURE__ */ row("CALL_DEPTH_EXCEEDED", 508, -32004, 1),
  TIMEOUT: /* @__PURE__ */ row("TIMEOUT", 504, -32005, 1),
  ABORTED: /* @__PURE__ */ row("ABORTED", 499, -32006, 1),
  UNAVAILABLE: /* @__PURE__ */ row("UNAVAILABLE", 503, -32007, 1),
  OVERLOADED: /* @__PURE__ */ row("OVERLOADED", 503, -32008, 1),
  RATE_LIMITED: /* @__PURE__ */ row("RATE_LIMITED", 429, -32009, 1),
  WORKER_LOST: /* @__PURE__ */ row("WORKER_LOST", 502, -32010, 1),
  PAYLOAD_TOO_LARGE: /* @__PURE__ */ row("PAYLOAD_TOO_LARGE", 413, -32011, 1),
  DATA_LOSS: /* @__PURE__ */ row("DATA_LOSS", 502, -32012, 1),
  SLOW_CONSUMER: /* @__PURE__ */ row("SLOW_CONSUMER", 502, -32013, 1),
  CONFLICT: /* @__PURE__ */ row("CONFLICT", 409, -32014, 1),
  EGRESS_BLOCKED: /* @__PURE__ */ row("EGRESS_BLOCKED", 502, -32015, 1),
  CIRCUIT_OPEN: /* @__PURE__ */ row("CIRCUIT_OPEN", 503, -32016, 1),
  EXECUTION_ERROR: /* @__PURE__ */ row("EXECUTION_ERROR", 500, -32000, 1),
  UNKNOWN_ERROR: /* @__PURE__ */ row("UNKNOWN_ERROR", 500, -32603, 1),
}

/** The fields of a `CallError` besides its code and message. */
export interface CallErrorOptions<TDetails = unknown> {
  readonly details?: TDetails | undefined
  readonly cause?: unknown
  readonly retryable?: boolean | undefined
  readonly mayHaveExecuted?: boolean | undefined
  readonly retryAfterMs?: number | undefined
  readonly attempts?: number | undefined
  readonly requestId?: string | undefined
  readonly operationId?: string | undefined
}

/** The JSON form of a `CallError`. */
export interface CallErrorJSON {
  readonly code: string
  readonly message: string
  readonly details?: unknown
  readonly retryable: boolean
  readonly mayHaveExecuted: boolean
  readonly retryAfterMs?: number
  readonly attempts?: number
  readonly requestId?: string
  readonly operationId?: string
}

const MESSAGE_LIMIT = 2048

/** On errors whose options say that nothing was executed, where their code says the same anyway. Registered, as the brand. */
const STATED: unique symbol = Symbol.for("@alkdev/operations/CallError.stated")

/** The only error that `execute`, `subscribe` and everything built on them throw. */
export class CallError<TCode extends string = string, TDetails = unknown> extends Error {
  readonly code: TCode
  readonly details?: TDetails
  /** Repeating the same call cannot have a second effect, and may succeed. */
  readonly retryable: boolean
  /** `false` only if the handler certainly did not start or says so itself, or if it is a request to an HTTP API that only reads. */
  readonly mayHaveExecuted: boolean
  readonly retryAfterMs?: number
  /**
   * Number of attempts, if the call was repeated. A call with such an error is not repeated again at any
   * level.
   */
  readonly attempts?: number
  readonly requestId?: string
  readonly operationId?: string

  constructor(code: TCode, message: string, options: CallErrorOptions<TDetails> = {}) {
    super(truncate(String(message)), "cause" in options ? { cause: options.cause } : undefined)
    if (typeof code !== "string" || code === "") {
      throw new TypeError(
        `new CallError(code, message): code must be a non-empty string, such as "NOT_FOUND".`,
      )
    }
    this.code = code
    if (options.details !== undefined) this.details = options.details
    this.retryable = options.retryable ?? isRetryable(code)
    this.mayHaveExecuted = options.mayHaveExecuted ?? mayExecute(code)
    if (options.mayHaveExecuted === false && !mayExecute(code))
      Object.defineProperty(this, STATED, { value: true })
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
    if (options.attempts !== undefined) this.attempts = options.attempts
    if (options.requestId !== undefined) this.requestId = options.requestId
    if (options.operationId !== undefined) this.operationId = options.operationId
  }

  /** The JSON form for other processes: no stack, no cause, secrets masked, always serializable. */
  toJSON(): CallErrorJSON {
    const { details, retryAfterMs, attempts, requestId, operationId } = this
    return {
      code: this.code,
      message: redactText(this.message),
      ...(details !== undefined && { details: redact(details) }),
      retryable: this.retryable,
      mayHaveExecuted: this.mayHaveExecuted,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(attempts !== undefined && { attempts }),
      ...(requestId !== undefined && { requestId }),
      ...(operationId !== undefined && { operationId }),
    }
  }

  static {
    this.prototype.name = "CallError"
    Object.defineProperty(this.prototype, CALL_ERROR, { value: true })
  }
}

/** Whether the author of an error stated that nothing was executed; the default of its code is no statement. */
export function statesNoEffect(error: CallError): boolean {
  if (error.mayHaveExecuted) return false
  return mayExecute(error.code) || (error as { readonly [STATED]?: unknown })[STATED] === true
}

/** Whether a value is a `CallError`, also of another copy of this package. With `code`: of that code. */
export function isCallError<TCode extends string = string>(
  value: unknown,
  code?: TCode,
): value is CallError<TCode> {
  return hasBrand(value, code)
}

/** Default of `CallError.retryable`. */
function isRetryable(code: string): boolean {
  return RETRYABLE.has(code)
}

/** Default of `CallError.mayHaveExecuted`: true, unless the code means that the handler did not start. */
function mayExecute(code: string): boolean {
  return !NOT_EXECUTED.has(code)
}

// On engines other than V8 the property has no meaning, and setting it has no effect.
const V8Error = Error as unknown as { stackTraceLimit: number | undefined }

/**
 * A `CallError` without a stack, for rejected calls that are part of normal operation.
 *
 * Capturing a stack costs several times the rest of a refused call, and this one would show only
 * the library's own frames: the message names the operation and the problem.
 */
export function refusal<TCode extends string>(
  code: TCode,
  message: string,
  options?: CallErrorOptions,
): CallError<TCode> {
  const limit = V8Error.stackTraceLimit
  V8Error.stackTraceLimit = 0
  try {
    return new CallError(code, message, options)
  } finally {
    V8Error.stackTraceLimit = limit
  }
}

function row(
  code: ErrorCode,
  httpStatus: number,
  jsonRpc: number,
  exitCode: number,
): ErrorCodeInfo {
  return {
    httpStatus,
    jsonRpc,
    exitCode,
    retryable: isRetryable(code),
    mayHaveExecuted: mayExecute(code),
  }
}

function truncate(message: string): string {
  return message.length <= MESSAGE_LIMIT ? message : `${message.slice(0, MESSAGE_LIMIT - 1)}…`
}
