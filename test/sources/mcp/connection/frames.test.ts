import { describe, expect, test, vi } from "vitest"
import {
  FramedTransport,
  REQUEST_TOKEN_HEADER,
} from "../../../../src/sources/mcp/client/framed-transport.ts"
import type { Exchange } from "../../../../src/sources/mcp/client/framed-transport.ts"
import type { Message, SendOptions } from "../../../../src/sources/mcp/client/sdk.ts"
import { failure } from "./support.ts"

function setUp(parts: { hasPerRequestStream?: boolean } = {}) {
  const sent: [message: Message, options: SendOptions | undefined][] = []
  const versions: string[] = []
  const inner = {
    onmessage: undefined as ((message: unknown, extra?: unknown) => void) | undefined,
    onclose: undefined as (() => void) | undefined,
    onerror: undefined as ((error: Error) => void) | undefined,
    sessionId: "s1",
    ...parts,
    async start() {},
    async send(message: unknown, options?: SendOptions) {
      sent.push([message as Message, options])
    },
    async close() {
      inner.onclose?.()
    },
    setProtocolVersion: (version: string) => void versions.push(version),
  }
  const events = { notified: vi.fn(), closed: vi.fn(), erred: vi.fn(), dropped: vi.fn() }
  const frames = new FramedTransport(inner, events)
  const client: unknown[] = []
  frames.onmessage = (message) => void client.push(message)
  void frames.start()
  return { inner, frames, events, client, sent, versions }
}

function exchange(parts: Partial<Pick<Exchange, "isGivenUp" | "method">> = {}) {
  return {
    token: 1,
    method: "tools/call",
    abandoned: new AbortController().signal,
    isSent: false,
    isGivenUp: false,
    retryAfterMs: undefined,
    progressed: vi.fn(),
    answered: vi.fn(),
    failed: vi.fn(),
    streamEnded: vi.fn(),
    ...parts,
  }
}

const request = (token: unknown = 1, id = 7): Message => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { _meta: { progressToken: token } },
})

describe("what is sent", () => {
  test("is marked where each request has a stream of its own", async () => {
    const { frames, sent } = setUp({ hasPerRequestStream: true })
    const one = exchange()
    frames.expect(one)

    await frames.send(request(), { headers: { a: "b" } })
    await frames.send(request())
    const [first, second] = sent.map(([, options]) => options)
    first?.onRequestStreamEnd?.()

    expect(first).toMatchObject({
      headers: { a: "b", [REQUEST_TOKEN_HEADER]: "1" },
      requestSignal: one.abandoned,
    })
    expect(second?.headers).toEqual({ [REQUEST_TOKEN_HEADER]: "1" })
    expect(one.isSent).toBe(true)
    expect(one.streamEnded).toHaveBeenCalledOnce()
  })

  test("is left as it is where it is none of ours", async () => {
    const { frames, sent } = setUp({ hasPerRequestStream: true })
    const notice = { jsonrpc: "2.0", method: "notifications/x" }
    const answer = { jsonrpc: "2.0", id: 1, result: {} }

    for (const message of [notice, answer, request("text"), request(99), { id: 1, method: "ping" }])
      await frames.send(message)

    expect(sent.map(([, options]) => options)).toEqual(Array(5).fill(undefined))
  })

  test("is stopped when nobody waits for it any more", async () => {
    const { frames, sent } = setUp()
    const one = exchange({ isGivenUp: true })
    frames.expect(one)
    frames.forget(one)
    expect(frames.exchange(1)).toBe(one)

    expect((await failure(frames.send(request()))).message).toContain("given up")
    expect(sent).toEqual([])
    expect(frames.exchange(1)).toBeUndefined()
  })
})

describe("answers", () => {
  test("go to whoever asked, and the client gets one that is harmless", async () => {
    const { frames, inner, client } = setUp()
    const one = exchange()
    frames.expect(one)
    await frames.send(request())

    inner.onmessage?.({ jsonrpc: "2.0", id: "7", result: { content: "odd" } })
    inner.onmessage?.({ jsonrpc: "2.0", id: 7, result: { content: "late" } })

    expect(one.answered).toHaveBeenCalledExactlyOnceWith({ content: "odd" })
    expect(client).toEqual([
      expect.objectContaining({ id: 7, result: expect.objectContaining({ content: [] }) }),
      { jsonrpc: "2.0", id: 7, result: { content: "late" } },
    ])
  })

  test("of a method without a shape of its own are nothing but complete", async () => {
    const { frames, inner, client } = setUp()
    frames.expect(exchange({ method: "completion/complete" }))
    await frames.send(request())

    inner.onmessage?.({ jsonrpc: "2.0", id: 7, result: 1 })

    expect(client).toEqual([
      {
        jsonrpc: "2.0",
        id: 7,
        result: { resultType: "complete", ttlMs: 0, cacheScope: "private" },
      },
    ])
  })

  test.each<[unknown, unknown]>([
    [
      { code: -32000, message: "No.", data: { a: 1 } },
      { code: -32000, message: "No.", data: { a: 1 } },
    ],
    ["just no", { code: -32603, message: "The server gave no reason." }],
    [null, { code: -32603, message: "The server gave no reason." }],
    [
      { code: "x", message: 1 },
      { code: -32603, message: "The server gave no reason." },
    ],
  ])("that are the error %j are one of JSON-RPC to the client", async (error, expected) => {
    const { frames, inner, client } = setUp()
    const one = exchange()
    frames.expect(one)
    await frames.send(request())

    inner.onmessage?.({ jsonrpc: "2.0", id: 7, error })

    expect(client).toEqual([{ jsonrpc: "2.0", id: 7, error: expected }])
    expect(one.answered).not.toHaveBeenCalled()
  })

  test("are not waited for by the client once a request is given up", async () => {
    const { frames, client } = setUp()
    const one = exchange()
    frames.expect(one)
    expect(frames.cancel(one)).toBeUndefined()
    frames.expect(one)
    await frames.send(request())

    expect(frames.cancel(one)).toBe(7)
    expect(client).toEqual([expect.objectContaining({ id: 7, error: expect.anything() })])
  })
})

describe("what comes", () => {
  test("is taken out of lists, and what is no message is dropped", () => {
    const { inner, events, client } = setUp()
    const question = { jsonrpc: "2.0", id: 3, method: "roots/list" }
    const notice = { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: { a: 1 } }
    const odd = { jsonrpc: "2.0", method: 7 }

    inner.onmessage?.([question, notice, odd, 5, null, { id: 1, result: {} }, { jsonrpc: "2.0" }])

    expect(client).toEqual([question, notice, odd])
    expect(events.notified.mock.calls).toEqual([["notifications/tools/list_changed", { a: 1 }]])
    expect(events.dropped.mock.calls.flat()).toEqual([
      "a message that is not a JSON object",
      "a message that is not a JSON object",
      "a message that is not JSON-RPC 2.0",
      "an answer without the id of a request",
    ])
  })

  test("of progress is told at once, with what of it can be read", () => {
    const { frames, inner, events, client } = setUp()
    const one = exchange()
    frames.expect(one)
    const progress = (params: unknown): void =>
      inner.onmessage?.({ jsonrpc: "2.0", method: "notifications/progress", params })

    progress({ progressToken: 1, progress: 1 })
    progress({ progressToken: "1", progress: 2, total: 3, message: "two" })
    progress({ progressToken: 1, progress: 3, total: "3", message: 3 })
    progress({ progressToken: 1, progress: "much" })
    progress({ progressToken: 99, progress: 1 })
    progress({ progressToken: "other", progress: 1 })
    progress(undefined)

    expect(one.progressed.mock.calls.flat()).toEqual([
      { progress: 1 },
      { progress: 2, total: 3, message: "two" },
      { progress: 3 },
    ])
    expect(events.dropped).toHaveBeenCalledExactlyOnceWith("progress that is not a number")
    // Only what is no progress at all is the client's to complain about.
    expect(client).toHaveLength(1)
  })

  test("is nobody's where the client does not listen", async () => {
    const { frames, inner, events } = setUp()
    const one = exchange()
    frames.expect(one)
    await frames.send(request())
    frames.onmessage = undefined
    const answer = { jsonrpc: "2.0", id: 7, result: {} }

    inner.onmessage?.({ jsonrpc: "2.0", method: "notifications/x" })
    inner.onmessage?.({ jsonrpc: "2.0", method: "notifications/progress" })
    inner.onmessage?.(answer)
    inner.onmessage?.(answer)
    await frames.send(request())
    frames.expect(one)
    await frames.send(request())
    inner.onmessage?.({ jsonrpc: "2.0", id: 7, error: {} })
    frames.expect(one)
    await frames.send(request())

    expect(frames.cancel(one)).toBe(7)
    expect(one.answered).toHaveBeenCalledOnce()
    expect(events.notified).toHaveBeenCalledOnce()
  })

  test("of errors and the end is told once, to both", async () => {
    const { frames, inner, events, versions } = setUp()
    const error = new Error("no")
    inner.onerror?.(error)
    frames.onerror = vi.fn()
    frames.onclose = vi.fn()
    inner.onerror?.(error)

    await frames.close()
    await frames.close()
    frames.setProtocolVersion("2025-11-25")

    expect(events.erred).toHaveBeenCalledTimes(2)
    expect(frames.onerror).toHaveBeenCalledExactlyOnceWith(error)
    expect(events.closed).toHaveBeenCalledOnce()
    expect(frames.onclose).toHaveBeenCalledOnce()
    expect(versions).toEqual(["2025-11-25"])
    expect(frames.sessionId).toBe("s1")
  })

  test("the end is also told where the client does not listen, nor the transport", async () => {
    const start = vi.fn(async () => undefined)
    const inner = {
      start,
      async send() {},
      async close() {},
      onclose: undefined as (() => void) | undefined,
    }
    const closed = vi.fn()
    const frames = new FramedTransport(inner, { closed, notified() {}, erred() {}, dropped() {} })
    await frames.start()

    frames.setProtocolVersion("2025-11-25")
    inner.onclose?.()

    expect(closed).toHaveBeenCalledOnce()
    expect(frames.hasPerRequestStream).toBeUndefined()
  })
})
