import type { CallTrace } from "../../../console/src/api/model.ts"

type Ended = Extract<CallTrace, { phase: "end" }>
type Started = Extract<CallTrace, { phase: "start" }>

/** That a call began, as a hub tells it. */
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

/** That a call is over, as a hub tells it. */
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
