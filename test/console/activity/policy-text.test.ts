import { describe, expect, test } from "vitest"
import type { BreakerStatus } from "../../../console/src/api/model.ts"
import {
  breakerBadge,
  breakersBySource,
  breakerText,
  usageText,
} from "../../../console/src/activity/policy-text.ts"

function breaker(more: Partial<BreakerStatus> = {}): BreakerStatus {
  return {
    name: 'source "api"',
    source: "api",
    state: "closed",
    probing: 0,
    retryAfterMs: 0,
    lastCode: undefined,
    ...more,
  }
}

describe("breakers of sources", () => {
  test("are grouped, those that refuse calls first", () => {
    const breakers = [
      breaker({ name: "a" }),
      breaker({ name: "b", state: "half-open" }),
      breaker({ name: "c", source: "other", state: "open" }),
      breaker({ name: "d", state: "open" }),
    ]
    const groups = breakersBySource({ breakers, at: 7 })

    expect(groups.get("api")?.breakers.map(({ name }) => name)).toEqual(["d", "b", "a"])
    expect(groups.get("other")).toEqual({ breakers: [breakers[2]], at: 7 })
    expect(breakersBySource(undefined).size).toBe(0)
  })

  test("say what they do with calls", () => {
    const open = breaker({ state: "open", retryAfterMs: 4_000, lastCode: "TIMEOUT" })
    expect(breakerText(open, 1_000, 2_000)).toBe(
      'Calls of source "api" are refused. The last failure was TIMEOUT. Next try in 3 s.',
    )
    expect(breakerText(open, 1_000, 9_000)).toContain("Next try any moment.")
    expect(breakerText(breaker({ state: "half-open" }), 0, 0)).toBe(
      'The next call of source "api" tries whether it works again.',
    )
    expect(breakerText(breaker({ state: "half-open", probing: 1 }), 0, 0)).toBe(
      '1 call of source "api" tries whether it works again; others are refused.',
    )
    expect(breakerText(breaker({ state: "half-open", probing: 2 }), 0, 0)).toContain("2 calls")
    expect(breakerText(breaker(), 0, 0)).toBe('Calls of source "api" go through.')
    expect((["open", "half-open", "closed"] as const).map((state) => breakerBadge(state))).toEqual([
      ["bad", "circuit open"],
      ["warn", "circuit half open"],
      ["good", "circuit closed"],
    ])
  })
})

describe("the use of a policy", () => {
  const cache = { entries: 1, bytes: 2048, hits: 1204, stale: 0, joined: 0, misses: 1 }

  test.each([
    ["cache", { cache }, "1,204 hits, 1 miss; 1 result, 2 KB"],
    [
      "cache",
      { cache: { ...cache, stale: 2, joined: 3 } },
      "1,204 hits, 2 stale, 3 shared, 1 miss; 1 result, 2 KB",
    ],
    ["retry", { retry: { left: 1, denied: 0 } }, "1 retry left for the source"],
    [
      "hedge",
      { retry: { left: 0, denied: 9 } },
      "0 retries left for the source, 9 not made for lack of them",
    ],
    [
      "concurrency",
      { concurrency: { running: 2, waiting: 1, abandoned: 0 } },
      "2 running, 1 waiting",
    ],
    [
      "concurrency",
      { concurrency: { running: 2, waiting: 0, abandoned: 1 } },
      "2 running (1 abandoned), 0 waiting",
    ],
    ["rateLimit", { rateLimit: { refused: 1 } }, "1 call refused"],
    ["timeout", { cache }, undefined],
    ["cache", {}, undefined],
  ])("%s", (policy, state, text) => {
    expect(usageText(policy, { operationId: "api.read", ...state })).toBe(text)
  })
})
