import type { CallTrace } from "../api/model.ts"
import { EMPTY_LOG, addTraces, clearEnded, loseTrack } from "./call-log.ts"
import type { CallLog } from "./call-log.ts"

/** The calls, and those that are displayed while the view is paused. */
export interface CallsState {
  readonly log: CallLog
  /** As it was when the pause began. */
  readonly frozen: CallLog | undefined
}

export type CallsAction =
  | {
      readonly type: "received"
      readonly traces: readonly CallTrace[]
      readonly receivedAt: number
    }
  /** The calls that the hub remembers, the newest first. */
  | { readonly type: "remembered"; readonly traces: readonly CallTrace[] }
  | { readonly type: "disconnected" }
  | { readonly type: "pause" }
  | { readonly type: "resume" }
  | { readonly type: "clear" }

/** The initial state. */
export const NO_CALLS: CallsState = { log: EMPTY_LOG, frozen: undefined }

/** The reducer of the calls. */
export function reduceCalls(state: CallsState, action: CallsAction): CallsState {
  switch (action.type) {
    case "received":
      return withLog(state, addTraces(state.log, action))
    case "remembered":
      return withLog(state, addTraces(state.log, { traces: action.traces.toReversed() }))
    case "disconnected":
      return withLog(state, loseTrack(state.log))
    case "pause":
      return { ...state, frozen: state.frozen ?? state.log }
    case "resume":
      return { ...state, frozen: undefined }
    case "clear":
      return { log: clearEnded(state.log), frozen: state.frozen && clearEnded(state.frozen) }
  }
}

/** The calls to show. */
export function visibleLog({ log, frozen }: CallsState): CallLog {
  return frozen ?? log
}

/** Number of starts and ends that arrived during a pause. */
export function waitingCount({ log, frozen }: CallsState): number {
  return frozen === undefined ? 0 : log.seen - frozen.seen
}

function withLog(state: CallsState, log: CallLog): CallsState {
  return log === state.log ? state : { ...state, log }
}
