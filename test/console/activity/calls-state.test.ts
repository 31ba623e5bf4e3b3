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

describe("calls", () => {
  test("stand still during a pause while what comes is counted", () => {
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

  test("begin with what the hub remembers, also when it is told of twice", () => {
    const state = after(
      { type: "received", traces: [end("b", { at: 2 })], receivedAt: 2010 },
      { type: "remembered", traces: [end("b", { at: 2 }), end("a", { at: 1 })] },
    )

    expect(state.log.calls.size).toBe(2)
    expect(state.log.seen).toBe(2)
  })

  test("find out after a lost connection how calls ended", () => {
    const state = after(
      { type: "received", traces: [start("a"), start("b")], receivedAt: 1000 },
      { type: "disconnected" },
      { type: "remembered", traces: [end("a")] },
    )

    expect([...state.log.calls.values()].map((call) => call.state)).toEqual(["ok", "unknown"])
  })

  test("that are over are cleared, in a pause too", () => {
    const told: CallsAction = {
      type: "received",
      traces: [start("a"), end("b")],
      receivedAt: 1000,
    }

    expect(shownIds(after(told, { type: "clear" }))).toEqual(["a"])
    expect(shownIds(after(told, { type: "pause" }, { type: "clear" }))).toEqual(["a"])
  })

  test("do not change when nothing new is told", () => {
    const state = after({ type: "received", traces: [start("a")], receivedAt: 1000 })

    expect(reduceCalls(state, { type: "remembered", traces: [] })).toBe(state)
  })
})
