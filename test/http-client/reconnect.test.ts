import { describe, expect, test } from "vitest"
import { exchange } from "../../src/http-client/exchange.ts"
import { followEvents, lastEventIdHeader } from "../../src/http-client/reconnect.ts"
import type { FollowEventsOptions, OpenEvents } from "../../src/http-client/reconnect.ts"
import { CallError } from "../../src/index.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import { bodyOf, collect, failureOf, get, options, serve, until } from "./server.ts"

const QUICK = { maxAttempts: 3, delayMs: 1, maxDelayMs: 5 }

function settings(more: Partial<FollowEventsOptions> = {}): FollowEventsOptions {
  return {
    signal: new AbortController().signal,
    secrets: [],
    operationId: "demo.watch",
    reconnect: QUICK,
    ...more,
  }
}

/** Connections that are opened one after the other; an error is one that cannot be opened. */
function script(...connections: readonly (string | Error | null)[]): {
  open: OpenEvents
  ids: (string | undefined)[]
} {
  const ids: (string | undefined)[] = []
  return {
    ids,
    open: (id) => {
      const next = connections[ids.push(id) - 1]
      if (next instanceof Error) return Promise.reject(next)
      return Promise.resolve(typeof next === "string" ? bodyOf([next]) : null)
    },
  }
}

const down = new CallError("UNAVAILABLE", "Down.")

describe("followEvents", () => {
  test("goes on after the last id, until [DONE]", async () => {
    const { open, ids } = script(
      "id: 1\ndata: a\n\ndata: b\n\n",
      "id: 2\ndata: c\n\n",
      "id\ndata: d\n\n",
      "data: [DONE]\n\n",
      "data: never\n\n",
    )

    const events = await collect(followEvents(open, settings()))

    expect(events.map(({ data }) => data)).toEqual(["a", "b", "c", "d"])
    expect(ids).toEqual([undefined, "1", "2", undefined])
  })

  test("over real connections that are cut in the middle of an event", async () => {
    const seen: unknown[] = []
    await using server = await serve((request, response) => {
      const from = Number(request.headers["last-event-id"] ?? 0)
      if (from >= 6) {
        response.writeHead(204).end()
        return
      }
      const events = [1, 2].map((step) => `id: ${from + step}\ndata: ${from + step}\n\n`)
      response.write(`${events.join("")}data: cut`, () => response.socket?.resetAndDestroy())
    })
    const open: OpenEvents = async (id) => {
      const headers: Record<string, string> =
        id === undefined ? {} : { "last-event-id": lastEventIdHeader(id) }
      const { status, body } = await exchange(get(server.url, { headers }), options())
      return status === 204 ? null : body
    }

    for await (const { data } of followEvents(open, settings())) seen.push(data)

    expect(seen).toEqual([1, 2, 3, 4, 5, 6])
    expect(server.requests).toHaveLength(4)
  })

  test("what the first attempt throws is thrown", async () => {
    const { open, ids } = script(down, "data: 1\n\n")

    expect(await failureOf(collect(followEvents(open, settings())))).toBe(down)
    expect(ids).toHaveLength(1)
  })

  test("gives up after so many attempts without an event, and says so", async () => {
    const { open, ids } = script("data: 1\n\n", down, down, down, "data: 2\n\n")

    const error = await failureOf(collect(followEvents(open, settings())))

    expect(error).toMatchObject({ code: "UNAVAILABLE", cause: down, retryable: true })
    expect((error as Error).message).toContain("in 3 attempts")
    expect(ids).toHaveLength(4)
  })

  test("an event starts the count anew", async () => {
    const { open } = script(
      "data: 1\n\n",
      down,
      down,
      "data: 2\n\n",
      down,
      down,
      "data: 3\n\n",
      null,
    )

    expect(await collect(followEvents(open, settings()))).toHaveLength(3)
  })

  test("connections that bring nothing come to an end, without an error", async () => {
    const { open, ids } = script("data: 1\n\n", "", ": hello\n\n", "", "data: 2\n\n")

    expect(await collect(followEvents(open, settings()))).toHaveLength(1)
    expect(ids).toHaveLength(4)
  })

  test("what trying again cannot mend is thrown at once", async () => {
    const refused = new CallError("EXECUTION_ERROR", "HTTP 401.", { retryable: false })
    const { open, ids } = script("data: 1\n\n", refused, "data: 2\n\n")

    expect(await failureOf(collect(followEvents(open, settings())))).toBe(refused)
    expect(ids).toHaveLength(2)
  })

  test("an item that is too large is not asked for again", async () => {
    const { open, ids } = script(`data: ${"x".repeat(50)}\n\n`, "data: 2\n\n")

    await expect(collect(followEvents(open, settings({ maxItemBytes: 10 })))).rejects.toMatchObject(
      { code: "PAYLOAD_TOO_LARGE" },
    )
    expect(ids).toHaveLength(1)
  })

  test("waits longer each time, up to a limit, and spread out", async () => {
    expect(await delays(script("data: 1\n\n", down, down, down, down), {}, 1)).toEqual([
      100, 200, 400, 400,
    ])
    expect(await delays(script("data: 1\n\n", down, down, down, down), {}, 0)).toEqual([
      50, 100, 200, 200,
    ])
  })

  test("waits as long as the server asks, within the limit and at least a second", async () => {
    const policy = { maxDelayMs: 4000 }

    expect(await delays(script("retry: 3000\n\n", down, down, down, down), policy, 0)).toEqual([
      3000, 3000, 3000, 3000,
    ])
    expect(await delays(script("retry: 99999999\n\n", down), { maxAttempts: 1 }, 0)).toEqual([1000])
    expect(await delays(script("retry: 99999999\n\n", down), policy, 0)).toContain(4000)
    expect(await delays(script("retry: 1\n\n", down), { maxAttempts: 1 }, 0)).toEqual([1000])
  })

  test("a server that says retry: 0 and one event each time is not asked without a pause", async () => {
    const connections = Array.from({ length: 6 }, () => "retry: 0\ndata: 1\n\n")

    expect(await delays(script(...connections), { maxDelayMs: 8000 }, 1)).toEqual([
      1000, 2000, 4000, 8000, 8000, 8000,
    ])
  })

  test("delays grow over connections that bring an event, and start anew after a stable one", async () => {
    const brief = ["data: 1\n\n", "data: 2\n\n", "data: 3\n\n"]

    expect(await delays(script(...brief), {}, 1)).toEqual([100, 200, 400])
    expect(await delays(script(...brief), {}, 1, 10_000)).toEqual([100, 100, 100])
  })

  test("heeds Retry-After, and gives up when that is longer than the limit", async () => {
    const soon = new CallError("EXECUTION_ERROR", "HTTP 503.", {
      retryable: true,
      retryAfterMs: 350,
    })
    const late = new CallError("EXECUTION_ERROR", "HTTP 503.", {
      retryable: true,
      retryAfterMs: 9e6,
    })

    expect(await delays(script("data: 1\n\n", soon, null), {}, 0)).toEqual([50, 350])
    expect(await delays(script("data: 1\n\n", late, "data: 2\n\n"), {}, 0)).toEqual([50])
  })

  test("an abort ends the waiting", async () => {
    const controller = new AbortController()
    const clock = new VirtualClock()
    const { open } = script("data: 1\n\n", "data: 2\n\n")
    const events = followEvents(open, settings({ signal: controller.signal, clock }))
    await events.next()
    const waiting = events.next()
    await until(() => clock.timers === 1)

    controller.abort()

    await expect(waiting).rejects.toMatchObject({ code: "ABORTED" })
    expect(clock.timers).toBe(0)
  })

  test("leaving the loop closes the connection", async () => {
    await using server = await serve((_request, response) => response.write("data: 1\n\n"))
    const open: OpenEvents = async () => (await exchange(get(server.url), options())).body

    for await (const event of followEvents(open, settings())) {
      expect(event.data).toBe(1)
      break
    }

    await until(() => server.open() === 0)
    expect(server.requests).toHaveLength(1)
  })

  async function delays(
    { open }: { open: OpenEvents },
    policy: { maxAttempts?: number; maxDelayMs?: number },
    random: number,
    /** How long each connection holds. */
    holds = 0,
  ): Promise<number[]> {
    const waited: number[] = []
    let time = 0
    const clock = {
      now: () => (time += holds),
      setTimeout(callback: () => void, milliseconds: number) {
        waited.push(milliseconds)
        queueMicrotask(callback)
      },
      clearTimeout: () => undefined,
    }
    const reconnect = { maxAttempts: 4, delayMs: 100, maxDelayMs: 400, ...policy }
    const following = followEvents(open, settings({ clock, random: () => random, reconnect }))
    await collect(following).catch(() => undefined)
    return waited
  }
})

describe("lastEventIdHeader", () => {
  test("is UTF-8 in the form that fetch takes", () => {
    const value = lastEventIdHeader("é😀")

    expect(new Headers({ "last-event-id": value }).get("last-event-id")).toBe(value)
    expect(new TextDecoder().decode(Uint8Array.from(value, (c) => c.charCodeAt(0)))).toBe("é😀")
  })
})
