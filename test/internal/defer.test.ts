// @isolated: it counts the timers, listeners or processes that are left, also those of other files.
import { afterEach, describe, expect, test, vi } from "vitest"
import { defer, setRef } from "../../src/internal/defer.ts"

afterEach(() => {
  vi.unstubAllGlobals()
})

function inOrder(): Promise<string[]> {
  return new Promise((resolve) => {
    const order: string[] = []
    defer(() => order.push("first"))
    defer(() => {
      order.push("second")
      resolve(order)
    })
    void Promise.resolve().then(() => order.push("microtask"))
    order.push("now")
  })
}

describe("defer", () => {
  test("runs after what runs now and its promises, in order", async () => {
    expect(await inOrder()).toEqual(["now", "microtask", "first", "second"])
  })

  test("uses messages where there is no setImmediate", async () => {
    vi.stubGlobal("setImmediate", undefined)

    expect(await inOrder()).toEqual(["now", "microtask", "first", "second"])
    expect(await inOrder()).toEqual(["now", "microtask", "first", "second"])
  })

  test("uses a timer where there is neither", async () => {
    vi.stubGlobal("setImmediate", undefined)
    vi.stubGlobal("MessageChannel", undefined)

    expect(await inOrder()).toEqual(["now", "microtask", "first", "second"])
  })
})

describe("setRef", () => {
  test("holds and lets go of what can be held, and leaves the rest alone", () => {
    const timer = setTimeout(() => {}, 60_000)

    setRef(timer, false)
    expect(timer.hasRef()).toBe(false)
    setRef(timer, true)
    expect(timer.hasRef()).toBe(true)
    clearTimeout(timer)
    expect(() => {
      setRef(7, true)
      setRef(undefined, false)
      setRef({}, false)
    }).not.toThrow()
  })
})
