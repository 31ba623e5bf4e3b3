import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { pause } from "../../../src/internal/wait.ts"
import { follow } from "../../../console/src/activity/follow.ts"
import type { FollowOptions, FollowState } from "../../../console/src/activity/follow.ts"
import { createGatherer } from "../../../console/src/activity/gather.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

interface Followed {
  readonly states: FollowState[]
  readonly controller: AbortController
  readonly done: Promise<void>
}

function followed(open: FollowOptions["open"], isFinal = (_: unknown): boolean => false): Followed {
  const states: FollowState[] = []
  const controller = new AbortController()
  const done = follow({
    open,
    isFinal,
    onState: (state) => void states.push(state),
    now: Date.now,
    wait: (ms, until) => pause(ms, { signal: until }),
    signal: controller.signal,
  })
  return { states, controller, done }
}

describe("follow", () => {
  test("opens again what fails, with longer and longer waits", async () => {
    const times: number[] = []
    const began = Date.now()
    const { controller, done } = followed(async () => {
      times.push((Date.now() - began) / 1000)
      throw new Error("refused")
    })
    await vi.advanceTimersByTimeAsync(100_000)
    controller.abort()
    await done

    expect(times).toEqual([0, 1, 3, 7, 15, 31, 61, 91])
    expect(vi.getTimerCount()).toBe(0)
  })

  test("begins with short waits anew after something came", async () => {
    let opened = 0
    const { states, controller, done } = followed(async (onActive) => {
      opened++
      if (opened === 4) onActive()
      throw new Error("lost")
    })
    await vi.advanceTimersByTimeAsync(8500)
    controller.abort()
    await done

    const waits = states.flatMap((state) => (state.phase === "waiting" ? [state.retryAt] : []))
    expect(opened).toBe(5)
    expect(waits.length).toBeGreaterThanOrEqual(4)
  })

  test("ends when trying again would not help", async () => {
    const { states, done } = followed(
      () => Promise.reject(new Error("who are you")),
      (error) => error instanceof Error && error.message === "who are you",
    )
    await done

    expect(states.map(({ phase }) => phase)).toEqual(["live", "refused"])
    expect(vi.getTimerCount()).toBe(0)
  })

  test("reports nothing more after an abort, while open or while waiting", async () => {
    let resolve = (): void => {}
    const promise = new Promise<void>((settle) => (resolve = settle))
    const open = followed(() => promise)
    open.controller.abort()
    resolve()
    await open.done
    expect(open.states.map(({ phase }) => phase)).toEqual(["live"])

    const waiting = followed(async () => {})
    await vi.advanceTimersByTimeAsync(10)
    waiting.controller.abort()
    await waiting.done
    expect(waiting.states.map(({ phase }) => phase)).toEqual(["live", "waiting"])
    expect(vi.getTimerCount()).toBe(0)
  })

  test("opens nothing when it was left before it began", async () => {
    const open = vi.fn<FollowOptions["open"]>()
    const signal = AbortSignal.abort()
    await follow({
      open,
      isFinal: () => false,
      onState: () => {},
      now: Date.now,
      wait: (ms, until) => pause(ms, { signal: until }),
      signal,
    })

    expect(open).not.toHaveBeenCalled()
  })
})

describe("createGatherer", () => {
  test("hands on in batches, in order, and nothing when there is nothing", async () => {
    const batches: (readonly number[])[] = []
    const gatherer = createGatherer<number>((batch) => void batches.push(batch), 100)
    gatherer.flush()
    gatherer.add(1)
    gatherer.add(2)
    await vi.advanceTimersByTimeAsync(100)
    gatherer.add(3)
    gatherer.flush()

    expect(batches).toEqual([[1, 2], [3]])
    expect(vi.getTimerCount()).toBe(0)
  })

  test("does not wait for a late timer when there is much", () => {
    let count = 0
    const gatherer = createGatherer<number>((batch) => (count += batch.length), 100)
    for (let index = 0; index < 1200; index++) gatherer.add(index)

    expect(count).toBe(1000)
    gatherer.flush()
    expect(count).toBe(1200)
  })
})
