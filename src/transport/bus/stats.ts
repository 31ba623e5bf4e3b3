/** Statistics of a transport, for operators. Counts start when the transport is created. */
export interface BusStats {
  readonly isConnected: boolean
  readonly calling: CallingStats
  readonly serving: ServingStats
}

/** Statistics of the calling end. */
export interface CallingStats {
  /** Calls and streams that have no answer yet. */
  readonly pending: number
  /** Those of them that wait for the broker. */
  readonly held: number
  readonly workers: readonly WorkerStats[]
  /** Requests that were sent again. */
  readonly repeats: number
  /** Requests that were sent to a specific worker instead of any. */
  readonly directed: number
  /** Retries that are left. */
  readonly retryBudget: number
  /** Retries that had to wait because the budget was used up. */
  readonly budgetDenied: number
  /** Workers that were lost while they had calls. */
  readonly workersLost: number
  /** Answers to calls that had already ended. */
  readonly lateAnswers: number
  /** How often this process itself had stood still. */
  readonly stalls: number
  /** Invalid frames and messages. */
  readonly dropped: number
}

/** A worker, as the calling end sees it. */
export interface WorkerStats {
  readonly address: string
  readonly calls: number
  /** Milliseconds since its last message. */
  readonly silentFor: number
  readonly state: "alive" | "silent" | "gone" | "leaving"
}

/** Statistics of the serving end. */
export interface ServingStats {
  /** Calls that were accepted, and not yet granted. */
  readonly waiting: number
  readonly running: number
  /** Results that are kept until their callers confirm them, and their bytes. */
  readonly kept: number
  readonly keptBytes: number
  readonly callers: number
  readonly refused: number
  /** Calls that were accepted, and then granted to another worker or expired. */
  readonly notGranted: number
  readonly resent: number
  readonly callersLost: number
  readonly stalls: number
  readonly dropped: number
}
