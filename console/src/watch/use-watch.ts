import { useCallback, useEffect, useReducer, useRef } from "react"
import { useHub } from "../app/context.tsx"
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
export function useWatch(id: string): Watch {
  const hub = useHub()
  const [state, dispatch] = useReducer(reduceWatch, IDLE)
  const run = useRef<Run>(undefined)
  const stop = useCallback(() => run.current?.stop(), [])
  const start = useCallback(
    (input: unknown) => {
      run.current?.stop()
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
  return { state, dispatch, start, stop }
}
