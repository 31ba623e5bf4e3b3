import { once } from "node:events"
import { createServer } from "node:http"
import type { IncomingMessage, Server } from "node:http"
import { connect as connectTcp } from "node:net"
import type { AddressInfo, Socket } from "node:net"
import type { Duplex } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { Type } from "typebox"
import { afterEach, describe, expect, expectTypeOf, test, vi } from "vitest"
import { WebSocket } from "ws"
import { PendingRequestMap } from "../../src/protocol/pending/request-map.ts"
import { serveCalls } from "../../src/protocol/server/serve.ts"
import { defineOperation } from "../../src/core/define.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { createRegistry } from "../../src/engine/registry.ts"
import { createWebSocketTransport, readBearerToken, serveWebSocket } from "../../src/websocket.ts"
import type {
  ServedWebSocket,
  ServeWebSocketOptions,
  UpgradeServerLike,
  WebSocketConnection,
  WebSocketTransportOptions,
} from "../../src/websocket.ts"
import { BrowserSocket } from "../transport/browser-socket.ts"
import { waitFor } from "../support/wait-for.ts"
import { TOO_LONG } from "../support/patience.ts"

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

const base = {
  namespace: "demo",
  version: "1.0.0",
  description: "Of a test",
  inputSchema: Type.Unknown(),
  outputSchema: Type.Unknown(),
  accessControl: { requiredScopes: [] },
} as const

const aborted: string[] = []
const registry = createRegistry(
  [
    defineOperation({ ...base, name: "echo", type: "query", handler: (input) => input }),
    defineOperation({
      ...base,
      name: "who",
      type: "query",
      handler: (_, { identity }) => identity?.id ?? "nobody",
    }),
    defineOperation({
      ...base,
      name: "hang",
      type: "query",
      handler: (_, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            aborted.push("hang")
            resolve(null)
          })
        }),
    }),
    defineOperation({
      ...base,
      name: "flood",
      type: "subscription",
      async *handler() {
        for (;;) yield "x".repeat(50_000)
      },
    }),
  ],
  { logger: silentLogger },
)

async function serve(options: Partial<ServeWebSocketOptions> = {}): Promise<ServedWebSocket> {
  const served = await serveWebSocket(registry, {
    logger: silentLogger,
    ...(options.server === undefined ? { port: 0 } : {}),
    ...options,
  })
  cleanups.push(() => served.close())
  return served
}

async function httpServer(): Promise<{ server: Server; url: string }> {
  const server = createServer((_, response) => response.end("plain"))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  cleanups.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

function client(url: string | undefined, options?: WebSocketTransportOptions): PendingRequestMap {
  const transport = createWebSocketTransport(url as string, { logger: silentLogger, ...options })
  const map = new PendingRequestMap(transport, { logger: silentLogger })
  cleanups.push(() => map.close())
  return map
}

/** A plain socket, and what the server says to it. */
async function raw(
  url: string | undefined,
  headers: Record<string, string> = {},
): Promise<WebSocket> {
  const socket = new WebSocket(url as string, { headers })
  socket.on("error", () => {})
  cleanups.push(() => socket.terminate())
  await once(socket, "open")
  return socket
}

/** 101, or the status with which an upgrade is refused. */
function upgrade(url: string | undefined, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url as string, { headers })
    socket.on("error", () => {})
    socket.on("open", () => {
      socket.terminate()
      resolve(101)
    })
    socket.on("unexpected-response", (request, response) => {
      request.destroy()
      resolve(response.statusCode ?? 0)
    })
  })
}

describe("serveWebSocket", () => {
  test("answers calls, on a loopback port of its own", async () => {
    const served = await serve()
    const map = client(served.url)

    expect(served.url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/$/)
    expect((await map.call("demo.echo", { a: [1] })).data).toEqual({ a: [1] })
    expect((await map.call("demo.who")).data).toBe("nobody")
    expect(served.connections).toBe(1)
  })

  test("answers on the path of an HTTP server, and leaves other paths and requests alone", async () => {
    const { server, url } = await httpServer()
    const others: string[] = []
    server.on("upgrade", (request: IncomingMessage, socket: Duplex) => {
      if (request.url === "/calls?x=1") return
      others.push(request.url ?? "")
      socket.end("HTTP/1.1 418 I'm a teapot\r\nConnection: close\r\n\r\n")
    })
    const served = await serve({ server, path: "/calls" })

    expect((await client(`${url}/calls?x=1`).call("demo.echo", 1)).data).toBe(1)
    expect(await upgrade(`${url}/other`)).toBe(418)
    expect(others).toEqual(["/other"])
    expect(served.url).toBeUndefined()
    expect(await (await fetch(url.replace("ws", "http"))).text()).toBe("plain")

    await served.close()
    expect(server.listenerCount("upgrade")).toBe(1)
    expect(server.listening).toBe(true)
  })

  test("answers any path of an HTTP server when none is given", async () => {
    const { server, url } = await httpServer()
    await serve({ server })

    expect((await client(`${url}/any`).call("demo.echo", 1)).data).toBe(1)
  })

  test("a port of its own answers its path, and 404 for others", async () => {
    const served = await serve({ path: "/calls" })

    expect(served.url).toMatch(/\/calls$/)
    expect(await upgrade(served.url)).toBe(101)
    expect(await upgrade((served.url as string).replace("/calls", "/other"))).toBe(404)
  })

  test("handleUpgrade takes what others route to it", async () => {
    const { server, url } = await httpServer()
    const served = await serve({ server: undefined, port: undefined })
    server.on("upgrade", (request, socket, head) => {
      served.handleUpgrade(request, socket, head)
    })

    expect((await client(`${url}/x`).call("demo.echo", 1)).data).toBe(1)
  })

  test("answers its first clients, several at once, and closes before, while and after it loads ws", async () => {
    const { server, url } = await httpServer()
    const unused = await serve({ server, path: "/unused" })
    await unused.close()
    const served = await serve({ server, path: "/calls" })
    const calls = Array.from({ length: 5 }, (_, at) => client(`${url}/calls`).call("demo.echo", at))
    const results = await Promise.all(calls)
    expect(results.map(({ data }) => data)).toEqual([0, 1, 2, 3, 4])
    await served.close()
    const closing = await serve({ server, path: "/closing" })
    const upgraded = once(server, "upgrade")
    const late = client(`${url}/closing`, { reconnect: false }).call("demo.echo", 1)
    await upgraded
    await closing.close()
    await expect(late).rejects.toMatchObject({ code: "UNAVAILABLE" })
  })

  test("can call its clients", async () => {
    const connections: WebSocketConnection[] = []
    const served = await serve({ onConnection: (connection) => void connections.push(connection) })
    const map = client(served.url)
    serveCalls(registry, { callMap: map, logger: silentLogger })
    await map.call("demo.echo")

    expect((await connections[0]?.callMap.call("demo.echo", "back"))?.data).toBe("back")
  })

  test("an onConnection that throws does not affect connections", async () => {
    const error = vi.fn()
    const served = await serve({
      logger: { ...silentLogger, error },
      onConnection() {
        throw new Error("mine")
      },
    })

    expect((await client(served.url).call("demo.echo", 1)).data).toBe(1)
    expect(error).toHaveBeenCalledOnce()
  })

  test.each([
    [{ port: 0, server: { on() {}, off() {} } }, "either server or port"],
    [{ port: 0, host: "0.0.0.0" }, "can be reached from other machines"],
    [{ port: 0, host: "::" }, "can be reached from other machines"],
    [{ port: 0, maxFrameBytes: -1 }, "maxFrameBytes"],
  ])("refuses options that make no sense: %#", async (options, message) => {
    const serving = serveWebSocket(registry, options)

    await expect(serving).rejects.toThrow(TypeError)
    await expect(serving).rejects.toThrow(message)
  })

  test.each([
    [{}, "serveWebSocket(registry): registry must be an OperationRegistry."],
    [undefined, "serveWebSocket(registry): registry must be an OperationRegistry."],
    [{ registry }, "Pass it before the options: serveWebSocket(registry, options)."],
  ])("refuses a first argument that is not a registry: %#", async (first, message) => {
    await expect(serveWebSocket(first as never)).rejects.toThrow(message)
  })

  test("a port that is taken is named", async () => {
    const { url } = await serve()
    const port = Number(new URL(url as string).port)

    await expect(serve({ port })).rejects.toThrow(`Cannot listen on 127.0.0.1:${port}`)
  })

  test("the types of Node's servers fit", () => {
    expectTypeOf<Server>().toExtend<UpgradeServerLike>()
  })
})

describe("where a request may come from", () => {
  test.each([
    ["no origin", {}, 101],
    ["the same host", { origin: "http://HOST" }, 101],
    ["another host", { origin: "http://evil.example" }, 403],
    ["another port", { origin: "http://127.0.0.1:1" }, 403],
    ["a listed origin", { origin: "https://app.example" }, 101],
    ["a listed origin, with another scheme", { origin: "http://app.example" }, 403],
    ["a host that only starts like a listed one", { origin: "https://app.example.evil" }, 403],
    ["the null origin", { origin: "null" }, 403],
    ["nonsense", { origin: "::" }, 403],
    ["an older name of the header", { "sec-websocket-origin": "http://evil.example" }, 403],
    ["a name that points at this machine", { host: "evil.example" }, 403],
    [
      "the same, which calls itself by that name",
      { host: "evil.example", origin: "http://evil.example" },
      403,
    ],
    ["a listed host", { host: "hub.example:81" }, 101],
    ["localhost", { host: "localhost:80" }, 101],
    ["the IPv6 loopback", { host: "[::1]:80" }, 101],
  ])("%s", async (_, headers, status) => {
    const { url } = await serve({
      allowedOrigins: ["https://app.example/", "null"],
      allowedHosts: ["hub.example"],
    })
    const { host } = new URL(url as string)
    const sent = Object.entries(headers).map(([name, value]) => [name, value.replace("HOST", host)])

    expect(await upgrade(url, Object.fromEntries(sent) as Record<string, string>)).toBe(status)
  })

  test("without allowedHosts, a machine's other addresses go by any name", async () => {
    const served = await serve({ port: undefined })
    const decided: unknown[] = []
    const gate = (served as unknown as { gate: { verify: (...args: unknown[]) => void } }).gate

    for (const headers of [{ host: "any.example" }, {}, { host: ["a", "b"] }]) {
      const req = { headers, socket: { localAddress: "192.0.2.1" } }
      gate.verify({ req }, (...decision: unknown[]) => decided.push(decision))
    }
    gate.verify(
      { req: { headers: {}, socket: { localAddress: "::1" } } },
      (...decision: unknown[]) => decided.push(decision),
    )
    gate.verify({ req: { headers: { origin: "http://a" } } }, (...decision: unknown[]) =>
      decided.push(decision),
    )

    expect(decided).toEqual([[true], [true], [true], [false, 403], [false, 403]])
  })
})

describe("who connects", () => {
  const alice = { id: "alice", scopes: [] }

  test("is found out at the upgrade, from a header or a browser's subprotocol", async () => {
    const served = await serve({
      authenticate: async (request) =>
        readBearerToken(request) === "s3cret/ä" ? alice : undefined,
    })

    const token = "s3cret/ä"
    const page = client(served.url, { token, WebSocket: BrowserSocket })
    expect((await page.call("demo.who")).data).toBe("alice")
    expect(BrowserSocket.last?.inner.protocol).toBe("alkdev.operations")
    expect(await upgrade(served.url, { authorization: "Bearer wrong" })).toBe(401)
    expect(await upgrade(served.url)).toBe(401)
  })

  test("a token in the header is read too", async () => {
    const served = await serve({
      authenticate: (request) => (readBearerToken(request) === "abc" ? alice : undefined),
    })

    expect((await client(served.url, { token: "abc" }).call("demo.who")).data).toBe("alice")
  })

  test("null admits a caller as anonymous", async () => {
    const served = await serve({ authenticate: () => null })

    expect((await client(served.url).call("demo.who")).data).toBe("nobody")
  })

  test("what a client claims does not count, unless it is trusted", async () => {
    const served = await serve({ authenticate: () => alice })
    const trusting = await serve({ isTrusted: true })
    const identity = { id: "root", scopes: ["*"] }

    expect((await client(served.url).call("demo.who", null, { identity })).data).toBe("alice")
    expect((await client(trusting.url).call("demo.who", null, { identity })).data).toBe("root")
  })

  test("resolveIdentity has the last word", async () => {
    const served = await serve({
      authenticate: () => alice,
      resolveIdentity: (_, peer) => ({ id: `${peer.identity?.id}!`, scopes: [] }),
    })

    expect((await client(served.url).call("demo.who")).data).toBe("alice!")
  })

  test.each([
    ["throws", () => Promise.reject(new Error("secret reason"))],
    [
      "throws at once",
      (): never => {
        throw "secret" as unknown as Error
      },
    ],
    ["gives what is no identity", () => true as unknown as null],
    ["gives scopes that are no strings", () => ({ id: "ada", scopes: [1] }) as unknown as null],
    ["gives an empty id", () => ({ id: "", scopes: [] })],
    ["takes too long", () => new Promise<null>(() => {})],
  ])("authenticate that %s refuses with 401 and no details", async (_, authenticate) => {
    const { url } = await serve({ authenticate, authenticateTimeout: 30 })
    const { port } = new URL(url as string)
    const socket = connectTcp(Number(port), "127.0.0.1")
    socket.write(
      "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    )
    let answer = ""
    socket.on("data", (data) => (answer += String(data)))
    await once(socket, "close")

    expect(answer).toMatch(/^HTTP\/1\.1 401 Unauthorized/)
    expect(answer).not.toContain("secret")
  })

  test("a client that leaves while it is looked at leaves nothing behind", async () => {
    let decide: (identity: null) => void = () => {}
    const served = await serve({
      maxConnections: 1,
      authenticate: () => new Promise((resolve) => (decide = resolve)),
    })
    const socket = new WebSocket(served.url as string)
    socket.on("error", () => {})
    await sleep(50)
    // One place, and it is taken.
    expect(await upgrade(served.url)).toBe(503)
    socket.terminate()
    await sleep(20)
    decide(null)
    await sleep(20)

    expect(served.connections).toBe(0)
  })

  test.each([
    [{}, undefined],
    [{ authorization: "Basic abc" }, undefined],
    [{ authorization: "bearer  abc" }, "abc"],
    [{ "sec-websocket-protocol": "a, alkdev.bearer.YWJj" }, "abc"],
    [{ "sec-websocket-protocol": "alkdev.bearer." }, undefined],
    [{ "sec-websocket-protocol": "alkdev.bearer.*" }, undefined],
    [{ "sec-websocket-protocol": "alkdev.bearer._w" }, undefined],
  ])("readBearerToken(%j) is %j", (headers, token) => {
    expect(readBearerToken({ headers })).toBe(token)
  })
})

describe("one client that misbehaves", () => {
  async function withBystander(
    options: Partial<ServeWebSocketOptions>,
    misbehave: (socket: WebSocket, served: ServedWebSocket) => Promise<unknown>,
  ): Promise<number[]> {
    const served = await serve(options)
    const bystander = client(served.url)
    await bystander.call("demo.echo", 0)
    const socket = await raw(served.url)
    const codes: number[] = []
    socket.on("close", (code) => codes.push(code))
    await misbehave(socket, served)
    expect((await bystander.call("demo.echo", 1)).data).toBe(1)
    return codes
  }

  test.each([
    ["a binary frame", Buffer.from([1, 2, 3]), 1003],
    ["what is not JSON", "{,", 1007],
    ["a frame that is too large", "x".repeat(1024 * 1024 + 1), 1009],
    ["too many events at once", `[${"0,".repeat(10_000)}0]`, 1009],
  ])("with %s is closed", async (_, frame, code) => {
    const codes = await withBystander({}, async (socket) => {
      socket.send(frame)
      await once(socket, "close")
    })

    expect(codes).toEqual([code])
  })

  test("with JSON that is no event is answered nothing, and may go on", async () => {
    await withBystander({}, async (socket) => {
      for (const frame of [
        "null",
        "[]",
        "[[[]]]",
        '{"__proto__":{"type":"call.requested"}}',
        "1e999",
      ]) {
        socket.send(frame)
      }
      socket.send(
        JSON.stringify({
          type: "call.requested",
          requestId: "1",
          operationId: "demo.echo",
          input: 5,
        }),
      )
      const [data] = (await once(socket, "message")) as [Buffer]
      expect(JSON.parse(String(data))).toMatchObject({ requestId: "1", output: { data: 5 } })
    })
  })

  test("by breaking the protocol of frames is logged once", async () => {
    const warn = vi.fn()
    await withBystander({ logger: { ...silentLogger, warn } }, async (socket) => {
      const { _socket } = socket as unknown as { _socket: Socket }
      _socket.write(Buffer.from([0xff, 0xff, 0xff, 0xff]))
      await once(socket, "close")
    })

    expect(warn).toHaveBeenCalledOnce()
  })

  test("by vanishing ends its calls", async () => {
    aborted.length = 0
    await withBystander({}, async (socket, served) => {
      socket.send('{"type":"call.requested","requestId":"h","operationId":"demo.hang"}')
      await sleep(30)
      expect(served.connections).toBe(2)
      ;(socket as unknown as { _socket: Socket })._socket.destroy()
      await waitFor(() => expect(aborted).toEqual(["hang"]))
      expect(served.connections).toBe(1)
    })
  })

  test("by not reading a stream is closed with 1013, and the server's memory is not filled", async () => {
    const warnings: unknown[] = []
    await withBystander(
      { stallTimeout: 100, maxBufferedBytes: 200_000 },
      async (socket, served) => {
        socket.pause()
        for (let at = 0; at < 20; at++) {
          socket.send(
            JSON.stringify({
              type: "call.requested",
              requestId: `f${at}`,
              operationId: "demo.flood",
              window: 1000,
            }),
          )
        }
        while (served.connections === 2) await sleep(10)
        // Whatever had arrived by then is read now, and with it how it ended.
        socket.resume()
        const [code] = (await once(socket, "close")) as [number]
        warnings.push(code)
      },
    )

    expect([1013, 1006]).toContain(warnings[0])
  })

  test("by not answering pings is dropped", async () => {
    const served = await serve({ pingInterval: 20 })
    const socket = new WebSocket(served.url as string, { autoPong: false })
    await once(socket, "open")
    while (served.connections === 0) await sleep(1)

    const start = performance.now()
    await once(socket, "close")

    expect(performance.now() - start).toBeGreaterThan(30)
    expect(served.connections).toBe(0)
  })

  test("by sending pings and not reading the answers is dropped", async () => {
    await withBystander({ maxBufferedBytes: 1024 }, async (socket, served) => {
      const { _socket } = socket as unknown as { _socket: Socket }
      _socket.pause()
      const payload = Buffer.alloc(125)
      while (served.connections === 2) {
        for (let at = 0; at < 5000; at++) socket.ping(payload)
        await sleep(1)
      }
      expect(served.connections).toBe(1)
    })
  })

  test("more calls than may run and wait are refused one by one", async () => {
    const served = await serve({ maxInFlight: 1, maxQueued: 1, maxStreams: 0 })
    const map = client(served.url)
    void map.call("demo.hang").catch(() => {})
    void map.call("demo.hang").catch(() => {})

    await expect(map.call("demo.echo")).rejects.toMatchObject({ code: "OVERLOADED" })
    await expect(map.subscribe("demo.flood").next()).rejects.toMatchObject({ code: "OVERLOADED" })
  })

  test("more connections than may be are refused", async () => {
    const served = await serve({ maxConnections: 1 })
    await raw(served.url)

    expect(await upgrade(served.url)).toBe(503)
  })
})

describe("closing a server", () => {
  test("close ends connections with 1001, fails pending calls, and can be called twice", async () => {
    const served = await serve()
    const socket = await raw(served.url)
    const map = client(served.url, { reconnect: false })
    const failed = map.call("demo.hang").catch((error: unknown) => error)
    await map.call("demo.echo")
    const closed = once(socket, "close")

    await Promise.all([served.close(), served.close(), served[Symbol.asyncDispose]()])

    expect((await closed)[0]).toBe(1001)
    expect(await failed).toMatchObject({ code: "UNAVAILABLE" })
    expect(served.connections).toBe(0)
    await expect(fetch((served.url as string).replace("ws", "http"))).rejects.toThrow(
      "fetch failed",
    )
  })

  test("does not wait for clients that do not answer, nor for connections that say nothing", async () => {
    const served = await serve()
    const socket = await raw(served.url)
    socket.pause()
    const { port } = new URL(served.url as string)
    const silent = connectTcp(Number(port), "127.0.0.1")
    silent.on("error", () => {})
    await once(silent, "connect")

    const start = performance.now()
    await served.close()

    expect(performance.now() - start).toBeLessThan(TOO_LONG)
    silent.destroy()
  })

  test("close refuses connections that are still being authenticated", async () => {
    let decide: ((identity: null) => void) | undefined
    const { server, url } = await httpServer()
    const served = await serve({
      server,
      authenticate: () => new Promise((resolve) => (decide = resolve)),
    })
    const status = upgrade(url)
    await expect.poll(() => decide).toBeDefined()
    await served.close()
    decide?.(null)

    expect(await status).toBe(503)
  })
})
