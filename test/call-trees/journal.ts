import type { CallError } from "../../src/index.ts"
import type { CallPlan, Intent, Kind, Script } from "./plan.ts"

/** A planned call with its place in the tree. All its repeats share it. */
export interface Node {
  readonly id: string
  readonly kind: Kind
  /** The registry whose handler runs it. */
  readonly home: number
  /** The registry at which it is called. */
  readonly entry: number
  readonly operationId: string
  readonly intent: Intent
  readonly plan: CallPlan
  /** The children of each script. */
  readonly children: readonly (readonly Node[])[]
  readonly key: string | undefined
  /** How its key is kept; `undefined` if no registry on its way keeps it. */
  readonly kept: Keeping | undefined
}

/** How long a key is kept, so that a repeat with it is safe. */
export interface Keeping {
  /** Milliseconds after the outcome. */
  readonly ttl: number
  /** Milliseconds after which there is an outcome, even if the handler goes on. */
  readonly limit: number
}

/** One call that somebody made: from outside, or a handler. */
export interface Attempt {
  readonly id: number
  readonly node: Node
  readonly parent: Run | undefined
  readonly beganAt: number
  readonly deadline: number
  settledAt: number | undefined
  error: CallError | undefined
  /** What it got instead of an error. */
  data: unknown
  wasReplayed: boolean
}

/** One run of a handler. */
export interface Run {
  readonly id: number
  readonly node: Node
  readonly attempt: Attempt
  readonly script: Script
  readonly startedAt: number
  endedAt: number
  effects: number
  wasOk: boolean
}

/** Something that must not happen twice. */
export interface Effect {
  readonly run: Run
  readonly slot: "before" | "after"
  readonly at: number
}

/** A stream that a handler opened and did not end. */
export interface Stream {
  readonly run: Run
  endedAt: number
}

/** Everything that happened in a history. */
export class Journal {
  readonly attempts: Attempt[] = []
  readonly runs: Run[] = []
  readonly effects: Effect[] = []
  readonly streams: Stream[] = []
  /** What is wrong, noticed while it happened. */
  readonly faults: string[] = []
  readonly lines: string[] = []
  /** Milliseconds since the beginning. */
  now: () => number = () => 0

  write(line: string): void {
    this.lines.push(`${this.now()} ${line}`)
  }

  /** Effects of a call and of all calls under it. */
  effectsOf(attempt: Attempt): Effect[] {
    return this.effects.filter(({ run }) => isUnder(run, attempt))
  }
}

function isUnder(run: Run, attempt: Attempt): boolean {
  for (let one: Run | undefined = run; one !== undefined; one = one.attempt.parent) {
    if (one.attempt === attempt) return true
  }
  return false
}
