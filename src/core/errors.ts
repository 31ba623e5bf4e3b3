import { CALL_ERROR, hasBrand } from "../internal/brands.ts"
import { cutText } from "../internal/message-text.ts"
import { redact, redactText } from "../internal/redact.ts"

/** The properties of one of the library's error codes. */
export interface ErrorCodeInfo {
  /** Status of an HTTP response. */
  readonly httpStatus: number
  /** `error.code` of a JSON-RPC response. */
  readonly jsonRpc: number
  /** Exit code of the command line: 1 the operation failed, 2 the call was wrong, 3 a person has to approve it. */
  readonly exitCode: number
  /** Default of `CallError.retryable`. */
  readonly retryable: boolean
  /** Default of `CallError.mayHaveExecuted`. */
  readonly mayHaveExecuted: boolean
}

/** Every code of the library: HTTP status, code of JSON-RPC, and the exit code unless that is 1. */
const ROWS = {
  OPERATION_NOT_FOUND: [404, -32601, 2],
  INVALID_OPERATION_TYPE: [400, -32600, 2],
  UNAUTHENTICATED: [401, -32001],
  ACCESS_DENIED: [403, -32002],
  VALIDATION_ERROR: [400, -32602, 2],
  OUTPUT_VALIDATION_ERROR: [502, -32003],
  CALL_DEPTH_EXCEEDED: [508, -32004],
  TIMEOUT: [504, -32005],
  ABORTED: [499, -32006],
  UNAVAILABLE: [503, -32007],
  OVERLOADED: [503, -32008],
  RATE_LIMITED: [429, -32009],
  WORKER_LOST: [502, -32010],
  PAYLOAD_TOO_LARGE: [413, -32011],
  DATA_LOSS: [502, -32012],
  SLOW_CONSUMER: [502, -32013],
  CONFLICT: [409, -32014],
  EGRESS_BLOCKED: [502, -32015],
  CIRCUIT_OPEN: [503, -32016],
  DENIED_BY_RULE: [403, -32017],
  APPROVAL_REQUIRED: [428, -32018, 3],
  DECLINED: [403, -32019],
  EXECUTION_ERROR: [500, -32000],
  UNKNOWN_ERROR: [500, -32603],
} as const

// Apart from the table, because every page with a client contains them.

/** Codes of a state that may pass: the handler did not start, and repeating the call may succeed. */
const UNREADY: readonly string[] = ["UNAVAILABLE", "OVERLOADED", "RATE_LIMITED", "CIRCUIT_OPEN"]

/** Other codes that mean that the handler did not start. */
const REFUSED: readonly string[] = [
  ...["OPERATION_NOT_FOUND", "INVALID_OPERATION_TYPE", "UNAUTHENTICATED", "ACCESS_DENIED"],
  ...["VALIDATION_ERROR", "CALL_DEPTH_EXCEEDED", "PAYLOAD_TOO_LARGE", "CONFLICT", "EGRESS_BLOCKED"],
  ...["DENIED_BY_RULE", "APPROVAL_REQUIRED", "DECLINED"],
]

export type ErrorCode = keyof typeof ROWS

/** The library's own codes. Operations add theirs through `errorSchemas`. */
export const ErrorCode: { readonly [TCode in ErrorCode]: TCode } = /* @__PURE__ */ table(
  (code) => code,
)

/** Every code with its numbers; `docs/errors.md` shows the same table. */
export const ERROR_CODES: Readonly<Record<ErrorCode, ErrorCodeInfo>> = /* @__PURE__ */ table(
  (code) => {
    const [httpStatus, jsonRpc, exitCode = 1]: readonly [number, number, number?] = ROWS[code]
    const retryable = UNREADY.includes(code)
    return { httpStatus, jsonRpc, exitCode, retryable, mayHaveExecuted: mayExecute(code) }
  },
)

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
    super(
      cutText(String(message), MESSAGE_LIMIT - 1),
      "cause" in options ? { cause: options.cause } : undefined,
    )
    if (typeof code !== "string" || code === "") {
      throw new TypeError(
        `new CallError(code, message): code must be a non-empty string, such as "NOT_FOUND".`,
      )
    }
    this.code = code
    if (options.details !== undefined) this.details = options.details
    this.retryable = options.retryable ?? UNREADY.includes(code)
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

/** Default of `CallError.mayHaveExecuted`: true, unless the code means that the handler did not start. */
function mayExecute(code: string): boolean {
  return !UNREADY.includes(code) && !REFUSED.includes(code)
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

function table<TTable extends object>(cellOf: (code: ErrorCode) => unknown): TTable {
  const codes = Object.keys(ROWS) as ErrorCode[]
  return Object.fromEntries(codes.map((code) => [code, cellOf(code)])) as TTable
}
