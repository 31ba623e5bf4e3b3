import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { CallEnded, CallTrace } from "../../src/engine/observe.ts"
import { CallSeries } from "../../src/hub/activity/call-series.ts"
import { LastHour } from "../../src/hub/activity/last-hour.ts"
import { prometheusText, type Counted } from "../../src/hub/prometheus.ts"
import { parseMetrics } from "../support/prometheus.ts"

const HEAD = {
  requestId: "r",
  parentRequestId: undefined,
  type: "query",
  at: 0,
  identity: "somebody",
} as const

function call(operationId: string, more: Partial<CallEnded> = {}): CallTrace[] {
  return [
    { ...HEAD, phase: "start", operationId },
    {
      ...HEAD,
      phase: "end",
      operationId,
      durationMs: 20,
      outcome: "ok",
      code: undefined,
      error: undefined,
      source: "local",
      items: 0,
      ...more,
    },
  ]
}

function seriesOf(traces: readonly CallTrace[], source = "here"): CallSeries {
  const series = new CallSeries()
  for (const trace of traces) series.add(trace, source, 0)
  return series
}

function textOf(series: CallSeries, more: Partial<Counted> = {}): string {
  return prometheusText({
    startedAt: 5000,
    operations: series.operations,
    sources: [],
    policies: { breakers: [], budgets: [], operations: [] },
    ...more,
  })
}

describe("prometheusText", () => {
  test("counts outcomes, durations, running calls and items by operation and source", () => {
    const series = seriesOf([
      ...call("a.b"),
      ...call("a.b", { durationMs: 7000, outcome: "error", code: "TIMEOUT" }),
      ...call("a.b", { durationMs: 99_000, outcome: "aborted" }),
      ...call("a.s", { type: "subscription", items: 3 }),
      { ...HEAD, phase: "start", operationId: "a.b" },
    ])
    const samples = parseMetrics(textOf(series))
    const b = 'operation="a.b",source="here"'
    expect(Object.fromEntries(samples)).toMatchObject({
      operations_start_time_seconds: 5,
      [`operations_calls_total{${b},outcome="ok"}`]: 1,
      [`operations_calls_total{${b},outcome="error",code="TIMEOUT"}`]: 1,
      [`operations_calls_total{${b},outcome="aborted"}`]: 1,
      [`operations_call_active{${b}}`]: 1,
      [`operations_call_duration_seconds_bucket{${b},le="0.01"}`]: 0,
      [`operations_call_duration_seconds_bucket{${b},le="0.025"}`]: 1,
      [`operations_call_duration_seconds_bucket{${b},le="+Inf"}`]: 2,
      [`operations_call_duration_seconds_sum{${b}}`]: 7.02,
      [`operations_call_duration_seconds_count{${b}}`]: 2,
      'operations_stream_items_total{operation="a.s",source="here"}': 3,
    })
  })

  test("shows sources and the state of policies", () => {
    const source = { name: "api", kind: "openapi", operations: 4 } as const
    const breaker = { source: "api", probing: 0, retryAfterMs: 0, lastCode: undefined }
    const samples = parseMetrics(
      textOf(seriesOf([]), {
        sources: [
          { ...source, state: "ready" },
          { ...source, name: "old", state: "lost" },
        ],
        policies: {
          breakers: [{ ...breaker, name: 'source "api"', state: "half-open" }],
          budgets: [{ source: "api", left: 1, denied: 7 }],
          operations: [
            {
              operationId: "api.get",
              cache: { entries: 1, bytes: 9, hits: 5, stale: 4, joined: 3, misses: 2 },
              concurrency: { running: 1, waiting: 6, abandoned: 0 },
              rateLimit: { refused: 8 },
            },
          ],
        },
      }),
    )
    expect(Object.fromEntries(samples)).toEqual({
      operations_start_time_seconds: 5,
      'operations_source_ready{source="api",kind="openapi"}': 1,
      'operations_source_ready{source="old",kind="openapi"}': 0,
      'operations_source_operations{source="api",kind="openapi"}': 4,
      'operations_source_operations{source="old",kind="openapi"}': 4,
      'operations_breaker_state{breaker="source \\"api\\""}': 1,
      'operations_retry_denied_total{source="api"}': 7,
      'operations_cache_requests_total{operation="api.get",result="hit"}': 5,
      'operations_cache_requests_total{operation="api.get",result="stale"}': 4,
      'operations_cache_requests_total{operation="api.get",result="joined"}': 3,
      'operations_cache_requests_total{operation="api.get",result="miss"}': 2,
      'operations_queue_size{operation="api.get"}': 6,
      'operations_limit_refused_total{operation="api.get",limiter="rate"}': 8,
    })
  })

  test("is accepted by a parser whatever ids, codes and sources contain", () => {
    const text = fc.oneof(fc.string(), fc.constantFrom("__proto__", "\\", '"', "\n", 'a\\\n"}'))
    fc.assert(
      fc.property(text, text, text, (operation, code, source) => {
        const traces = call(operation, { outcome: "error", code })
        const samples = parseMetrics(textOf(seriesOf(traces, source)))
        expect(
          [...samples.keys()].filter((key) => key.startsWith("operations_calls")),
        ).toHaveLength(1)
      }),
    )
  })

  test("never counts down, and contains nothing of callers", () => {
    const series = seriesOf([])
    let before = new Map<string, number>()
    for (let round = 0; round < 20; round++) {
      for (const trace of call("a.b", { durationMs: round * 100 })) series.add(trace, "s", 0)
      const text = textOf(series)
      expect(text).not.toContain("somebody")
      const now = parseMetrics(text)
      for (const [name, value] of before) expect(now.get(name), name).toBeGreaterThanOrEqual(value)
      before = now
    }
  })

  test("has a bounded number of series, whatever is called and however it fails", () => {
    const series = new CallSeries()
    for (let at = 0; at < 3000; at++) {
      for (const trace of call(`a.o${at}`)) series.add(trace, "s", 0)
      for (const trace of call("a.o0", { outcome: "error", code: `E${at}` }))
        series.add(trace, "s", 0)
    }
    expect([...series.operations]).toHaveLength(1001)
    expect(series.of("_OTHER")?.outcomes.get("ok")).toBe(2000)
    expect(series.of("a.o0")?.outcomes.size).toBe(22)
    expect(series.of("a.o0")?.outcomes.get("_OTHER")).toBe(2980)
  })
})

describe("LastHour", () => {
  const MINUTE = 60_000

  test("counts by minute, and forgets after an hour", () => {
    const hour = new LastHour()
    hour.add(0, true, 10)
    hour.add(59 * MINUTE, false, 10)
    expect(hour.stats(59 * MINUTE)).toMatchObject({ calls: 2, errors: 1 })
    const { minutes } = hour.stats(59 * MINUTE)
    expect(minutes.map(({ calls }) => calls)).toEqual([1, ...Array(58).fill(0), 1])
    expect(hour.stats(60 * MINUTE)).toMatchObject({ calls: 1, errors: 0 })
    expect(hour.stats(1000 * MINUTE)).toMatchObject({ calls: 0, latencyMs: { p50: 0, p99: 0 } })
  })

  test("ignores a clock that steps back, and durations that say nothing", () => {
    const hour = new LastHour()
    hour.add(90 * MINUTE, false, undefined)
    hour.add(3 * MINUTE, false, Number.NaN)
    hour.add(Number.NEGATIVE_INFINITY, false, -1)
    expect(hour.stats(90 * MINUTE)).toMatchObject({ calls: 3, errors: 0 })
  })

  test("estimates percentiles at most a fifth away", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.1, max: 60_000, noNaN: true }), { minLength: 1 }),
        (all) => {
          const hour = new LastHour()
          for (const duration of all) hour.add(0, false, duration)
          const sorted = all.toSorted((left, right) => left - right)
          const exact = (part: number): number => sorted[Math.ceil(all.length * part) - 1] as number
          const { p50, p90, p99 } = hour.stats(0).latencyMs
          for (const [found, part] of [
            [p50, 0.5],
            [p90, 0.9],
            [p99, 0.99],
          ] as const) {
            expect(Math.abs(found / exact(part) - 1)).toBeLessThan(0.2)
          }
        },
      ),
    )
  })
})
