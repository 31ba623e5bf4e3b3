import { describe, expect, test } from "vitest"
import type { CallRequestedEvent, CallRespondedEvent } from "../../../src/index.ts"
import { AcceptLatency } from "../../../src/transport/bus/caller/state.ts"
import { Breaker } from "../../../src/transport/bus/caller/breaker.ts"
import { mergeAnswers } from "../../../src/transport/bus/caller/gather.ts"
import { Offers } from "../../../src/transport/bus/caller/worker-book.ts"
import { StreamOrder } from "../../../src/transport/bus/caller/stream-order.ts"
import { compareVersions } from "../../../src/transport/bus/wire/versions.ts"
import { Warnings } from "../../../src/transport/bus/warnings.ts"
import { silentLogger } from "../../../src/testing.ts"
import { VirtualClock } from "../../support/virtual-clock.ts"
import { envelope } from "./caller-harness.ts"

describe("AcceptLatency", () => {
  test("rises soon, falls slowly, and is never impatient", () => {
    const latency = new AcceptLatency(500)
    expect(latency.acceptTimeout(0)).toBe(500)
    latency.observe(1000)
    expect(latency.acceptTimeout(0)).toBe(1000)
    latency.observe(0)
    expect(latency.acceptTimeout(0)).toBe(950)
    for (let times = 0; times < 200; times++) latency.observe(1)
    expect(latency.acceptTimeout(0)).toBe(500)
  })

  test("gives more time to what was repeated more than once", () => {
    const latency = new AcceptLatency(100)
    expect([0, 1, 2, 3, 4].map((repeats) => latency.acceptTimeout(repeats))).toEqual([
      ...[100, 100, 200, 400, 800],
    ])
  })
})

describe("Breaker", () => {
  test("opens with the third, for ten seconds, and begins anew then", () => {
    const breaker = new Breaker()
    expect(breaker.restOf("a", 0)).toBe(0)
    expect([breaker.strike("a", 0), breaker.strike("a", 2000)]).toEqual([false, false])
    expect(breaker.strike("b", 2000)).toBe(false)
    expect(breaker.strike("a", 4000)).toBe(true)
    expect([breaker.restOf("a", 4000), breaker.restOf("a", 13_999)]).toEqual([10_000, 1])
    expect([breaker.restOf("a", 14_000), breaker.restOf("b", 4000)]).toEqual([0, 0])
    expect(breaker.strike("a", 15_000)).toBe(false)
  })

  test("forgets what is long past", () => {
    const breaker = new Breaker()
    breaker.strike("a", 0)
    breaker.strike("a", 20_000)
    expect(breaker.strike("a", 31_000)).toBe(false)
    expect(breaker.strike("a", 40_000)).toBe(true)
  })
})

describe("StreamOrder", () => {
  const item = (seq: number): CallRespondedEvent => ({
    ...{ type: "call.responded", requestId: "r", output: envelope(seq), seq },
  })

  test("hands on what had come too early, and the end after it", () => {
    const order = new StreamOrder(8)
    const end = { type: "call.completed", requestId: "r", seq: 4 } as const
    expect(order.take(item(3), 3)).toBe(false)
    expect(order.end(end, 4)).toBe(false)
    expect(order.take(item(1), 1)).toBe(true)
    expect(order.next()).toBeUndefined()
    expect(order.take(item(2), 2)).toBe(true)
    expect(order.next()).toMatchObject({ seq: 3 })
    expect(order.next()).toBeUndefined()
    expect(order.hasGap).toBe(true)
    expect(order.take(item(4), 4)).toBe(true)
    expect(order.next()).toBe(end)
    expect(order.hasGap).toBe(false)
  })

  test("is not confused by what comes twice, early or late", () => {
    const order = new StreamOrder(2)
    for (const seq of [2, 2, 3, 4, 5]) expect(order.take(item(seq), seq)).toBe(false)
    expect(order.take(item(1), 1)).toBe(true)
    expect([order.next(), order.next(), order.next()]).toMatchObject([
      { seq: 2 },
      { seq: 3 },
      undefined,
    ])
    expect(order.take(item(2), 2)).toBe(false)
    expect(order.last).toBe(3)
  })

  test("ends at once where nothing is missing", () => {
    const order = new StreamOrder()
    expect(order.end({ type: "call.completed", requestId: "r" }, 0)).toBe(true)
    expect(order.hasGap).toBe(false)
  })
})

describe("Warnings", () => {
  test("are said once, ever more seldom, and are news again after a long silence", async () => {
    const clock = new VirtualClock()
    const lines: unknown[] = []
    const warn = (message: string, fields?: object): void => void lines.push([message, fields])
    const warnings = new Warnings({ ...silentLogger, warn }, clock)
    for (let second = 0; second < 100; second++) {
      warnings.warn("trouble", {})
      clock.time += 1000
    }
    expect(lines).toEqual([
      ["trouble", {}],
      ["trouble", { alsoSince: 9 }],
      ["trouble", { alsoSince: 19 }],
      ["trouble", { alsoSince: 39 }],
    ])
    clock.time += 1_000_000
    warnings.warn("trouble", {})
    warnings.warn("other", { a: 1 })
    clock.time += 10_000
    warnings.warn("trouble", {})
    expect(lines).toHaveLength(7)
  })
})

describe("Offers", () => {
  test("know an operation by its id and by its mark", () => {
    const offers = new Offers()
    const offer = offers.of("task.do")
    expect(offer).toBeDefined()
    expect(offers.of("task.do")).toBe(offer)
    expect(offers.byHash(offer?.operationHash ?? "")).toBe(offer)
    expect(offer?.isIdempotent).toBeUndefined()
  })

  test("are bounded, whatever ids come", () => {
    const offers = new Offers()
    for (let at = 0; at < 120_000; at++) offers.of(`a.x${at}`)
    expect(offers.of("a.x5")).toBeDefined()
  })
})

describe("compareVersions", () => {
  test.each([
    ["1.9.0", "1.10.0", -1],
    ["2.0.0", "1.99.99", 1],
    ["1.0.0", "1.0.0", 0],
    ["1.0", "1.0.0", 0],
    ["2.0.0-beta", "2.0.0", -1],
    ["2.0.0-beta.2", "2.0.0-beta.1", 1],
    ["1.a.0", "1.b.0", -1],
    [undefined, "1.0.0", 1],
  ])("%j against %j is %i", (left, right, order) => {
    expect(Math.sign(compareVersions(left, right))).toBe(order)
    expect(Math.sign(compareVersions(right, left))).toBe(order === 0 ? 0 : -order)
  })
})

describe("mergeAnswers", () => {
  const request = (operationId: string, input: unknown): CallRequestedEvent => ({
    ...{ type: "call.requested", requestId: "r", operationId, input },
  })

  test("lists nothing of nobody", () => {
    expect(mergeAnswers(request("services.list", undefined), [])).toEqual({
      ...{ operations: [], hasMore: false },
    })
    expect(mergeAnswers(request("services.schema", undefined), [])).toEqual({ specs: [], rest: [] })
  })

  test("has more where one of them has, even when its page is empty", () => {
    const answers = [
      { operations: [{ id: "b.x" }], hasMore: true },
      { operations: [{ id: "a.x" }, { id: "c.x" }] },
    ]
    expect(mergeAnswers(request("services.list", {}), answers)).toEqual({
      ...{ operations: [{ id: "a.x" }, { id: "b.x" }], hasMore: true },
    })
  })

  test("is not led astray by ids that are properties of objects", () => {
    const answers = [{ operations: [{ id: "__proto__", version: "1" }, { id: "constructor" }] }]
    expect(mergeAnswers(request("services.list", {}), answers)["operations"]).toHaveLength(2)
    const specs = [{ namespace: "__proto__", name: "x", version: "1" }]
    expect(mergeAnswers(request("services.schema", { ids: [] }), [{ specs }])).toEqual({
      specs,
      rest: [],
    })
  })
})
