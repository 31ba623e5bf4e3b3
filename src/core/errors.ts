import { CALL_ERROR, hasBrand } from "../internal/brands.ts"
import { redact, redactText } from "../internal/redact.ts"

/** The properties of one of the library's error codes. */
export interface ErrorCodeInfo {
  /** Status of an HTTP answer. */
  readonly httpStatus: number
  /** `error.code` of a JSON-RPC answer. */
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

/** Every code with its numbers; `docs/errors.md` shows the same table. */
export const ERROR_CODES: Readonly<Record<ErrorCode, ErrorCodeInfo>> = {
  OPERATION_NOT_FOUND: row(404, -32601, 2, false, false),
  INVALID_OPERATION_TYPE: row(400, -32600, 2, false, false),
  UNAUTHENTICATED: row(401, -32001, 1, false, false),
  ACCESS_DENIED: row(403, -32002, 1, false, false),
  VALIDATION_ERROR: row(400, -32602, 2, false, false),
  OUTPUT_VALIDATION_ERROR: row(502, -32003, 1, false, true),
  CALL_DEPTH_EXCEEDED: row(508, -32004, 1, false, false),
  TIMEOUT: row(504, -32005, 1, false, true),
  ABORTED: row(499, -32006, 1, false, true),
  UNAVAILABLE: row(503, -32007, 1, true, false),
  OVERLOADED: row(503, -32008, 1, true, false),
  RATE_LIMITED: row(429, -32009, 1, true, false),
  WORKER_LOST: row(502, -32010, 1, false, true),
  PAYLOAD_TOO_LARGE: row(413, -32011, 1, false, false),
  DATA_LOSS: row(502, -32012, 1, false, true),
  SLOW_CONSUMER: row(502, -32013, 1, false, true),
  CONFLICT: row(409, -32014, 1, false, false),
  EGRESS_BLOCKED: row(502, -32015, 1, false, false),
  CIRCUIT_OPEN: row(503, -32016, 1, true, false),
  EXECUTION_ERROR: row(500, -32000, 1, false, true),
  UNKNOWN_ERROR: row(500, -32603, 1, false, true),
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

/** The only error that `execute`, `subscribe` and everything built on them throw. */
export class CallError<TCode extends string = string, TDetails = unknown> extends Error {
  readonly code: TCode
  readonly details?: TDetails
  /** Repeating the same call cannot have a second effect, and may succeed. */
  readonly retryable: boolean
  /** `false` only if the handler certainly did not start, or if it is a request to an HTTP API that only reads. */
  readonly mayHaveExecuted: boolean
  readonly retryAfterMs?: number
  /** How often the call was tried, if it was repeated. Such an error is not repeated again, by whomever. */
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
    const defaults = errorCodeInfo(code)
    this.code = code
    if (options.details !== undefined) this.details = options.details
    this.retryable = options.retryable ?? defaults?.retryable ?? false
    this.mayHaveExecuted = options.mayHaveExecuted ?? defaults?.mayHaveExecuted ?? true
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
    if (options.attempts !== undefined) this.attempts = options.attempts
    if (options.requestId !== undefined) this.requestId = options.requestId
    if (options.operationId !== undefined) this.operationId = options.operationId
  }

  /** Safe for a wire: no stack, no cause, secrets masked, always serialisable. */
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

/** Whether a value is a `CallError`, also of another copy of this package. With `code`: of that code. */
export function isCallError<TCode extends string = string>(
  value: unknown,
  code?: TCode,
): value is CallError<TCode> {
  return hasBrand(value, code)
}

/** The row of one of the library's own codes; `undefined` for a code of an operation. */
function errorCodeInfo(code: string): ErrorCodeInfo | undefined {
  return Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as ErrorCode] : undefined
}

// Elsewhere than on V8 the property means nothing, and setting it does nothing.
const V8Error = Error as unknown as { stackTraceLimit: number | undefined }

/**
 * A `CallError` without a stack, for refusals that are part of normal work.
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
  httpStatus: number,
  jsonRpc: number,
  exitCode: number,
  retryable: boolean,
  mayHaveExecuted: boolean,
): ErrorCodeInfo {
  return { httpStatus, jsonRpc, exitCode, retryable, mayHaveExecuted }
}

function truncate(message: string): string {
  return message.length <= MESSAGE_LIMIT ? message : `${message.slice(0, MESSAGE_LIMIT - 1)}…`
}
