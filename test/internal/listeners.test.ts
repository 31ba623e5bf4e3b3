import { expect, test, vi } from "vitest"
import { Listeners } from "../../src/internal/listeners.ts"
import { silentLogger } from "../../src/internal/logger.ts"

test("a listener that is added twice is called twice, and removed separately", () => {
  const listeners = new Listeners<number>()
  const listener = vi.fn()
  const remove = listeners.add(listener)
  listeners.add(listener)
  listeners.notify(1)
  remove()
  remove()
  listeners.notify(2)

  expect(listener.mock.calls).toEqual([[1], [1], [2]])
  expect(listeners.size).toBe(1)
})

test("listeners that are added or removed by another one are not called for that event", () => {
  const listeners = new Listeners()
  const late = vi.fn()
  let removeLast = (): void => {}
  listeners.add(() => {
    removeLast()
    listeners.add(late)
  })
  const last = vi.fn()
  removeLast = listeners.add(last)
  listeners.notify()

  expect(late).not.toHaveBeenCalled()
  expect(last).not.toHaveBeenCalled()
})

test("an error of a user's listener is logged, and the others are called", () => {
  const listeners = new Listeners<string>()
  const error = new Error("mine")
  const last = vi.fn()
  listeners.add(() => {
    throw error
  })
  listeners.add(last)
  const logger = { ...silentLogger, error: vi.fn() }
  listeners.notifyLogged("event", logger, "A listener threw", { id: "a" })

  expect(logger.error).toHaveBeenCalledWith("A listener threw", { id: "a", error })
  expect(last).toHaveBeenCalledWith("event")
})

test("listeners are not called after clear", () => {
  const listeners = new Listeners()
  const listener = vi.fn()
  listeners.add(listener)
  listeners.clear()
  listeners.notify()

  expect(listener).not.toHaveBeenCalled()
})
