import { useCallback, useEffect, useRef, useState } from "react"
import type {
  CallOutcome,
  InputRequest,
  InputResponse,
  LiveCall,
  OperationSpec,
  ProgressUpdate,
} from "../api/model.ts"
import { useHub } from "../app/context.tsx"
import { toEntry } from "./history/store.ts"
import { history } from "./history/use-history.ts"

/** A question that an operation asks while it runs. */
export interface OpenQuestion {
  readonly number: number
  readonly request: InputRequest
  readonly answer: (response: InputResponse) => void
}

/** A call that is made from a panel. */
export interface CallState {
  readonly isRunning: boolean
  readonly outcome: CallOutcome | undefined
  /** The outcome before this one. */
  readonly previous: CallOutcome | undefined
  /** What the operation has reported last. */
  readonly progress?: ProgressUpdate | undefined
  readonly questions: readonly OpenQuestion[]
  /** The id of a call that runs. */
  readonly requestId?: string | undefined
  /** It was called without a WebSocket, so that it could neither report nor ask. */
  readonly isPlain?: boolean | undefined
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
      setState(({ outcome }) => ({ ...NOTHING, isRunning: true, previous: outcome }))
      const id = idOf(spec)
      const { signal } = controller
      // Operations of HTTP APIs neither report progress nor ask.
      const live = spec._meta?.["openapi"] === undefined ? liveCall(spec, setState) : undefined
      const call = async (): Promise<void> => {
        const outcome = await hub.call(id, input, { signal, timeoutMs, live })
        running.current = undefined
        setState(({ previous, isPlain }) => ({ ...NOTHING, outcome, previous, isPlain }))
        history.add(toEntry(id, spec.inputSchema, input, outcome, Date.now()))
      }
      void call()
    },
    [hub, spec],
  )
  const cancel = useCallback(() => running.current?.abort(), [])
  return { ...state, run, cancel }
}

const NOTHING: CallState = {
  isRunning: false,
  outcome: undefined,
  previous: undefined,
  questions: [],
}

/** Shows what an operation reports and asks. */
function liveCall(
  spec: OperationSpec,
  setState: (change: (state: CallState) => CallState) => void,
): LiveCall {
  let asked = 0
  return {
    spec,
    onStart: (requestId) => setState((state) => ({ ...state, requestId })),
    onProgress: (progress) => setState((state) => ({ ...state, progress })),
    onPlain: () => setState((state) => ({ ...state, isPlain: true })),
    onQuestion: (request) =>
      new Promise((resolve) => {
        const number = ++asked
        const answer = (response: InputResponse): void => {
          setState((state) => ({
            ...state,
            questions: state.questions.filter((open) => open.number !== number),
          }))
          resolve(response)
        }
        const question = { number, request, answer }
        setState((state) => ({ ...state, questions: [...state.questions, question] }))
      }),
  }
}
