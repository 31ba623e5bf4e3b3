import { expect, test } from "vitest"
import { decodeBody } from "../../../src/serve/read-body.ts"
import { WebIncoming, toResponse } from "../../../src/serve/fetch.ts"
import type { HTTPSink } from "../../../src/serve/exchange.ts"
import { deferred } from "./support.ts"

const URL_ = "http://example.test/a?b=1"

function incoming(init?: RequestInit): WebIncoming {
  return new WebIncoming(new Request(URL_, init), undefined)
}

function post(body: BodyInit, headers: Record<string, string> = {}): WebIncoming {
  return incoming({ method: "POST", body, headers, duplex: "half" } as RequestInit)
}

function pieces(...chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
}

test("knows its request", () => {
  const web = incoming({ headers: { "request-id": "abc" } })
  expect(web).toMatchObject({ method: "GET", path: "/a", query: "b=1", knownId: "abc" })
  expect(web.requestId).toBe("abc")
  expect(web.like).toMatchObject({ url: "/a?b=1", headers: { host: "example.test" } })
  expect(web.header("x-none")).toBeUndefined()
  const bad = incoming({ headers: { "request-id": "a b" } })
  expect(bad.requestId).toMatch(/^[\da-f-]{36}$/)
  const without = incoming()
  expect(without.knownId).toBeUndefined()
  expect(without.requestId).toBe(without.knownId)
})

test("notifies when its client disconnects, or has disconnected before", () => {
  const controller = new AbortController()
  const { signal } = controller
  const web = incoming({ signal })
  let count = 0
  web.onGone(() => count++)
  web.onGone(() => count++)()
  controller.abort()
  expect(count).toBe(1)
  incoming({ signal }).onGone(() => count++)
  expect(count).toBe(2)
})

test("reads bodies, of which none is longer than allowed", async () => {
  const bytes = new TextEncoder().encode("aé€")
  expect(await incoming().readBody(10)).toBe("")
  expect(await post("abc").readBody(3)).toBe("abc")
  expect(await post("abcd").readBody(3)).toBeUndefined()
  expect(await post("a", { "content-length": "99" }).readBody(3)).toBeUndefined()
  const parts = [bytes.slice(0, 2), bytes.slice(2, 4), bytes.slice(4)]
  expect(await post(pieces(...parts)).readBody(6)).toBe("aé€")
  expect(await post(pieces(...parts)).readBody(5)).toBeUndefined()
  await expect(post(pieces(bytes.slice(0, 2))).readBody(9)).rejects.toThrow("not UTF-8")
  expect(decodeBody([])).toBe("")
  const cut = [bytes.slice(0, 1), bytes.slice(1, 2)]
  expect(() => decodeBody(cut)).toThrow("The body is not UTF-8.")
})

test("answers with text, with nothing, and to HEAD without a body", async () => {
  const answer = { status: 200, headers: { "x-a": "1" }, body: "text" }
  const response = toResponse(answer, incoming({ headers: { "request-id": "abc" } }))
  expect(response.headers.get("request-id")).toBe("abc")
  expect(await response.text()).toBe("text")
  const head = toResponse(answer, incoming({ method: "HEAD" }))
  expect(head.headers.get("request-id")).toBeNull()
  expect(head.body).toBeNull()
  expect(toResponse({ status: 204, headers: {} }, incoming()).body).toBeNull()
  let sink: HTTPSink | undefined
  const run = (given: HTTPSink): Promise<void> => {
    sink = given
    return Promise.resolve()
  }
  const none = toResponse({ status: 200, headers: {}, body: { run } }, incoming({ method: "HEAD" }))
  expect(none.body).toBeNull()
  expect(sink?.isGone).toBe(true)
})

test("streams with back pressure", async () => {
  const big = "x".repeat(64 * 1024)
  const flows: boolean[] = []
  const run = async (sink: HTTPSink): Promise<void> => {
    await sink.drained()
    flows.push(sink.write("a"), sink.write(big))
    await sink.drained()
    flows.push(sink.isGone)
    sink.write("z")
  }
  const response = toResponse({ status: 200, headers: {}, body: { run } }, incoming())
  expect(await response.text()).toBe(`a${big}z`)
  expect(flows).toEqual([true, false, false])
})

test("a stream whose client leaves is woken and writes nothing more", async () => {
  const controller = new AbortController()
  const seen: unknown[] = []
  const ended = deferred()
  const run = async (sink: HTTPSink): Promise<void> => {
    sink.onGone(() => seen.push("gone"))
    sink.write("x".repeat(70_000))
    await sink.drained()
    seen.push(sink.isGone, sink.write("more"))
    ended.resolve()
  }
  const web = incoming({ signal: controller.signal })
  const response = toResponse({ status: 200, headers: {}, body: { run } }, web)
  controller.abort()
  await ended.promise
  expect(seen).toEqual(["gone", true, true])
  await expect(response.text()).rejects.toThrow("The client left.")
})

test("a reader that cancels has left", async () => {
  const ended = deferred()
  let isGone = false
  const run = async (sink: HTTPSink): Promise<void> => {
    sink.write("x".repeat(70_000))
    await sink.drained()
    isGone = sink.isGone
    ended.resolve()
  }
  const response = toResponse({ status: 200, headers: {}, body: { run } }, incoming())
  await response.body?.cancel()
  await ended.promise
  expect(isGone).toBe(true)
})

test.each([
  ["read", async (request: Request) => void (await request.text())],
  ["being read", (request: Request) => void request.body?.getReader()],
])("a body that was %s elsewhere is refused", async (_, use) => {
  const request = new Request(URL_, { method: "POST", body: "{}" })
  await use(request)
  await expect(new WebIncoming(request, undefined).readBody(10)).rejects.toMatchObject({
    code: "EXECUTION_ERROR",
    mayHaveExecuted: false,
    message: expect.stringContaining("new Request(request, { body })") as string,
  })
})

test("a declared body that is missing is refused", async () => {
  const lost = incoming({ method: "POST", headers: { "content-length": "7" } })
  await expect(lost.readBody(10)).rejects.toThrow("no longer available")
  const empty = incoming({ method: "POST", headers: { "content-length": "0" } })
  expect(await empty.readBody(10)).toBe("")
})

test("a request that was read can be passed on with its text", async () => {
  const request = new Request(URL_, { method: "POST", body: '{"a":1}' })
  const body = await request.text()
  const again = new WebIncoming(new Request(request, { body }), undefined)
  expect(await again.readBody(10)).toBe('{"a":1}')
})
