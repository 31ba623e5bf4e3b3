import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { Toasts } from "../../../console/src/app/toasts.ts"

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

test("a message goes away by itself, and leaves no timer", () => {
  const toasts = new Toasts()
  toasts.show("Copied")
  expect(toasts.get()).toMatchObject([{ text: "Copied", tone: "info" }])
  vi.runAllTimers()
  expect(toasts.get()).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

test("the same message is there once, and lasts longer", () => {
  const toasts = new Toasts()
  toasts.show("Copied")
  vi.advanceTimersByTime(4000)
  toasts.show("Copied")
  vi.advanceTimersByTime(4000)
  expect(toasts.get()).toHaveLength(1)
  vi.runAllTimers()
  expect(toasts.get()).toEqual([])
})

test("there are never many, and hiding one twice is fine", () => {
  const toasts = new Toasts()
  for (let at = 0; at < 50; at++) toasts.show(`${at}`, "bad")
  expect(toasts.get().map(({ text }) => text)).toEqual(["46", "47", "48", "49"])
  const [first] = toasts.get()
  toasts.hide(first?.id ?? 0)
  toasts.hide(first?.id ?? 0)
  expect(toasts.get()).toHaveLength(3)
})
