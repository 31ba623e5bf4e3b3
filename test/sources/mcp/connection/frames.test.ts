import { ProtocolError } from "@modelcontextprotocol/client"
import { describe, expect, test, vi } from "vitest"
import {
  FramedTransport,
  REQUEST_TOKEN_HEADER,
} from "../../../../src/sources/mcp/client/framed-transport.ts"
import type { RunningRequest } from "../../../../src/sources/mcp/client/running-request.ts"
import type { Message, SendOptions } from "../../../../src/sources/mcp/client/sdk.ts"

const sdk = { ProtocolError }

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
  const frames = new FramedTransport(inner, sdk, events)
  const client: unknown[] = []
  frames.onmessage = (message) => void client.push(message)
  void frames.start()
  return { inner, frames, events, client, sent, versions }
}

function running(id = 7) {
  const parts = {
    id,
    request: { method: "tools/call" },
    abandoned: new AbortController().signal,
    isSent: false,
    progressed: vi.fn(),
    answered: vi.fn(),
    failed: vi.fn(),
    streamEnded: vi.fn(),
  }
  return parts as unknown as RunningRequest & typeof parts
}

const none = () => ({})

describe("what is sent", () => {
  test("is marked where each request has a stream of its own", async () => {
    const { frames, sent } = setUp({ hasPerRequestStream: true })
    const one = running()

    await frames.request(one, { name: "t" }, () => ({ a: "b" }))
    const [[message, options] = []] = sent
    options?.onRequestStreamEnd?.()

    expect(message).toEqual({
      jsonrpc: "2.0",
      id: 7,
      method: "tools/call",
      params: { name: "t" },
    })
    expect(options).toMatchObject({
      headers: { a: "b", [REQUEST_TOKEN_HEADER]: "7" },
      requestSignal: one.abandoned,
    })
    expect(one.isSent).toBe(true)
    expect(one.streamEnded).toHaveBeenCalledOnce()
  })

  test("has no options where all requests share a stream", async () => {
    const { frames, sent } = setUp()
    const headers = vi.fn(none)

    await frames.request(running(), {}, headers)

    expect(sent[0]?.[1]).toBeUndefined()
    expect(headers).not.toHaveBeenCalled()
  })

  test("is left as it is where it is none of ours", async () => {
    const { frames, sent } = setUp({ hasPerRequestStream: true })
    const notice = { jsonrpc: "2.0", method: "notifications/x" }
    const question = { jsonrpc: "2.0", id: 7, method: "initialize" }
    const options = { headers: { a: "b" } }

    await frames.send(notice)
    await frames.send(question, options)

    expect(sent).toEqual([
      [notice, undefined],
      [question, options],
    ])
  })
})

describe("answers", () => {
  test("go to whoever asked, and only what nobody waits for goes to the client", async () => {
    const { frames, inner, client } = setUp()
    const one = running()
    await frames.request(one, {}, none)

    inner.onmessage?.({ jsonrpc: "2.0", id: "7", result: { content: "odd" } })
    inner.onmessage?.({ jsonrpc: "2.0", id: 7, result: { content: "late" } })

    expect(one.answered).toHaveBeenCalledExactlyOnceWith({ content: "odd" })
    expect(client).toEqual([{ jsonrpc: "2.0", id: 7, result: { content: "late" } }])
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
  ])("that are the error %j are an error of the SDK", async (error, expected) => {
    const { frames, inner, client } = setUp()
    const one = running()
    await frames.request(one, {}, none)

    inner.onmessage?.({ jsonrpc: "2.0", id: 7, error })

    const [[thrown]] = one.failed.mock.calls as [[unknown]]
    expect(thrown).toBeInstanceOf(ProtocolError)
    expect(thrown).toMatchObject(expected as object)
    expect(one.answered).not.toHaveBeenCalled()
    expect(client).toEqual([])
  })

  test("to a request that is no longer pending are not its own", async () => {
    const { frames, inner, client } = setUp()
    const one = running()
    await frames.request(one, {}, none)
    expect(frames.pending.delete(7)).toBe(true)

    inner.onmessage?.({ jsonrpc: "2.0", id: 7, result: {} })

    expect(one.answered).not.toHaveBeenCalled()
    expect(client).toHaveLength(1)
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

  test("of progress is reported at once, with what of it can be read", () => {
    const { frames, inner, events, client } = setUp()
    const one = running(1)
    frames.pending.set(1, one)
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
    const one = running()
    await frames.request(one, {}, none)
    frames.onmessage = undefined
    const answer = { jsonrpc: "2.0", id: 7, result: {} }

    inner.onmessage?.({ jsonrpc: "2.0", method: "notifications/x" })
    inner.onmessage?.({ jsonrpc: "2.0", method: "notifications/progress" })
    inner.onmessage?.(answer)
    inner.onmessage?.(answer)

    expect(one.answered).toHaveBeenCalledOnce()
    expect(events.notified).toHaveBeenCalledOnce()
  })

  test("of errors and the end is reported once, to both", async () => {
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

  test("the end is also reported where the client does not listen, nor the transport", async () => {
    const start = vi.fn(async () => undefined)
    const inner = {
      start,
      async send() {},
      async close() {},
      onclose: undefined as (() => void) | undefined,
    }
    const closed = vi.fn()
    const frames = new FramedTransport(inner, sdk, {
      closed,
      notified() {},
      erred() {},
      dropped() {},
    })
    await frames.start()

    frames.setProtocolVersion("2025-11-25")
    inner.onclose?.()

    expect(closed).toHaveBeenCalledOnce()
    expect(frames.hasPerRequestStream).toBeUndefined()
  })
})
