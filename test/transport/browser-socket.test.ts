// @isolated: it changes what the whole process uses.
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, describe, expect, expectTypeOf, test, vi } from "vitest"
import { WebSocketServer } from "ws"
import type { WebSocket as NodeSocket } from "ws"
import { silentLogger } from "../../src/internal/logger.ts"
import { createWebSocketTransport } from "../../src/websocket.ts"
import type {
  WebSocketConstructor,
  WebSocketLike,
  WebSocketTransport,
  WebSocketTransportOptions,
} from "../../src/websocket.ts"
import { BrowserSocket } from "./browser-socket.ts"
import { nextTurn, Recorder, request } from "./recorder.ts"
import { waitFor } from "../support/wait-for.ts"
import { TOO_LONG } from "../support/patience.ts"

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
  vi.unstubAllGlobals()
  vi.doUnmock("ws")
})

async function startServer(onSocket?: (socket: NodeSocket) => void): Promise<{
  url: string
  closed: number[]
}> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" })
  await once(server, "listening")
  const closed: number[] = []
  server.on("connection", (socket) => {
    socket.on("close", (code) => closed.push(code))
    socket.on("message", (data: Buffer) => socket.send(String(data)))
    onSocket?.(socket)
  })
  cleanups.push(() => {
    for (const client of server.clients) client.terminate()
    server.close()
  })
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`, closed }
}

function connect(
  url: string,
  options: WebSocketTransportOptions = {},
): { transport: WebSocketTransport; recorder: Recorder } {
  const recorder = new Recorder()
  const transport = createWebSocketTransport(url, {
    reconnect: false,
    WebSocket: BrowserSocket,
    logger: silentLogger,
    ...options,
  })
  transport.open(recorder)
  cleanups.push(() => transport.close())
  return { transport, recorder }
}

const opened = async (transport: WebSocketTransport): Promise<BrowserSocket> => {
  while (transport.state !== "open") await sleep(1)
  return BrowserSocket.last as BrowserSocket
}

describe("a transport over a socket of a browser", () => {
  test("sends, receives and closes", async () => {
    const { url, closed } = await startServer()
    const { transport, recorder } = connect(url)

    transport.send(request("a"))
    transport.send(request("b"))
    await recorder.until(({ events }) => events.length === 2)
    await transport.close()
    while (closed.length === 0) await sleep(1)

    expect(recorder.ids).toEqual(["a", "b"])
    expect(closed).toEqual([1000])
  })

  test("sends a token in a subprotocol, which the server does not choose", async () => {
    const { url } = await startServer()
    const { transport } = connect(url, { token: async () => "s3cret/ä" })
    const { protocols, inner } = await opened(transport)

    expect(protocols).toEqual(["alkdev.operations", "alkdev.bearer.czNjcmV0L8Ok"])
    expect(inner.protocol).toBe("alkdev.operations")

    const other = connect(url, { token: "t", protocols: ["mine"] })
    expect((await opened(other.transport)).protocols).toEqual(["mine", "alkdev.bearer.dA"])
  })

  test("says that headers cannot be sent", async () => {
    const { url } = await startServer()
    const { transport, recorder } = connect(url, { headers: { authorization: "x" } })

    transport.send(request("a"))
    await recorder.until(({ failed }) => failed.length === 1)

    expect(recorder.failed[0]?.error.message).toContain('use "token", which works everywhere')
  })

  test("a connection that fails for a reason that the page cannot see", async () => {
    const { transport, recorder } = connect("ws://127.0.0.1:1/")

    transport.send(request("a"))
    await recorder.until(({ failed }) => failed.length === 1)

    expect(recorder.failed[0]?.error.message).toContain("it could not be opened")
  })

  test("a socket that closes before it opens is a failed attempt", async () => {
    class Shut extends BrowserSocket {
      constructor(url: string) {
        super(url)
        this.inner.removeAllListeners("error").on("error", () => {})
        this.inner.terminate()
      }
    }
    const { url } = await startServer()
    const { transport, recorder } = connect(url, { WebSocket: Shut })

    transport.send(request("a"))
    await recorder.until(({ failed }) => failed.length === 1)

    expect(recorder.failed[0]?.error.message).toMatch(/closed before it was/)
  })

  test.each([
    ["binary frames", new Uint8Array([1]), 4003],
    ["what is not JSON", "nonsense", 4007],
    ["frames that are too large", `"${"x".repeat(5000)}"`, 4009],
  ])("%s end it, with a code that a page may send", async (_, frame, code) => {
    const { url, closed } = await startServer((socket) => socket.send(frame))
    const { recorder } = connect(url, { maxFrameBytes: 4000 })

    await recorder.until(({ losses }) => losses.length === 1)
    while (closed.length === 0) await sleep(1)

    expect(closed).toEqual([code])
    expect(recorder.losses[0]).toMatchObject({ details: { closeCode: code - 3000 } })
  })

  test("ready() asks from time to time", async () => {
    const { url } = await startServer()
    const { transport } = connect(url, { maxBufferedBytes: 4000 })
    const socket = await opened(transport)
    socket.pretended = 3000

    const waiting = transport.ready?.()
    expect(waiting).toBeInstanceOf(Promise)
    socket.pretended = 2000
    await sleep(20)
    socket.pretended = 0
    await waiting

    expect(transport.ready?.()).toBeUndefined()
  })

  test("a buffer in which nothing moves closes it; new frames are no movement", async () => {
    const { url, closed } = await startServer()
    const { transport, recorder } = connect(url, { maxBufferedBytes: 40_000, stallTimeout: 60 })
    const socket = await opened(transport)
    socket.pretended = 20_000

    const start = performance.now()
    while (transport.state === "open") {
      transport.send(request("a"))
      await nextTurn()
      socket.pretended++
      await sleep(5)
    }
    while (closed.length === 0) await sleep(1)

    expect(performance.now() - start).toBeGreaterThan(55)
    expect(recorder.losses[0]?.code).toBe("SLOW_CONSUMER")
    expect(closed).toEqual([4013])
  })

  test("close() does not wait forever, although the socket cannot be cut", async () => {
    const { url } = await startServer((socket) => socket.pause())
    const { transport } = connect(url)
    await opened(transport)

    const start = performance.now()
    await transport.close()

    expect(performance.now() - start).toBeLessThan(TOO_LONG)
  })

  test("the types of both platforms fit", () => {
    expectTypeOf<NodeSocket>().toExtend<WebSocketLike>()
    expectTypeOf<WebSocket>().toExtend<WebSocketLike>()
    expectTypeOf<typeof WebSocket>().toExtend<WebSocketConstructor>()
  })
})

describe("which socket is used", () => {
  test("the page's own, where there is a page", async () => {
    const { url } = await startServer()
    BrowserSocket.last = undefined
    vi.stubGlobal("WebSocket", BrowserSocket)
    vi.stubGlobal("window", globalThis)
    const { transport } = connect(url, { WebSocket: undefined })

    expect((await opened(transport)).readyState).toBe(1)
  })

  test("the package ws elsewhere, though the platform has one", async () => {
    const { url } = await startServer()
    BrowserSocket.last = undefined
    vi.stubGlobal("WebSocket", BrowserSocket)
    const { transport } = connect(url, { WebSocket: undefined })
    await opened(transport)

    expect(BrowserSocket.last).toBeUndefined()
  })

  test("the platform's when ws is not installed", async () => {
    const { url } = await startServer()
    BrowserSocket.last = undefined
    vi.stubGlobal("WebSocket", BrowserSocket)
    vi.doMock("ws", () => {
      throw Object.assign(new Error("Cannot find package 'ws'"), { code: "ERR_MODULE_NOT_FOUND" })
    })
    const { transport } = connect(url, { WebSocket: undefined })

    expect((await opened(transport)).readyState).toBe(1)
  })
})

/** Makes this process look like a page, as far as the transport looks. */
function stubPage(): EventTarget & { listeners: number } {
  const page = Object.assign(new EventTarget(), { listeners: 0 })
  vi.stubGlobal("document", {})
  vi.stubGlobal("addEventListener", (...args: Parameters<EventTarget["addEventListener"]>) => {
    page.listeners++
    page.addEventListener(...args)
  })
  vi.stubGlobal(
    "removeEventListener",
    (...args: Parameters<EventTarget["removeEventListener"]>) => {
      page.listeners--
      page.removeEventListener(...args)
    },
  )
  return page
}

describe("a transport in a page", () => {
  test.each([
    ["pagehide", "pageshow"],
    ["freeze", "resume"],
  ])("leaves on %s, and is back on %s", async (hidden, shown) => {
    const page = stubPage()
    const { url, closed } = await startServer()
    const { transport, recorder } = connect(url, { reconnect: true })
    transport.send(request("a"))
    await recorder.until(({ events }) => events.length === 1)

    transport.send(request("last words"))
    page.dispatchEvent(new Event(hidden))
    page.dispatchEvent(new Event(hidden))
    expect(recorder.losses).toMatchObject([
      {
        code: "UNAVAILABLE",
        message: expect.stringContaining("the page was hidden"),
        details: { closeCode: 1001 },
        mayHaveExecuted: true,
      },
    ])
    expect(transport.state).toBe("waiting")
    await waitFor(() => expect(closed).toEqual([4001]))

    transport.send(request("held"))
    page.dispatchEvent(new Event(shown))
    page.dispatchEvent(new Event(shown))
    await recorder.until(({ events }) => events.length === 2)
    expect(recorder.story).toEqual(["event", "lost", "restored", "event"])
    expect(recorder.ids).toEqual(["a", "held"])
    await transport.close()
    expect(page.listeners).toBe(0)
  })

  test("gives up an attempt to connect, and what waited for it, when the page is hidden", async () => {
    const page = stubPage()
    const { url } = await startServer()
    const { transport, recorder } = connect(url, { reconnect: true })
    transport.send(request("a"))

    page.dispatchEvent(new Event("pagehide"))
    expect(recorder.failed).toMatchObject([
      { event: { requestId: "a" }, error: { code: "UNAVAILABLE", mayHaveExecuted: false } },
    ])
    page.dispatchEvent(new Event("pageshow"))
    transport.send(request("b"))

    await recorder.until(({ events }) => events.length === 1)
    expect(recorder.ids).toEqual(["b"])
    expect(recorder.losses).toEqual([])
  })

  test("does not try again by itself while the page is hidden", async () => {
    const page = stubPage()
    const { transport } = connect("ws://127.0.0.1:1/", {
      reconnect: { minDelay: 60_000, maxDelay: 60_000 },
    })
    await waitFor(() => expect(transport.state).toBe("waiting"))

    page.dispatchEvent(new Event("pagehide"))
    expect(transport.state).toBe("waiting")
    page.dispatchEvent(new Event("pageshow"))
    expect(transport.state).toBe("connecting")
    page.dispatchEvent(new Event("pagehide"))
    await transport.close()
    page.dispatchEvent(new Event("pageshow"))

    expect(transport.state).toBe("closed")
    expect(page.listeners).toBe(0)
  })

  test("that does not connect again ends when the page is hidden", async () => {
    const page = stubPage()
    const { url, closed } = await startServer()
    const { transport } = connect(url)
    await opened(transport)

    page.dispatchEvent(new Event("pagehide"))

    expect(transport.state).toBe("closed")
    expect(page.listeners).toBe(0)
    expect(() => transport.send(request("a"))).toThrow("the page was hidden")
    await waitFor(() => expect(closed).toEqual([4001]))
  })

  test("closed before it was used listens to nothing", async () => {
    const page = stubPage()
    const transport = createWebSocketTransport("ws://127.0.0.1:1/")
    await transport.close()
    transport.open(new Recorder())

    expect(page.listeners).toBe(0)
  })

  test("of a worker listens to no page", async () => {
    const page = stubPage()
    vi.unstubAllGlobals()
    vi.stubGlobal("addEventListener", () => page.listeners++)
    const { url } = await startServer()
    const { transport } = connect(url)
    await opened(transport)

    expect(page.listeners).toBe(0)
  })
})
