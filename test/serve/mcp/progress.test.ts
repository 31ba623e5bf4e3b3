// @isolated: it counts the timers, listeners or processes that are left, also those of other files.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { ProgressSender } from "../../../src/serve/mcp/reports.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe("progress on its way to a client", () => {
  test("only grows", () => {
    const sent: number[] = []
    const sender = new ProgressSender(({ progress }) => sent.push(progress))
    for (const progress of [0, 1, 1, 0.5, Number.NaN, 2, 1.5, 3]) sender.report({ progress })
    expect(sent).toEqual([0, 1, 2, 3])
  })

  test("is not faster than it can be taken, and its last word is not lost", () => {
    const sent: number[] = []
    const sender = new ProgressSender(({ progress }) => sent.push(progress))
    for (let progress = 1; progress <= 10_000; progress++) sender.report({ progress })
    sender.flush()
    expect(sent.length).toBeLessThan(300)
    expect(sent.at(-1)).toBe(10_000)
    expect(sent).toEqual(sent.toSorted((a, b) => a - b))
  })

  test("goes on when there is room again", () => {
    const sent: number[] = []
    const sender = new ProgressSender(({ progress }) => sent.push(progress))
    for (let progress = 1; progress <= 1000; progress++) sender.report({ progress })
    vi.advanceTimersByTime(1000)
    expect(sent.at(-1)).toBe(1000)
    sender.report({ progress: 2000 })
    expect(sent.at(-1)).toBe(2000)
    expect(vi.getTimerCount()).toBe(0)
  })

  test("is not followed by the result at once, which clients would read together with it", async () => {
    const sender = new ProgressSender(() => undefined)
    let isOver = false
    const end = async (): Promise<void> => {
      isOver = false
      await sender.end()
      isOver = true
    }
    void end()
    await vi.advanceTimersByTimeAsync(0)
    expect([isOver, vi.getTimerCount()]).toEqual([true, 0])
    sender.report({ progress: 1 })
    void end()
    await vi.advanceTimersByTimeAsync(9)
    expect(isOver).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(isOver).toBe(true)
    sender.report({ progress: 2 })
    await vi.advanceTimersByTimeAsync(100)
    void end()
    await vi.advanceTimersByTimeAsync(0)
    expect([isOver, vi.getTimerCount()]).toEqual([true, 0])
  })
})
