import { useCallback, useEffect, useRef, useState } from "react"
import { idOf } from "../api/model.ts"
import type {
  CallOutcome,
  CallTrace,
  HubEvent,
  InputRequest,
  InputResponse,
  LiveCall,
  OperationSpec,
  ProgressUpdate,
  SourceLogLine,
} from "../api/model.ts"
import { useHub, useHubInfo } from "../app/context.tsx"
import { withLines } from "../ui/log-lines.ts"
import { toEntry } from "./history/store.ts"
import { history } from "./history/use-history.ts"
import { watchCall } from "./watch-call.ts"
import type { CallWatch } from "./watch-call.ts"

/** Most calls are over before. */
const DELAY_MS = 400

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
  /** The calls that it has made, by their ids. */
  readonly calls: ReadonlyMap<string, CallTrace>
  /** What MCP servers have logged during the call. */
  readonly log: readonly SourceLogLine[]
  /** It was called without a WebSocket, so that it could neither report nor ask. */
  readonly isPlain?: boolean | undefined
}

/** Calls an operation, one call at a time; a call that is still running when the panel goes is cancelled. */
export function useCall(spec: OperationSpec): CallState & {
  readonly run: (input: unknown, timeoutMs: number | undefined) => void
  readonly cancel: () => void
} {
  const hub = useHub()
  const { isAdmin } = useHubInfo()
  const [state, setState] = useState<CallState>(NOTHING)
  const running = useRef<AbortController>(undefined)
  const watched = useRef<CallWatch>(undefined)
  useEffect(
    () => () => {
      running.current?.abort()
      watched.current?.stop()
    },
    [],
  )
  const run = useCallback(
    (input: unknown, timeoutMs: number | undefined) => {
      if (running.current !== undefined) return
      const controller = new AbortController()
      running.current = controller
      setState(({ outcome }) => ({ ...NOTHING, isRunning: true, previous: outcome }))
      const id = idOf(spec)
      const { signal } = controller
      // Operations of HTTP APIs neither report progress nor ask.
      const isLive = spec._meta?.["openapi"] === undefined
      const isLogged = spec._meta?.["mcp"] !== undefined
      watched.current?.stop()
      const watch =
        isAdmin && isLive
          ? watchCall(hub, isLogged ? 0 : DELAY_MS, (events) => {
              setState((before) => withEvents(before, events))
            })
          : undefined
      watched.current = watch
      const live = isLive ? liveCall(spec, setState, watch) : undefined
      const call = async (): Promise<void> => {
        // What is logged before somebody reads it is lost.
        if (isLogged) await watch?.opened
        const outcome = await hub.call(id, input, { signal, timeoutMs, live })
        running.current = undefined
        watch?.ended()
        setState(({ previous, isPlain, log }) => ({ ...NOTHING, outcome, previous, isPlain, log }))
        history.add(toEntry(id, spec.inputSchema, input, outcome, Date.now()))
      }
      void call()
    },
    [hub, isAdmin, spec],
  )
  const cancel = useCallback(() => running.current?.abort(), [])
  return { ...state, run, cancel }
}

const NOTHING: CallState = {
  isRunning: false,
  outcome: undefined,
  previous: undefined,
  questions: [],
  calls: new Map(),
  log: [],
}

/** What is known of a call after further events. */
function withEvents(state: CallState, events: readonly HubEvent[]): CallState {
  const calls = new Map(state.calls)
  for (const event of events) {
    if (event.kind === "call") calls.set(event.trace.requestId, event.trace)
  }
  const lines = events.flatMap((event) => (event.kind === "log" ? [event.line] : []))
  return { ...state, calls, log: withLines(state.log, lines) }
}

/** Shows what an operation reports and asks. */
function liveCall(
  spec: OperationSpec,
  setState: (change: (state: CallState) => CallState) => void,
  watch: CallWatch | undefined,
): LiveCall {
  let asked = 0
  return {
    spec,
    onStart: (requestId) => watch?.started(requestId),
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
