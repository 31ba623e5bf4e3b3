import { describe, expect, test } from "vitest"
import { backOff, withJitter } from "../../src/internal/back-off.ts"

describe("backOff", () => {
  test("doubles the delay with each failure, up to the longest", () => {
    const delays = [1, 2, 3, 4, 5, 6, 7].map((failures) => backOff(failures, 1000, 30_000))
    expect(delays).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  })

  test("is a number after any number of failures", () => {
    expect(backOff(5000, 0, 30_000)).toBe(0)
    expect(backOff(5000, 1, Number.POSITIVE_INFINITY)).toBe(2 ** 30)
  })
})

describe("withJitter", () => {
  test("subtracts at most half, and returns whole milliseconds", () => {
    expect(withJitter(1001, () => 0)).toBe(501)
    expect(withJitter(1001, () => 1)).toBe(1001)
  })
})
