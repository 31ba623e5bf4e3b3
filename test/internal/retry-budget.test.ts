import { describe, expect, test } from "vitest"
import { RetryBudget } from "../../src/internal/retry-budget.ts"

describe("RetryBudget", () => {
  test("pays as often as it has, and again after ten successes", () => {
    const budget = new RetryBudget(2, { tricklesWhenEmpty: true })
    expect([budget.take(5), budget.take(5), budget.take(5)]).toEqual([true, true, false])
    for (let earned = 0; earned < 9; earned++) budget.earn()
    expect([budget.left, budget.take(5)]).toEqual([0, false])
    budget.earn()
    expect([budget.left, budget.take(5), budget.denied]).toEqual([1, true, 2])
  })

  test("allows ten retries a second when it is empty, at most a second's worth at once", () => {
    const budget = new RetryBudget(1, { tricklesWhenEmpty: true })
    const takeAll = (now: number): number => {
      let taken = 0
      while (budget.take(now)) taken++
      return taken
    }
    expect([0, 99, 100, 150, 200].map(takeAll)).toEqual([1, 0, 1, 0, 1])
    expect([takeAll(60_000), takeAll(60_050), takeAll(60_500)]).toEqual([10, 0, 5])
    expect(new RetryBudget(0, { tricklesWhenEmpty: true }).take(60_000)).toBe(false)
  })

  test("without a trickle pays for nothing but successes once it is empty", () => {
    const budget = new RetryBudget(1, { tricklesWhenEmpty: false })
    expect([budget.take(0), budget.take(60_000), budget.take(120_000)]).toEqual([
      true,
      false,
      false,
    ])
    for (let earned = 0; earned < 10; earned++) budget.earn()
    expect([budget.take(120_000), budget.take(120_000)]).toEqual([true, false])
  })
})
