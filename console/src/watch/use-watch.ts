import { useCallback } from "react"
import { idOf, ProblemError } from "../api/model.ts"
import type { CallOutcome, HubClient, OperationSpec } from "../api/model.ts"
import { localProblem } from "../api/problems.ts"
import { useHub } from "../app/context.tsx"
import { runs, useRun } from "../app/runs.ts"
import { toEntry } from "../try/history/store.ts"
import { history } from "../try/history/use-history.ts"
import { IDLE, reduceWatch } from "./model.ts"
import type { WatchAction, WatchState } from "./model.ts"
import { startRun } from "./run.ts"
import type { Run } from "./run.ts"
import { steadyNow } from "../ui/steady-now.ts"

export interface Watch {
  readonly state: WatchState
  readonly dispatch: (action: WatchAction) => void
  readonly start: (input: unknown) => void
  readonly stop: () => void
}

/** The last stream of an operation. It goes on while other views are open. */
export function useWatch(spec: OperationSpec): Watch {
  const hub = useHub()
  const last = useRun(idOf(spec))
  const start = useCallback((input: unknown) => startStream(hub, spec, input), [hub, spec])
  if (last?.kind !== "stream") return { state: IDLE, dispatch: () => {}, start, stop: () => {} }
  const { state, stop, dispatch } = last
  return { state, dispatch, start, stop }
}

function startStream(hub: HubClient, spec: OperationSpec, input: unknown): void {
  const operationId = idOf(spec)
  runs.of(operationId)?.stop()
  let state = IDLE
  let run: Run | undefined
  const stop = (): void => run?.stop()
  const dispatch = (action: WatchAction): void => {
    // Signing out forgets it.
    if (run !== undefined && runs.of(operationId)?.stop !== stop) return
    const { endedAt: before } = state
    state = reduceWatch(state, action)
    const { startedAt, endedAt } = state
    runs.put({ operationId, kind: "stream", state, startedAt, stop, dispatch })
    if (endedAt === undefined || endedAt === before) return
    history.add(toEntry(operationId, spec.inputSchema, input, outcomeOf(state), endedAt))
  }
  run = startRun({ hub, id: operationId, input, dispatch, now: steadyNow })
}

/** The end of a stream as that of a call whose result are its last items. */
function outcomeOf({
  shown,
  waiting,
  error,
  startedAt,
  endedAt = startedAt,
}: WatchState): CallOutcome {
  const durationMs = endedAt - startedAt
  if (error !== undefined) {
    const problem =
      error instanceof ProblemError
        ? error.problem
        : localProblem("EXECUTION_ERROR", "The stream failed", error.message)
    return { ok: false, problem, status: problem.status, headers: {}, durationMs }
  }
  const data = [...shown, ...waiting].slice(-MAX_KEPT).map(({ envelope }) => envelope.data)
  const meta = { source: "local", operationId: "", timestamp: endedAt } as const
  return { ok: true, envelope: { data, meta }, status: 200, headers: {}, durationMs }
}

/** Items of a stream that the history keeps. */
const MAX_KEPT = 100
