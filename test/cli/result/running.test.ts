import { expect, test, vi } from "vitest"
import { readArgs } from "../../../src/cli/args.ts"
import type { CommandArgs } from "../../../src/cli/model.ts"
import { Running } from "../../../src/cli/result/running.ts"
import type { OperationSpec } from "../../../src/core/types.ts"
import { testIO } from "../support/run.ts"

const QUERY = { type: "query" } as OperationSpec
const STREAM = { type: "subscription" } as OperationSpec
const WEB = { type: "query", _meta: { openapi: {} } } as unknown as OperationSpec

function args(...argv: string[]): CommandArgs {
  return readArgs(argv, {
    timeout: { type: "string", description: "" },
    json: { type: "boolean", description: "" },
  })
}

function terminal(signal: AbortSignal = new AbortController().signal) {
  const stdin = Object.assign((async function* none() {})(), { isTTY: true })
  return testIO({ columns: 80, stdin, signal, env: { NO_COLOR: "1" } })
}

test("a person at a terminal has time to answer, except for streams and web APIs", () => {
  using query = new Running(QUERY, args(), terminal())
  expect(query.options).toMatchObject({ timeout: 600_000 })
  expect(query.options.requestInput).toBeTypeOf("function")
  using stream = new Running(STREAM, args(), terminal())
  expect(stream.options.timeout).toBeUndefined()
  expect(stream.options.requestInput).toBeTypeOf("function")
  using web = new Running(WEB, args(), terminal())
  expect(web.options.timeout).toBeUndefined()
  expect(web.options.requestInput).toBeUndefined()
  using json = new Running(QUERY, args("--json"), terminal())
  expect(json.options.requestInput).toBeUndefined()
})

test("an explicit timeout of a call is used unchanged", () => {
  using given = new Running(QUERY, args("--timeout", "7"), terminal())
  expect(given.options.timeout).toBe(7)
  expect(() => new Running(QUERY, args("--timeout", "-"), terminal())).toThrow("timeout")
})

test("progress is shown on a terminal, with control characters escaped: of a call in place, of a stream on lines", () => {
  const report = (io: ReturnType<typeof terminal>, spec: OperationSpec): string => {
    using running = new Running(spec, args(), io)
    running.options.progress?.({ progress: 1 })
    running.options.progress?.({ progress: 1, total: 4 })
    running.options.progress?.({ progress: 2, total: 4, message: "two\nlines\u0007" })
    return io.stderr.text
  }
  const lines = "1\n1/4\n2/4 two lines\\u0007\n"
  expect(report(terminal(), { ...QUERY, type: "subscription" })).toBe(lines)
  const io = terminal()
  const shown = report(io, QUERY).replaceAll(/ \d+ ms/g, " 1 ms")
  const clear = "\r\u001B[2K"
  const [first, second, third] = shown.split(clear)
  expect([first, second, third]).toEqual([
    "1 1 ms",
    "█████░░░░░░░░░░░░░░░ 1/4 1 ms",
    "██████████░░░░░░░░░░ 2/4 two lines\\u0007 1 ms",
  ])
  // Nothing of it is left at the end.
  expect(io.stderr.text.endsWith(clear)).toBe(true)
})

test("progress is shown neither in a pipe nor with --quiet", () => {
  using piped = new Running(QUERY, args(), testIO())
  expect(piped.options.progress).toBeUndefined()
  using quiet = new Running(QUERY, args(), { ...terminal(), quiet: true })
  expect(quiet.options.progress).toBeUndefined()
})

test("a signal stops a call at once, also one that fired before", () => {
  const stop = new AbortController()
  using running = new Running(QUERY, args(), terminal(stop.signal))
  expect(running.options.signal.aborted).toBe(false)
  stop.abort("SIGTERM")
  expect(running.options.signal.reason).toBe("SIGTERM")
  expect(running.isInterrupted).toBe(false)
  using late = new Running(QUERY, args(), terminal(stop.signal))
  expect(late.options.signal.aborted).toBe(true)
})

test("a stream may end in order first", () => {
  vi.useFakeTimers()
  try {
    const stop = new AbortController()
    using running = new Running(STREAM, args(), terminal(stop.signal))
    const left = new Running(STREAM, args(), terminal(stop.signal))
    stop.abort("SIGINT")
    left[Symbol.dispose]()
    expect(running.options.signal.aborted).toBe(false)
    vi.runAllTimers()
    expect(running.options.signal.aborted).toBe(true)
    expect(left.options.signal.aborted).toBe(false)
  } finally {
    vi.useRealTimers()
  }
})
