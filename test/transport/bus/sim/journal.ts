import type { ProcessClock } from "./process-clock.ts"

/** A handler that was started. */
export interface Run {
  /** No other has this number; results carry it. */
  readonly number: number
  readonly key: string
  readonly operation: string
  readonly startedAt: number
  /** When its handler was through. */
  endedAt: number | undefined
  /** When its signal fired. */
  abortedAt: number | undefined
  /** Items that a stream gave. */
  produced: number
  readonly worker: string
  /** This worker says that it may be run twice. */
  readonly isIdempotent: boolean
  readonly process: Pick<ProcessClock, "isDead" | "isFrozen">
}

/** The outcome that the caller of a plan received. */
export interface Outcome {
  readonly startedAt: number
  readonly requestId: string
  /** How often it ended: once, if all is well. */
  ends: number
  endedAt: number
  result: "ok" | "left" | "error" | undefined
  data: unknown
  /** What a stream gave, with the run that each item is of. */
  items: { readonly at: number; readonly run: number; readonly type?: string }[]
  error: unknown
  /** Its process was killed before it knew. */
  callerDiedAt: number | undefined
}

/** A time during which something was out of order. */
export interface Trouble {
  readonly what:
    | "freeze"
    | "kill"
    | "leave"
    | "close"
    | "outage"
    | "stall"
    | "cut"
    | "deafen"
    | "mute"
  /** The process, or "broker". */
  readonly whom: string
  readonly from: number
  to: number
}

/** Everything that happened in a history, as seen from outside. */
export class Journal {
  time: () => number = () => 0
  readonly runs: Run[] = []
  readonly outcomes = new Map<string, Outcome>()
  readonly troubles: Trouble[] = []
  /** Requests of which a message did not arrive that says that the caller left. */
  readonly missedAborts = new Set<string>()
  /** What was seen while it ran that should never be. */
  readonly faults: string[] = []
  readonly lines: string[] = []
  /** Writes down every message too: for reading, and to compare histories. */
  readonly isDetailed: boolean

  constructor(isDetailed: boolean) {
    this.isDetailed = isDetailed
  }

  say(line: string): void {
    this.lines.push(`${String(Math.round(this.time())).padStart(6)} ${line}`)
  }
}
