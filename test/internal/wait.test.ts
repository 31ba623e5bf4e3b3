import { describe, expect, test } from "vitest"
import { deferred, pause, withTimeout } from "../../src/internal/wait.ts"
import { VirtualClock } from "../support/virtual-clock.ts"

const never = new Promise<never>(() => {})

describe("withTimeout", () => {
  test("returns the result of the promise, or a plain value, and leaves no timer", async () => {
    const clock = new VirtualClock()
    const late = (): string => "late"

    expect(await withTimeout(Promise.resolve("done"), 100, late, { clock })).toBe("done")
    expect(await withTimeout("plain", 100, late, { clock })).toBe("plain")
    expect(clock.timers).toBe(0)
  })

  test("returns or throws what onLate does after the timeout", async () => {
    const clock = new VirtualClock()
    const given = withTimeout(never, 100, () => "late", { clock })
    const thrown = withTimeout(
      never,
      100,
      () => {
        throw new Error("too late")
      },
      { clock },
    )
    const caught = thrown.catch((error: Error) => error.message)
    await clock.advance(100)

    expect(await given).toBe("late")
    expect(await caught).toBe("too late")
  })

  test("passes on the promise's error, and leaves no timer", async () => {
    const clock = new VirtualClock()
    const failed = Promise.reject(new Error("failed"))

    await expect(withTimeout(failed, 100, () => "late", { clock })).rejects.toThrow("failed")
    expect(clock.timers).toBe(0)
  })
})

describe("pause", () => {
  test("ends after its time", async () => {
    const clock = new VirtualClock()
    const paused = pause(100, { clock })
    await clock.advance(100)
    await paused
    expect(clock.timers).toBe(0)
  })

  test("ends when the signal fires, and leaves no timer", async () => {
    const clock = new VirtualClock()
    const controller = new AbortController()
    const paused = pause(100, { clock, signal: controller.signal })
    controller.abort()
    await paused
    await pause(100, { clock, signal: controller.signal })

    expect(clock.timers).toBe(0)
  })
})

test("a deferred promise is resolved from outside", async () => {
  const { promise, resolve } = deferred()
  resolve()
  await expect(promise).resolves.toBeUndefined()
})
