import { describe, expect, test } from "vitest"
import { toForest } from "../../../console/src/activity/call-forest.ts"
import { addTraces, EMPTY_LOG } from "../../../console/src/activity/call-log.ts"
import { chartsOf } from "../../../console/src/activity/load-charts.ts"
import {
  findTimeline,
  toWaterfall,
  traceAddress,
} from "../../../console/src/activity/waterfall-rows.ts"
import type { HubLoad, TimelineCall, TimelinePart } from "../../../console/src/api/model.ts"
import { end } from "./traces.ts"

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"

function timelineCall(requestId: string, at: number, parts: TimelinePart[] = []): TimelineCall {
  const about = { requestId, at, operationId: "task.list", type: "query", via: "http" } as const
  return { ...about, items: 0, parts, dropped: 0 }
}

const part = (name: string, at: number): TimelinePart => ({ kind: "log", name, at, durationMs: 0 })

describe("toWaterfall", () => {
  const traces = [
    end("r", { at: 1000, durationMs: 90 }),
    end("c", { at: 1020, parentRequestId: "r" }),
    end("d", { at: 1050, parentRequestId: "r" }),
  ]
  const { calls } = addTraces(EMPTY_LOG, { traces })
  const forest = toForest(calls.values())
  const [root] = forest.roots

  test("places what happened in a call among the calls that it made", () => {
    const timeline = [
      timelineCall("r", 1001, [part("last", 60), part("first", 3)]),
      timelineCall("c", 1020, [part("inside", 2)]),
    ]
    const rows = toWaterfall(forest, root as never, timeline)
    expect(rows.map(({ call, level, part: one }) => [level, one?.name ?? call.requestId])).toEqual([
      [0, "r"],
      [1, "first"],
      [1, "c"],
      [2, "inside"],
      [1, "d"],
      [1, "last"],
    ])
    expect(new Set(rows.map(({ key }) => key)).size).toBe(6)
  })

  test("has the calls alone where the hub remembers nothing else, however deep they are", () => {
    const deep = Array.from({ length: 1500 }, (_, at) =>
      end(`r${at}`, { at, ...(at > 0 && { parentRequestId: `r${at - 1}` }) }),
    )
    const many = toForest(addTraces(EMPTY_LOG, { traces: deep }).calls.values())
    expect(toWaterfall(many, many.roots[0] as never, [])).toHaveLength(1500)
  })

  test("takes the timeline of the call that was meant, of several with its request id", () => {
    const timelines = [
      { calls: [timelineCall("r", 5000)], dropped: 0 },
      { calls: [timelineCall("x", 900), timelineCall("r", 1002)], dropped: 0 },
    ]
    expect(findTimeline(timelines, root as never)?.[0]?.requestId).toBe("x")
    expect(findTimeline([], root as never)).toBeUndefined()
  })
})

describe("traceAddress", () => {
  test("puts the id of the trace into the address", () => {
    const link = "https://traces.example/{traceId}?again={traceId}"
    expect(traceAddress(link, TRACE)).toBe(`https://traces.example/${TRACE}?again=${TRACE}`)
  })

  test.each([
    ["javascript:alert({traceId})", TRACE],
    ["data:text/html,{traceId}", TRACE],
    ["/relative/{traceId}", TRACE],
    ["https://traces.example/{traceId}", '"><script>'],
    ["https://traces.example/{traceId}", undefined],
    [undefined, TRACE],
  ])("is nothing for %j and %j", (link, traceId) => {
    expect(traceAddress(link, traceId)).toBeUndefined()
  })
})

describe("chartsOf", () => {
  const none = { calls: 0, errors: 0, latencyMs: { p50: 0, p90: 0, p99: 0 } }
  const load = (more: Partial<HubLoad>): HubLoad => ({
    ...none,
    minutes: [],
    operations: [],
    sources: [],
    ...more,
  })

  test("shows rates, shares of failures and percentiles, and gaps where there were no calls", () => {
    const busy = { calls: 120, errors: 30, latencyMs: { p50: 1, p90: 20, p99: 300 } }
    const [rate, failed, duration] = chartsOf(load({ ...busy, minutes: [none, busy] }))
    expect(rate?.series.map(({ values }) => values)).toEqual([[0, 2]])
    expect(failed?.series.map(({ values }) => values)).toEqual([[undefined, 25]])
    expect(duration?.series.map(({ name, values }) => [name, ...values])).toEqual([
      ["p50", undefined, 1],
      ["p90", undefined, 20],
      ["p99", undefined, 300],
    ])
    expect([rate?.words, failed?.words, duration?.words]).toEqual([
      "120 calls in the last hour, at most 2.0 a second.",
      "30 of 120 calls and nested calls failed, 25 %.",
      "p50 1 ms, p90 20 ms, p99 300 ms.",
    ])
  })

  test("has words for an hour without calls", () => {
    expect(chartsOf(load({})).map(({ words }) => words)).toEqual([
      "0 calls in the last hour, at most 0 a second.",
      "0 of 0 calls and nested calls failed, 0 %.",
      "No durations.",
    ])
  })
})
