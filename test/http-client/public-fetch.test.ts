import dns from "node:dns"
import { gzipSync } from "node:zlib"
import { afterEach, describe, expect, test, vi } from "vitest"
import { FromOpenAPI, FromOpenAPIUrl } from "../../src/from-openapi.ts"
import { createMCPClient } from "../../src/from-mcp.ts"
import { createPublicFetch, createGuardedFetch } from "../../src/http-client/public-fetch.ts"
import { fromCall } from "../../src/index.ts"
import { JwtVerifier } from "../../src/serve/http/auth/jwt.ts"
import { createWebSocketTransport } from "../../src/websocket.ts"
import { systemClock } from "../../src/internal/clock.ts"
import { oneOperation } from "../sources/openapi/recorder.ts"
import { quietRegistry, rejection } from "../support/operations.ts"
import { resolverOf } from "./dns-server.ts"
import type { TestResolver } from "./dns-server.ts"
import { serve } from "./server.ts"

afterEach(() => {
  vi.restoreAllMocks()
})

/** Names that a stranger may have: one leads to this machine. */
const NAMES = {
  "rebound.example.test": [["127.0.0.1"], ["127.0.0.2"]],
  "mixed.example.test": [["93.184.216.34", "10.0.0.1"]],
  "inside.example.test": [["127.0.0.1"]],
}

/** Lets the platform's resolver ask the one on loopback. */
function substitute({ lookup }: TestResolver): void {
  vi.spyOn(dns, "lookup").mockImplementation(((
    name: string,
    _options: object,
    callback: (error: Error | null, addresses: unknown) => void,
  ) => lookup(name, { all: true }, callback)) as never)
}

describe("createPublicFetch", () => {
  test.each([
    "http://127.0.0.1:1/",
    "http://2130706433/",
    "http://[::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://169.254.169.254/latest/meta-data",
    "http://localhost/",
    "https://db.internal/",
  ])("refuses %s as it is written", async (url) => {
    expect(await rejection(createPublicFetch()(url))).toMatchObject({
      code: "EGRESS_BLOCKED",
      mayHaveExecuted: false,
      retryable: false,
    })
  })

  test.each(["inside.example.test", "mixed.example.test"])(
    "refuses %s, which resolves to a private address",
    async (name) => {
      await using server = await serve((_request, response) => void response.end("secret"))
      await using resolver = await resolverOf(NAMES)
      const { port } = new URL(server.url)
      const send = createPublicFetch({ lookup: resolver.lookup })
      const error = await rejection(send(`http://${name}:${port}/`))

      expect(error).toMatchObject({ code: "EGRESS_BLOCKED" })
      expect(String(error)).toContain(`"${name}"`)
      expect(server.requests).toEqual([])
    },
  )

  test("looks a name up once for each connection, so that nothing comes between check and use", async () => {
    await using server = await serve((_request, response) => {
      response.writeHead(200, { connection: "close" }).end("public")
    })
    await using resolver = await resolverOf(NAMES)
    const { port } = new URL(server.url)
    // On one machine all addresses are private: here one of them stands for a public one.
    const send = createGuardedFetch(resolver.lookup, (host) => host === "127.0.0.2")
    const url = `http://rebound.example.test:${port}/`

    expect(await (await send(url)).text()).toBe("public")
    expect(resolver.asked).toEqual(["rebound.example.test"])
    expect(await rejection(send(url))).toMatchObject({ code: "EGRESS_BLOCKED" })
    expect(resolver.asked).toHaveLength(2)
    expect(server.requests).toHaveLength(1)
  })

  test("refuses where a redirect leads", async () => {
    await using server = await serve((request, response) => {
      if (request.url === "/secret") response.end("secret")
      else response.writeHead(302, { location: `http://127.0.0.2:${port}/secret` }).end()
    })
    const { port } = new URL(server.url)
    const send = createGuardedFetch(undefined, (host) => host === "127.0.0.2")

    expect(await rejection(send(server.url))).toMatchObject({ code: "EGRESS_BLOCKED" })
    expect(server.requests).toHaveLength(1)
  })

  test("says what it was that cannot be resolved", async () => {
    await using resolver = await resolverOf(NAMES)
    const send = createPublicFetch({ lookup: resolver.lookup })

    expect(await rejection(send("http://nowhere.example.test/"))).toMatchObject({
      cause: { code: "ENOTFOUND" },
    })
  })
})

describe("the fetch itself", () => {
  const send = createGuardedFetch(undefined, () => false)

  test("sends what fetch sends, and gives what fetch gives", async () => {
    await using server = await serve((_request, response) => {
      response.writeHead(201, "Made", {
        "content-type": "application/json",
        "content-encoding": "gzip",
        "set-cookie": ["a=1", "b=2"],
      })
      response.end(gzipSync('{"ok":true}'))
    })
    const response = await send(`${server.url}/x?y=1`, {
      method: "POST",
      body: new URLSearchParams({ a: "1" }),
      headers: { "x-own": "1" },
    })

    expect(response).toMatchObject({ status: 201, statusText: "Made", url: `${server.url}/x?y=1` })
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"])
    expect(await response.json()).toEqual({ ok: true })
    expect(server.requests).toEqual([{ method: "POST", url: "/x?y=1", body: "a=1" }])
    expect(server.headers[0]).toMatchObject({
      "x-own": "1",
      "content-length": "3",
      "content-type": "application/x-www-form-urlencoded;charset=UTF-8",
    })
  })

  test("sends a stream, a Request and a body of bytes", async () => {
    await using server = await serve((_request, response) => void response.writeHead(204).end())
    const stream = new Blob(["streamed"]).stream()
    await send(server.url, { method: "POST", body: stream, duplex: "half" } as RequestInit)
    await send(new Request(server.url, { method: "PUT", body: "given" }))
    const response = await send(server.url, { method: "POST", body: new Uint8Array([65]) })

    expect(response.body).toBeNull()
    expect(server.requests.map(({ body }) => body)).toEqual(["streamed", "given", "A"])
  })

  test("follows redirects as fetch does, and leaves credentials behind", async () => {
    await using other = await serve((_request, response) => void response.end("there"))
    await using server = await serve((_request, response) => {
      response.writeHead(302, { location: other.url }).end()
    })
    const headers = { authorization: "Bearer x", "content-type": "text/plain" }
    const response = await send(server.url, { method: "POST", body: "b", headers })

    expect(await response.text()).toBe("there")
    expect(other.requests).toEqual([{ method: "GET", url: "/", body: "" }])
    expect(other.headers[0]).not.toHaveProperty("authorization")
    expect((await send(server.url, { redirect: "manual" })).status).toBe(302)
    await expect(send(server.url, { redirect: "error" })).rejects.toThrow("redirect")
  })

  test("an abort ends the request and the body, and a lost connection is an error", async () => {
    await using server = await serve((request, response) => {
      response.writeHead(200)
      if (request.url === "/cut") response.write("x", () => response.socket?.resetAndDestroy())
      else response.write("x")
    })
    const controller = new AbortController()
    const response = await send(server.url, { signal: controller.signal })
    const reading = response.text()
    controller.abort(new Error("enough"))

    await expect(reading).rejects.toBeInstanceOf(Error)
    await expect(send(server.url, { signal: controller.signal })).rejects.toThrow("enough")
    await expect(send(`${server.url}/cut`).then((one) => one.text())).rejects.toBeInstanceOf(Error)
    await expect(send("http://127.0.0.1:1/")).rejects.toMatchObject({
      cause: { code: "ECONNREFUSED" },
    })
  })
})

describe("blockPrivate is enforced at the connection", () => {
  const blocked = { code: "EGRESS_BLOCKED" }

  test("of a call, of a token endpoint and of a document", async () => {
    await using server = await serve((_request, response) => void response.end("{}"))
    await using resolver = await resolverOf(NAMES)
    substitute(resolver)
    const { port } = new URL(server.url)
    const inside = `http://inside.example.test:${port}`
    const config = { namespace: "api", baseUrl: inside, blockPrivate: true }
    const operations = FromOpenAPI(oneOperation("/x", "get", {}), config)
    const secured = FromOpenAPI(oneOperation("/x", "get", {}), {
      ...config,
      baseUrl: "https://api.example",
      auth: {
        type: "clientCredentials",
        clientId: "a",
        clientSecret: "canary-1234",
        tokenUrl: `${inside}/token`,
      },
    })

    expect(await rejection(quietRegistry(operations).execute("api.op", {}))).toMatchObject(blocked)
    expect(await rejection(quietRegistry(secured).execute("api.op", {}))).toMatchObject(blocked)
    expect(await rejection(FromOpenAPIUrl(`${inside}/openapi.json`, config))).toMatchObject(blocked)
    expect(server.requests).toEqual([])
    expect(resolver.asked.length).toBeGreaterThan(2)
  })

  test("of the keys of an issuer", async () => {
    await using resolver = await resolverOf(NAMES)
    substitute(resolver)
    const verifier = new JwtVerifier(
      {
        jwks: "https://inside.example.test/jwks.json",
        blockPrivate: true,
        issuer: "i",
        audience: "a",
        algorithms: ["RS256"],
      },
      systemClock,
    )
    const head = Buffer.from('{"alg":"RS256","kid":"1"}').toString("base64url")
    const error = await rejection(verifier.find(`${head}.e30.AAAA`))

    expect(error).toMatchObject({ code: "UNAVAILABLE", cause: blocked })
    expect(resolver.asked).toEqual(["inside.example.test"])
  })

  test("of an MCP server, and of a WebSocket", async () => {
    await using server = await serve((_request, response) => void response.end("{}"))
    await using resolver = await resolverOf(NAMES)
    substitute(resolver)
    const { port } = new URL(server.url)
    const inside = `http://inside.example.test:${port}`
    const mcp = await rejection(createMCPClient("tools", { url: inside, blockPrivate: true }))
    const socket = createWebSocketTransport(inside, { blockPrivate: true, reconnect: false })
    const link = await rejection(fromCall(socket))
    await socket.close()

    expect(String(mcp)).toContain("private address")
    expect(String(link)).toContain("private address")
    expect(server.requests).toEqual([])
    expect(resolver.asked.length).toBeGreaterThan(1)
  })
})
