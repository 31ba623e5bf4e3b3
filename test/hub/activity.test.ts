import { describe, expect, test } from "vitest"
import type { CallEnded, CallStarted } from "../../src/engine/observe.ts"
import { Activity, HubEvent } from "../../src/hub/activity.ts"
import type { HubStats } from "../../src/hub/activity.ts"
import { CallCounters } from "../../src/hub/activity/counters.ts"
import { ActivityStream } from "../../src/hub/activity/stream.ts"
import type { SourceStatus } from "../../src/hub/model.ts"
import { systemClock } from "../../src/internal/clock.ts"
import { createRegistry, defineOperation } from "../../src/index.ts"
import type { HTTPSink } from "../../src/serve/exchange.ts"
import { Heartbeats } from "../../src/serve/http/sse.ts"
import { silentLogger } from "../../src/testing.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import { operation } from "../support/operations.ts"

function started(requestId: string, more: Partial<CallStarted> = {}): CallStarted {
  return {
    phase: "start",
    requestId,
    parentRequestId: undefined,
    operationId: "a.b",
    type: "query",
    at: 0,
    identity: undefined,
    ...more,
  }
}

function ended(requestId: string, more: Partial<CallEnded> = {}): CallEnded {
  return {
    ...started(requestId),
    phase: "end",
    durationMs: 1,
    outcome: "ok",
    code: undefined,
    error: undefined,
    source: "local",
    items: 0,
    ...more,
  }
}

function countersAt(time: number): { clock: VirtualClock; counters: CallCounters } {
  const clock = new VirtualClock()
  clock.time = time
  return { clock, counters: new CallCounters(clock) }
}

/** One call from its beginning to its end. */
function count(counters: CallCounters, id: string, more: Partial<CallEnded> = {}): void {
  const { at = 0, type = "query" } = more
  counters.add(started(id, { at, type }))
  counters.add(ended(id, more))
}

describe("CallCounters", () => {
  test("are zero when nothing happened", () => {
    const { counters } = countersAt(5000)
    expect(counters.stats()).toEqual({
      startedAt: 5000,
      calls: 0,
      running: 0,
      errors: {},
      callsPerSecond: 0,
      latencyMs: { p50: 0, p90: 0, p99: 0 },
      history: Array.from({ length: 60 }, () => 0),
      recent: [],
    })
  })

  test("track running calls, also with duplicate request ids", () => {
    const { counters } = countersAt(0)
    counters.add(started("one"))
    counters.add(started("one"))
    counters.add(started("two", { parentRequestId: "one" }))
    expect(counters.stats()).toMatchObject({ calls: 3, running: 3 })
    counters.add(ended("one"))
    expect(counters.stats().running).toBe(2)
    expect(counters.running(10).map(({ requestId }) => requestId)).toEqual(["one", "two"])
    counters.add(ended("one"))
    counters.add(ended("one"))
    counters.add(ended("never begun here"))
    expect(counters.stats()).toMatchObject({ calls: 3, running: 1 })
    expect(counters.stats().recent).toHaveLength(2)
  })

  test("count a failure once that passes through the calls around it", () => {
    const { counters } = countersAt(0)
    const failed = { outcome: "error", code: "SOLD_OUT" } as const
    for (const [id, parentRequestId] of [["a"], ["b", "a"], ["c", "b"]] as const) {
      counters.add(started(id, { parentRequestId }))
    }
    counters.add(ended("c", { ...failed, parentRequestId: "b" }))
    counters.add(ended("b", { ...failed, parentRequestId: "a" }))
    counters.add(ended("a", failed))
    expect(counters.stats().errors).toEqual({ SOLD_OUT: 1 })
    // One that was caught counts, and so does another error of the call around it.
    counters.add(started("d"))
    counters.add(started("e", { parentRequestId: "d" }))
    counters.add(ended("e", { ...failed, parentRequestId: "d" }))
    counters.add(ended("d", { outcome: "error", code: "CONFLICT" }))
    expect(counters.stats().errors).toEqual({ SOLD_OUT: 2, CONFLICT: 1 })
  })

  test("count errors by code, without cancelled calls", () => {
    const { counters } = countersAt(0)
    count(counters, "1", { outcome: "error", code: "TIMEOUT" })
    count(counters, "2", { outcome: "error", code: "__proto__" })
    count(counters, "3", { outcome: "error", code: undefined })
    count(counters, "4", { outcome: "aborted", code: "ABORTED" })
    const { errors } = JSON.parse(JSON.stringify(counters.stats())) as HubStats
    expect(Object.entries(errors)).toEqual([
      ["TIMEOUT", 1],
      ["__proto__", 1],
      ["UNKNOWN_ERROR", 1],
    ])
  })

  test("keep a bounded number of everything", () => {
    const { counters } = countersAt(0)
    for (let index = 0; index < 12_000; index++) {
      count(counters, `${index}`, { outcome: "error", code: `E${index}`.repeat(50) })
    }
    for (let index = 0; index < 12_000; index++) counters.add(started(`run ${index}`))
    const stats = counters.stats()
    expect(stats).toMatchObject({ calls: 24_000, running: 12_000 })
    expect(stats.recent.map(({ requestId }) => requestId).slice(0, 2)).toEqual(["11999", "11998"])
    expect(stats.recent).toHaveLength(200)
    expect(Object.keys(stats.errors)).toHaveLength(101)
    expect(stats.errors["OTHER"]).toBe(11_900)
    expect(counters.running(20_000)).toHaveLength(10_000)
    for (let index = 0; index < 12_000; index++) counters.add(ended(`run ${index}`))
    expect(counters.stats().running).toBe(0)
    expect(counters.running(20_000)).toEqual([])
  })

  test("compute percentiles of the last minute, without subscriptions", () => {
    const { counters, clock } = countersAt(0)
    for (let index = 1; index <= 100; index++) count(counters, "x", { durationMs: index })
    count(counters, "s", { type: "subscription", durationMs: 90_000 })
    count(counters, "a", { outcome: "aborted", durationMs: 80_000 })
    expect(counters.stats().latencyMs).toEqual({ p50: 50, p90: 90, p99: 99 })
    clock.time = 59_000
    count(counters, "late", { durationMs: 7 })
    clock.time = 61_000
    expect(counters.stats().latencyMs).toEqual({ p50: 7, p90: 7, p99: 7 })
    clock.time = 200_000
    expect(counters.stats().latencyMs).toEqual({ p50: 0, p90: 0, p99: 0 })
  })

  test("report calls per second, and a rate over the time since the start", () => {
    const { counters, clock } = countersAt(10_000)
    for (const at of [10_000, 10_999, 12_500]) {
      clock.time = at
      counters.add(started(`${at}`))
    }
    clock.time = 13_000
    expect(counters.stats().history.slice(-4)).toEqual([2, 0, 1, 0])
    expect(counters.stats().callsPerSecond).toBe(1)
    clock.time = 70_500
    expect(counters.stats().history).toEqual([0, 1, ...Array.from({ length: 58 }, () => 0)])
    expect(counters.stats().callsPerSecond).toBe(0.02)
    clock.time = 1_000_000
    expect(counters.stats().callsPerSecond).toBe(0)
  })

  test("do not depend on the date, which may be set", () => {
    const { counters } = countersAt(100_000)
    counters.add(started("1", { at: 100_000 }))
    counters.add(started("2", { at: -5_000_000 }))
    counters.add(ended("2", { at: -5_000_000, durationMs: 3 }))
    expect(counters.stats().history.at(-1)).toBe(2)
    expect(counters.stats().callsPerSecond).toBe(2)
    expect(counters.stats().latencyMs.p50).toBe(3)
  })

  test("survive a clock that goes back, by a little or by years", () => {
    const { counters, clock } = countersAt(100_000)
    counters.add(started("1"))
    clock.time = 98_000
    counters.add(started("2"))
    clock.time = 99_000
    expect(counters.stats().history.at(-1)).toBe(2)
    clock.time = -5_000_000
    counters.add(started("3"))
    expect(counters.stats().history.at(-1)).toBe(1)
    expect(counters.stats().callsPerSecond).toBe(1)
  })
})

const STATUS: SourceStatus = {
  name: "a",
  kind: "scan",
  namespace: "a",
  origin: "./a",
  state: "ready",
  operations: 1,
  attempts: 0,
}

describe("a reader of hub activity", () => {
  test("loses the oldest events when it is slow, and receives how many", async () => {
    const clock = new VirtualClock()
    const registry = createRegistry([], { logger: silentLogger })
    const activity = new Activity({ registry, sources: [], onStatus: () => () => {} }, clock)
    const heartbeats = new Heartbeats(clock, 15_000)
    const stream = new ActivityStream({ activity, clock, heartbeats, requestId: "r1" })
    const texts: string[] = []
    const sink = {
      isGone: false,
      write: (text: string) => texts.push(text) > 0,
      onGone: () => () => {},
    }
    const running = stream.run(sink as unknown as HTTPSink)
    for (let index = 0; index < 1234; index++) {
      stream.push(new HubEvent("call", started(`${index}`)))
    }
    await clock.advance(100)
    const events = texts.join("").split("\n\n").slice(0, -1)
    expect(events).toHaveLength(501)
    expect(events[0]).toBe('event: lost\ndata: {"events":734}')
    expect(events.at(-1)).toContain('"requestId":"1233"')
    activity.close()
    await running
    expect(texts.at(-1)).toBe("event: end\ndata: {}\n\n")
  })

  test("gets each event on one line, whatever its data", () => {
    const { text } = new HubEvent("call", started("a\n\nevent: end\r\u2028", { operationId: "é" }))
    expect(text).toMatch(/^event: call\ndata: \{[^\r\n]*\}\n\n$/)
  })

  test("sees no error messages, neither in events nor in counters", async () => {
    const registry = createRegistry(
      [
        operation("a.b", {
          handler: () => {
            throw new Error("canary")
          },
        }),
      ],
      { logger: silentLogger },
    )
    const activity = new Activity({ registry, sources: [], onStatus: () => () => {} }, systemClock)
    const events: HubEvent[] = []
    activity.listen({ push: (event) => void events.push(event), end() {} })
    await registry.execute("a.b", {}).catch(() => undefined)
    const texts = [...events.map(({ text }) => text), JSON.stringify(activity.stats)]
    expect(texts).toHaveLength(3)
    expect(texts.at(-1)).toContain("EXECUTION_ERROR")
    expect(texts.join()).not.toContain("canary")
    activity.close()
  })

  test("is notified of calls, sources and the end, once each", async () => {
    const registry = createRegistry(
      [
        defineOperation({
          namespace: "a",
          name: "secret",
          type: "query",
          description: "",
          inputSchema: { type: "object" },
          outputSchema: {},
          accessControl: { requiredScopes: [] },
          handler: () => "the result",
        }),
      ],
      { logger: silentLogger },
    )
    const statuses = new Set<(status: SourceStatus) => void>()
    const hub = {
      registry: registry as never,
      sources: [STATUS],
      onStatus(listener: (status: SourceStatus) => void) {
        statuses.add(listener)
        return () => void statuses.delete(listener)
      },
    }
    const activity = new Activity(hub, new VirtualClock())
    const events: HubEvent[] = []
    let ends = 0
    activity.listen({ push: (event) => void events.push(event), end: () => void ends++ })
    expect(activity.currentEvents().map(({ kind }) => kind)).toEqual(["source"])
    await registry.execute("a.secret", { password: "hunter2" })
    for (const tell of statuses) tell(STATUS)
    expect(events.map(({ kind }) => kind)).toEqual(["call", "call", "source"])
    const texts = events.map(({ text }) => text).join("")
    expect(texts).not.toMatch(/hunter2|the result/)

    activity.close()
    activity.close()
    await registry.execute("a.secret", {})
    expect([events.length, ends]).toEqual([3, 1])
    expect(statuses.size).toBe(0)
    expect(activity.stats.calls).toBe(1)
    let lateEnds = 0
    activity.listen({ push: (event) => void events.push(event), end: () => void lateEnds++ })
    expect([events.length, lateEnds]).toEqual([3, 1])
  })
})
