import type { CallTrace } from "../../../console/src/api/model.ts"

type Ended = Extract<CallTrace, { phase: "end" }>
type Started = Extract<CallTrace, { phase: "start" }>

/** The trace of a call that has started, as a hub sends it. */
export function start(requestId: string, more: Partial<Started> = {}): Started {
  return {
    phase: "start",
    requestId,
    parentRequestId: undefined,
    operationId: "task.list",
    type: "query",
    at: 1000,
    identity: undefined,
    ...more,
  }
}

/** The trace of a call that has ended, as a hub sends it. */
export function end(requestId: string, more: Partial<Ended> = {}): Ended {
  return {
    ...start(requestId),
    phase: "end",
    durationMs: 5,
    outcome: "ok",
    code: undefined,
    error: undefined,
    source: "local",
    items: 0,
    ...more,
  }
}
