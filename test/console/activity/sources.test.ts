import { describe, expect, test } from "vitest"
import type { SourceReport, SourceStatus } from "../../../console/src/api/model.ts"
import { describeHistory, errorCounts, formatRate } from "../../../console/src/activity/counters.ts"
import {
  describeSources,
  filterReport,
  toneOf,
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

  test("is summarised in a sentence", () => {
    expect(describeSources([])).toBe("No sources.")
    expect(describeSources([source("a")])).toBe("1 source: 1 ready.")
    expect(describeSources([...list, source("c", { state: "failed" })])).toBe(
      "3 sources: 2 ready, 1 failed.",
    )
  })

  test("has a colour for each state", () => {
    const states = ["loading", "ready", "failed", "lost", "disabled"] as const

    expect(states.map((state) => toneOf(state))).toEqual(["info", "good", "bad", "warn", "neutral"])
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
