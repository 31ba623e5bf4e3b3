import { describe, expect, test } from "vitest"
import { EMPTY_RATE, countArrivals, rateAt } from "../../../console/src/watch/rate.ts"

/** So many per second, evenly, from a time on. */
function arrivals(from: number, perSecond: number, seconds: number): number[] {
  const count = perSecond * seconds
  return Array.from({ length: count }, (_, index) => from + (index * 1000) / perSecond)
}

const T = 1_800_000_000_000

describe("rateAt", () => {
  test("is 0 while nothing came", () => {
    expect(rateAt(EMPTY_RATE, T, T)).toBe(0)
    expect(countArrivals(EMPTY_RATE, [])).toBe(EMPTY_RATE)
  })

  test("follows an even stream", () => {
    const window = countArrivals(EMPTY_RATE, arrivals(T, 20, 30))

    expect(rateAt(window, T + 30_000, T)).toBeCloseTo(20, 0)
  })

  test("does not take a stream that has just begun for a slow one", () => {
    const window = countArrivals(EMPTY_RATE, arrivals(T, 10, 2))

    expect(rateAt(window, T + 2000, T)).toBeCloseTo(10, 0)
    expect(rateAt(countArrivals(EMPTY_RATE, [T]), T, T)).toBe(1)
  })

  test("falls to 0 when nothing comes any more", () => {
    const window = countArrivals(EMPTY_RATE, arrivals(T, 10, 5))

    expect(rateAt(window, T + 60_000, T)).toBe(0)
    expect(rateAt(window, T + 3_600_000, T)).toBe(0)
  })

  test("is the same in one batch and in many", () => {
    const times = arrivals(T, 7, 20)
    const many = times.reduce((window, time) => countArrivals(window, [time]), EMPTY_RATE)

    expect(many).toEqual(countArrivals(EMPTY_RATE, times))
    expect(countArrivals(EMPTY_RATE, times.toReversed())).toEqual(many)
  })

  test("survives a clock that is set back, a little or far", () => {
    const window = countArrivals(EMPTY_RATE, arrivals(T, 10, 10))
    const little = countArrivals(window, arrivals(T + 8000, 10, 1))
    const far = countArrivals(window, arrivals(T - 3_600_000, 10, 5))

    expect(rateAt(little, T + 8000, T)).toBeGreaterThan(0)
    expect(Number.isFinite(rateAt(little, T + 8000, T))).toBe(true)
    expect(rateAt(far, T - 3_595_000, T - 3_600_000)).toBeCloseTo(10, 0)
  })

  test("works from the first second of all", () => {
    expect(rateAt(countArrivals(EMPTY_RATE, arrivals(0, 5, 10)), 10_000, 0)).toBeCloseTo(5, 0)
  })
})
