import { connect } from "node:net"
import type { Socket } from "node:net"
import { gzipSync } from "node:zlib"
import { describe, expect, test } from "vitest"
import { WebSocket } from "ws"
import type { ServedHTTP } from "../../../src/node.ts"
import { toHTTP } from "../../../src/to-http.ts"
import { demo, post, raw, useServers } from "./support.ts"

const { start, cleanups } = useServers()

const JSON_TYPE = "content-type: application/json\r\n"
const LARGE = 2 * 1024 * 1024
/** A hundred megabytes of text: packed once, because that takes longer than a test. */
const PACKED = new Uint8Array(gzipSync(`"${"x".repeat(50 * LARGE)}"`))
const ROUTES = ["/operations/demo.echo", "/api/demo/echo", "/batch"]

function head(path: string, more = ""): string {
  return `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${more}`
}

/** The API still answers. */
async function expectAlive(api: ServedHTTP): Promise<void> {
  expect((await post(`${api.url}/api/demo/echo`, 1)).status).toBe(200)
}

describe("a body that is too large (SV10)", () => {
  test.each(ROUTES)("with its length, to %s", async (path) => {
    const { api, seen } = await start()
    const bytes = `${head(path, JSON_TYPE)}content-length: ${LARGE}\r\n\r\n"${"x".repeat(LARGE - 2)}"`
    expect(await raw(api.url, bytes)).toMatch(/^HTTP\/1\.1 413 /)
    expect(seen.runs).toBe(0)
    await expectAlive(api)
  })

  test.each(ROUTES)("in chunks without a length, to %s", async (path) => {
    const { api, seen } = await start()
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`
    const bytes = `${head(path, JSON_TYPE)}transfer-encoding: chunked\r\n\r\n${chunk.repeat(32)}0\r\n\r\n`
    expect(await raw(api.url, bytes)).toMatch(/^HTTP\/1\.1 413 /)
    expect(seen.runs).toBe(0)
    await expectAlive(api)
  })

  test.each(["gzip", "deflate", "br", "zstd", "gzip, identity", "GZIP", "identity, gzip"])(
    "once it is unpacked, as %s",
    async (encoding) => {
      const { api, seen } = await start()
      const headers = { "content-type": "application/json", "content-encoding": encoding }
      const url = `${api.url}/api/demo/echo`
      const answer = await fetch(url, { method: "POST", body: PACKED, headers })
      expect(answer.status).toBe(415)
      expect(seen.runs).toBe(0)
    },
  )

  test("with a length that is a lie is cut where it says, and what follows runs nothing", async () => {
    const { api, seen } = await start()
    const lie = `${head("/api/demo/echo", JSON_TYPE)}content-length: 4\r\n\r\n`
    const text = await raw(api.url, `${lie}"ab"${"x".repeat(LARGE)}`)
    expect(text).toMatch(/^HTTP\/1\.1 (?:200|400) /)
    expect(text).toMatch(/HTTP\/1\.1 400 /)
    expect(seen.runs).toBeLessThanOrEqual(1)
    for (const length of ["-1", "0x10", "1e3", "+4", "4,4", "99999999999999999999", "4 4"]) {
      const bytes = `${head("/api/demo/echo", JSON_TYPE)}content-length: ${length}\r\n\r\n"ab"`
      expect(await raw(api.url, bytes, (all) => all.includes("}"))).toMatch(/^HTTP\/1\.1 4\d\d /)
    }
    expect(seen.runs).toBeLessThanOrEqual(1)
    await expectAlive(api)
  })

  test("through web requests, whatever their length says", async () => {
    const { registry, seen } = demo()
    const web = toHTTP(registry)
    for (const length of [undefined, "2", "-5", "much"]) {
      const body = new Blob(['"', "x".repeat(LARGE), '"']).stream()
      const headers = new Headers({ "content-type": "application/json" })
      if (length !== undefined) headers.set("content-length", length)
      const init = { method: "POST", headers, body, duplex: "half" } as RequestInit
      const answer = await web.fetch(new Request("http://localhost/api/demo/echo", init))
      expect(answer.status).toBe(413)
    }
    expect(seen.runs).toBe(0)
    await web.close()
  })
})

describe("a content type that is nearly JSON (SV12)", () => {
  test.each([
    "application/json garbage",
    "application/json\ta",
    "application/json\ta; charset=utf-8",
    "application/json,text/plain",
    "application /json",
    "text/json",
    "application/json\u00a0",
    "applicatıon/json",
    "application/vnd.api+json",
    "",
  ])("%j is refused", async (type) => {
    const { api, seen } = await start()
    const input = '{"to":"not a number"}'
    for (const path of ["/api/demo/count", "/operations/demo.echo", "/batch"]) {
      const bytes = `${head(path, `content-type: ${type}\r\n`)}content-length: ${input.length}\r\nconnection: close\r\n\r\n${input}`
      expect(await raw(api.url, bytes)).toMatch(/^HTTP\/1\.1 4(?:15|00) /)
    }
    expect(seen.runs).toBe(0)
  })

  test.each([" application/json", "\tapplication/json", "APPLICATION/JSON ;x=y"])(
    "%j is read, and checked",
    async (type) => {
      const { api, seen } = await start()
      const input = '{"to":"not a number"}'
      const bytes = `${head("/api/demo/count", `content-type:${type}\r\n`)}content-length: ${input.length}\r\nconnection: close\r\n\r\n${input}`
      const text = await raw(api.url, bytes)
      expect(text).toMatch(/^HTTP\/1\.1 400 /)
      expect(text).toContain("/to must be integer")
      expect(seen.pulled).toBe(0)
    },
  )

  test("twice is refused, or is the first", async () => {
    const { api, seen } = await start()
    const types = "content-type: text/plain\r\ncontent-type: application/json\r\n"
    const bytes = `${head("/api/demo/echo", types)}content-length: 2\r\nconnection: close\r\n\r\n{}`
    expect(await raw(api.url, bytes)).toMatch(/^HTTP\/1\.1 4(?:15|00) /)
    expect(seen.runs).toBe(0)
  })
})

describe("a path in another spelling (SV13)", () => {
  const authenticate = () => undefined
  const SPELLINGS = [
    "//operations/demo.echo",
    "/operations;x/demo.echo",
    "/operations/demo.echo;x",
    "/Operations/demo.echo",
    "/%6Fperations/demo.echo",
    "/operations%2Fdemo.echo",
    "/operations/demo.echo/",
    "/operations/./demo.echo",
    "/livez/../operations/demo.echo",
    "/livez;/operations/demo.echo",
    "/livez/operations/demo.echo",
    "/livez%2f..%2foperations/demo.echo",
    "/.well-known/../api/demo/echo",
    "/api//demo/echo",
    "/API/demo/echo",
    "/api/demo/echo%20",
    "/api/demo%2fecho",
    "\\operations\\demo.echo",
  ]

  test.each(SPELLINGS)("%j does not get around who may", async (path) => {
    const { api, seen } = await start({ authenticate })
    const text = await raw(api.url, `${head(path)}connection: close\r\n\r\n`)
    expect(text).toMatch(/^HTTP\/1\.1 40[0145] /)
    expect(seen.runs).toBe(0)
  })

  test.each(["/livez", "/healthz", "/readyz"])(
    "only %s itself needs no credentials",
    async (path) => {
      const { api } = await start({ authenticate })
      expect((await fetch(`${api.url}${path}`)).status).toBe(200)
      for (const other of [`${path}/`, `/${path}`, `${path};x`, path.toUpperCase(), `${path}%2f`]) {
        const bytes = `GET ${other} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`
        expect(await raw(api.url, bytes)).toMatch(/^HTTP\/1\.1 40[014] /)
      }
    },
  )

  test.each(["//ws", "/WS", "/%77s", "/ws/", "/ws;x", "/x/../ws"])(
    "%j is no place for WebSockets",
    async (path) => {
      const { api } = await start()
      const key = "dGhlIHNhbXBsZSBub25jZQ=="
      const bytes = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n\r\n`
      expect(await raw(api.url, bytes)).toMatch(/^HTTP\/1\.1 404 /)
    },
  )
})

describe("a request that two readers would read differently (SV14)", () => {
  const smuggled = "POST /api/demo/echo HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 0\r\n\r\n"
  test.each([
    ["a length and chunks", "content-length: 5\r\ntransfer-encoding: chunked\r\n"],
    ["a length and Chunks", "content-length: 5\r\nTransfer-Encoding: Chunked\r\n"],
    ["two lengths", "content-length: 5\r\ncontent-length: 6\r\n"],
    ["a list of lengths", "content-length: 5, 6\r\n"],
    ["an encoding that nobody knows", "transfer-encoding: xchunked\r\n"],
    ["chunks that are not last", "transfer-encoding: chunked, identity\r\n"],
    ["a space before the colon", "transfer-encoding : chunked\r\n"],
    ["a folded header", "transfer-encoding:\r\n chunked\r\ncontent-length: 5\r\n"],
    ["a bare line feed", "x: y\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n"],
  ])("%s", async (_, headers) => {
    const { api, seen } = await start()
    const bytes = `${head("/batch", JSON_TYPE + headers)}\r\n0\r\n\r\n${smuggled}`
    const text = await raw(api.url, bytes)
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1)
    expect(seen.runs).toBe(0)
  })

  test.each([
    ["sizes of chunks that are none", "x\r\n\r\n0\r\n\r\n"],
    ["sizes of chunks that are huge", "ffffffffffffffffff\r\nx\r\n0\r\n\r\n"],
    ["chunks with a wrong end", "2\r\n{}xx0\r\n\r\n"],
  ])("%s", async (_, body) => {
    const { api, seen } = await start()
    const headers = `${JSON_TYPE}transfer-encoding: chunked\r\n`
    const text = await raw(api.url, `${head("/api/demo/echo", headers)}\r\n${body}${smuggled}`)
    expect(text).toMatch(/^HTTP\/1\.1 400 /)
    expect(seen.runs).toBe(0)
  })
})

describe("clients that take their time (SV15)", () => {
  /** Sends one byte after the other until the server has enough of it. */
  function trickle(url: string, first: string): Promise<string> {
    const { hostname, port } = new URL(url)
    return new Promise((resolve) => {
      let text = ""
      const socket: Socket = connect(Number(port), hostname)
      // Before the timer, which may fire before there is a connection.
      socket.write(first)
      const timer = setInterval(() => socket.write("x"), 20)
      socket.on("data", (chunk) => (text += chunk.toString("latin1")))
      socket.on("error", () => undefined)
      socket.on("close", () => {
        clearInterval(timer)
        resolve(text)
      })
    })
  }

  test("a byte now and then does not keep a connection", async () => {
    const { api, seen } = await start({ requestTimeout: 500 })
    const headers = `${JSON_TYPE}content-length: 100000\r\n\r\n"`
    const texts = await Promise.all([
      trickle(api.url, `${head("/api/demo/echo")}x-slow: `),
      trickle(api.url, head("/api/demo/echo", headers)),
      trickle(api.url, "POST /"),
    ])
    for (const text of texts) expect(text).toMatch(/^(?:HTTP\/1\.1 408 |$)/)
    expect(seen.runs).toBe(0)
  })

  test("1,000 connections on which nothing comes keep nobody out, and are closed", async () => {
    const { api } = await start({ requestTimeout: 2000 })
    const { hostname, port } = new URL(api.url)
    const closed: Promise<void>[] = []
    const opened = Array.from({ length: 1000 }, (_, at) => {
      const socket = connect(Number(port), hostname)
      cleanups.push(() => socket.destroy())
      socket.on("error", () => undefined).resume()
      closed.push(new Promise((resolve) => socket.once("close", () => resolve())))
      return new Promise<void>((resolve) => {
        socket.once("connect", () => {
          if (at % 2 === 1) socket.write("GET /livez HTTP/1.1\r\n")
          resolve()
        })
      })
    })
    await Promise.all(opened)
    const answers = Array.from({ length: 50 }, (_, at) => post(`${api.url}/api/demo/echo`, at))
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200)
    await Promise.all(closed)
    await expectAlive(api)
  })
})

describe("headers without measure (SV16)", () => {
  test.each([
    ["10,000 of them", Array.from({ length: 10_000 }, (_, at) => `x-${at}: y\r\n`).join("")],
    ["one of 64 KiB", `x-large: ${"x".repeat(64 * 1024)}\r\n`],
    ["one with a name of 64 KiB", `${"x".repeat(64 * 1024)}: y\r\n`],
    ["a token of 64 KiB", `authorization: Bearer ${"x".repeat(64 * 1024)}\r\n`],
  ])("%s", async (_, headers) => {
    const { api, seen } = await start()
    expect(await raw(api.url, `${head("/api/demo/echo", headers)}\r\n`)).toMatch(/^HTTP\/1\.1 431 /)
    expect(seen.runs).toBe(0)
    await expectAlive(api)
  })

  test("an address of 64 KiB", async () => {
    const { api, seen } = await start()
    const path = `/api/demo/echo?x=${"x".repeat(64 * 1024)}`
    expect(await raw(api.url, `${head(path)}\r\n`)).toMatch(/^HTTP\/1\.1 4(?:14|31) /)
    expect(seen.runs).toBe(0)
  })

  test("an upgrade of 64 KiB", async () => {
    const { api } = await start()
    const socket = new WebSocket(`${api.url.replace("http", "ws")}/ws`, {
      headers: { "x-large": "x".repeat(64 * 1024) },
    })
    const message = await new Promise<string>((resolve) => {
      socket.on("error", (error) => resolve(error.message))
    })
    expect(message).toContain("431")
    await expectAlive(api)
  })
})
