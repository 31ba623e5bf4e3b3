import { Readable } from "node:stream"
import { createGzip, gzipSync } from "node:zlib"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { exchange } from "../../src/http-client/exchange.ts"
import type { HttpResponse } from "../../src/http-client/exchange.ts"
import { readBody } from "../../src/http-client/read-body.ts"
import type { ReadBodyOptions } from "../../src/http-client/read-body.ts"
import { failureOf, get, options, responseOf, serve, until } from "./server.ts"

const SECRET = "canary-5f0d1a77"
const PLAIN = { contentType: "text/plain" }

function settings(more: Partial<ReadBodyOptions> = {}): ReadBodyOptions {
  return { signal: new AbortController().signal, secrets: [], method: "GET", ...more }
}

async function dataOf(
  chunks: readonly (string | Uint8Array)[],
  contentType: string,
  more?: Partial<HttpResponse>,
): Promise<unknown> {
  return (await readBody(responseOf(chunks, { contentType, ...more }), settings())).data
}

describe("readBody", () => {
  test.each([
    ['{"a":1}', "application/json", { a: 1 }],
    ['{"a":1}', "application/hal+json;charset=utf-8", { a: 1 }],
    ["null", "application/json", null],
    ['\uFEFF{"a":"é"}', "application/json", { a: "é" }],
    [" \n", "application/json", undefined],
    ["plain", "text/plain", "plain"],
    ["<a/>", "application/xml", "<a/>"],
    ["a=1", "application/x-www-form-urlencoded", "a=1"],
    ["1\n2\n", "application/x-ndjson", "1\n2\n"],
    ["{}", "application/octet-stream", new TextEncoder().encode("{}")],
    ['{"a":1}', "", { a: 1 }],
    ["hello", "", "hello"],
    ["hello", "nonsense", "hello"],
  ])("%j as %s", async (text, contentType, expected) => {
    expect(await dataOf([text], contentType)).toEqual(expected)
  })

  test("bytes without a content type stay bytes", async () => {
    const bytes = new Uint8Array([0xff, 0xd8, 0xff])

    expect(await dataOf([bytes], "")).toEqual(bytes)
    expect(await dataOf([new Uint8Array([65, 0, 66])], "")).toEqual(new Uint8Array([65, 0, 66]))
  })

  test.each([
    [[0xe9], "text/plain; charset=iso-8859-1", "é"],
    [[0xe9], 'text/plain; charset="Windows-1252"', "é"],
    [[0x82, 0xa0], "text/plain; charset=shift_jis", "あ"],
    [[0xff, 0xfe, 0x41, 0], "text/plain", "A"],
    [[0xfe, 0xff, 0, 0x41], "text/plain; charset=utf-8", "A"],
    [[0x41], "text/plain; charset=klingon", "A"],
    [[0xff], "text/plain", "\uFFFD"],
  ])("charset: %j as %s", async (bytes, contentType, expected) => {
    expect(await dataOf([new Uint8Array(bytes)], contentType)).toBe(expected)
  })

  test.each([
    [204, "GET"],
    [205, "GET"],
    [304, "GET"],
    [200, "HEAD"],
  ])("%i for %s has no body, whatever comes", async (status, method) => {
    const read = await readBody(responseOf(["x"], { status }), settings({ method }))

    expect(read).toEqual({ data: undefined })
  })

  test("an empty body is nothing, of any type", async () => {
    expect(await dataOf([], "application/json")).toBeUndefined()
    expect(await dataOf([], "image/png")).toBeUndefined()
    expect(await dataOf([], "text/plain", { body: null })).toBeUndefined()
  })

  test("a page labelled as JSON is its text and a warning with an excerpt (OA39)", async () => {
    const page = `<!doctype html>\n<title>Down</title>${"x".repeat(1000)}`

    const read = await readBody(responseOf([page]), settings({ operationId: "pets.list" }))

    expect(read.data).toBe(page)
    expect(read.warning).toContain(`"pets.list"`)
    expect(read.warning).toContain("<!doctype html> <title>Down</title>xxx")
    expect(read.warning?.length).toBeLessThan(400)
  })

  test("__proto__ is data, and pollutes nothing (OA34)", async () => {
    const data = (await dataOf(['{"__proto__":{"isAdmin":true}}'], "application/json")) as object

    expect((data as { isAdmin?: unknown }).isAdmin).toBeUndefined()
    expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined()
    expect(Object.keys(data)).toEqual(["__proto__"])
  })

  test.each([
    "[".repeat(200_000) + "]".repeat(200_000),
    `${'{"a":'.repeat(200_000)}1${"}".repeat(200_000)}`,
    "[".repeat(513),
  ])("JSON that is nested too deep is a clean error (OA29)", async (text) => {
    await expect(dataOf([text], "application/json")).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      message: expect.stringContaining("deeper than 512"),
    })
  })

  test("brackets inside strings are no depth, and 512 levels are fine", async () => {
    const text = JSON.stringify({ a: `\\"${"[".repeat(2000)}\\`, "{{\\": '"' })
    const deep = "[".repeat(512) + "]".repeat(512)

    expect(await dataOf([text], "application/json")).toEqual(JSON.parse(text))
    expect(await dataOf([deep], "application/json")).toEqual(JSON.parse(deep))
  })

  test("any JSON comes out as it went in, however it is cut", async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.integer({ min: 1, max: 9 }), async (value, size) => {
        const bytes = new TextEncoder().encode(JSON.stringify(value))
        const chunks: Uint8Array[] = []
        for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.slice(at, at + size))

        expect(await dataOf(chunks, "application/json")).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  test("a secret that comes back is masked, also escaped and split (OA15)", async () => {
    const odd = 'p"w\\d 12345'
    const text = JSON.stringify({ you: `Bearer ${SECRET}`, password: odd })
    const response = responseOf([text.slice(0, 20), text.slice(20)])

    const { data } = await readBody(response, settings({ secrets: [SECRET, odd, "short", ""] }))

    expect(data).toEqual({ you: "Bearer ***", password: "***" })
  })
})

describe("limits", () => {
  test("too large is an error that says how to allow it, and the body is cancelled", async () => {
    let isCancelled = false
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(1000)),
      cancel: () => void (isCancelled = true),
    })

    const error = await failureOf(
      readBody(responseOf([], { body }), settings({ maxBytes: 10_000, method: "POST" })),
    )

    expect(error).toMatchObject({ code: "PAYLOAD_TOO_LARGE", mayHaveExecuted: true })
    expect((error as Error).message).toContain("10000 bytes")
    expect((error as Error).message).toContain("maxResponseBytes")
    expect(isCancelled).toBe(true)
  })

  test("exactly the limit is fine; one byte more is not", async () => {
    const ten = settings({ maxBytes: 10 })

    expect((await readBody(responseOf(["x".repeat(10)], PLAIN), ten)).data).toBe("x".repeat(10))
    await expect(readBody(responseOf(["x".repeat(11)], PLAIN), ten)).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
    })
  })

  test("an announced length is believed before a byte is read", async () => {
    let pulls = 0
    const body = new ReadableStream<Uint8Array>({ pull: () => void pulls++ }, { highWaterMark: 0 })
    const response = responseOf([], { body, headers: { "content-length": "99999999" } })

    await expect(readBody(response, settings())).rejects.toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
    })
    expect(pulls).toBe(0)
  })

  test("200 KiB of gzip that become 200 MiB are stopped at the limit (OA26)", async () => {
    const bomb = await new Promise<Buffer>((resolve) => {
      const zeros = Readable.from(
        (function* () {
          for (let i = 0; i < 200; i++) yield Buffer.alloc(1024 * 1024)
        })(),
      )
      const parts: Buffer[] = []
      const gzip = createGzip({ level: 9 })
      gzip.on("data", (part: Buffer) => parts.push(part))
      gzip.on("end", () => resolve(Buffer.concat(parts)))
      zeros.pipe(gzip)
    })
    expect(bomb.length).toBeLessThan(256 * 1024)
    await using server = await serve((_request, response) => {
      response
        .writeHead(200, { "content-encoding": "gzip", "content-type": "application/json" })
        .end(bomb)
    })
    const before = process.memoryUsage().rss

    const response = await exchange(get(server.url), options())
    const error = await failureOf(readBody(response, settings()))

    expect(error).toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024)
  })

  test("gzip of an honest size is read", async () => {
    await using server = await serve((_request, response) => {
      response
        .writeHead(200, { "content-encoding": "gzip", "content-type": "application/json" })
        .end(gzipSync('{"ok":true}'))
    })

    const response = await exchange(get(server.url), options())

    expect((await readBody(response, settings({ maxBytes: 11 }))).data).toEqual({ ok: true })
  })

  test("headers, then silence: the deadline ends it and closes the connection (OA28)", async () => {
    await using server = await serve((_request, response) => response.flushHeaders())
    const controller = new AbortController()
    const { signal } = controller

    const response = await exchange(get(server.url), options({ signal }))
    const reading = failureOf(readBody(response, settings({ signal })))
    controller.abort(new DOMException("The deadline passed.", "TimeoutError"))
    const error = await reading

    expect(error).toMatchObject({ code: "TIMEOUT" })
    await until(() => server.open() === 0)
  })

  test("a byte now and then, for ever: the same (OA28)", async () => {
    await using server = await serve((_request, response) => {
      const timer = setInterval(() => response.write("x"), 10)
      response.on("close", () => clearInterval(timer))
    })
    const controller = new AbortController()
    const { signal } = controller

    const response = await exchange(get(server.url), options({ signal }))
    const reading = failureOf(readBody(response, settings({ signal })))
    controller.abort(new DOMException("The deadline passed.", "TimeoutError"))
    const error = await reading

    expect(error).toMatchObject({ code: "TIMEOUT" })
    await until(() => server.open() === 0)
  })

  test("an aborted read ends at once even where the body itself does not listen", async () => {
    const controller = new AbortController()
    const body = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) })
    const running = readBody(responseOf([], { body }), settings({ signal: controller.signal }))

    controller.abort()

    await expect(running).rejects.toMatchObject({ code: "ABORTED" })
  })
})
