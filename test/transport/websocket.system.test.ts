import { once } from "node:events"
import { createServer } from "node:http"
import { createServer as createTcpServer } from "node:net"
import type { AddressInfo, Server, Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, describe, expect, test, vi } from "vitest"
import { WebSocket, WebSocketServer } from "ws"
import type { CallEvent } from "../../src/core/events.ts"
import { silentLogger } from "../../src/internal/logger.ts"
import { createWebSocketTransport } from "../../src/transport/websocket/websocket.ts"
import type { WebSocketTransportOptions } from "../../src/transport/websocket/websocket.ts"
import type { WebSocketTransport } from "../../src/websocket.ts"
import { loadCodec } from "../../src/transport/websocket/lazy-codec.ts"
import { nextTurn, Recorder, request } from "./recorder.ts"
import { freePort } from "../support/free-port.ts"
import { thrown } from "../support/operations.ts"
import { TOO_LONG } from "../support/patience.ts"

const QUICK = { minDelay: 5, maxDelay: 20 }
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  vi.unstubAllGlobals()
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

interface Echo {
  readonly server: WebSocketServer
  readonly url: string
  readonly port: number
  readonly frames: string[]
}

/** A server that notes every frame and sends it back. */
async function echoServer(
  port = 0,
  onSocket?: (socket: WebSocket, request: { headers: Record<string, unknown> }) => void,
): Promise<Echo> {
  const server = new WebSocketServer({ port, host: "127.0.0.1" })
  await once(server, "listening")
  const frames: string[] = []
  server.on("connection", (socket, upgrade) => {
    socket.on("error", () => {})
    onSocket?.(socket, upgrade)
    socket.on("message", (data: Buffer) => {
      frames.push(String(data))
      socket.send(String(data))
    })
  })
  cleanups.push(() => stop(server))
  const { port: bound } = server.address() as AddressInfo
  return { server, url: `ws://127.0.0.1:${bound}/calls`, port: bound, frames }
}

async function stop(server: WebSocketServer): Promise<void> {
  for (const client of server.clients) client.terminate()
  await new Promise((resolve) => {
    server.close(resolve)
  })
}

function connect(
  target: string | URL | WebSocket,
  options: WebSocketTransportOptions = {},
): { transport: WebSocketTransport; recorder: Recorder } {
  const recorder = new Recorder()
  const transport = createWebSocketTransport(target, {
    reconnect: QUICK,
    logger: silentLogger,
    ...options,
  })
  transport.open(recorder)
  cleanups.push(() => transport.close())
  return { transport, recorder }
}

async function tcpServer(onSocket: (socket: Socket) => void): Promise<[Server, string]> {
  const server = createTcpServer(onSocket)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  cleanups.push(() => server.close())
  return [server, `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`]
}

describe("sending", () => {
  test("events sent while connecting are held, and leave in order as one frame", async () => {
    const { url, frames } = await echoServer()
    const { transport, recorder } = connect(url)
    expect(transport.state).toBe("connecting")

    for (const id of ["a", "b", "c"]) transport.send(request(id, { id }))
    await recorder.until(({ events }) => events.length === 3)

    expect(transport.state).toBe("open")
    expect(recorder.ids).toEqual(["a", "b", "c"])
    expect(frames).toHaveLength(1)
    expect(JSON.parse(frames[0] as string)).toHaveLength(3)
  })

  test("a single event is sent as one frame, without an array", async () => {
    const { url, frames } = await echoServer()
    const { transport, recorder } = connect(url)

    transport.send(request("a"))
    await recorder.until(({ events }) => events.length === 1)

    expect(JSON.parse(frames[0] as string)).toEqual({ ...request("a"), answersPings: true })
  })

  test("bytes, void and large texts come back as they were", async () => {
    // Whoever sends bytes loads it when the transport says so.
    await loadCodec()
    const { url } = await echoServer()
    const { transport, recorder } = connect(url)
    const meta = { source: "local", operationId: "x", timestamp: 1 } as const
    const events: CallEvent[] = [
      request("bytes", { nested: [new Uint8Array([0, 255, 7])] }),
      { type: "call.responded", requestId: "void", output: { data: undefined, meta } },
      request("large", "ä€😀".repeat(50_000)),
      request("after"),
    ]

    for (const event of events) transport.send(event)
    await recorder.until((seen) => seen.events.length === events.length)

    expect(recorder.events).toEqual(events)
  })

  test("an event that is larger than a frame is rejected, and others are sent", async () => {
    const { url } = await echoServer()
    const { transport, recorder } = connect(url, { maxFrameBytes: 2000 })
    const meta = { source: "local", operationId: "x", timestamp: 1 } as const

    expect(() => transport.send(request("big", "x".repeat(2000)))).toThrow(
      expect.objectContaining({
        code: "PAYLOAD_TOO_LARGE",
        operationId: "demo.echo",
        mayHaveExecuted: false,
      }),
    )
    // 700 characters, 2,100 bytes.
    expect(() => transport.send(request("euros", "€".repeat(700)))).toThrow(
      expect.objectContaining({ code: "PAYLOAD_TOO_LARGE" }),
    )
    expect(() =>
      transport.send({
        type: "call.responded",
        requestId: "r",
        output: { data: "x".repeat(3000), meta },
      }),
    ).toThrow(expect.objectContaining({ code: "PAYLOAD_TOO_LARGE", mayHaveExecuted: true }))
    transport.send(request("small", "ä".repeat(700)))
    await recorder.until(({ events }) => events.length === 1)

    expect(recorder.ids).toEqual(["small"])
  })

  test("an input without a JSON form is refused at once", async () => {
    const { url } = await echoServer()
    const { transport } = connect(url)

    expect(() => transport.send(request("x", { count: 1n }))).toThrow(
      expect.objectContaining({ code: expect.stringMatching(/VALIDATION|EXECUTION/) as string }),
    )
  })

  test("ten thousand events in one turn arrive in order", async () => {
    const { url, frames } = await echoServer()
    const { transport, recorder } = connect(url)

    for (let at = 0; at < 10_000; at++) transport.send(request(`r${at}`, { at }))
    await recorder.until(({ events }) => events.length === 10_000)

    expect(recorder.ids).toEqual(Array.from({ length: 10_000 }, (_, at) => `r${at}`))
    expect(frames.length).toBeLessThan(50)
  })
})

describe("connecting", () => {
  test("held events are undelivered if there is no server, and the error has no secrets", async () => {
    const port = await freePort()
    const url = `ws://user:secret@127.0.0.1:${port}/calls?token=secret`
    const { transport, recorder } = connect(url, {
      reconnect: { minDelay: 60_000, maxDelay: 60_000 },
    })

    transport.send(request("a"))
    transport.send(request("b"))
    await recorder.until(({ failed }) => failed.length === 2)

    expect(recorder.failed.map(({ event }) => event.requestId)).toEqual(["a", "b"])
    expect(recorder.failed[0]?.error).toMatchObject({
      code: "UNAVAILABLE",
      retryable: true,
      mayHaveExecuted: false,
      message: `There is no connection to ws://127.0.0.1:${port}/calls: ECONNREFUSED.`,
    })
    expect(recorder.losses).toEqual([])
    expect(transport.state).toBe("waiting")
  })

  test("names the status of a server that refuses the upgrade", async () => {
    const http = createServer()
    http.on("upgrade", (_, socket) => {
      socket.end("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n")
    })
    http.listen(0, "127.0.0.1")
    await once(http, "listening")
    cleanups.push(() => http.close())
    const { port } = http.address() as AddressInfo
    const { transport, recorder } = connect(`http://127.0.0.1:${port}/`, { reconnect: false })

    transport.send(request("a"))
    await recorder.until(({ failed }) => failed.length === 1)

    expect(recorder.failed[0]?.error).toMatchObject({
      code: "UNAUTHENTICATED",
      retryable: false,
      mayHaveExecuted: false,
      message: `There is no connection to ws://127.0.0.1:${port}/: the server answered 401.`,
    })
    expect(transport.state).toBe("closed")
    expect(() => transport.send(request("b"))).toThrow("the server answered 401")
  })

  test("gives up on a server that never answers", async () => {
    const sockets: Socket[] = []
    const [, url] = await tcpServer((socket) => void sockets.push(socket))
    const { transport, recorder } = connect(url, { connectTimeout: 50, reconnect: false })

    transport.send(request("a"))
    await recorder.until(({ failed }) => failed.length === 1)

    expect(recorder.failed[0]?.error.message).toContain("it was not open within 50 ms")
    await Promise.all(sockets.map((socket) => once(socket.resume(), "close")))
  })

  test("a server that hangs up during the handshake is a failure", async () => {
    const [, url] = await tcpServer((socket) => socket.destroy())
    const { transport, recorder } = connect(url, { reconnect: false })

    transport.send(request("a"))
    await recorder.until(({ failed }) => failed.length === 1)

    expect(recorder.failed[0]?.error).toMatchObject({ code: "UNAVAILABLE", retryable: true })
  })

  test("retries until there is a server, and sends the held events", async () => {
    const port = await freePort()
    const { transport, recorder } = connect(`ws://127.0.0.1:${port}/`)
    transport.send(request("early"))
    await recorder.until(({ failed }) => failed.length === 1)

    await echoServer(port)
    while (transport.state !== "open") {
      if (transport.state === "waiting") transport.send(request("held"))
      await sleep(1)
    }
    transport.send(request("late"))
    await recorder.until(({ ids }) => ids.includes("late"))

    expect(recorder.restorations).toBe(1)
  })

  test("headers and tokens are read anew for each connection", async () => {
    const seen: unknown[] = []
    const { url, server } = await echoServer(0, (_, { headers }) => {
      seen.push([headers["x-count"], headers["authorization"]])
    })
    let count = 0
    const { recorder } = connect(url, {
      headers: async () => ({ "x-count": String(++count) }),
      token: () => `t${count}`,
    })
    while (seen.length < 1) await sleep(1)
    for (const client of server.clients) client.terminate()
    await recorder.until(({ restorations }) => restorations === 1)

    expect(seen).toEqual([
      ["1", "Bearer t1"],
      ["2", "Bearer t2"],
    ])
  })

  test("headers that cannot be had are a failed attempt", async () => {
    const { url } = await echoServer()
    const failure = new Error("the vault is shut")
    const { transport, recorder } = connect(url, {
      headers: () => Promise.reject(failure),
      reconnect: false,
    })

    transport.send(request("a"))
    await recorder.until(({ failed }) => failed.length === 1)

    expect(recorder.failed[0]?.error).toMatchObject({ cause: failure })
    expect(recorder.failed[0]?.error.message).toContain("the vault is shut")
  })

  test.each(["ws://example.com/calls", "http://10.0.0.1:3000/ws", "ws://127.0.0.1.example.com/"])(
    "sends no credential to %s, where anyone on the way could read it",
    async (url) => {
      for (const options of [
        { token: "canary" },
        { token: () => "canary" },
        { headers: { "x-key": "canary" } },
        { headers: () => ({ "x-key": "canary" }) },
      ]) {
        const error = thrown(() => createWebSocketTransport(url, options))
        expect(error).toMatchObject({ code: "EGRESS_BLOCKED", retryable: false })
        expect(String(error)).toMatch(
          /^(?!.*canary).*Nothing was sent to .*: it has no TLS, and "insecure" is not set/,
        )
        await createWebSocketTransport(url, { ...options, insecure: true }).close()
        await createWebSocketTransport(url.replace(/^\w+/, "wss"), options).close()
      }
      await createWebSocketTransport(url).close()
    },
  )

  test.each(["not a url", "ftp://example.com/", ""])("refuses %j as a URL", (url) => {
    expect(() => createWebSocketTransport(url)).toThrow(TypeError)
  })

  test.each([
    { maxFrameBytes: 10 },
    { maxBufferedBytes: "1" as unknown as number },
    { pingInterval: -1 },
    { stallTimeout: 0 },
    { reconnect: { minDelay: 10, maxDelay: 1 } },
  ])("refuses the options %j", (options) => {
    expect(() => createWebSocketTransport("ws://127.0.0.1/", options)).toThrow(
      Object.keys(options)[0],
    )
  })

  test("takes a path where there is a page", async () => {
    const { url, port } = await echoServer()
    vi.stubGlobal("location", { href: `http://127.0.0.1:${port}/app/index.html#top` })
    const { transport, recorder } = connect("/calls")

    transport.send(request("a"))
    await recorder.until(({ events }) => events.length === 1)

    expect(url).toContain("/calls")
  })
})

describe("a connection that breaks", () => {
  test("is lost within 200 ms, then restored; nothing of before arrives", async () => {
    const sockets: WebSocket[] = []
    const { url } = await echoServer(0, (socket) => void sockets.push(socket))
    const { transport, recorder } = connect(url)
    transport.send(request("a"))
    await recorder.until(({ events }) => events.length === 1)

    const start = performance.now()
    sockets[0]?.terminate()
    await recorder.until(({ losses }) => losses.length === 1)
    expect(performance.now() - start).toBeLessThan(TOO_LONG)
    expect(recorder.losses[0]).toMatchObject({
      code: "UNAVAILABLE",
      mayHaveExecuted: true,
      retryable: false,
    })
    expect(recorder.losses[0]?.message).toBe(
      `There is no connection to ${url}: it was lost (code 1006).`,
    )
    transport.send(request("b"))
    await recorder.until(({ ids }) => ids.includes("b"))

    expect(recorder.story).toEqual(["event", "lost", "restored", "event"])
  })

  test.each([
    [1013, "SLOW_CONSUMER"],
    [4013, "SLOW_CONSUMER"],
    [1001, "UNAVAILABLE"],
  ])("close code %i is reported as %s", async (code, expected) => {
    const { url } = await echoServer(0, (socket) => socket.close(code, "because"))
    const { recorder } = connect(url, { reconnect: false })

    await recorder.until(({ losses }) => losses.length === 1)

    expect(recorder.losses[0]?.code).toBe(expected)
    expect(recorder.losses[0]?.message).toContain("because")
  })

  test("what had not left yet is undelivered, and may be tried again", async () => {
    const sockets: WebSocket[] = []
    const { url } = await echoServer(0, (socket) => void sockets.push(socket))
    const { transport, recorder } = connect(url, { reconnect: false })
    transport.send(request("a"))
    recorder.onEvent = () => {
      // The peer's close frame is on its way in when this is sent.
      sockets[0]?.close(1001)
    }
    await recorder.until(({ events }) => events.length === 1)
    recorder.onEvent = undefined
    while (transport.state === "open") {
      transport.send(request("b"))
      await nextTurn()
    }
    await recorder.until(({ losses }) => losses.length === 1)

    for (const { error } of recorder.failed) {
      expect(error).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: false, retryable: true })
    }
  })

  test("a server that accepts and drops connections is retried at increasing intervals", async () => {
    let connections = 0
    const { url } = await echoServer(0, (socket) => {
      connections++
      socket.terminate()
    })
    connect(url, { reconnect: { minDelay: 10, maxDelay: 10_000 } })

    await sleep(300)

    expect(connections).toBeGreaterThan(1)
    expect(connections).toBeLessThan(9)
  })

  test.each([
    ["binary frames", new Uint8Array([1]), 1003],
    ["what is not JSON", "{", 1007],
    ["too many events", `[${"1,".repeat(10_000)}1]`, 1009],
    ["frames that are too large", `"${"x".repeat(30_000)}"`, 1009],
  ])("%s end it", async (_, frame, code) => {
    const closed: number[] = []
    const { url } = await echoServer(0, (socket) => {
      socket.on("close", (closeCode) => closed.push(closeCode))
      socket.send(frame)
    })
    const { recorder } = connect(url, { reconnect: false, maxFrameBytes: 25_000 })

    await recorder.until(({ losses }) => losses.length === 1)
    while (closed.length === 0) await sleep(1)

    expect(closed).toEqual([code])
    expect(recorder.events).toEqual([])
  })

  test("JSON that is not an event is passed on, for the receiver to count", async () => {
    const { url } = await echoServer(0, (socket) => {
      for (const frame of [
        "null",
        "7",
        '"text"',
        "{}",
        "[]",
        "[[1]]",
        '{"type":"call.requested"}',
      ]) {
        socket.send(frame)
      }
    })
    const { recorder, transport } = connect(url)
    transport.send(request("sound"))
    await recorder.until(({ ids }) => ids.includes("sound"))

    expect(recorder.events.slice(0, -1)).toEqual([
      null,
      7,
      "text",
      {},
      [1],
      { type: "call.requested" },
    ])
    expect(recorder.losses).toEqual([])
  })

  test("nothing arrives after the receiver has closed it in the middle of a frame", async () => {
    const { url } = await echoServer()
    const { transport, recorder } = connect(url)
    recorder.onEvent = () => void transport.close()
    transport.send(request("a"))
    transport.send(request("b"))

    await recorder.until(({ events }) => events.length > 0)
    await transport.close()

    expect(recorder.ids).toEqual(["a"])
  })
})

describe("signs of life", () => {
  test("a peer that answers pings stays, however long it says nothing", async () => {
    const { url } = await echoServer()
    const { transport, recorder } = connect(url, { pingInterval: 20, reconnect: false })

    await sleep(200)

    expect(transport.state).toBe("open")
    expect(recorder.story).toEqual([])
  })

  test("a peer that does not is gone after a few intervals", async () => {
    const { url } = await echoServer(0, (socket) => {
      ;(socket as unknown as { _autoPong: boolean })._autoPong = false
    })
    const { recorder } = connect(url, { pingInterval: 20, reconnect: false })

    const start = performance.now()
    await recorder.until(({ losses }) => losses.length === 1)

    expect(performance.now() - start).toBeGreaterThan(35)
    expect(recorder.losses[0]?.message).toContain("nothing came from it for 40 ms")
  })

  test("pings of the peer count, and no timer runs when there are no pings", async () => {
    const { url, server } = await echoServer(0, (socket) => {
      ;(socket as unknown as { _autoPong: boolean })._autoPong = false
    })
    const { transport } = connect(url, { pingInterval: 30, reconnect: false })
    const quiet = connect(url, { pingInterval: 0, reconnect: false })
    const pinging = setInterval(() => {
      for (const client of server.clients) client.ping()
    }, 10)

    await sleep(200)
    clearInterval(pinging)

    expect(transport.state).toBe("open")
    expect(quiet.transport.state).toBe("open")
  })
})

describe("a peer that reads slowly", () => {
  test("ready() waits until it has caught up", async () => {
    let socket: WebSocket | undefined
    const { url, frames } = await echoServer(0, (opened) => {
      socket = opened
    })
    const { transport, recorder } = connect(url, { maxBufferedBytes: 4_000_000 })
    transport.send(request("first"))
    await recorder.until(({ events }) => events.length === 1)
    expect(transport.ready?.()).toBeUndefined()
    socket?.pause()

    let sent = 0
    while (transport.ready?.() === undefined && sent < 500) {
      transport.send(request(`r${sent++}`, "x".repeat(100_000)))
      await nextTurn()
    }
    const waiting = transport.ready?.()
    expect(waiting).toBeInstanceOf(Promise)
    expect(transport.ready?.()).toBe(waiting)
    socket?.resume()
    await waiting

    await recorder.until(({ events }) => events.length === sent + 1)
    expect(frames).toHaveLength(sent + 1)
    expect(recorder.losses).toEqual([])
  })

  test("is given up when it reads nothing at all", async () => {
    const { url } = await echoServer(0, (socket) => socket.pause())
    const { transport, recorder } = connect(url, {
      maxBufferedBytes: 400_000,
      stallTimeout: 100,
      reconnect: false,
    })
    while (transport.state !== "open") await sleep(1)

    while (transport.ready?.() === undefined) {
      transport.send(request("r", "x".repeat(100_000)))
      await nextTurn()
    }
    const waiting = transport.ready?.()
    await recorder.until(({ losses }) => losses.length === 1)
    await waiting

    expect(recorder.losses[0]).toMatchObject({
      code: "SLOW_CONSUMER",
      details: { closeCode: 1013 },
    })
    expect(transport.ready?.()).toBeUndefined()
  })

  test("further requests are refused, not the connection", async () => {
    let socket: WebSocket | undefined
    const { url } = await echoServer(0, (opened) => {
      socket = opened
      opened.pause()
    })
    const { transport, recorder } = connect(url, { maxBufferedBytes: 400_000 })
    while (transport.state !== "open") await sleep(1)

    const flood = async (): Promise<void> => {
      for (;;) {
        transport.send(request("r", "x".repeat(100_000)))
        await nextTurn()
      }
    }
    await expect(flood()).rejects.toMatchObject({
      code: "OVERLOADED",
      operationId: "demo.echo",
      mayHaveExecuted: false,
      retryable: true,
    })
    expect(transport.state).toBe("open")
    socket?.resume()
    await transport.ready?.()
    transport.send(request("last"))
    await recorder.until(({ ids }) => ids.includes("last"))
  })

  test("an answer that does not fit any more closes it with 1013", async () => {
    const { url } = await echoServer(0, (socket) => socket.pause())
    const { transport, recorder } = connect(url, { maxBufferedBytes: 400_000, reconnect: false })
    while (transport.state !== "open") await sleep(1)
    const meta = { source: "local", operationId: "x", timestamp: 1 } as const
    const output = { data: "x".repeat(100_000), meta }

    const flood = async (): Promise<void> => {
      for (;;) {
        transport.send({ type: "call.responded", requestId: "r", output })
        await nextTurn()
      }
    }
    await expect(flood()).rejects.toMatchObject({ code: "SLOW_CONSUMER" })

    expect(recorder.losses).toMatchObject([{ code: "SLOW_CONSUMER" }])
    expect(transport.state).toBe("closed")
  })

  test("no more is held for a server that is not there than may wait", async () => {
    const port = await freePort()
    const { transport, recorder } = connect(`ws://127.0.0.1:${port}/`, { maxBufferedBytes: 10_000 })
    const text = "x".repeat(4000)

    for (const id of ["a", "b", "c"]) transport.send(request(id, text))

    expect(() => transport.send(request("d", text))).toThrow(
      expect.objectContaining({ code: "OVERLOADED" }),
    )
    await recorder.until(({ failed }) => failed.length === 3)
  })
})

describe("a request that waits for a connection", () => {
  test("has not been sent, and is withdrawn when its caller leaves", async () => {
    const { url, frames } = await echoServer()
    const { transport, recorder } = connect(url)
    for (const id of ["left", "kept"]) transport.send(request(id))
    const unsent = { mayHaveExecuted: false, retryable: true }
    expect(transport.deliveryStatus?.("left")).toEqual(unsent)
    for (const requestId of ["left", "unknown"]) transport.send({ type: "call.aborted", requestId })
    expect(transport.deliveryStatus?.("left")).toBeUndefined()
    expect(transport.deliveryStatus?.("kept")).toEqual(unsent)

    await recorder.until(({ events }) => events.length === 1)

    expect(frames.map((frame) => JSON.parse(frame) as unknown)).toMatchObject([
      { type: "call.requested", requestId: "kept" },
    ])
    expect(transport.deliveryStatus?.("kept")).toBeUndefined()
  })
})

describe("closing", () => {
  test("sends what waits, then closes with 1000; twice is fine", async () => {
    const closed: number[] = []
    const { url, frames } = await echoServer(0, (socket) => {
      socket.on("close", (code) => closed.push(code))
    })
    const { transport, recorder } = connect(url)
    transport.send(request("a"))
    await recorder.until(({ events }) => events.length === 1)

    transport.send({ type: "call.aborted", requestId: "a" })
    await Promise.all([transport.close(), transport.close()])
    while (closed.length === 0) await sleep(1)

    expect(closed).toEqual([1000])
    expect(frames).toHaveLength(2)
    expect(recorder.losses.map(({ message }) => message)).toEqual([
      expect.stringContaining("this transport was closed"),
    ])
    expect(transport.state).toBe("closed")
    expect(() => transport.send(request("b"))).toThrow("this transport was closed")
  })

  test("held events are undelivered, and no attempt continues", async () => {
    const upgraded: Socket[] = []
    const [, url] = await tcpServer((socket) => void upgraded.push(socket))
    const { transport, recorder } = connect(url)
    transport.send(request("a"))
    while (upgraded.length === 0) await sleep(1)

    await transport.close()

    expect(recorder.failed).toMatchObject([
      { event: { requestId: "a" }, error: { code: "UNAVAILABLE", mayHaveExecuted: false } },
    ])
    await once((upgraded[0] as Socket).resume(), "close")
    expect(recorder.story).toEqual(["undelivered", "lost"])
  })

  test("before the socket was even made, or before it was opened", async () => {
    const { url, server } = await echoServer()
    const { transport } = connect(url)
    await transport.close()
    const unopened = createWebSocketTransport(url)
    await unopened.close()
    unopened.open(new Recorder())
    await sleep(50)

    expect(unopened.state).toBe("closed")
    expect(server.clients.size).toBe(0)
  })

  test("during the pause before the next attempt", async () => {
    const port = await freePort()
    const { transport } = connect(`ws://127.0.0.1:${port}/`)
    while (transport.state !== "waiting") await sleep(1)

    await transport.close()
    await sleep(50)

    expect(transport.state).toBe("closed")
  })

  test("does not wait for a peer that does not answer", async () => {
    const { url } = await echoServer(0, (socket) => socket.pause())
    const { transport } = connect(url)
    while (transport.state !== "open") await sleep(1)

    const start = performance.now()
    await transport.close()

    expect(performance.now() - start).toBeLessThan(TOO_LONG)
  })

  test("is opened once", async () => {
    const { url } = await echoServer()
    const { transport } = connect(url)

    expect(() => transport.open(new Recorder())).toThrow(TypeError)
  })
})

describe("a socket that was made elsewhere", () => {
  test("is waited for, used once and closed", async () => {
    const { url } = await echoServer()
    const socket = new WebSocket(url)
    const { transport, recorder } = connect(socket)

    transport.send(request("a"))
    await recorder.until(({ events }) => events.length === 1)
    socket.terminate()
    await recorder.until(({ losses }) => losses.length === 1)

    expect(transport.state).toBe("closed")
    expect(() => transport.send(request("b"))).toThrow("the server")
    expect(socket.listenerCount("message")).toBe(0)
  })

  test("may be open already, or closed already", async () => {
    const { url } = await echoServer()
    const socket = new WebSocket(url)
    await once(socket, "open")
    const { transport, recorder } = connect(socket)
    transport.send(request("a"))
    await recorder.until(({ events }) => events.length === 1)
    await transport.close()
    expect(socket.readyState).toBe(WebSocket.CLOSED)

    const late = connect(socket)
    expect(late.transport.state).toBe("closed")
    expect(() => late.transport.send(request("b"))).toThrow("closed before it was used")
  })

  test("that fails to open is a failure", async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${await freePort()}/`)
    const { transport, recorder } = connect(socket)

    transport.send(request("a"))
    await recorder.until(({ failed }) => failed.length === 1)

    expect(recorder.failed[0]?.error.message).toContain("ECONNREFUSED")
  })
})
