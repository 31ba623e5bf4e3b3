import { describe, expect, test } from "vitest"
import {
  NO_CALLS,
  reduceCalls,
  visibleLog,
  waitingCount,
} from "../../../console/src/activity/calls-state.ts"
import type { CallsAction, CallsState } from "../../../console/src/activity/calls-state.ts"
import { end, start } from "./traces.ts"

function after(...actions: readonly CallsAction[]): CallsState {
  return actions.reduce(reduceCalls, NO_CALLS)
}

function shownIds(state: CallsState): string[] {
  return [...visibleLog(state).calls.values()].map(({ requestId }) => requestId)
}

describe("the state of calls", () => {
  test("does not change during a pause, and counts new traces", () => {
    const paused = after(
      { type: "received", traces: [start("a")], receivedAt: 1000 },
      { type: "pause" },
      { type: "pause" },
      { type: "received", traces: [end("a"), start("b")], receivedAt: 1005 },
    )

    expect(shownIds(paused)).toEqual(["a"])
    expect([...visibleLog(paused).calls.values()][0]?.state).toBe("running")
    expect(waitingCount(paused)).toBe(2)

    const resumed = reduceCalls(paused, { type: "resume" })
    expect(shownIds(resumed)).toEqual(["a", "b"])
    expect(waitingCount(resumed)).toBe(0)
  })

  test("begins with the calls that the hub remembers, also if they arrive twice", () => {
    const state = after(
      { type: "received", traces: [end("b", { at: 2 })], receivedAt: 2010 },
      { type: "remembered", traces: [end("b", { at: 2 }), end("a", { at: 1 })] },
    )

    expect(state.log.calls.size).toBe(2)
    expect(state.log.seen).toBe(2)
  })

  test("has the ends of calls after a lost connection", () => {
    const state = after(
      { type: "received", traces: [start("a"), start("b")], receivedAt: 1000 },
      { type: "disconnected" },
      { type: "remembered", traces: [end("a")] },
    )

    expect([...state.log.calls.values()].map((call) => call.state)).toEqual(["ok", "unknown"])
  })

  test("loses ended calls on clear, also during a pause", () => {
    const tracesAction: CallsAction = {
      type: "received",
      traces: [start("a"), end("b")],
      receivedAt: 1000,
    }

    expect(shownIds(after(tracesAction, { type: "clear" }))).toEqual(["a"])
    expect(shownIds(after(tracesAction, { type: "pause" }, { type: "clear" }))).toEqual(["a"])
  })

  test("does not change when nothing new arrives", () => {
    const state = after({ type: "received", traces: [start("a")], receivedAt: 1000 })

    expect(reduceCalls(state, { type: "remembered", traces: [] })).toBe(state)
  })
})
