import { describe, expect, test } from "vitest"
import type { EnvelopeStream } from "../../../src/core/infer.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { localEnvelope } from "../../../src/core/envelope.ts"
import type { ResponseEnvelope } from "../../../src/core/envelope.ts"
import type { HTTPSink } from "../../../src/serve/exchange.ts"
import { turn } from "../../../src/internal/defer.ts"
import { Heartbeats, EventStream } from "../../../src/serve/http/sse.ts"
import { toHTTP } from "../../../src/to-http.ts"
import { VirtualClock } from "../../support/virtual-clock.ts"
import { demo, eventsOf, post, useServers } from "./support.ts"

const { start } = useServers()

const events = { accept: "text/event-stream" }

async function reader(answer: Response): Promise<ReadableStreamDefaultReader<string>> {
  const { body } = answer
  return (body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>)
    .getReader()
}

describe("a stream", () => {
  test("numbers its items and says when it is over", async () => {
    const { url } = await start()
    const answer = await post(`${url}/operations/demo.count`, { to: 3 }, { headers: events })
    expect(answer.status).toBe(200)
    expect(answer.headers.get("content-type")).toBe("text/event-stream; charset=utf-8")
    expect(answer.headers.get("cache-control")).toBe("no-store")
    const seen = eventsOf(await answer.text())
    expect(seen.map(({ id }) => id)).toEqual(["1", "2", "3", undefined])
    expect(JSON.parse(seen[2]?.data ?? "")).toMatchObject({ data: 3, meta: { source: "local" } })
    expect(seen[3]).toEqual({ event: "end", data: "{}" })
  })

  test("continues event ids after a reconnect, and passes the last one to the handler", async () => {
    const { url, seen } = await start()
    const headers = { ...events, "last-event-id": "41" }
    const answer = await post(`${url}/api/demo/count`, { to: 1 }, { headers })
    expect(eventsOf(await answer.text())[0]).toEqual({ id: "42", data: "1" })
    expect(seen.metadata).toEqual({ lastEventId: "41" })
  })

  test("keeps line breaks within their event, and names what broke", async () => {
    const { url } = await start()
    const answer = await fetch(`${url}/api/demo/nasty`, { headers: events })
    const seen = eventsOf(await answer.text())
    expect(seen).toHaveLength(2)
    expect(JSON.parse(seen[0]?.data ?? "")).toBe("\n\nevent: admin\ndata: x\r\rid: 7\u2028")
    expect(seen[1]?.event).toBe("error")
    const problem = JSON.parse(seen[1]?.data ?? "") as Record<string, unknown>
    expect(problem).toMatchObject({ code: "EXECUTION_ERROR", status: 500 })
    expect(JSON.stringify(problem)).not.toContain(".ts:")
  })

  test("that is wrong from the start has a status", async () => {
    const { url } = await start()
    const ask = (id: string, input?: unknown): Promise<Response> =>
      post(`${url}/operations/${id}`, input, { headers: events })
    expect((await ask("demo.count", { to: "many" })).status).toBe(400)
    expect((await ask("demo.secret")).status).toBe(403)
    expect((await ask("demo.none")).status).toBe(404)
  })

  test("is asked for more only as fast as it is read", async () => {
    const { url, seen } = await start()
    const input = { to: 100_000, size: 10_000 }
    const answer = await post(`${url}/api/demo/count`, input, { headers: events })
    const from = await reader(answer)
    await from.read()
    // Kernels hold some megabytes; nobody holds a gigabyte.
    let before = -1
    while (before !== seen.pulled) {
      before = seen.pulled
      for (let turns = 0; turns < 50; turns++) await turn()
    }
    expect(seen.pulled).toBeLessThan(5000)
    await from.cancel()
    await seen.ended.promise
  })

  test("whose client leaves ends its handler", async () => {
    const { url, seen } = await start()
    const controller = new AbortController()
    const { signal } = controller
    const answer = await fetch(`${url}/operations/demo.idle`, { headers: events, signal })
    await (await reader(answer)).read()
    await seen.waiting.promise
    controller.abort()
    await seen.ended.promise
    expect(seen.aborted).toBe(1)
  })

  test("is one of so many", async () => {
    const { url, seen } = await start({ sse: { maxStreams: 2 } })
    const controller = new AbortController()
    const ask = (signal = controller.signal): Promise<Response> =>
      fetch(`${url}/operations/demo.idle`, { headers: events, signal })
    const first = await ask()
    expect([first.status, (await ask()).status, (await ask()).status]).toEqual([200, 200, 429])
    await (await reader(first)).read()
    await seen.waiting.promise
    controller.abort()
    await seen.ended.promise
    const again = new AbortController()
    expect((await ask(again.signal)).status).toBe(200)
    again.abort()
  })

  test("ends with a word when the server does", async () => {
    const { api, url, seen } = await start()
    const answer = await fetch(`${url}/operations/demo.idle`, { headers: events })
    const text = answer.text()
    await seen.waiting.promise
    await api.close()
    const [, last] = eventsOf(await text)
    expect(last?.event).toBe("error")
    const ended = { code: "UNAVAILABLE", retryable: false, mayHaveExecuted: true }
    expect(JSON.parse(last?.data ?? "")).toMatchObject(ended)
    expect(seen.aborted).toBe(1)
  })

  test("of HEAD runs nothing on", async () => {
    const { url, seen } = await start()
    const answer = await fetch(`${url}/operations/demo.idle`, { method: "HEAD", headers: events })
    expect(answer.status).toBe(200)
    expect(seen.aborted).toBe(0)
  })

  test("works the same for web requests", async () => {
    const { registry, seen } = demo()
    await using api = toHTTP(registry, { logger: silentLogger })
    const ask = (path: string): Promise<Response> =>
      api.fetch(new Request(`http://localhost${path}`, { headers: events }))
    const answer = await ask("/api/demo/count?to=2")
    expect(eventsOf(await answer.text())).toEqual([
      { id: "1", data: "1" },
      { id: "2", data: "2" },
      { event: "end", data: "{}" },
    ])
    const idle = await reader(await ask("/operations/demo.idle"))
    await idle.read()
    await seen.waiting.promise
    await idle.cancel()
    await seen.ended.promise
    expect(seen.aborted).toBe(1)
  })
})

/** A stream of so many items that are there at once, and where they went. */
function piece(count: number, maxBufferBytes = 64 * 1024, hold?: Promise<void>) {
  const clock = new VirtualClock()
  const written: string[] = []
  async function* items(): AsyncGenerator<ResponseEnvelope, undefined> {
    for (let at = 0; at < count; at++) yield localEnvelope(at, "demo.items")
    await hold
  }
  const source = items() as unknown as EnvelopeStream
  const sink: HTTPSink = {
    isGone: false,
    write: (text) => written.push(String(text)) > 0,
    drained: () => Promise.resolve(),
    onGone: () => () => {},
  }
  let over = 0
  const stream = new EventStream({
    items: source,
    first: source.next(),
    render: ({ data }) => JSON.stringify(data),
    renderError: String,
    lastId: 0,
    maxBufferBytes,
    heartbeats: new Heartbeats(clock, 15_000),
    over: () => over++,
  })
  return { clock, written, sink, stream, overs: () => over }
}

describe("writing", () => {
  test("joins what comes in one turn", async () => {
    const { stream, sink, written, overs } = piece(100)
    await stream.run(sink)
    expect(written).toHaveLength(1)
    expect(eventsOf(written[0] ?? "")).toHaveLength(101)
    expect(overs()).toBe(1)
  })

  test("joins no more than the buffer takes", async () => {
    const { stream, sink, written } = piece(100, 200)
    await stream.run(sink)
    expect(Math.max(...written.map((text) => text.length))).toBeLessThan(250)
    expect(eventsOf(written.join(""))).toHaveLength(101)
  })

  test("shows that it is alive when nothing else does", async () => {
    let release = (): void => {}
    const hold = new Promise<void>((resolve) => (release = resolve))
    const { stream, sink, written, clock } = piece(1, 1000, hold)
    const running = stream.run(sink)
    await turn()
    await turn()
    await clock.advance(15_000)
    expect(written).toHaveLength(1)
    await clock.advance(30_000)
    expect(written.slice(1)).toEqual([": \n\n", ": \n\n"])
    release()
    await running
    await clock.advance(60_000)
    expect(written).toHaveLength(4)
  })
})
