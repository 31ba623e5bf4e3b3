// @isolated: it counts the timers, listeners or processes that are left, also those of other files.
import fc from "fast-check"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { CallError } from "../../../../src/index.ts"
import { systemClock } from "../../../../src/internal/clock.ts"
import { capBody } from "../../../../src/sources/mcp/client/open-http.ts"
import { Semaphore } from "../../../../src/sources/mcp/client/requests.ts"
import { findHeaderIssue, paramHeaders } from "../../../../src/sources/mcp/client/header-params.ts"
import { Secrets } from "../../../../src/sources/mcp/client/mask.ts"
import { RequestTimeout } from "../../../../src/sources/mcp/client/request-timeout.ts"
import { Restarts } from "../../../../src/sources/mcp/client/supervisor.ts"
import { failure } from "./support.ts"

const NEVER = Number.POSITIVE_INFINITY

function timeout(
  options: Partial<ConstructorParameters<typeof RequestTimeout>[0]> = {},
): RequestTimeout {
  return new RequestTimeout({
    clock: systemClock,
    subject: "It",
    idle: NEVER,
    total: NEVER,
    ...options,
  })
}

describe("RequestTimeout", () => {
  beforeEach(() => vi.useFakeTimers())
  afterEach(() => vi.useRealTimers())

  test("ends with silence, which counts only while something is asked", () => {
    const limits = timeout({ idle: 100 })

    vi.advanceTimersByTime(1000)
    expect(limits.isOver).toBe(false)
    limits.resume()
    vi.advanceTimersByTime(99)
    limits.touch()
    vi.advanceTimersByTime(99)
    limits.pause()
    vi.advanceTimersByTime(1000)
    limits.resume()
    vi.advanceTimersByTime(99)
    expect(limits.isOver).toBe(false)
    vi.advanceTimersByTime(1)

    expect(limits.signal.aborted).toBe(true)
    expect(limits.error(true)).toMatchObject({ code: "TIMEOUT", details: { reason: "idle" } })
    expect(vi.getTimerCount()).toBe(0)
  })

  test("ends in all, or at a deadline, whichever comes first", () => {
    const byTotal = timeout({ total: 100, deadline: Date.now() + 500 })
    const byDeadline = timeout({ total: 500, deadline: Date.now() + 100 })

    vi.advanceTimersByTime(100)

    expect(byTotal.error(false)).toMatchObject({ details: { reason: "total" } })
    expect(byDeadline.error(false)).toMatchObject({ details: { reason: "deadline" } })
    expect(byDeadline.error(false).mayHaveExecuted).toBe(false)
  })

  test("does not count the time of questions, ten minutes at most", () => {
    const limits = timeout({ idle: 100, total: 200 })
    const endless = timeout({ total: 200 })
    const dated = timeout({ total: 200, deadline: Date.now() + 300 })
    limits.resume()
    vi.advanceTimersByTime(50)
    for (const each of [limits, endless, dated]) each.stop(1)
    // Two questions at the same time stop the clock once.
    limits.stop(1)
    vi.advanceTimersByTime(5000)
    expect([limits, endless, dated].map(({ isOver }) => isOver)).toEqual([false, false, true])
    limits.stop(-1)
    limits.stop(-1)
    vi.advanceTimersByTime(90)
    limits.touch()
    vi.advanceTimersByTime(59)
    expect(limits.isOver).toBe(false)
    vi.advanceTimersByTime(1)
    expect(limits.error(true)).toMatchObject({ details: { reason: "total" } })

    vi.advanceTimersByTime(600_000)
    expect(endless.isOver).toBe(true)
    endless.stop(-1)
    dated.stop(-1)
    const left = timeout({ total: 200 })
    left.stop(1)
    vi.advanceTimersByTime(300)
    left.dispose()
    left.stop(-1)
    expect(vi.getTimerCount()).toBe(0)
  })

  test("waits longer than a timer can", () => {
    const month = 30 * 86_400_000
    const limits = timeout({ total: month })

    vi.advanceTimersByTime(month - 1)
    expect(limits.isOver).toBe(false)
    vi.advanceTimersByTime(1)
    expect(limits.isOver).toBe(true)
  })

  test("ends with its caller's signal, with the reason if that is an error of ours", () => {
    const controller = new AbortController()
    const mine = new CallError("OVERLOADED", "Enough.")
    const limits = timeout({ signal: controller.signal })

    controller.abort(mine)

    expect(limits.error(true)).toBe(mine)
    expect(timeout({ signal: AbortSignal.abort() }).error(false).code).toBe("ABORTED")
  })

  test("leaves nothing behind", () => {
    const { signal } = new AbortController()
    const removed = vi.spyOn(signal, "removeEventListener")
    const limits = timeout({ idle: 10, total: 20, signal })
    limits.resume()

    limits.dispose()

    expect(vi.getTimerCount()).toBe(0)
    expect(removed).toHaveBeenCalledOnce()
  })
})

describe("a gate", () => {
  test("lets nobody overtake, never lets in too many, and forgets nobody", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }),
        async (limit, leavers) => {
          const gate = new Semaphore(limit)
          const order: number[] = []
          let inside = 0
          let most = 0
          const runs = leavers.map(async (leaves, at) => {
            const controller = new AbortController()
            const limits = timeout({ signal: controller.signal })
            const running = gate.run(limits, async () => {
              most = Math.max(most, ++inside)
              order.push(at)
              await Promise.resolve()
              inside--
              if (at % 3 === 0) throw new Error("It failed.")
            })
            if (leaves) controller.abort()
            // Left before its turn, or failed.
            await running.catch(() => undefined)
          })
          await Promise.all(runs)

          expect(most).toBeLessThanOrEqual(limit)
          expect(order).toEqual(order.toSorted((a, b) => a - b))
          const stayers = leavers.flatMap((leaves, at) => (leaves ? [] : [at]))
          expect(order).toEqual(expect.arrayContaining(stayers))
          const free = Array.from({ length: limit }, () =>
            gate.run(timeout({ total: 1000 }), async () => void inside++),
          )
          expect(inside).toBe(limit)
          await Promise.all(free)
        },
      ),
      { numRuns: 50 },
    )
  })
})

describe("restarts", () => {
  test("come later and later, and stop after five ends in a minute", () => {
    let now = 1_000_000
    const restarts = new Restarts({ ...systemClock, now: () => now })
    const delays: number[] = []
    for (let end = 0; end < 5; end++) {
      restarts.ended()
      delays.push(restarts.delay)
    }

    expect(delays.slice(0, 4)).toEqual([0, 1000, 2000, 4000])
    expect(restarts.isGivenUp).toBe(true)
    now += 3_600_000
    expect(restarts.isGivenUp).toBe(true)
    restarts.reset()
    expect([restarts.isGivenUp, restarts.delay]).toEqual([false, 0])
  })

  test("are at once again after a quiet minute", () => {
    let now = 1_000_000
    const restarts = new Restarts({ ...systemClock, now: () => now })
    for (let end = 0; end < 4; end++) restarts.ended()
    now += 60_000
    restarts.ended()

    expect([restarts.isGivenUp, restarts.delay]).toEqual([false, 0])
  })
})

describe("a cap on answers", () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

  function respond(chunks: readonly Uint8Array[], type: string): Response {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(chunk)
        controller.close()
      },
    })
    return new Response(body, { headers: { "content-type": type } })
  }

  test("counts each event by itself, wherever it is cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 12 }),
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.integer({ min: 1, max: 7 }),
        async (sizes, end, step) => {
          const events = sizes.map((size) => `data: ${"x".repeat(size)}${end}${end}`)
          const all = bytes(events.join(""))
          const chunks: Uint8Array[] = []
          for (let at = 0; at < all.length; at += step) chunks.push(all.slice(at, at + step))
          const limit = 30
          const error = new Error("too large")

          const capped = capBody(respond(chunks, "text/event-stream"), limit, () => error)
          const read = await capped.text().catch((thrown: unknown) => thrown)

          const largest = Math.max(0, ...events.map((event) => event.length))
          // The last line feed of an event counts to the next one, since it may never come.
          fc.pre(largest !== limit + 1)
          expect(read).toBe(largest > limit ? error : events.join(""))
        },
      ),
    )
  })

  test("counts all of anything else", async () => {
    const error = new Error("too large")
    const chunks = [bytes("x".repeat(20)), bytes("\n\n"), bytes("x".repeat(20))]

    const capped = (limit: number): Promise<unknown> =>
      capBody(respond(chunks, "application/json"), limit, () => error)
        .text()
        .catch((thrown: unknown) => thrown)

    expect(await capped(41)).toBe(error)
    expect(await capped(42)).toHaveLength(42)
  })

  test("leaves alone what has no body", () => {
    const empty = new Response(null, { status: 204 })

    expect(capBody(empty, 1, () => new Error("no"))).toBe(empty)
  })
})

describe("parameters as headers", () => {
  const on = (property: unknown, rest = {}): unknown => ({
    type: "object",
    properties: { a: property },
    ...rest,
  })
  const good = { type: "string", "x-mcp-header": "Region" }

  test.each([
    on(good),
    on({ type: "object", properties: { b: { type: "integer", "x-mcp-header": "Deep" } } }),
    on({ type: "string" }, { default: { "x-mcp-header": "data" }, enum: [{ "x-mcp-header": 7 }] }),
    { type: "object", properties: { "x-mcp-header": { type: "string" } } },
    undefined,
    true,
  ])("may be said like this: %j", (schema) => {
    expect(findHeaderIssue(schema)).toBeUndefined()
  })

  test.each([
    { "x-mcp-header": "Root" },
    on({ ...good, type: "number" }),
    on({ ...good, "x-mcp-header": "With Space" }),
    on({ ...good, "x-mcp-header": "Break\r\nX: 1" }),
    on({ ...good, "x-mcp-header": "" }),
    on({ ...good, "x-mcp-header": 7 }),
    on({ type: "array", items: good }),
    on({ anyOf: [good] }),
    on({}, { $defs: { a: good } }),
    on({}, { patternProperties: { "^a": good } }),
    { type: "object", properties: { a: good, b: { ...good, "x-mcp-header": "REGION" } } },
  ])("must not be said like this: %j", (schema) => {
    expect(findHeaderIssue(schema)).toContain("x-mcp-header")
  })

  test("are sent as they are if they can be, and else in base64", () => {
    const scalar = (name: string, type = "string") => ({ type, "x-mcp-header": name })
    const deep = { type: "object", properties: { b: scalar("Deep", "integer") } }
    const properties = { a: scalar("A"), c: scalar("C"), d: scalar("D", "boolean"), deep }
    const definition = { inputSchema: { type: "object", properties } }

    expect(paramHeaders(definition, { a: "eu west", c: " ü", d: false, deep: { b: 7 } })).toEqual({
      "Mcp-Param-A": "eu west",
      "Mcp-Param-C": "=?base64?IMO8?=",
      "Mcp-Param-D": "false",
      "Mcp-Param-Deep": "7",
    })
    expect(paramHeaders(definition, { a: "", c: "=?base64?eA==?=", deep: { b: 2 ** 60 } })).toEqual(
      { "Mcp-Param-A": "=?base64??=", "Mcp-Param-C": "=?base64?PT9iYXNlNjQ/ZUE9PT89?=" },
    )
    expect(paramHeaders(definition, { a: null, d: {} })).toEqual({})
  })

  test("of a schema that is not valid are not sent, nor without a schema", () => {
    const twice = { type: "object", properties: { a: good, b: good } }
    expect(paramHeaders({ inputSchema: twice }, { a: "x" })).toEqual({})
    expect(paramHeaders({}, { a: "x" })).toEqual({})
  })

  test("of a schema without an end do not hang", () => {
    const schema: Record<string, unknown> = { type: "object" }
    schema["not"] = schema

    expect(findHeaderIssue(schema)).toBeUndefined()
  })
})

describe("secrets", () => {
  test("are masked in messages and details, and only there", () => {
    const secrets = new Secrets()
    secrets.add("open-sesame-1")
    const details = { data: ["is open-sesame-1", { __proto__: null, ok: true }], code: 7 }
    const error = new CallError("EXECUTION_ERROR", "open-sesame-1 is wrong", {
      details,
      mayHaveExecuted: false,
      retryAfterMs: 5,
    })

    const masked = secrets.error(error)

    expect(JSON.stringify([masked.message, masked.details])).not.toContain("sesame")
    expect(masked).toMatchObject({
      code: "EXECUTION_ERROR",
      details: { code: 7 },
      mayHaveExecuted: false,
      retryAfterMs: 5,
    })
    const harmless = new CallError("TIMEOUT", "Late.", { details: { a: [1] } })
    expect(secrets.error(harmless)).toBe(harmless)
  })
})

test("a refusal to wait is reported at once", async () => {
  const limits = timeout({ deadline: Date.now() - 1 })

  expect(await failure(limits.wait(1000))).toMatchObject({ code: "TIMEOUT" })
})
