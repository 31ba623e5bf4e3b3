import { describe, expect, test } from "vitest"
import { createHubClient } from "../../../console/src/api/client.ts"
import { ProblemError } from "../../../console/src/api/model.ts"
import type { WatchItem } from "../../../console/src/api/model.ts"
import { Session } from "../../../console/src/api/session.ts"
import { answering, never } from "./support.ts"

describe("a client of a server that is not a hub", () => {
  test("reports that nothing answers", async () => {
    const reached: boolean[] = []
    const hub = createHubClient({
      baseUrl: "http://127.0.0.1:1/",
      session: new Session(),
      onReach: (isReached) => reached.push(isReached),
    })
    await expect(hub.list()).rejects.toMatchObject({ problem: { code: "UNAVAILABLE" } })
    const outcome = await hub.call("a.b", {}, { signal: never() })
    expect(outcome).toMatchObject({ ok: false, status: 0, problem: { code: "UNAVAILABLE" } })
    expect(reached).toEqual([false, false])
  })

  test("treats the page of a proxy as a failure, and reports its status", async () => {
    const hub = await answering((_request, response) => {
      response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad Gateway</h1>")
    })
    await expect(hub.list()).rejects.toMatchObject({ status: 502, message: /502/ })
    const outcome = await hub.call("a.b", {}, { signal: never() })
    expect(outcome).toMatchObject({ ok: false, status: 502 })
  })

  test("keeps the digits of large integers in results and in items of streams", async () => {
    const envelope =
      '{"data":{"id":9007199254740993},"meta":{"source":"local","operationId":"a.b","timestamp":1}}'
    const hub = await answering((request, response) => {
      const isStream = request.headers.accept === "text/event-stream"
      const type = isStream ? "text/event-stream" : "application/json"
      response.writeHead(200, { "content-type": type })
      response.end(isStream ? `data: ${envelope}\n\nevent: end\ndata: {}\n\n` : envelope)
    })
    const outcome = await hub.call("a.b", {}, { signal: never() })
    const items: WatchItem[] = []
    await hub.watch("a.b", {}, { signal: never(), onItem: (item) => items.push(item) })
    const expected = { data: { id: 9007199254740993n } }
    expect(outcome).toMatchObject({ ok: true, envelope: expected })
    expect(items).toMatchObject([{ envelope: expected }])
  })

  test.each(["", "null", "[]", "{", '"x"', '{"operations":7}', '{"data":1}'])(
    "takes %j for no answer",
    async (body) => {
      const hub = await answering((_request, response) => {
        response.writeHead(200, { "content-type": "application/json" }).end(body)
      })
      await expect(hub.list()).rejects.toBeInstanceOf(ProblemError)
      await expect(hub.search("x")).rejects.toBeInstanceOf(ProblemError)
      const outcome = await hub.call("a.b", {}, { signal: never() })
      expect(outcome).toMatchObject({ ok: false, problem: { code: "DATA_LOSS" } })
    },
  )

  test("does not ask forever for pages that have no end", async () => {
    let asked = 0
    const hub = await answering(({ url = "" }, response) => {
      if (url.startsWith("/hub/")) return void response.writeHead(404).end()
      asked++
      response.writeHead(200).end('{"operations":[],"nextCursor":"again"}')
    })
    expect(await hub.list()).toEqual([])
    expect(asked).toBe(2)
  })

  test("reports that a stream broke off", async () => {
    const hub = await answering((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      const meta = '{"source":"local","operationId":"a.b","timestamp":1}'
      response.write(`id: 1\ndata: {"data":1,"meta":${meta}}\n\n`, () => response.socket?.destroy())
    })
    const items: WatchItem[] = []
    const watching = hub.watch("a.b", {}, { signal: never(), onItem: (item) => items.push(item) })
    await expect(watching).rejects.toMatchObject({ problem: { code: "UNAVAILABLE" } })
    expect(items).toHaveLength(1)
  })

  test("reports a stream that ends without its end event, or is not a stream", async () => {
    const hub = await answering(({ url = "" }, response) => {
      const type = url.includes("json") ? "application/json" : "text/event-stream"
      response.writeHead(200, { "content-type": type }).end(": hello\n\n")
    })
    const quiet = { signal: never(), onItem: () => undefined }
    await expect(hub.watch("a.b", {}, quiet)).rejects.toThrow("broke off")
    await expect(hub.watch("a.json", {}, quiet)).rejects.toThrow("application/json")
  })

  test("reads events in whatever pieces they come", async () => {
    const trace = '{"phase":"start","requestId":"1"}'
    const text =
      `event: call\ndata: ${trace}\n\n: beat\n\nevent: source\ndata: {"name":"é🎉"}\n\n` +
      `event: later\ndata: {"x":1}\n\ndata: {"kind":"call","trace":${trace}}\n\nevent: end\ndata: {}\n\n`
    const hub = await answering((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      // Each byte by itself, so that characters are cut too.
      for (const byte of Buffer.from(text)) response.write(Buffer.of(byte))
      response.end()
    })
    const received: unknown[] = []
    await hub.events({ signal: never(), onEvent: (event) => received.push(event) })
    expect(received).toEqual([
      { kind: "call", trace: JSON.parse(trace) as unknown },
      { kind: "source", status: { name: "é🎉" } },
      { kind: "call", trace: JSON.parse(trace) as unknown },
    ])
  })

  test("a 401 for an earlier credential does not ask for another one", async () => {
    const session = new Session()
    const hub = await answering((_request, response) => {
      // Between the question and its answer.
      session.setCredential({ kind: "key", value: "new" })
      response.writeHead(401).end()
    }, session)
    await expect(hub.list()).rejects.toMatchObject({ status: 401 })
    expect(session.isRequired).toBe(false)
  })
})
