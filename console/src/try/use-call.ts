import { useCallback } from "react"
import { pause } from "../../../src/internal/wait.ts"
import { idOf } from "../api/model.ts"
import type {
  CallOptions,
  HubClient,
  HubEvent,
  InputResponse,
  LiveCall,
  OperationSpec,
} from "../api/model.ts"
import { isLarge } from "../api/outcome.ts"
import { useHub, useHubInfo } from "../app/context.tsx"
import { isOver, runs, useRun } from "../app/runs.ts"
import type { CallState } from "../app/runs.ts"
import { withLines } from "../ui/log-lines.ts"
import { steadyNow } from "../ui/steady-now.ts"
import { toEntry } from "./history/store.ts"
import { history } from "./history/use-history.ts"
import { watchCall } from "./watch-call.ts"
import type { CallWatch } from "./watch-call.ts"

/** A deadline, and the wanted paths of the result. */
export type RunOptions = Pick<CallOptions, "timeoutMs" | "select">

/** Most calls are over before. */
const DELAY_MS = 400

/** Calls an operation, one call at a time. A call goes on while other views are open. */
export function useCall(spec: OperationSpec): CallState & {
  readonly run: (input: unknown, options?: RunOptions) => void
  readonly cancel: () => void
} {
  const hub = useHub()
  const { isAdmin } = useHubInfo()
  const last = useRun(idOf(spec))
  const run = useCallback(
    (input: unknown, options: RunOptions = {}) => startCall({ hub, spec, isAdmin }, input, options),
    [hub, isAdmin, spec],
  )
  const cancel = useCallback(() => last?.stop(), [last])
  return { ...(last?.kind === "call" ? last.state : NOTHING), run, cancel }
}

const NOTHING: CallState = {
  isRunning: false,
  startedAt: 0,
  endedAt: undefined,
  outcome: undefined,
  previous: undefined,
  questions: [],
  calls: new Map(),
  log: [],
}

function startCall(
  { hub, spec, isAdmin }: { hub: HubClient; spec: OperationSpec; isAdmin: boolean },
  input: unknown,
  options: RunOptions,
): void {
  const operationId = idOf(spec)
  const before = runs.of(operationId)
  if (before !== undefined && !isOver(before)) return
  const controller = new AbortController()
  const { signal } = controller
  const startedAt = steadyNow()
  const previous = before?.kind === "call" ? before.state.outcome : undefined
  let state: CallState = { ...NOTHING, isRunning: true, startedAt, previous }
  const stop = (): void => controller.abort()
  const put = (): void => runs.put({ operationId, kind: "call", state, startedAt, stop })
  const setState = (change: (state: CallState) => CallState): void => {
    // Signing out forgets it, and the next call replaces it.
    if (runs.of(operationId)?.stop !== stop) return
    state = change(state)
    put()
  }
  put()
  // Operations of HTTP APIs neither report progress nor ask, but rules may ask about them.
  const isLive = spec._meta?.["openapi"] === undefined
  const isLogged = spec._meta?.["mcp"] !== undefined
  const watch =
    isAdmin && isLive
      ? watchCall(hub, isLogged ? 0 : DELAY_MS, (events) => {
          setState((now) => withEvents(now, events))
        })
      : undefined
  const live = liveCall(spec, setState, watch)
  const call = async (): Promise<void> => {
    // What is logged before somebody reads it is lost.
    if (isLogged) await watch?.opened
    const asks = { live, onlyAsks: !isLive }
    const outcome = await hub.call(operationId, input, { ...options, ...asks, signal })
    // To weigh it and to draw it take long, each.
    if (isLarge(outcome)) await pause(0)
    watch?.ended()
    const endedAt = steadyNow()
    const ended = { startedAt, endedAt, outcome, previous }
    setState(({ isPlain, log }) => ({ ...NOTHING, ...ended, isPlain, log }))
    if (runs.of(operationId)?.stop !== stop) return
    history.add(toEntry(operationId, spec.inputSchema, input, outcome, Date.now()))
  }
  void call()
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
