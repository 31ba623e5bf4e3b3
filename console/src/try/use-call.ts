import { useCallback, useEffect, useRef, useState } from "react"
import type { CallOutcome, OperationSpec } from "../api/model.ts"
import { useHub } from "../app/context.tsx"
import { toEntry } from "./history/store.ts"
import { history } from "./history/use-history.ts"

/** A call that is made from a panel. */
export interface CallState {
  readonly isRunning: boolean
  readonly outcome: CallOutcome | undefined
  /** The outcome before this one. */
  readonly previous: CallOutcome | undefined
}

/** The id of a spec. */
export function idOf(spec: OperationSpec): string {
  return `${spec.namespace}.${spec.name}`
}

/** Calls an operation, one call at a time; a call that is still running when the panel goes is cancelled. */
export function useCall(spec: OperationSpec): CallState & {
  readonly run: (input: unknown, timeoutMs: number | undefined) => void
  readonly cancel: () => void
} {
  const hub = useHub()
  const [state, setState] = useState<CallState>(NOTHING)
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const run = useCallback(
    (input: unknown, timeoutMs: number | undefined) => {
      if (running.current !== undefined) return
      const controller = new AbortController()
      running.current = controller
      setState(({ outcome }) => ({ isRunning: true, outcome: undefined, previous: outcome }))
      const id = idOf(spec)
      const call = async (): Promise<void> => {
        const outcome = await hub.call(id, input, { signal: controller.signal, timeoutMs })
        running.current = undefined
        setState(({ previous }) => ({ isRunning: false, outcome, previous }))
        history.add(toEntry(id, spec.inputSchema, input, outcome, Date.now()))
      }
      void call()
    },
    [hub, spec],
  )
  const cancel = useCallback(() => running.current?.abort(), [])
  return { ...state, run, cancel }
}

const NOTHING: CallState = { isRunning: false, outcome: undefined, previous: undefined }
