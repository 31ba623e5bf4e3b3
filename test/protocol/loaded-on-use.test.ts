// What clients load on use: each test starts with nothing loaded.

import { beforeEach, describe, expect, test, vi } from "vitest"
import type { CallEvent, Transport } from "../../src/index.ts"
import type { TransportReceiver } from "../../src/protocol/transport.ts"
import { waitFor } from "../support/wait-for.ts"

/** A transport that keeps what it sends, and answers by hand. */
class HandTransport implements Transport {
  readonly sent: CallEvent[] = []
  receiver: TransportReceiver | undefined

  open(receiver: TransportReceiver): void {
    this.receiver = receiver
  }

  send(event: CallEvent): void {
    this.sent.push(structuredClone(event))
  }

  async close(): Promise<void> {}

  answer(data: unknown, seq?: number): void {
    const requestId = this.sent[0]?.requestId
    const meta = { source: "local", operationId: "demo.any", timestamp: 1 }
    this.receiver?.event({ type: "call.responded", requestId, output: { data, meta }, seq })
  }

  complete(seq: number): void {
    this.receiver?.event({ type: "call.completed", requestId: this.sent[0]?.requestId, seq })
  }
}

async function connected() {
  const { createClient } = await import("../../src/protocol/client.ts")
  const transport = new HandTransport()
  return { transport, client: createClient(transport) }
}

const sentBy = (transport: HandTransport): Promise<void> =>
  waitFor(() => expect(transport.sent).not.toEqual([]))

beforeEach(() => {
  vi.resetModules()
  vi.doUnmock("../../src/protocol/pending/stream.ts")
})

describe("the first stream of a client", () => {
  test("has its input as it was when the first item was requested, and its request id from the start", async () => {
    const { client, transport } = await connected()
    const input = { of: "them" }
    const stream = client.subscribe("demo.any", input)
    input.of = "these"
    const next = stream.next()
    input.of = "those"
    await sentBy(transport)

    expect(transport.sent).toMatchObject([
      { type: "call.requested", kind: "stream", input: { of: "these" } },
    ])
    expect(transport.sent[0]?.requestId).toBe(stream.requestId)
    transport.answer(1, 1)
    expect((await next).value?.data).toBe(1)
    transport.answer(2, 2)
    transport.complete(2)
    expect((await stream.next()).value?.data).toBe(2)
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })

  test("is iterated like any other, and is left with it", async () => {
    const { client, transport } = await connected()
    const seen: unknown[] = []
    const reading = (async () => {
      for await (const { data } of client.subscribe("demo.any")) {
        seen.push(data)
        break
      }
    })()
    await sentBy(transport)
    transport.answer("a", 1)
    await reading

    expect(seen).toEqual(["a"])
    expect(transport.sent.map(({ type }) => type)).toEqual(["call.requested", "call.aborted"])
  })

  test("that is aborted while it is loaded sends nothing", async () => {
    const { client, transport } = await connected()
    const stream = client.subscribe("demo.any")
    stream.abort("not needed")

    await expect(stream.next()).rejects.toMatchObject({
      code: "ABORTED",
      message: '"demo.any" was aborted: not needed',
    })
    await stream[Symbol.asyncDispose]()
    expect(transport.sent).toEqual([])
  })

  test("has its options checked", async () => {
    const { client, transport } = await connected()

    await expect(client.subscribe("demo.any", {}, { window: 0 }).next()).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    })
    expect(transport.sent).toEqual([])
  })

  test("fails with UNAVAILABLE if the rest of the program cannot be loaded", async () => {
    vi.doMock("../../src/protocol/pending/stream.ts", () => {
      throw new Error("offline")
    })
    const { client, transport } = await connected()
    const stream = client.subscribe("demo.any")

    await expect(stream.next()).rejects.toMatchObject({
      code: "UNAVAILABLE",
      retryable: true,
      mayHaveExecuted: false,
    })
    stream.abort()
    expect(await stream.return()).toEqual({ done: true, value: undefined })
    expect(transport.sent).toEqual([])
  })
})

describe("options of a call", () => {
  test("that are like most need nothing more", async () => {
    vi.doMock("../../src/protocol/pending/stream.ts", () => {
      throw new Error("offline")
    })
    const { client, transport } = await connected()
    const { signal } = new AbortController()
    const identity = { id: "ada", scopes: [] }
    const metadata = { of: "test" }
    const call = client.call("demo.any", {}, { signal, identity, metadata, timeout: 5000 })

    expect(transport.sent).toMatchObject([{ identity, metadata, timeout: 5000 }])
    transport.answer("done")
    expect((await call).data).toBe("done")
  })

  test("that are not are checked before anything is sent, with the input of that moment", async () => {
    const { client, transport } = await connected()
    const input = { of: "then" }
    const call = client.call("demo.any", input, { idempotencyKey: "key" })
    input.of = "now"
    await sentBy(transport)

    expect(transport.sent).toMatchObject([{ input: { of: "then" }, idempotencyKey: "key" }])
    transport.answer("done")
    expect((await call).data).toBe("done")
  })

  test.each<[what: string, options: () => unknown]>([
    ["a timeout that is no number", () => ({ timeout: Number.NaN })],
    ["a timeout that is a text", () => ({ timeout: "5" })],
    ["a timeout that is inherited", () => Object.create({ timeout: "5" }) as unknown],
    ["no deadline", () => ({ deadline: null })],
    ["an empty signal", () => ({ signal: {} })],
    ["no signal", () => ({ signal: null })],
    ["metadata that is a text", () => ({ metadata: "text" })],
    ["progress that is no function", () => ({ progress: true })],
    ["a traceparent that is a number", () => ({ traceparent: 7 })],
    ["an empty key", () => ({ idempotencyKey: "" })],
    ["an unknown policy", () => ({ policy: { cache: "maybe" } })],
    ["a text", () => "text"],
    ["a list", () => []],
    [
      "a getter that throws",
      () => ({
        get timeout() {
          throw new Error("unreadable")
        },
      }),
    ],
  ])("that are invalid fail the call alone: %s", async (_, optionsOf) => {
    const options = optionsOf()
    const { client, transport } = await connected()

    await expect(client.call("demo.any", {}, options as never)).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    })
    expect(transport.sent).toEqual([])
  })

  test.each(["", 7, "x".repeat(513)])("an id that is none fails the call: %j", async (id) => {
    const { client } = await connected()

    await expect(client.call(id as string)).rejects.toMatchObject({ code: "OPERATION_NOT_FOUND" })
  })

  test("of a call that is aborted meanwhile are never sent", async () => {
    const { client, transport } = await connected()
    const call = client.call("demo.any", {}, { timeout: 0.5, idempotencyKey: "key" })
    call.abort()

    await expect(call).rejects.toMatchObject({ code: "ABORTED", mayHaveExecuted: false })
    await import("../../src/protocol/pending/stream.ts")
    expect(transport.sent).toEqual([])
  })

  test("fail the call with UNAVAILABLE if what checks them cannot be loaded", async () => {
    vi.doMock("../../src/protocol/pending/stream.ts", () => {
      throw new Error("offline")
    })
    const { client, transport } = await connected()

    await expect(client.call("demo.any", {}, { timeout: 0 })).rejects.toMatchObject({
      code: "UNAVAILABLE",
    })
    expect(transport.sent).toEqual([])
  })
})
