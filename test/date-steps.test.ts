import { afterEach, describe, expect, test, vi } from "vitest"
import { createRegistry, PendingRequestMap, serveCalls } from "../src/index.ts"
import { createManualClock, createMemoryTransports, silentLogger } from "../src/testing.ts"
import type { CallTrace, OperationContext } from "../src/index.ts"
import { RequestTimeout } from "../src/sources/mcp/client/request-timeout.ts"
import { operation } from "./support/operations.ts"

const DAY = 86_400_000

afterEach(() => vi.restoreAllMocks())

/** Somebody sets the date of the machine. */
function setDate(by: number): void {
  const real = Date.now.bind(Date)
  vi.spyOn(Date, "now").mockImplementation(() => real() + by)
}

const never = operation("test.never", { handler: () => new Promise(() => {}) })

describe("with the platform's clock, a date that is set back", () => {
  test("does not make a call without a caller's deadline wait", async () => {
    const registry = createRegistry([never], { timeout: 50, logger: silentLogger })
    const call = registry.execute("test.never", {})
    await new Promise((resolve) => setImmediate(resolve))
    setDate(-DAY)
    await expect(call).rejects.toMatchObject({ code: "TIMEOUT" })
  })

  test("does not make a call with a deadline wait", async () => {
    const registry = createRegistry([never], { logger: silentLogger })
    const call = registry.execute("test.never", {}, { deadline: Date.now() + 50 })
    setDate(-DAY)
    await expect(call).rejects.toMatchObject({ code: "TIMEOUT" })
  })

  test("does not make a call over a link wait", async () => {
    const [near, far] = createMemoryTransports()
    const registry = createRegistry([never], { logger: silentLogger })
    await using _server = serveCalls(registry, { callMap: new PendingRequestMap(far) })
    await using map = new PendingRequestMap(near)
    const calls = [
      map.call("test.never", {}, { deadline: Date.now() + 50 }),
      map.call("test.never", {}, { timeout: 50 }),
    ]
    setDate(-DAY)
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: "TIMEOUT" })
  })
})

describe.each([
  ["set back", -DAY],
  ["set forward", DAY],
])("a date that is %s", (_what, by) => {
  test("moves no deadline of a registry, and handlers read it as a date", async () => {
    const clock = createManualClock(5 * DAY)
    const left: number[] = []
    const slow = operation("test.slow", {
      handler: async (_input: unknown, context: OperationContext) => {
        const read = (): number => (context.deadline ?? 0) - (clock.wallTime?.() ?? 0)
        left.push(read())
        clock.setWallTime(5 * DAY + by)
        left.push(read())
        await new Promise<void>((resolve) => clock.setTimeout(resolve, 900))
        left.push(read())
        return "done"
      },
    })
    const registry = createRegistry([slow, never], { clock, logger: silentLogger })
    const traces: CallTrace[] = []
    registry.onCall((trace) => traces.push(trace))
    const inTime = registry.execute("test.slow", {}, { deadline: 5 * DAY + 1000 })
    const late = registry
      .execute("test.never", {}, { timeout: 1000 })
      .catch((error: unknown) => error)
    await clock.advance(1000)
    const { data, meta } = await inTime
    expect(await late).toMatchObject({ code: "TIMEOUT" })
    expect(data).toBe("done")
    expect(left).toEqual([1000, 1000, 100])
    expect(meta).toMatchObject({ timestamp: 5 * DAY + by + 900 })
    expect(traces.map(({ phase }) => phase)).toEqual(["start", "start", "end", "end"])
    expect(traces[2]).toMatchObject({ at: 5 * DAY, durationMs: 900 })
  })

  test("moves no deadline of a call over a link, on either side", async () => {
    const clock = createManualClock(5 * DAY)
    const [near, far] = createMemoryTransports()
    let signal: AbortSignal | undefined
    const watched = operation("test.watched", {
      handler: (_input: unknown, context: OperationContext) => {
        ;({ signal } = context)
        return new Promise(() => {})
      },
    })
    const registry = createRegistry([watched], { clock, logger: silentLogger })
    await using _server = serveCalls(registry, { callMap: new PendingRequestMap(far, { clock }) })
    await using map = new PendingRequestMap(near, { clock })
    let error: unknown
    map.call("test.watched", {}, { deadline: 5 * DAY + 1000 }).catch((thrown: unknown) => {
      error = thrown
    })
    await clock.advance(1)
    clock.setWallTime(5 * DAY + by)
    await clock.advance(998)
    expect(error).toBeUndefined()
    expect(signal?.aborted).toBe(false)
    await clock.advance(1)
    expect(error).toMatchObject({ code: "TIMEOUT", details: { deadline: 5 * DAY + by + 999 } })
    expect(signal?.aborted).toBe(true)
  })

  test("moves no deadline of a request to an MCP server", async () => {
    const clock = createManualClock(5 * DAY)
    const deadline = 5 * DAY + 1000
    const patience = new RequestTimeout({
      clock,
      subject: "A test",
      idle: 5000,
      total: 5000,
      deadline,
    })
    clock.setWallTime(5 * DAY + by)
    await clock.advance(999)
    expect(patience.isOver).toBe(false)
    await clock.advance(1)
    expect(patience.isOver).toBe(true)
  })
})
