import { useCallback, useEffect, useReducer, useRef } from "react"
import { idOf, ProblemError } from "../api/model.ts"
import type { CallOutcome, OperationSpec } from "../api/model.ts"
import { localProblem } from "../api/problems.ts"
import { useHub } from "../app/context.tsx"
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

/** One stream of an operation; it is stopped when the view goes away, or the page does. */
export function useWatch(spec: OperationSpec): Watch {
  const hub = useHub()
  const id = idOf(spec)
  const [state, dispatch] = useReducer(reduceWatch, IDLE)
  const run = useRef<Run>(undefined)
  const sent = useRef<unknown>(undefined)
  const stop = useCallback(() => run.current?.stop(), [])
  const start = useCallback(
    (input: unknown) => {
      run.current?.stop()
      sent.current = input
      run.current = startRun({ hub, id, input, dispatch, now: steadyNow })
    },
    [hub, id],
  )
  useEffect(() => {
    // A page that the browser keeps for going back would hold its stream open.
    addEventListener("pagehide", stop)
    return () => {
      removeEventListener("pagehide", stop)
      stop()
    }
  }, [stop])
  const latest = useRef(state)
  latest.current = state
  const { endedAt } = state
  useEffect(() => {
    if (endedAt === undefined) return
    const outcome = outcomeOf(latest.current)
    history.add(toEntry(id, spec.inputSchema, sent.current, outcome, endedAt))
  }, [endedAt, id, spec])
  return { state, dispatch, start, stop }
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
