import { describe, expect, test } from "vitest"
import type { CallEnded } from "../../../src/engine/observe.ts"
import { SourceCounters } from "../../../src/hub/activity/counters.ts"

function ended(more: Partial<CallEnded> = {}): CallEnded {
  return {
    phase: "end",
    requestId: "r",
    parentRequestId: undefined,
    operationId: "a.b",
    type: "query",
    at: 0,
    identity: undefined,
    durationMs: 1,
    outcome: "ok",
    code: undefined,
    error: undefined,
    source: "local",
    items: 0,
    ...more,
  }
}

describe("SourceCounters", () => {
  test("is zero for a source without calls", () => {
    expect(new SourceCounters().of("__proto__")).toEqual({
      calls: 0,
      errors: 0,
      errorRate: 0,
      latencyMs: { p50: 0, p90: 0, p99: 0 },
    })
  })

  test("counts calls and errors of each source, without cancelled ones", () => {
    const counters = new SourceCounters()
    for (let at = 1; at <= 8; at++) counters.add("a", ended({ durationMs: at }))
    counters.add("a", ended({ outcome: "error", durationMs: 20 }))
    counters.add("a", ended({ type: "subscription", outcome: "error", durationMs: 90_000 }))
    counters.add("a", ended({ outcome: "aborted", durationMs: 90_000 }))
    counters.add("b", ended({ outcome: "error" }))
    expect(counters.of("a")).toEqual({
      calls: 10,
      errors: 2,
      errorRate: 0.2,
      latencyMs: { p50: 5, p90: 20, p99: 20 },
    })
    expect(counters.of("b")).toMatchObject({ calls: 1, errorRate: 1 })
  })

  test("takes the error rate and latencies from the last 200 calls", () => {
    const counters = new SourceCounters()
    for (let at = 0; at < 1000; at++)
      counters.add("a", ended({ outcome: "error", durationMs: 500 }))
    for (let at = 0; at < 200; at++) counters.add("a", ended())
    expect(counters.of("a")).toMatchObject({
      calls: 1200,
      errors: 1000,
      errorRate: 0,
      latencyMs: { p99: 1 },
    })
  })

  test("drops the oldest of thousands of sources", () => {
    const counters = new SourceCounters()
    for (let at = 0; at < 1001; at++) counters.add(`s${at}`, ended())
    expect(counters.of("s0").calls).toBe(0)
    expect(counters.of("s1").calls).toBe(1)
  })
})
