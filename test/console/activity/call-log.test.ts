import { describe, expect, test } from "vitest"
import type { CallTrace } from "../../../console/src/api/model.ts"
import {
  EMPTY_LOG,
  MAX_CALLS,
  addTraces,
  clearEnded,
  durationAt,
  loseTrack,
} from "../../../console/src/activity/call-log.ts"
import type { CallLog } from "../../../console/src/activity/call-log.ts"
import { end, start } from "./traces.ts"

function logOf(...traces: readonly CallTrace[]): CallLog {
  return addTraces(EMPTY_LOG, { traces })
}

function states(log: CallLog): string[] {
  return [...log.calls.values()].map(({ requestId, state }) => `${requestId} ${state}`)
}

describe("addTraces", () => {
  test("joins the start and the end of a call", () => {
    const log = logOf(start("a"), end("a", { durationMs: 12, source: "http" }))

    expect([...log.calls.values()]).toMatchObject([
      { requestId: "a", state: "ok", durationMs: 12, source: "http" },
    ])
    expect(log.seen).toBe(2)
  })

  test("accepts an end without its start, which has all fields", () => {
    const log = logOf(end("a", { outcome: "error", code: "TIMEOUT", identity: "ada" }))

    expect([...log.calls.values()]).toMatchObject([
      { state: "error", code: "TIMEOUT", identity: "ada" },
    ])
  })

  test("keeps a call ended when its start arrives after its end", () => {
    expect(states(logOf(end("a"), start("a")))).toEqual(["a ok"])
  })

  test("changes nothing when a trace arrives twice", () => {
    const traces = [start("a"), end("a"), start("b")]
    const once = logOf(...traces)

    expect(addTraces(once, { traces })).toBe(once)
    expect(addTraces(once, { traces: [] })).toBe(once)
  })

  test("keeps calls apart that use the same id for a request", () => {
    const log = logOf(
      start("a", { at: 1 }),
      end("a", { at: 1 }),
      start("a", { at: 2 }),
      start("a", { at: 2, operationId: "other.one" }),
    )

    expect(states(log)).toEqual(["a ok", "a running", "a running"])
  })

  test("accepts ids with any characters", () => {
    const log = logOf(start("__proto__"), start('","'), start("😀"), start(""))

    expect(log.calls.size).toBe(4)
  })
})

describe("the limit of the call log", () => {
  test("drops the oldest ended calls first, with all calls below them", () => {
    const traces = Array.from({ length: 5000 }, (_, index) => [
      start(`r${index}`, { at: index * 10 }),
      start(`c${index}`, { at: index * 10 + 1, parentRequestId: `r${index}` }),
      end(`c${index}`, { at: index * 10 + 1, parentRequestId: `r${index}` }),
      end(`r${index}`, { at: index * 10 }),
    ]).flat()
    const log = logOf(...traces)

    expect(log.calls.size).toBe(MAX_CALLS)
    expect(log.dropped).toBe(10_000 - MAX_CALLS)
    const kept = new Set([...log.calls.values()].map(({ requestId }) => requestId))
    for (const id of kept) expect(kept.has(id.replace("c", "r"))).toBe(true)
    expect(kept.has("r4999")).toBe(true)
  })

  test("keeps running calls as long as there is room", () => {
    const running = start("old", { at: 0 })
    const later = Array.from({ length: 50 }, (_, index) => end(`r${index}`, { at: index + 1 }))
    const log = addTraces(EMPTY_LOG, { traces: [running, ...later] }, 10)

    expect(log.calls.size).toBe(10)
    expect(states(log)).toContain("old running")
  })

  test("holds even if all calls run, or are in one tree", () => {
    const running = Array.from({ length: 50 }, (_, index) => start(`r${index}`, { at: index }))
    const chain = running.map((trace, index) => ({ ...trace, parentRequestId: `r${index - 1}` }))

    expect(addTraces(EMPTY_LOG, { traces: running }, 10).calls.size).toBe(10)
    expect(addTraces(EMPTY_LOG, { traces: chain }, 10).calls.size).toBe(10)
  })
})

describe("the call log, after a lost connection", () => {
  test("sets running calls to unknown, until their end arrives", () => {
    const lost = loseTrack(logOf(start("a"), start("b"), end("c")))
    expect(states(lost)).toEqual(["a unknown", "b unknown", "c ok"])

    const after = addTraces(lost, { traces: [end("a", { outcome: "error", code: "X" })] })
    expect(states(after)).toEqual(["a error", "b unknown", "c ok"])
  })

  test("sets a call to running again when its start arrives again", () => {
    expect(states(addTraces(loseTrack(logOf(start("a"))), { traces: [start("a")] }))).toEqual([
      "a running",
    ])
  })
})

test("clearEnded keeps running calls", () => {
  expect(states(clearEnded(logOf(start("a"), end("b"), start("c"), end("c"))))).toEqual([
    "a running",
  ])
})

describe("durationAt", () => {
  const HUB = 1_000_000

  test.each([0, 3_600_000, -3_600_000])("does not mind clocks that are %d ms apart", (apart) => {
    const log = addTraces(EMPTY_LOG, {
      traces: [start("a", { at: HUB }), end("b", { at: HUB - 5 })],
      receivedAt: HUB + apart,
    })
    const [call] = log.calls.values()

    expect(call && durationAt(call, HUB + apart + 700, log)).toBe(700)
  })

  test("counts from the start of a call that began long before the page was opened", () => {
    const log = addTraces(EMPTY_LOG, {
      traces: [start("a", { at: HUB - 600_000 })],
      receivedAt: HUB,
    })
    const [call] = log.calls.values()

    expect(call && durationAt(call, HUB, log)).toBe(600_000)
  })

  test("ignores remembered traces when it estimates the clocks", () => {
    const live = addTraces(EMPTY_LOG, {
      traces: [start("a", { at: HUB })],
      receivedAt: HUB,
    })
    const log = addTraces(live, { traces: [end("old", { at: HUB - 900_000 })] })

    expect(log.skewMs).toBe(0)
  })

  test("is never negative, and unknown if the end is", () => {
    const log = addTraces(EMPTY_LOG, {
      traces: [start("a", { at: HUB }), start("b", { at: HUB + 500 })],
      receivedAt: HUB + 500,
    })
    const [, late] = log.calls.values()
    const [lost] = loseTrack(log).calls.values()

    expect(late && durationAt(late, HUB, log)).toBe(0)
    expect(lost && durationAt(lost, HUB, log)).toBeUndefined()
  })
})
