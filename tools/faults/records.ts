import { isCallError } from "../../src/index.ts"

/** An error, as its caller received it. */
export interface RecordedError {
  readonly code: string
  readonly message: string
  /** `undefined` if it is not a `CallError`, which is a defect by itself. */
  readonly mayHaveExecuted: boolean | undefined
  readonly retryable: boolean | undefined
  readonly retryAfterMs?: number | undefined
}

/** A call and its outcome, as its caller saw it. Plain data, so that it can be sent between processes. */
export interface CallRecord {
  readonly id: string
  readonly operationId: string
  /** Running it again has no second effect. */
  readonly isIdempotent: boolean
  /** Epoch milliseconds. */
  readonly sentAt: number
  readonly timeout: number
  /** `undefined` if it hangs. */
  settledAt?: number | undefined
  /** How often it was settled; more than once is a defect. */
  settled: number
  error?: RecordedError | undefined
  /** The run that the answer came from. */
  run?: string | undefined
  worker?: string | undefined
  /** The answer is not what the worker must have sent. */
  isWrong?: boolean | undefined
}

/** A stream and its outcome, as its consumer saw it. */
export interface StreamRecord {
  readonly id: string
  readonly sentAt: number
  /** The number of items of a complete stream. */
  readonly expected: number
  received: number
  /** Items that are missing, that arrived twice or out of order, and that are wrong. */
  gaps: number
  repeats: number
  wrong: number
  settledAt?: number | undefined
  /** It ended regularly. */
  isComplete?: boolean | undefined
  /** Its consumer left it. */
  isLeft?: boolean | undefined
  error?: RecordedError | undefined
  /** The longest time between two items, in milliseconds. */
  longestWait: number
}

/** The records of callers. */
export interface CallerRecords {
  readonly calls: readonly CallRecord[]
  readonly streams: readonly StreamRecord[]
}

/** An error as plain data. */
export function recordError(error: unknown): RecordedError {
  if (!isCallError(error)) {
    const message = error instanceof Error ? error.message : String(error)
    return { code: "NO_CALL_ERROR", message, mayHaveExecuted: undefined, retryable: undefined }
  }
  const { code, message, mayHaveExecuted, retryable, retryAfterMs } = error
  return { code, message, mayHaveExecuted, retryable, retryAfterMs }
}
