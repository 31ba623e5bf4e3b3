import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { describe, expect, test } from "vitest"
import { exchange } from "../../src/http-client/exchange.ts"
import { networkFailure } from "../../src/http-client/request-errors.ts"
import { classifyFailure } from "../../src/http-client/connection-failure.ts"
import { readBody } from "../../src/http-client/read-body.ts"
import { CallError } from "../../src/index.ts"
import { deadUrl, failureOf, get, options, serve, serveRaw } from "./server.ts"

async function post(url: string): Promise<unknown> {
  return await failureOf(
    exchange(get(url, { method: "POST", body: "x" }), options({ mayHaveEffect: true })),
  )
}

async function read(url: string): Promise<unknown> {
  const signal = new AbortController().signal
  const response = await exchange(get(url), options())
  return await failureOf(readBody(response, { signal, secrets: [], method: "GET" }))
}

describe("a failed connection", () => {
  test("refused: nothing was sent, so anything may be tried again", async () => {
    const url = await deadUrl()

    const error = await post(url)

    expect(error).toMatchObject({
      code: "UNAVAILABLE",
      retryable: true,
      mayHaveExecuted: false,
      operationId: "demo.get",
      details: { reason: "refused", code: "ECONNREFUSED" },
    })
    expect((error as Error).message).toContain(`of "demo.get" to ${url} failed`)
  })

  test("a port that the platform refuses: nothing was sent, and trying again is in vain", async () => {
    expect(await post("http://127.0.0.1:1/")).toMatchObject({
      code: "UNAVAILABLE",
      retryable: false,
      mayHaveExecuted: false,
      details: { reason: "refused" },
    })
  })

  test("a name that does not exist", async () => {
    const error = await post("http://no-such-host.invalid/x?key=canary")

    expect(error).toMatchObject({ code: "UNAVAILABLE", details: { reason: "dns" } })
    expect((error as Error).message).toContain("http://no-such-host.invalid failed")
    expect((error as Error).message).not.toContain("canary")
  })

  test("closed before an answer: a POST may have been done", async () => {
    await using server = await serve((request) => request.socket.destroy())

    expect(await post(server.url)).toMatchObject({
      code: "UNAVAILABLE",
      retryable: false,
      mayHaveExecuted: true,
      details: { reason: "closed" },
    })
  })

  test("closed before an answer: a GET may be repeated", async () => {
    await using server = await serve((request) => request.socket.destroy())

    expect(await failureOf(exchange(get(server.url), options()))).toMatchObject({
      retryable: true,
      mayHaveExecuted: false,
    })
  })

  test("reset in the middle of a body", async () => {
    await using server = await serve((_request, response) => {
      response.write("half", () => response.socket?.resetAndDestroy())
    })

    expect(await read(server.url)).toMatchObject({
      code: "UNAVAILABLE",
      details: { reason: "closed" },
    })
  })

  test("a body shorter than announced", async () => {
    await using server = await serveRaw((socket) => {
      socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\nconnection: close\r\n\r\nshort")
    })

    const error = await read(server.url)

    expect(error).toMatchObject({ code: "UNAVAILABLE", retryable: true })
    expect((error as CallError<string, { reason: string }>).details?.reason).toMatch(
      /closed|length/,
    )
  })

  test("not HTTP at all", async () => {
    await using server = await serveRaw((socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n"))

    expect(await post(server.url)).toMatchObject({
      code: "UNAVAILABLE",
      details: { reason: "protocol" },
    })
  })

  test("plain HTTP where TLS was expected, and the other way round", async () => {
    await using plain = await serve((_request, response) => response.end())
    const secure = createServer({}, (_request, response) => response.end())
    await new Promise<void>((resolve) => secure.listen(0, "127.0.0.1", resolve))
    const { port } = secure.address() as AddressInfo

    try {
      expect(await post(plain.url.replace("http:", "https:"))).toMatchObject({
        code: "UNAVAILABLE",
        details: { reason: "tls" },
        mayHaveExecuted: false,
      })
      expect(await post(`https://127.0.0.1:${port}`)).toMatchObject({ details: { reason: "tls" } })
    } finally {
      secure.close()
    }
  })

  test("bytes that do not decompress", async () => {
    await using server = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" }).end("not gzip at all")
    })

    expect(await read(server.url)).toMatchObject({
      code: "UNAVAILABLE",
      retryable: false,
      details: { reason: "encoding" },
    })
  })
})

describe("networkFailure", () => {
  const context = {
    signal: new AbortController().signal,
    operationId: "demo.get",
    origin: "https://a.test",
    mayHaveEffect: false,
    secrets: ["canary-5f0d1a77"],
  }

  test.each([
    ["ENOTFOUND", "dns", true],
    ["EAI_AGAIN", "dns", true],
    ["EHOSTUNREACH", "unreachable", true],
    ["UND_ERR_CONNECT_TIMEOUT", "connect-timeout", true],
    ["CERT_HAS_EXPIRED", "tls", false],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "tls", false],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "tls", false],
    // As Node 22 names what Node 20 calls ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE.
    ["ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE", "tls", false],
    ["UND_ERR_HEADERS_TIMEOUT", "timeout", true],
    ["UND_ERR_BODY_TIMEOUT", "timeout", true],
    ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "length", true],
    ["ECONNRESET", "closed", true],
    ["UND_ERR_SOCKET", "closed", true],
    ["HPE_INVALID_CONSTANT", "protocol", false],
  ])("%s is %s", (code, reason, retryable) => {
    const cause = Object.assign(new Error("low"), { code })
    const thrown = new TypeError("fetch failed", { cause })

    const error = networkFailure(thrown, context)

    expect(error).toMatchObject({ code: "UNAVAILABLE", retryable, details: { reason, code } })
    expect(error.cause).toBe(thrown)
  })

  test("an answer that is not HTTP has no code in Node 24", () => {
    const text = "Response does not match the HTTP/1.1 protocol (Expected HTTP/, RTSP/ or ICE/)"
    const thrown = new TypeError("fetch failed", { cause: new Error(text) })

    expect(networkFailure(thrown, context).details).toMatchObject({ reason: "protocol" })
  })

  test("each kind has words of its own", () => {
    const codes = ["ENOTFOUND", "ECONNREFUSED", "UND_ERR_SOCKET", "CERT_HAS_EXPIRED"]
    const more = ["UND_ERR_CONNECT_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]
    const messages = [...codes, ...more, "UND_ERR_RES_CONTENT_LENGTH_MISMATCH"].map(
      (code) => networkFailure(Object.assign(new Error("x"), { code }), context).message,
    )

    expect(new Set(messages).size).toBe(7)
  })

  test.each(["Failed to fetch", "NetworkError when attempting to fetch resource.", "Load failed"])(
    "what a browser says (%s) is a lost network",
    (message) => {
      expect(networkFailure(new TypeError(message), context)).toMatchObject({
        code: "UNAVAILABLE",
        retryable: true,
        details: { reason: "other" },
      })
    },
  )

  test("a request that cannot be made is not worth repeating, and its secrets stay in", () => {
    const thrown = new TypeError(
      'Headers.append: "Bearer canary-5f0d1a77" for https://a.test/x?k=1 is invalid',
    )

    const error = networkFailure(thrown, context)

    expect(error.retryable).toBe(false)
    expect(error.message).not.toMatch(/canary|k=1/)
    expect(error.cause).toBeUndefined()
  })

  test.each([undefined, null, "text", 5, {}, new AggregateError([], "x")])(
    "%j is a failure like any other",
    (thrown) => {
      expect(networkFailure(thrown, context).code).toBe("UNAVAILABLE")
    },
  )

  test("the first of several addresses speaks for all", () => {
    const first = Object.assign(new Error("a"), { code: "ECONNREFUSED" })
    const thrown = new TypeError("fetch failed", { cause: new AggregateError([first]) })

    expect(classifyFailure(thrown).kind).toBe("refused")
  })

  test("a peer that leaves before the connection is secure is reported as such", () => {
    const message =
      "Client network socket disconnected before secure TLS connection was established"
    const thrown = new TypeError("fetch failed", {
      cause: Object.assign(new Error(message), { code: "ECONNRESET" }),
    })

    expect(networkFailure(thrown, { ...context, mayHaveEffect: true })).toMatchObject({
      details: { reason: "tls" },
      mayHaveExecuted: false,
      retryable: true,
    })
  })

  test("an error of ours is not wrapped, and causes may go in circles", () => {
    const own = new CallError("EGRESS_BLOCKED", "No.")
    const round = new Error("round")
    round.cause = round

    expect(networkFailure(own, context)).toBe(own)
    expect(networkFailure(round, context).message).toContain("round.")
  })
})
