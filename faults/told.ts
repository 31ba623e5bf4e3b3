import { isCallError } from "../src/index.ts"

/** What a caller was told of an error. */
export interface ToldError {
  readonly code: string
  readonly message: string
  /** `undefined` for what is no `CallError`, which is a defect by itself. */
  readonly mayHaveExecuted: boolean | undefined
  readonly retryable: boolean | undefined
  readonly retryAfterMs?: number | undefined
}

/** A call, and what its caller was told of it. Plain data, so that a process can send it to another. */
export interface ToldCall {
  readonly id: string
  readonly operationId: string
  /** It may be run again without a second effect. */
  readonly isIdempotent: boolean
  /** Epoch milliseconds. */
  readonly sentAt: number
  readonly timeout: number
  /** `undefined` for one that hangs. */
  settledAt?: number | undefined
  /** How often it was settled; more than once is a defect. */
  settled: number
  error?: ToldError | undefined
  /** The run that the answer came from. */
  run?: string | undefined
  worker?: string | undefined
  /** The answer is not what the worker must have sent. */
  isWrong?: boolean | undefined
}

/** A stream, and what its consumer got of it. */
export interface ToldStream {
  readonly id: string
  readonly sentAt: number
  /** Items that it has, when nothing goes wrong. */
  readonly expected: number
  received: number
  /** Items that are missing, that came twice or out of order, and that are not what was sent. */
  gaps: number
  repeats: number
  wrong: number
  settledAt?: number | undefined
  /** It ended in order, all of it. */
  isComplete?: boolean | undefined
  /** Its consumer left it. */
  isLeft?: boolean | undefined
  error?: ToldError | undefined
  /** The longest time between two items, in milliseconds. */
  longestWait: number
}

/** What callers were told, all of it. */
export interface Told {
  readonly calls: readonly ToldCall[]
  readonly streams: readonly ToldStream[]
}

/** An error as plain data. */
export function toldError(error: unknown): ToldError {
  if (!isCallError(error)) {
    const message = error instanceof Error ? error.message : String(error)
    return { code: "NO_CALL_ERROR", message, mayHaveExecuted: undefined, retryable: undefined }
  }
  const { code, message, mayHaveExecuted, retryable, retryAfterMs } = error
  return { code, message, mayHaveExecuted, retryable, retryAfterMs }
}
