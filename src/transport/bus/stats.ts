/** What somebody who runs this wants to see. Counts are since the transport was made. */
export interface BusStats {
  readonly isConnected: boolean
  readonly calling: CallingStats
  readonly serving: ServingStats
}

/** What the calling end counts. */
export interface CallingStats {
  /** Calls and streams that have no answer yet. */
  readonly pending: number
  /** Those among them that wait for the broker. */
  readonly held: number
  readonly workers: readonly WorkerStats[]
  /** Requests that were given to a worker once more. */
  readonly repeats: number
  /** Requests that went to one worker instead of any. */
  readonly directed: number
  /** Repeats that are still paid for. */
  readonly retryBudget: number
  /** Repeats that had to wait because nothing was left to pay for them. */
  readonly budgetDenied: number
  /** Workers that were given up with calls on them. */
  readonly workersLost: number
  /** Answers to calls that were over. */
  readonly lateAnswers: number
  /** Times at which this process itself had stood still. */
  readonly stalls: number
  /** Frames and messages that made no sense. */
  readonly dropped: number
}

/** A worker, as the calling end sees it. */
export interface WorkerStats {
  readonly address: string
  readonly calls: number
  /** Milliseconds since it was last heard of. */
  readonly silentFor: number
  readonly state: "alive" | "silent" | "gone" | "leaving"
}

/** What the serving end counts. */
export interface ServingStats {
  /** Accepted, and not yet granted. */
  readonly waiting: number
  readonly running: number
  /** Results that are kept until their callers have them, and their bytes. */
  readonly kept: number
  readonly keptBytes: number
  readonly callers: number
  readonly refused: number
  /** Accepted and then given to another worker, or expired. */
  readonly notGranted: number
  readonly resent: number
  readonly callersLost: number
  readonly stalls: number
  readonly dropped: number
}
