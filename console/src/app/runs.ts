import { useSyncExternalStore } from "react"
import { Listeners } from "../../../src/internal/listeners.ts"
import { isLarge } from "../api/outcome.ts"
import type { CallOutcome, CallTrace, InputRequest, InputResponse } from "../api/model.ts"
import type { ProgressUpdate, SourceLogLine } from "../api/model.ts"
import type { WatchAction, WatchState } from "../watch/model.ts"

/** A question that an operation asks while it runs. */
export interface OpenQuestion {
  readonly number: number
  readonly request: InputRequest
  readonly answer: (response: InputResponse) => void
}

/** The last call of an operation. */
export interface CallState {
  readonly isRunning: boolean
  readonly startedAt: number
  readonly endedAt: number | undefined
  readonly outcome: CallOutcome | undefined
  /** The outcome before this one. */
  readonly previous: CallOutcome | undefined
  /** What the operation has reported last. */
  readonly progress?: ProgressUpdate | undefined
  readonly questions: readonly OpenQuestion[]
  /** The calls that it has made, by their ids. */
  readonly calls: ReadonlyMap<string, CallTrace>
  /** What MCP servers have logged during the call. */
  readonly log: readonly SourceLogLine[]
  /** It was called without a WebSocket, so that it could neither report nor ask. */
  readonly isPlain?: boolean | undefined
}

/** The last call or stream of an operation that was started in this page. */
export type Run = {
  readonly operationId: string
  readonly startedAt: number
  readonly stop: () => void
} & (
  | { readonly kind: "call"; readonly state: CallState }
  | {
      readonly kind: "stream"
      readonly state: WatchState
      readonly dispatch: (action: WatchAction) => void
    }
)

/** Ended runs that are kept, and how many of them may be large. */
const MAX_ENDED = 20
const MAX_LARGE = 2

/** Calls and streams, one of each operation. They go on while other views are open. */
class Runs {
  readonly #listeners = new Listeners()
  #runs: ReadonlyMap<string, Run> = new Map()
  #list: readonly Run[] = []

  readonly subscribe = this.#listeners.add

  /** The latest last. */
  readonly list = (): readonly Run[] => this.#list

  readonly of = (operationId: string): Run | undefined => this.#runs.get(operationId)

  /** Replaces the run of an operation: the same one with another state, or another one. */
  put(run: Run): void {
    const runs = new Map(this.#runs)
    if (runs.get(run.operationId)?.stop !== run.stop) runs.delete(run.operationId)
    runs.set(run.operationId, run)
    if (isOver(run)) dropOldest(runs)
    this.#set(runs)
  }

  /** Stops and forgets everything. */
  readonly clear = (): void => {
    const before = this.#list
    this.#set(new Map())
    for (const { stop } of before) stop()
  }

  #set(runs: ReadonlyMap<string, Run>): void {
    this.#runs = runs
    this.#list = [...runs.values()]
    this.#listeners.notify()
  }
}

/** Whether a run has ended. */
export function isOver(run: Run): boolean {
  return run.state.endedAt !== undefined
}

function dropOldest(runs: Map<string, Run>): void {
  const ended = [...runs.values()].filter(isOver).toReversed()
  const large = ended.filter((run) =>
    isLarge((run.kind === "call" ? run.state.outcome : undefined) ?? run.state),
  )
  const dropped = [...ended.slice(MAX_ENDED), ...large.slice(MAX_LARGE)]
  for (const { operationId } of dropped) runs.delete(operationId)
}

/** The runs of this page. */
export const runs = new Runs()

/** The last run of an operation. */
export function useRun(operationId: string): Run | undefined {
  return useSyncExternalStore(runs.subscribe, () => runs.of(operationId))
}
