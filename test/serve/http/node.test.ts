import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { ServedHTTP } from "../../../src/node.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { toHTTP } from "../../../src/to-http.ts"
import { byteLength } from "../../../src/serve/read-node-body.ts"
import { cutShort, demo, post, raw, serve } from "./support.ts"
import type { Seen } from "./support.ts"

let api: ServedHTTP
let seen: Seen
let url: string
beforeEach(async () => {
  const made = demo()
  seen = made.seen
  api = await serve(made.registry, { maxBodyBytes: 10_000 })
  url = `${api.url}/operations/demo.echo`
})
afterEach(() => api.close())

describe("a request", () => {
  test("is answered with one complete answer that nobody keeps", async () => {
    const answer = await post(url, { a: "ü😀" })
    expect(answer.status).toBe(200)
    expect(answer.headers.get("content-type")).toBe("application/json")
    expect(answer.headers.get("cache-control")).toBe("no-store")
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff")
    expect(answer.headers.get("transfer-encoding")).toBeNull()
    const text = await answer.text()
    expect(Number(answer.headers.get("content-length"))).toBe(Buffer.byteLength(text))
    expect(JSON.parse(text)).toMatchObject({ data: { a: "ü😀" } })
  })

  test("may have no body at all", async () => {
    expect((await post(url)).status).toBe(200)
    expect(seen.runs).toBe(1)
  })

  test("comes in as many pieces as it likes", async () => {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: new ReadableStream({
        start(controller) {
          for (const part of ['{"a":"', [0xc3], [0xbc], '"}']) {
            controller.enqueue(
              typeof part === "string" ? new TextEncoder().encode(part) : new Uint8Array(part),
            )
          }
          controller.close()
        },
      }),
      duplex: "half",
    } as RequestInit)
    expect(await answer.json()).toMatchObject({ data: { a: "ü" } })
  })

  test("of HEAD is answered without a body", async () => {
    const answer = await fetch(url, { method: "HEAD" })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toBe("")
  })

  test("with another method hears which ones there are", async () => {
    const answer = await fetch(url, { method: "DELETE" })
    expect(answer.status).toBe(405)
    expect(answer.headers.get("allow")).toBe("GET, POST, HEAD")
    expect(answer.headers.get("content-type")).toBe("application/problem+json")
  })

  test("names its id, its time and its trace", async () => {
    const headers = {
      "request-id": "mine-1",
      "x-timeout-ms": "5000",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    }
    const answer = await post(`${api.url}/operations/demo.ids`, undefined, { headers })
    expect(await answer.json()).toMatchObject({ data: { requestId: "mine-1", isTimed: true } })
    await post(url, undefined, { headers })
    expect(seen.metadata).toEqual({
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    })
  })

  test("with an id that is no id gets another", async () => {
    const headers = { "request-id": "a b<script>" }
    const answer = await post(`${api.url}/operations/demo.ids`, undefined, { headers })
    const { data } = (await answer.json()) as { data: { requestId: string } }
    expect(data.requestId).toMatch(/^[\w-]+$/)
  })

  test.each(["0", "-1", "1e3", "soon", "99999999999"])(
    "of %s milliseconds is refused",
    async (ms) => {
      const answer = await post(url, undefined, { headers: { "x-timeout-ms": ms } })
      expect(answer.status).toBe(400)
      expect(seen.runs).toBe(0)
    },
  )

  test("is ended when its time is over", async () => {
    const headers = { "x-timeout-ms": "20" }
    const answer = await post(`${api.url}/operations/demo.hang`, undefined, { headers })
    expect(answer.status).toBe(504)
    await seen.ended.promise
  })

  test("whose client leaves ends its handler", async () => {
    const controller = new AbortController()
    const { signal } = controller
    const asked = post(`${api.url}/operations/demo.hang`, undefined, { signal })
    const failed = asked.catch((error: unknown) => (error as Error).name)
    await seen.waiting.promise
    controller.abort()
    await seen.ended.promise
    expect(seen.aborted).toBe(1)
    expect(await failed).toBe("AbortError")
  })
})

describe("a body", () => {
  const json = "content-type: application/json\r\n"
  const head = (path = "/operations/demo.echo"): string =>
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n`

  test("that says it is too long is refused before it is read", async () => {
    const bytes = `${head()}${json}content-length: 2000000\r\n\r\n`
    const text = await raw(url, bytes, (all) => all.includes("PAYLOAD_TOO_LARGE"))
    expect(text).toMatch(/^HTTP\/1.1 413 /)
    expect(seen.runs).toBe(0)
  })

  test("that becomes too long is refused when it does", async () => {
    const chunk = `2000\r\n${" ".repeat(0x2000)}\r\n`
    const bytes = `${head()}${json}transfer-encoding: chunked\r\n\r\n${chunk.repeat(3)}0\r\n\r\n`
    const text = await raw(url, bytes, (all) => all.includes("PAYLOAD_TOO_LARGE"))
    expect(text).toMatch(/^HTTP\/1.1 413 /)
    expect(seen.runs).toBe(0)
  })

  test.each([
    ["two lengths", "content-length: 2\r\ncontent-length: 3\r\n\r\n{}"],
    ["a length and chunks", "content-length: 2\r\ntransfer-encoding: Chunked\r\n\r\n0\r\n\r\n"],
  ])("with %s closes the connection with 400", async (_, rest) => {
    const text = await raw(url, `${head()}${json}${rest}`)
    expect(text).toMatch(/^HTTP\/1.1 400 /)
    expect(seen.runs).toBe(0)
  })

  test("that is shorter than it says never runs anything", async () => {
    await cutShort(url, `${head()}${json}content-length: 50\r\n\r\n{}`)
    const sent = raw(url, `${head()}${json}content-length: 2\r\n\r\n{}`, (all) => all.includes("}"))
    expect(await sent).toMatch(/^HTTP\/1.1 200 /)
    expect(seen.runs).toBe(1)
  })

  test("is not unpacked", async () => {
    const headers = { "content-encoding": "gzip" }
    expect((await post(url, {}, { headers })).status).toBe(415)
    expect(seen.runs).toBe(0)
  })

  test("has to be JSON", async () => {
    for (const body of ["{", "[1,]", "nothing", '{"a":1}x']) {
      expect((await post(url, body)).status).toBe(400)
    }
    expect(seen.runs).toBe(0)
  })

  test("has to be UTF-8", async () => {
    const body = new Uint8Array([0x22, 0xff, 0xfe, 0x22])
    const headers = { "content-type": "application/json" }
    const answer = await fetch(url, { method: "POST", headers, body })
    expect(answer.status).toBe(400)
    expect(seen.runs).toBe(0)
  })

  test("may not be nested too deep, and brackets in strings are no nesting", async () => {
    const deep = (levels: number): string => "[".repeat(levels) + "]".repeat(levels)
    expect((await post(url, deep(64))).status).toBe(200)
    const answer = await post(url, deep(65))
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ code: "VALIDATION_ERROR" })
    expect((await post(url, JSON.stringify(`\\"${"[".repeat(200)}`))).status).toBe(200)
  })

  test("changes no prototype", async () => {
    const answer = await post(url, '{"__proto__":{"polluted":true},"constructor":{"prototype":{}}}')
    expect(answer.status).toBe(200)
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined()
    expect(await answer.text()).toContain('"__proto__":{"polluted":true}')
  })

  test("of rich types is plain data", async () => {
    const input = { $type: "function", value: "() => 1", json: {}, meta: { values: ["Date"] } }
    expect(await (await post(url, input)).json()).toMatchObject({ data: input })
  })

  test("with half a letter stays valid JSON", async () => {
    const answer = await post(url, '"\\ud800"')
    expect(await answer.json()).toMatchObject({ data: "\ud800" })
  })
})

describe("a path in another spelling is nothing", () => {
  test.each([
    "//operations/demo.echo",
    "/operations//demo.echo",
    "/operations/demo.echo/",
    "/operations/demo.echo;x",
    "/OPERATIONS/demo.echo",
    "/%6fperations/demo.echo",
    "/operations%2fdemo.echo",
    "/operations/demo%2f.echo",
    "/operations/demo.echo%00",
    "/operations/%",
    "/operations/%ff",
    "/operations/%2e%2e/batch",
    "/operations/../operations/demo.echo",
    "/operations/demo%252eecho",
    "/operations\\demo.echo",
    "http://127.0.0.1/operations/demo.echo",
    "*",
    "/api/demo/Echo",
    "/api/demo/%2e%2e/demo/echo",
  ])("%s", async (path) => {
    const bytes = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`
    expect(await raw(url, bytes)).toMatch(/^HTTP\/1.1 404 /)
    expect(seen.runs).toBe(0)
  })

  test("but a name may be escaped where it stands for something", async () => {
    expect((await post(`${api.url}/operations/demo%2Eecho`)).status).toBe(200)
  })
})

test("a handler for Node works in a server of somebody else", async () => {
  const own = toHTTP(demo().registry, { logger: silentLogger })
  const server = createServer((request, response) => {
    response.setHeader("x-powered-by", "somebody")
    own.node(request, response)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve)
  })
  try {
    const { port } = server.address() as AddressInfo
    const answer = await post(`http://127.0.0.1:${port}/operations/demo.echo`, [1])
    expect(answer.headers.get("x-powered-by")).toBe("somebody")
    expect(await answer.json()).toMatchObject({ data: [1] })
  } finally {
    await own.close()
    server.closeAllConnections()
    server.close()
  }
})

test("sizes are those of UTF-8", () => {
  for (const text of ["", "abc", "ü", "€", "😀", "\ud800", "a\udc00b", "x😀".repeat(3000)]) {
    expect(byteLength(text)).toBe(Buffer.byteLength(text))
  }
  expect(byteLength(new Uint8Array(3))).toBe(3)
  expect(byteLength(undefined)).toBe(0)
})
