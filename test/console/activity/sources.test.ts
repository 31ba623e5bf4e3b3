import { describe, expect, test } from "vitest"
import type { SourceReport, SourceStatus } from "../../../console/src/api/model.ts"
import { describeHistory, errorCounts, formatRate } from "../../../console/src/activity/counters.ts"
import {
  describeCalls,
  describeChanges,
  describeSources,
  failedFirst,
  filterReport,
  untilText,
  withStatuses,
  withStatus,
} from "../../../console/src/activity/source-list.ts"

function source(name: string, more: Partial<SourceStatus> = {}): SourceStatus {
  return {
    name,
    kind: "openapi",
    namespace: name,
    origin: `./${name}.json`,
    state: "ready",
    operations: 3,
    attempts: 0,
    ...more,
  }
}

describe("the list of sources", () => {
  const list = [source("a"), source("b")]

  test("replaces changed sources in place; new ones come last", () => {
    const changed = withStatus(list, source("a", { state: "lost" }))

    expect(changed.map(({ name, state }) => `${name} ${state}`)).toEqual(["a lost", "b ready"])
    expect(withStatus(list, source("c")).map(({ name }) => name)).toEqual(["a", "b", "c"])
  })

  test("keeps updates that arrived while the list was loading", () => {
    const updates = [source("b", { state: "lost" }), source("b", { state: "failed" })]

    expect(withStatuses(list, updates).map(({ state }) => state)).toEqual(["ready", "failed"])
    expect(withStatuses(list, [])).toEqual(list)
  })

  test("keeps the counted calls of a source that has changed", () => {
    const calls = { calls: 1, errors: 0, errorRate: 0, latencyMs: { p50: 1, p90: 1, p99: 1 } }
    const [changed] = withStatus([{ ...source("a"), calls }], source("a", { state: "lost" }))

    expect(changed).toEqual({ ...source("a", { state: "lost" }), calls })
  })

  test("has failed sources first, also while they are tried again", () => {
    const states = [
      source("ready"),
      source("off", { state: "disabled" }),
      source("new", { state: "loading" }),
      source("lost", { state: "lost", attempts: 1 }),
      source("again", { state: "loading", attempts: 2 }),
      source("failed", { state: "failed", attempts: 2 }),
    ]

    expect(failedFirst(states, () => false).map(({ name }) => name)).toEqual([
      "again",
      "failed",
      "lost",
      "ready",
      "new",
      "off",
    ])
    const refused = failedFirst(states, ({ name }) => name === "new")
    expect(refused.map(({ name }) => name).slice(2, 5)).toEqual(["lost", "new", "ready"])
  })

  test("says how the calls of a source went, and what a reload changed", () => {
    const latencyMs = { p50: 12, p90: 1500, p99: 2000 }
    expect(describeCalls(undefined)).toBeUndefined()
    expect(describeCalls({ calls: 0, errors: 0, errorRate: 0, latencyMs })).toBeUndefined()
    expect(describeCalls({ calls: 1204, errors: 5, errorRate: 0.125, latencyMs })).toBe(
      "1,204 calls, 13 % of the last ones failed; p50 12 ms, p90 1.5 s.",
    )
    expect(describeCalls({ calls: 200, errors: 1, errorRate: 0.005, latencyMs })).toContain(
      "less than 1 %",
    )
    const none = { count: 0, ids: [] }
    const one = { count: 1, ids: ["a.b"] }
    expect(describeChanges({ at: 0, added: none, removed: none, changed: none })).toBe(
      "nothing changed",
    )
    expect(describeChanges({ at: 0, added: one, removed: one, changed: one })).toBe(
      "1 added, 1 removed, 1 changed",
    )
  })

  test("is summarised in a sentence", () => {
    expect(describeSources([])).toBe("No sources.")
    expect(describeSources([source("a")])).toBe("1 source: 1 ready.")
    expect(describeSources([...list, source("c", { state: "failed" })])).toBe(
      "3 sources: 2 ready, 1 failed.",
    )
  })
})

test.each([
  [-5000, "any moment"],
  [0, "any moment"],
  [1, "in 1 s"],
  [12_000, "in 12 s"],
  [150_000, "in 3 min"],
  [7_200_000, "in 2 h"],
])("untilText in %d ms", (ms, text) => {
  expect(untilText(1000 + ms, 1000)).toBe(text)
})

describe("filterReport", () => {
  const report: SourceReport = {
    kept: 1,
    widened: 1,
    skipped: 1,
    filtered: 0,
    warnings: [],
    items: [
      {
        id: "pets.list",
        origin: "GET /pets",
        status: "widened",
        notes: ["A pattern was dropped."],
      },
      { origin: "TRACE /pets", status: "skipped", notes: ["TRACE is no method."] },
      { id: "pets.get", origin: "GET /pets/{id}", status: "kept", notes: [] },
    ],
  }

  test.each([
    ["", "any", 3],
    ["trace", "any", 1],
    ["PATTERN", "any", 1],
    ["pets.", "kept", 1],
    ["", "skipped", 1],
    ["nothing", "any", 0],
  ] as const)("%j and %s leave %d", (text, status, count) => {
    expect(filterReport(report, { text, status })).toHaveLength(count)
  })
})

describe("the counters of the hub", () => {
  test("have errors by code, the most frequent first", () => {
    expect(errorCounts({ B: 1, A: 1, TIMEOUT: 4, NONE: 0 })).toEqual([
      { code: "TIMEOUT", count: 4, part: 1 },
      { code: "A", count: 1, part: 0.25 },
      { code: "B", count: 1, part: 0.25 },
    ])
    expect(errorCounts({})).toEqual([])
  })

  test("say in words what the line shows", () => {
    expect(describeHistory([])).toBe("Calls per second: no data yet.")
    expect(describeHistory([0, 5, 2])).toBe(
      "Calls per second in the last 3 s: now 2, highest 5, 7 in all.",
    )
  })

  test.each([
    [0, "0"],
    [Number.NaN, "0"],
    [0.01, "< 0.1"],
    [1.234, "1.2"],
    [12_345.6, "12,346"],
  ])("formatRate(%d) is %s", (rate, text) => {
    expect(formatRate(rate)).toBe(text)
  })
})
