import { afterEach, describe, expect, test } from "vitest"
import { FaultProxy } from "../../tools/faults/proxy.ts"
import { createRegistry, fromCall, PendingRequestMap, serveCalls } from "../../src/index.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import type {
  AnyOperation,
  AnyRegistry,
  CallError,
  PendingOptions,
  Transport,
} from "../../src/index.ts"
import { createHTTPTransport } from "../../src/http.ts"
import { WatchedTransport } from "../../src/hub/sources/peer.ts"
import { serveHTTP } from "../../src/node.ts"
import { createWebSocketTransport, serveWebSocket } from "../../src/websocket.ts"
import type { WebSocketTransportOptions } from "../../src/websocket.ts"
import { operation } from "../support/operations.ts"
import { freePort } from "../support/free-port.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import { waitFor } from "../support/wait-for.ts"
import { nextTurn } from "./recorder.ts"

const QUICK = { minDelay: 5, maxDelay: 20 }
const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

/** Numbers that a source has made so far, and streams of them. */
class Numbers {
  made = 3
  /** What each run of the handler was asked to continue after. */
  readonly asked: unknown[] = []
  running = 0
  readonly #waiting = new Set<() => void>()

  make(count: number): void {
    this.made += count
    for (const wake of this.#waiting) wake()
  }

  /** Sends all numbers up to 9, as they are made. */
  operation(name: string, startOf: (metadata: Metadata) => number): AnyOperation {
    return operation(`demo.${name}`, {
      type: "subscription",
      handler: (_input: unknown, { metadata, signal }: Context) =>
        this.#stream(startOf(metadata), signal),
    })
  }

  readonly operations = [
    this.operation("resumable", (metadata) => {
      const last = metadata?.["lastEventId"]
      this.asked.push(last)
      return Number(last ?? 0)
    }),
    this.operation("forgetful", () => {
      this.asked.push("nothing")
      return 0
    }),
  ]

  async *#stream(after: number, signal: AbortSignal): AsyncGenerator<number> {
    this.running++
    try {
      for (let at = after + 1; at <= 9; at++) {
        while (at > this.made && !signal.aborted) await this.#more(signal)
        if (signal.aborted) return
        yield at
      }
    } finally {
      this.running--
    }
  }

  #more(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake)
        signal.removeEventListener("abort", wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal.addEventListener("abort", wake)
    })
  }
}

type Metadata = Readonly<Record<string, unknown>> | undefined

interface Context {
  readonly metadata?: Metadata
  readonly signal: AbortSignal
}

/** A served registry, behind a proxy. */
async function serve(registry: AnyRegistry) {
  const port = await freePort()
  const start = () => serveWebSocket(registry, { port, logger: silentLogger, drainMs: 0 })
  let served = await start()
  const proxy = await FaultProxy.start(port)
  cleanups.push(() => proxy.close())
  cleanups.push(() => served.close())
  return {
    url: `ws://127.0.0.1:${proxy.port}`,
    losses: {
      "is cut": () => proxy.reset(),
      "ends because its server restarts": async () => {
        await served.close()
        served = await start()
      },
    },
    stop: () => served.close(),
  }
}

function connect(url: string, options: WebSocketTransportOptions = {}): PendingRequestMap {
  const logger = silentLogger
  return open(createWebSocketTransport(url, { reconnect: QUICK, logger, ...options }))
}

function open(transport: Transport): PendingRequestMap {
  const map = new PendingRequestMap(transport, { logger: silentLogger })
  cleanups.push(() => map.close())
  return map
}

/** Reads a stream to its end. */
function read(map: PendingRequestMap, id: string, options?: PendingOptions, input: unknown = {}) {
  const items: unknown[] = []
  const end = (async () => {
    try {
      for await (const { data } of map.subscribe(id, input, options)) items.push(data)
      return undefined
    } catch (error) {
      return error as CallError
    }
  })()
  return { items, end }
}

const LOSSES = ["is cut", "ends because its server restarts"] as const
const LOST = { code: "UNAVAILABLE", mayHaveExecuted: true, retryable: false }

describe.each(LOSSES)("a stream whose connection %s", (loss) => {
  test("continues after its last item, twice in a row", async () => {
    const numbers = new Numbers()
    const { url, losses } = await serve(createRegistry(numbers.operations))
    const map = connect(url)
    const { items, end } = read(map, "demo.resumable")
    for (const made of [3, 6]) {
      await waitFor(() => expect(items).toHaveLength(made))
      await losses[loss]()
      numbers.make(3)
    }
    expect(await end).toBeUndefined()
    expect(items).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(numbers.asked).toEqual([undefined, "3", "6"])
    expect(map.getPendingCount()).toBe(0)
    await waitFor(() => expect(numbers.running).toBe(0))
  })

  test("continues after items that were not read yet, within its window", async () => {
    const numbers = new Numbers()
    numbers.make(6)
    const { url, losses } = await serve(createRegistry(numbers.operations))
    const map = connect(url)
    const stream = map.subscribe("demo.resumable", {}, { window: 2 })
    const items = [(await stream.next()).value?.data]
    await losses[loss]()
    // Nothing was read when the stream is resumed.
    await waitFor(() => expect(numbers.asked).toHaveLength(2))
    for await (const { data } of stream) items.push(data)
    expect(items).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  test("continues where it began at the wish of its caller", async () => {
    const numbers = new Numbers()
    const { url, losses } = await serve(createRegistry(numbers.operations))
    const { items, end } = read(connect(url), "demo.resumable", { metadata: { lastEventId: "1" } })
    await waitFor(() => expect(items).toEqual([2, 3]))
    await losses[loss]()
    numbers.make(6)
    expect(await end).toBeUndefined()
    expect(items).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
    expect(numbers.asked).toEqual(["1", "3"])
  })

  test("fails when its handler starts from the beginning: no item comes twice", async () => {
    const numbers = new Numbers()
    const { url, losses } = await serve(createRegistry(numbers.operations))
    const { items, end } = read(connect(url), "demo.forgetful")
    await waitFor(() => expect(items).toHaveLength(3))
    await losses[loss]()
    expect(await end).toMatchObject(LOST)
    expect(items).toEqual([1, 2, 3])
    expect(numbers.asked).toHaveLength(2)
    await waitFor(() => expect(numbers.running).toBe(0))
  })

  test.each([
    { what: "resumeMs is 0", options: { resumeMs: 0 } },
    { what: "its transport does not reconnect", options: { reconnect: false } },
  ])("fails at once if $what", async ({ options }) => {
    const numbers = new Numbers()
    const { url, losses } = await serve(createRegistry(numbers.operations))
    const { items, end } = read(connect(url, options), "demo.resumable")
    await waitFor(() => expect(items).toHaveLength(3))
    await losses[loss]()
    expect(await end).toMatchObject(LOST)
    expect(numbers.asked).toHaveLength(1)
  })
})

test("a stream of a remote source of a hub continues when the hub's connection is cut", async () => {
  const numbers = new Numbers()
  const { url, losses } = await serve(createRegistry(numbers.operations))
  const transport = createWebSocketTransport(url, { reconnect: QUICK, logger: silentLogger })
  const { items, end } = read(open(new WatchedTransport(transport)), "demo.resumable")
  await waitFor(() => expect(items).toHaveLength(3))
  losses["is cut"]()
  numbers.make(6)
  expect(await end).toBeUndefined()
  expect(items).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
})

/** Ways in which a hub gets the operations of another registry. */
const SOURCES: Readonly<Record<string, (source: AnyRegistry) => Promise<readonly AnyOperation[]>>> =
  {
    memory: async (registry) => {
      const [near, far] = createMemoryTransports()
      const served = serveCalls(registry, { transport: far })
      cleanups.push(() => served.close())
      return await fromCall(open(near))
    },
    WebSocket: async (registry) => await fromCall(connect((await serve(registry)).url)),
    // A handler that passes on its metadata.
    HTTP: async (registry) => {
      const served = await serveHTTP(registry, { port: 0, logger: silentLogger, drainMs: 0 })
      cleanups.push(() => served.close())
      const map = open(createHTTPTransport(served.url))
      return ["demo.resumable", "demo.forgetful"].map((id) =>
        operation(id, {
          type: "subscription",
          handler: (input: unknown, { metadata, signal }: Context) =>
            map.subscribe(id, input, { metadata, signal }),
        }),
      )
    },
  }

/** Opens a link of a client to a hub, which can be cut. */
const CLIENTS: Readonly<
  Record<string, (hub: AnyRegistry) => Promise<{ map: PendingRequestMap; lose: () => void }>>
> = {
  WebSocket: async (hub) => {
    const { url, losses } = await serve(hub)
    return { map: connect(url), lose: losses["is cut"] }
  },
  HTTP: async (hub) => {
    const served = await serveHTTP(hub, { port: 0, logger: silentLogger, drainMs: 0 })
    const proxy = await FaultProxy.start(Number(new URL(served.url).port))
    cleanups.push(() => served.close())
    cleanups.push(() => proxy.close())
    const map = open(createHTTPTransport(`http://127.0.0.1:${proxy.port}`))
    return { map, lose: () => proxy.reset() }
  },
}

describe.each(Object.entries(CLIENTS))("a stream over %s through a hub", (_way, connectTo) => {
  test.each(Object.entries(SOURCES))(
    "whose source is behind %s continues if the source can, and repeats nothing if not",
    async (_source, importFrom) => {
      const numbers = new Numbers()
      const hub = createRegistry(await importFrom(createRegistry(numbers.operations)))
      const { map, lose } = await connectTo(hub)
      const resumable = read(map, "demo.resumable")
      const forgetful = read(map, "demo.forgetful")
      await waitFor(() => expect([...resumable.items, ...forgetful.items]).toHaveLength(6))
      lose()
      expect(await forgetful.end).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: true })
      numbers.make(6)
      expect(await resumable.end).toBeUndefined()
      expect(forgetful.items).toEqual([1, 2, 3])
      expect(resumable.items).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    },
  )
})

/** A server in virtual time: it sends items 1 to 3 to the first request, and leaves the others to the test. */
function lab() {
  const clock = new VirtualClock()
  const requests: Record<string, unknown>[] = []
  const sent: Record<string, unknown>[] = []
  const state = { isUp: true, socket: undefined as LabSocket | undefined }

  class LabSocket extends EventTarget {
    readyState = 0
    readonly bufferedAmount = 0

    constructor() {
      super()
      clock.setTimeout(() => this.#open(), 1)
    }

    send(text: string): void {
      const events = [JSON.parse(text) as Record<string, unknown>].flat()
      sent.push(...events)
      for (const event of events) {
        if (event["type"] !== "call.requested") continue
        requests.push(event)
        if (requests.length === 1) for (const at of [1, 2, 3]) this.answer(at)
      }
    }

    close(code = 1006): void {
      if (this.readyState === 3) return
      this.readyState = 3
      this.dispatchEvent(Object.assign(new Event("close"), { code, reason: "" }))
    }

    /** Sends an item. */
    answer(data: number, seq = data): void {
      const output = { data, meta: { source: "local", operationId: "demo.numbers", timestamp: 1 } }
      this.tell({ type: "call.responded", output, seq })
    }

    tell(event: Record<string, unknown>): void {
      const data = JSON.stringify({ requestId: requests.at(-1)?.["requestId"], ...event })
      this.dispatchEvent(Object.assign(new Event("message"), { data }))
    }

    #open(): void {
      if (!state.isUp) return this.close()
      this.readyState = 1
      state.socket = this
      this.dispatchEvent(new Event("open"))
    }
  }

  const transport = createWebSocketTransport("ws://lab.test", {
    WebSocket: LabSocket,
    clock,
    logger: silentLogger,
    pingInterval: 0,
  })
  const map = new PendingRequestMap(transport, { clock, logger: silentLogger })
  cleanups.push(() => map.close())
  return {
    clock,
    map,
    transport,
    requests,
    sent,
    get socket(): LabSocket {
      if (state.socket === undefined) throw new Error("Nobody has connected.")
      return state.socket
    },
    /** Takes the server away, or lets it come back. */
    set isUp(isUp: boolean) {
      state.isUp = isUp
      if (!isUp) state.socket?.close()
    },
    /** Lets time pass in small steps: modules are loaded in turns of the event loop. */
    async pass(milliseconds: number): Promise<void> {
      for (let step = 0; step < milliseconds; step += 500) {
        await nextTurn()
        await clock.advance(Math.min(500, milliseconds - step))
      }
    },
  }
}

/** A stream of which three items have come, before its server goes away. */
async function begun(options?: PendingOptions, input: unknown = {}) {
  const server = lab()
  const reading = read(server.map, "demo.numbers", options, input)
  await server.pass(1000)
  expect(reading.items).toEqual([1, 2, 3])
  return { server, ...reading }
}

describe("a stream that waits for its server", () => {
  test.each([{ away: 5000 }, { away: 50_000 }])("for $away ms continues", async ({ away }) => {
    const input = { of: "numbers" }
    const { server, items, end } = await begun({}, input)
    input.of = "changed"
    server.isUp = false
    await server.pass(away)
    server.isUp = true
    await server.pass(10_000)
    expect(server.requests[1]).toMatchObject({
      input: { of: "numbers" },
      metadata: { lastEventId: "3", resume: "only" },
    })
    server.socket.answer(4, 1)
    server.socket.tell({ type: "call.completed", seq: 1 })
    expect(await end).toBeUndefined()
    expect(items).toEqual([1, 2, 3, 4])
    await server.map.close()
    expect(server.clock.timers).toBe(0)
  })

  test("for more than a minute fails, and is not sent later", async () => {
    const { server, end } = await begun()
    const lostAt = server.clock.now()
    server.isUp = false
    const ended = end.then((error) => ({ error, after: server.clock.now() - lostAt }))
    await server.pass(90_000)
    const { error, after } = await ended
    expect(error).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: true })
    expect(after).toBeGreaterThan(50_000)
    expect(after).toBeLessThan(70_000)
    server.isUp = true
    await server.pass(10_000)
    expect(server.requests).toHaveLength(1)
    expect(server.map.getPendingCount()).toBe(0)
  })

  test("is resumed each time, though it was silent for hours in between", async () => {
    const { server, items } = await begun()
    for (const times of [2, 3, 4]) {
      server.isUp = false
      await server.pass(20_000)
      server.isUp = true
      await server.pass(10_000)
      expect(server.requests).toHaveLength(times)
      await server.clock.advance(3_600_000)
    }
    server.socket.answer(4, 1)
    await server.pass(1)
    expect(items).toEqual([1, 2, 3, 4])
  })

  test("is not resumed forever by a server that drops it each time", async () => {
    const { server, end } = await begun()
    server.socket.close()
    for (let step = 0; step < 200 && server.map.getPendingCount() > 0; step++) {
      await server.pass(500)
      if (server.requests.length > 1) server.socket.close()
    }
    expect(await end).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: true })
    expect(server.clock.now()).toBeLessThan(70_000)
  })

  test.each<{
    what: string
    options: PendingOptions
    ends: (server: Lab) => unknown
    error: object
  }>([
    {
      what: "its deadline passes",
      options: { timeout: 20_000 },
      ends: () => undefined,
      error: { code: "TIMEOUT" },
    },
    {
      what: "no item came for its idleTimeout",
      options: { idleTimeout: 15_000 },
      ends: () => undefined,
      error: { code: "TIMEOUT" },
    },
    {
      what: "its client is closed",
      options: {},
      ends: ({ map }) => map.close(),
      error: { code: "ABORTED" },
    },
    {
      what: "its transport is closed",
      options: {},
      ends: ({ transport }) => transport.close(),
      error: { code: "UNAVAILABLE" },
    },
  ])("ends when $what", async ({ options, ends, error }) => {
    const { server, end } = await begun(options)
    server.isUp = false
    await server.pass(10_000)
    await ends(server)
    await server.pass(12_000)
    expect(await end).toMatchObject({ ...error, mayHaveExecuted: true })
    server.isUp = true
    await server.pass(10_000)
    expect(server.requests).toHaveLength(1)
    await server.map.close()
    expect(server.clock.timers).toBe(0)
  })

  test.each([0, 300, 10_000])("ends when its signal fires, %i ms after the loss", async (wait) => {
    const controller = new AbortController()
    const { server, end } = await begun({ signal: controller.signal })
    server.isUp = false
    await server.pass(wait)
    controller.abort()
    expect(await end).toMatchObject({ code: "ABORTED", mayHaveExecuted: true })
    server.isUp = true
    await server.pass(10_000)
    expect(server.requests).toHaveLength(1)
  })

  test("tells the server what is left of its time", async () => {
    const { server } = await begun({ timeout: 30_000 })
    server.isUp = false
    await server.pass(10_000)
    server.isUp = true
    await server.pass(10_000)
    expect(server.requests).toHaveLength(2)
    expect(server.requests[0]?.["timeout"]).toBe(30_000)
    // It may be held until the link is up again, as every request.
    expect(server.requests[1]?.["timeout"]).toBeLessThan(29_000)
  })

  test("grants what its consumer has room for, and numbers it from where it was resumed", async () => {
    const server = lab()
    const stream = server.map.subscribe("demo.numbers", {}, { window: 3 })
    const first = stream.next()
    await server.pass(1000)
    expect((await first).value?.data).toBe(1)
    server.isUp = false
    server.isUp = true
    await server.pass(5000)
    expect(server.requests.map(({ window }) => window)).toEqual([3, 0])
    await stream.next()
    expect((await stream.next()).value?.data).toBe(3)
    await server.pass(100)
    expect(server.sent.at(-1)).toMatchObject({ type: "call.credit", credit: 2 })
    server.socket.answer(4, 1)
    expect((await stream.next()).value?.data).toBe(4)
    await stream.return?.()
  })

  test("fails with what its server answers meanwhile, unless that may pass", async () => {
    const { server, end } = await begun()
    const fail = (code: string, more: object = {}): void =>
      server.socket.tell({ type: "call.error", code, message: "Not now.", ...more })
    fail("UNAVAILABLE", { mayHaveExecuted: true })
    await server.pass(2000)
    expect(server.requests).toHaveLength(2)
    fail("OVERLOADED", { retryable: true, retryAfterMs: 10_000 })
    await server.pass(9000)
    expect(server.requests).toHaveLength(2)
    await server.pass(2000)
    expect(server.requests).toHaveLength(3)
    fail("ACCESS_DENIED", { mayHaveExecuted: false })
    expect(await end).toMatchObject({ code: "ACCESS_DENIED", mayHaveExecuted: true })
  })
})

type Lab = ReturnType<typeof lab>
