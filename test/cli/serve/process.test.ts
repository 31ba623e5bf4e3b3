// @isolated: it changes what the whole process uses.
import { afterEach, expect, test, vi } from "vitest"
import { parentGone, protectStdout } from "../../../src/cli/commands/serve.ts"

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test.skipIf(process.platform === "win32")("a parent that npm started is missed", async () => {
  vi.useFakeTimers()
  const parent = vi.spyOn(process, "ppid", "get").mockReturnValue(4000)
  const { signal } = new AbortController()
  const gone = vi.fn()
  const ended = parentGone({ npm_lifecycle_event: "start" }, signal).then(gone)
  await vi.advanceTimersByTimeAsync(5000)
  expect(gone).not.toHaveBeenCalled()
  parent.mockReturnValue(1)
  await vi.advanceTimersByTimeAsync(5000)
  await ended
  expect(gone).toHaveBeenCalledOnce()
  expect(vi.getTimerCount()).toBe(0)
})

test("parentGone does not check without npm, nor after the end", () => {
  vi.useFakeTimers()
  const stop = new AbortController()
  void parentGone({}, stop.signal)
  expect(vi.getTimerCount()).toBe(0)
  void parentGone({ npm_lifecycle_event: "start" }, stop.signal)
  stop.abort()
  expect(vi.getTimerCount()).toBe(0)
})

test("what is written to standard output goes to standard error until it is released", () => {
  const original = process.stdout.write.bind(process.stdout)
  const out = vi.spyOn(process.stdout, "write").mockReturnValue(true)
  const err = vi.spyOn(process.stderr, "write").mockReturnValue(true)
  const release = protectStdout()
  process.stdout.write("early")
  release()
  process.stdout.write("late")
  const own = vi.fn(() => true)
  process.stdout.write = own
  // It was released already: what somebody put there since stays.
  release()
  process.stdout.write("own")
  expect(err.mock.calls).toEqual([["early"]])
  expect(out.mock.calls).toEqual([["late"]])
  expect(own).toHaveBeenCalledExactlyOnceWith("own")
  process.stdout.write = original
})
