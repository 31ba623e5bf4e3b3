// What a server may do to a client over HTTP: it can fail the calls that were sent to it, and nothing more.

import { once } from "node:events"
import { createServer } from "node:http"
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import { afterEach, describe, expect, test, vi } from "vitest"
import { createHTTPTransport } from "../../../src/http.ts"
import type { HTTPTransportOptions } from "../../../src/http.ts"
import { isCallError, PendingRequestMap } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type { CallError, PendingOptions } from "../../../src/index.ts"
import { waitFor } from "../../support/wait-for.ts"

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

const LIMIT = 20_000

interface Hostile {
  readonly map: PendingRequestMap
  /** Requests that arrived and have not ended. */
  readonly open: Set<ServerResponse>
  readonly requests: IncomingMessage[]
}

/** A map that calls a server that answers as it likes. */
async function hostile(
  listener: RequestListener,
  options: HTTPTransportOptions = {},
): Promise<Hostile> {
  const open = new Set<ServerResponse>()
  const requests: IncomingMessage[] = []
  const http = createServer((request, response) => {
    requests.push(request)
    open.add(response)
    response.on("close", () => open.delete(response))
    response.on("error", () => undefined)
    listener(request, response)
  })
  http.listen(0, "127.0.0.1")
  await once(http, "listening")
  closers.push(() => {
    http.closeAllConnections()
    http.close()
  })
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const transport = createHTTPTransport(url, { maxResponseBytes: LIMIT, ...options })
  const map = new PendingRequestMap(transport, { logger: silentLogger })
  closers.push(() => map.close())
  return { map, open, requests }
}

async function failure(promise: PromiseLike<unknown>): Promise<CallError> {
  try {
    await promise
  } catch (error) {
    if (isCallError(error)) return error
    throw error
  }
  throw new Error("Expected a CallError, got a result.")
}

const envelope = (data: unknown): object => ({
  data,
  meta: { source: "local", operationId: "demo.echo", timestamp: 1 },
})
const line = (value: unknown): string => `${JSON.stringify(value)}\n`
const item = (data: unknown, id?: string): string =>
  `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(envelope(data))}\n\n`

/** Two calls of one turn: a batch. */
function pair(map: PendingRequestMap, options?: PendingOptions) {
  return [map.call("demo.echo", 1, options), map.call("demo.echo", 2, options)] as const
}

async function read(map: PendingRequestMap, options?: PendingOptions) {
  const items: unknown[] = []
  try {
    for await (const { data } of map.subscribe("demo.count", null, options)) items.push(data)
  } catch (error) {
    return { items, error: error as CallError }
  }
  return { items, error: undefined }
}

describe("a hostile answer to a call", () => {
  test.each<[string, (response: ServerResponse) => void, string]>([
    ["a page", (r) => r.setHeader("content-type", "text/html").end("<html>"), "DATA_LOSS"],
    ["no envelope", (r) => r.end('{"ok":true}'), "DATA_LOSS"],
    ["null", (r) => r.end("null"), "DATA_LOSS"],
    ["nothing", (r) => r.end(), "DATA_LOSS"],
    ["an inherited envelope", (r) => r.end(`{"__proto__":${line(envelope(1))}}`), "DATA_LOSS"],
    [
      "bytes where there are none",
      (r) => r.end(JSON.stringify({ ...envelope({}), binary: { "/__proto__/x": "Uint8Array" } })),
      "DATA_LOSS",
    ],
    ["events without end", (r) => drip(r, "data: 1\n\n"), "PAYLOAD_TOO_LARGE"],
    ["a line without end", (r) => drip(r, "x".repeat(1000)), "PAYLOAD_TOO_LARGE"],
    ["a compression bomb", (r) => bomb(r), "PAYLOAD_TOO_LARGE"],
    [
      "a compression bomb as an error",
      (r) => {
        r.statusCode = 500
        bomb(r)
      },
      "EXECUTION_ERROR",
    ],
    ["a broken line", (r) => void r.write("{", () => r.destroy()), "UNAVAILABLE"],
    ["a length that is not kept", (r) => lie(r), "UNAVAILABLE"],
  ])("fails it: %s", async (_, answer, code) => {
    const { map, open } = await hostile((_request, response) => answer(response))

    const error = await failure(map.call("demo.echo", 1))

    expect(error.code).toBe(code)
    expect(error.mayHaveExecuted).toBe(true)
    await waitFor(() => expect(open.size).toBe(0))
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ["never comes", () => undefined],
    ["stops after its head", (r) => r.flushHeaders()],
    ["drips", (r) => void r.write("{")],
    ["drips as an error", (r) => void ((r.statusCode = 500), r.write("{"))],
  ])("that %s ends with the deadline, and with it the request", async (_, answer) => {
    const { map, open } = await hostile((_request, response) => answer(response))

    expect((await failure(map.call("demo.echo", 1, { timeout: 300 }))).code).toBe("TIMEOUT")
    await waitFor(() => expect(open.size).toBe(0))
  })

  test.each([
    ["an inherited name", "__proto__", "__proto__"],
    ["a method's name", "constructor", "constructor"],
    ["no text", 7, "EXECUTION_ERROR"],
    ["an empty text", "", "EXECUTION_ERROR"],
  ])("may have a forged code: %s", async (_, code, expected) => {
    const problem = { code, detail: "Forged", retryable: "yes", retryAfterMs: -1, details: [] }
    const { map, requests } = await hostile((_request, response) => {
      response.statusCode = 500
      response.end(JSON.stringify(problem))
    })

    const error = await failure(map.call("demo.echo", 1))

    expect(error).toMatchObject({ code: expected, retryable: false, mayHaveExecuted: true })
    expect(error.retryAfterMs).toBeUndefined()
    expect(requests).toHaveLength(1)
  })

  test("cannot send credentials to another host", async () => {
    const other = await hostile((_request, response) => response.end(line(envelope("stolen"))))
    await failure(other.map.call("demo.echo", 1)).catch(() => undefined)
    const target = `http://${other.requests[0]?.headers.host}/operations/demo.echo`
    for (const status of [301, 302, 303, 307, 308]) {
      const { map } = await hostile(
        (_request, response) => response.writeHead(status, { location: target }).end(),
        { headers: { authorization: "Bearer secret-of-ada" } },
      )
      const error = await failure(map.call("demo.echo", 1))
      expect(error).toMatchObject({ code: "UNAVAILABLE", retryable: false })
      expect(JSON.stringify(error)).not.toContain("secret-of-ada")
      expect((await read(map)).error?.code).toBe("UNAVAILABLE")
    }
    expect(other.requests).toHaveLength(1)
  })

  test("is measured where the page cannot see that it was compressed", async () => {
    const body = line(envelope("x".repeat(10 * LIMIT)))
    const response = new Response(body, { headers: { "content-length": "100" } })
    Object.defineProperty(response, "type", { value: "cors" })
    const { map } = await hostile(() => undefined, { fetch: async () => response })

    expect((await failure(map.call("demo.echo", 1))).code).toBe("PAYLOAD_TOO_LARGE")
  })

  test("is searched once, however many pieces its line comes in", async () => {
    const piece = new TextEncoder().encode(" ".repeat(100))
    let left = 2000
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (left-- > 0) controller.enqueue(piece)
        else controller.close()
      },
    })
    const { map } = await hostile(() => undefined, {
      maxResponseBytes: 1_000_000,
      fetch: async () => new Response(body),
    })
    let searched = 0
    const count = (name: "split" | "indexOf"): void => {
      const plain = String.prototype[name] as (...args: unknown[]) => never
      vi.spyOn(String.prototype, name).mockImplementation(function (
        this: string,
        ...args: unknown[]
      ) {
        if (args[0] === "\n") searched += this.length
        return plain.apply(this, args)
      })
    }
    count("split")
    count("indexOf")
    try {
      for (const call of pair(map)) await failure(call)
    } finally {
      vi.restoreAllMocks()
    }
    expect(searched).toBeLessThan(2 * 2000 * 100)
  })
})

describe("a hostile answer to a batch", () => {
  test.each<[string, unknown]>([
    ["a method", "map"],
    ["a count", "length"],
    ["a prototype", "__proto__"],
    ["text", "0"],
    ["no whole number", 0.5],
    ["a negative number", -1],
    ["a call that was not sent", 2],
    ["a list", [0]],
  ])("is ignored where its key is none: %s", async (_, key) => {
    const { map } = await hostile((_request, response) => {
      response.write(line({ key, ok: true, envelope: envelope("forged") }))
      response.write(line({ key, ok: false, problem: { code: "FORGED", detail: "Forged" } }))
      response.end(line({ key: 1, ok: true, envelope: envelope("right") }))
    })

    const [first, second] = pair(map)

    expect(await failure(first)).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: true })
    expect((await second).data).toBe("right")
  })

  test("counts once", async () => {
    const { map } = await hostile((_request, response) => {
      for (const data of ["first", "second"]) {
        for (const key of [0, 1]) response.write(line({ key, ok: true, envelope: envelope(data) }))
      }
      response.end(line({ key: 0, ok: false, problem: { code: "FORGED", detail: "Late" } }))
    })

    const results = await Promise.all(pair(map))

    expect(results.map(({ data }) => data)).toEqual(["first", "first"])
    expect(map.getPendingCount()).toBe(0)
  })

  test("fails only the call whose result is not one", async () => {
    const { map } = await hostile((_request, response) => {
      response.write(line({ key: 0, ok: true, envelope: { data: 1 } }))
      response.end(line({ key: 1, ok: true, envelope: envelope("right") }))
    })

    const [first, second] = pair(map)

    expect(await failure(first)).toMatchObject({ code: "DATA_LOSS", mayHaveExecuted: true })
    expect((await second).data).toBe("right")
  })

  test("cannot pass another event off as progress", async () => {
    let other = ""
    const { map } = await hostile((request, response) => {
      if (request.url !== "/batch") return
      const progress = { progress: 1, type: "call.responded", requestId: other, seq: undefined }
      response.write(line({ key: 0, progress: { ...progress, output: envelope("forged") } }))
      response.write(line({ key: 0, progress: { progress: 2, requestId: other } }))
      response.end(line({ key: 0, ok: true, envelope: envelope("right") }))
    })
    const seen: unknown[] = []
    const pending = map.call("demo.echo", 1, { timeout: 60_000 })
    const outcome = failure(pending)
    other = pending.requestId
    await new Promise((resolve) => setTimeout(resolve, 50))

    const call = map.call("demo.echo", 2, { progress: (update) => seen.push(update) })

    expect((await call).data).toBe("right")
    expect(seen).toEqual([{ progress: 1 }, { progress: 2 }])
    expect(map.getPendingCount()).toBe(1)
    pending.abort()
    expect((await outcome).code).toBe("ABORTED")
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ["says nothing more", () => undefined],
    ["goes on without end", (r) => drip(r, "\n")],
  ])("that %s after its results is not waited for", async (_, goOn) => {
    const { map, open } = await hostile((_request, response) => {
      for (const key of [0, 1]) response.write(line({ key, ok: true, envelope: envelope(key) }))
      goOn(response)
    })

    await Promise.all(pair(map))

    await waitFor(() => expect(open.size).toBe(0))
  })

  test("is left at once when its transport is closed, also after its results", async () => {
    const { map, open } = await hostile(
      (_request, response) => {
        for (const key of [0, 1]) response.write(line({ key, ok: true, envelope: envelope(key) }))
      },
      // Never ends a wait of its own.
      {
        clock: {
          now: () => 0,
          setTimeout: () => 0,
          clearTimeout: () => undefined,
          defer: setImmediate,
        },
      },
    )
    await Promise.all(pair(map))
    expect(open.size).toBe(1)

    await map.close()

    await waitFor(() => expect(open.size).toBe(0))
  })
})

describe("a hostile stream", () => {
  test.each<[string, string, string]>([
    ["an item of endless lines", "data: 1\n", "PAYLOAD_TOO_LARGE"],
    ["an endless line", "x".repeat(1000), "PAYLOAD_TOO_LARGE"],
    ["no envelope", "data: {}\n\n", "DATA_LOSS"],
    ["no JSON", "data: {\n\n", "DATA_LOSS"],
  ])("fails: %s", async (_, text, code) => {
    const { map, open } = await hostile((_request, response) => drip(response, text))

    const { error } = await read(map)

    expect(error).toMatchObject({ code, mayHaveExecuted: true })
    await waitFor(() => expect(open.size).toBe(0))
  })

  test.each([
    ["without an event", ""],
    ["of comments", ": still here\n\n".repeat(10)],
    ["of events of other names", `event: update\n${item(1)}event: __proto__\n${item(2)}`],
    ["with an end that has no data", "event: end\n\n"],
  ])("that ends %s was cut off", async (_, text) => {
    const { map } = await hostile((_request, response) => response.end(text), { resumeMs: 0 })

    const { items, error } = await read(map)

    expect(items).toEqual([])
    expect(error?.code).toBe("UNAVAILABLE")
    expect(map.getPendingCount()).toBe(0)
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ["says nothing more", () => undefined],
    ["goes on without end", (r) => drip(r, item("late"))],
  ])("that %s after its end is not waited for", async (_, goOn) => {
    const { map, open } = await hostile((_request, response) => {
      response.write(`${item("one")}event: end\ndata: {}\n\n`)
      goOn(response)
    })

    expect(await read(map)).toEqual({ items: ["one"], error: undefined })
    await waitFor(() => expect(open.size).toBe(0))
  })

  test.each([
    ["of other alphabets", "日本"],
    ["that is huge", "1".repeat(10_000)],
    ["with a NUL", "1\0"],
  ])("is not resumed after an id %s", async (_, id) => {
    const { map, requests } = await hostile((_request, response) => response.end(item("one", id)))

    const { items, error } = await read(map)

    expect(items).toEqual(["one"])
    expect(error?.code).toBe("UNAVAILABLE")
    expect(requests).toHaveLength(1)
  })

  test("is resumed after the part of an id before a line break, which ends it", async () => {
    const { map, requests } = await hostile((request, response) =>
      response.end(
        request.headers["last-event-id"] === undefined
          ? item("one", "1\rx-evil: 1")
          : "event: end\ndata: {}\n\n",
      ),
    )

    expect(await read(map)).toEqual({ items: ["one"], error: undefined })
    expect(requests.map(({ headers }) => [headers["last-event-id"], headers["x-evil"]])).toEqual([
      [undefined, undefined],
      ["1", undefined],
    ])
  })

  test("decides neither when it is resumed nor for how long", async () => {
    const { map, requests } = await hostile(
      (_request, response) => response.end(`retry: 0\n${item("one", "1")}retry: 999999999\n\n`),
      { resumeMs: 500 },
    )

    const { items, error } = await read(map, { timeout: 2000 })

    // Each answer has an item, which starts the time again: the deadline ends it.
    expect(items.every((one) => one === "one")).toBe(true)
    expect(error?.code).toBe("TIMEOUT")
    expect(requests.length).toBeLessThan(30)
  })
})

/** Writes the same text without end, as fast as it is read. */
function drip(response: ServerResponse, text: string): void {
  const more = (): void => {
    if (response.destroyed) return
    if (response.write(text.repeat(10))) setImmediate(more)
    else response.once("drain", more)
  }
  more()
}

function bomb(response: ServerResponse): void {
  response.setHeader("content-encoding", "gzip")
  response.end(gzipSync(Buffer.alloc(100 * LIMIT, " ")))
}

function lie(response: ServerResponse): void {
  response.setHeader("content-length", "1000")
  response.write("{}", () => response.destroy())
}
