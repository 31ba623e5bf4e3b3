import { once } from "node:events"
import { createServer } from "node:http"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { Type } from "typebox"
import { WebSocket, WebSocketServer } from "ws"
import {
  createRegistry,
  defineOperation,
  isCallError,
  PendingRequestMap,
  serveCalls,
} from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { AnyRegistry, CallServer, OperationRegistry } from "../../src/index.ts"
import { createHTTPTransport } from "../../src/http.ts"
import { toHTTP } from "../../src/to-http.ts"
import type { HTTPServer } from "../../src/to-http.ts"
import { createBusTransport } from "../../src/transport/bus/transport.ts"
import type { BusReceiver } from "../../src/transport/bus/types.ts"
import { readCallerFrame, readWorkerFrame } from "../../src/transport/bus/wire/wire.ts"
import type { Transport } from "../../src/protocol/transport.ts"
import { createWebSocketTransport, serveWebSocket } from "../../src/websocket.ts"
import { junk } from "../sources/openapi/fuzz/junk.ts"
import { mutateData } from "../sources/openapi/fuzz/mutate.ts"
import { Random } from "../sources/openapi/fuzz/random.ts"
import { MemoryBroker, MemoryBus } from "../transport/bus/memory-bus.ts"
import { TOO_LONG } from "../support/patience.ts"
import { expectThat, garble } from "./laws.ts"
import type { Fuzzer } from "./laws.ts"

const LINKS = ["websocket", "http", "queue", "no queue"] as const

interface Case {
  readonly link: (typeof LINKS)[number]
  /** Which direction is tampered with: of a caller's frames, of those that come back, or both. */
  readonly of: "caller" | "server" | "both"
  /** One frame in so many is. */
  readonly every: number
}

const TIMEOUT = 300
const quiet = { logger: silentLogger }

/**
 * Frames that are changed on their way, between real ends: every call ends with an answer that was sent for it or a
 * `CallError`, nothing stays pending, and both ends go on working.
 */
export async function createFrameFuzzer(): Promise<Fuzzer> {
  const registry = operations()
  let running = 0
  registry.onCall(({ phase }) => {
    running += phase === "start" ? 1 : -1
  })
  const isIdle = (): boolean => running === 0
  const socket = await SocketLink.start(registry)
  const api = toHTTP(registry, quiet)
  return {
    show: caseOf,
    async run(seed) {
      const one = caseOf(seed)
      const tampering = new Tampering(new Random(seed), one)
      tampering.readAll()
      if (one.link === "websocket") {
        socket.tampering = tampering
        const open = (): Transport =>
          createWebSocketTransport(socket.url, { ...quiet, reconnect: true })
        return `${one.link} ${await tryLink(open, isIdle, tampering)}`
      }
      if (one.link === "http") {
        const fetch = tamperedFetch(api, tampering)
        const open = (): Transport => createHTTPTransport("http://localhost", { fetch })
        return `${one.link} ${await tryLink(open, isIdle, tampering)}`
      }
      await using bus = new BusLink(registry, tampering, one.link === "queue")
      return `${one.link} ${await tryLink(() => bus.caller(), isIdle, tampering)}`
    },
    async [Symbol.asyncDispose]() {
      await socket.close()
      await api.close()
      await registry.close()
    },
  }
}

function caseOf(seed: number): Case {
  const random = new Random(seed ^ 0x2545f491)
  return {
    link: random.pick(LINKS),
    of: random.pick(["caller", "server", "both"]),
    every: 1 + random.below(6),
  }
}

async function tryLink(
  open: () => Transport,
  isIdle: () => boolean,
  tampering: Tampering,
): Promise<string> {
  const map = new PendingRequestMap(open(), quiet)
  let answered = 0
  const work = Array.from({ length: 4 }, async (_, n) => {
    answered += await echo(map, n, tampering)
    answered += await count(map, n)
  })
  const aborted = map.call("fuzz.wait", {}, { timeout: TIMEOUT })
  setImmediate(() => aborted.abort("enough"))
  await inTime("a call", Promise.all([...work, aborted.catch(expectCallError)]))
  expectThat(map.getPendingCount() === 0, `${map.getPendingCount()} calls are pending at the end`)
  await inTime("close()", map.close())

  tampering.isOn = false
  const next = new PendingRequestMap(open(), quiet)
  const { data } = await inTime("a call afterwards", next.call("fuzz.echo", { n: 7 }))
  expectThat((data as { n: number }).n === 7, "a call afterwards has another answer")
  await inTime("close()", next.close())
  await inTime("a handler", until(isIdle))
  return answered === 0 ? "lost" : answered === 8 ? "whole" : "partly"
}

async function echo(map: PendingRequestMap, n: number, tampering: Tampering): Promise<number> {
  const call = map.call("fuzz.echo", { n }, { timeout: TIMEOUT })
  try {
    const { data } = await call
    const isSent = tampering.delivered.some((text) => text.includes(call.requestId))
    expectThat(isSent, "a call has an answer that nobody sent for it")
    const isRight = (data as { n?: unknown } | null)?.n === n
    expectThat(isRight || tampering.hasChanged, "a call has the answer of another")
    return 1
  } catch (error) {
    expectCallError(error)
    return 0
  }
}

async function count(map: PendingRequestMap, to: number): Promise<number> {
  try {
    let items = 0
    for await (const _item of map.subscribe("fuzz.count", { to }, { timeout: TIMEOUT })) items++
    expectThat(items <= 1000, "a stream has items that nobody sent")
    return 1
  } catch (error) {
    expectCallError(error)
    return 0
  }
}

function expectCallError(error: unknown): void {
  if (!isCallError(error)) throw error
}

/** Decides what becomes of each frame, and remembers what the caller was given. */
class Tampering {
  isOn = true
  hasChanged = false
  readonly delivered: string[] = []
  readonly #random: Random
  readonly #case: Case
  readonly #seen: string[] = []

  constructor(random: Random, one: Case) {
    this.#random = random
    this.#case = one
  }

  /** What arrives in place of a frame: none, one or several. */
  frames(text: string, of: "caller" | "server"): readonly string[] {
    const frames = this.#isMeant(of) ? this.#change(text) : [text]
    if (of === "server") this.delivered.push(...frames)
    return frames
  }

  /** Readers of frames get what comes, too, without a link around them. */
  readAll(): void {
    const sample = JSON.stringify({
      from: "a",
      messages: [
        ["e", { type: "call.responded", requestId: "r", output: { data: 1 } }, 3],
        { type: "ping", ids: ["r"], streams: { r: 1 }, heard: 5 },
        { type: "here", operations: { x: 1 } },
      ],
    })
    for (const text of this.#change(sample)) {
      readCallerFrame(text)
      readWorkerFrame(text)
    }
    this.hasChanged = false
  }

  #isMeant(of: "caller" | "server"): boolean {
    if (!this.isOn || (this.#case.of !== of && this.#case.of !== "both")) return false
    return this.#random.once(this.#case.every)
  }

  #change(text: string): readonly string[] {
    const random = this.#random
    this.hasChanged = true
    this.#seen.push(text)
    switch (random.below(8)) {
      case 0:
        return []
      case 1:
        return [text, text]
      case 2:
        return [garble(text, random)]
      case 3:
        return [random.pick(this.#seen), text]
      case 4:
        return [textOf(junk(random)), text]
      case 5:
        return [random.pick(["", "null", "[]", "{}", "[[]]", "\u0000", "[".repeat(1e5)])]
      default:
        return [mutated(text, random)]
    }
  }
}

function mutated(text: string, random: Random): string {
  const data: unknown = JSON.parse(text)
  if (typeof data !== "object" || data === null) return text
  mutateData(data as Record<string, unknown>, random)
  return textOf(data)
}

/** JSON; what nests too deeply to be written is written by hand. */
function textOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ""
  } catch {
    return `${"[".repeat(50_000)}${"]".repeat(50_000)}`
  }
}

/** A WebSocket server, and in front of it one that changes frames. */
class SocketLink {
  readonly url: string
  tampering: Tampering | undefined
  readonly #close: () => Promise<void>

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url
    this.#close = close
  }

  static async start(registry: AnyRegistry): Promise<SocketLink> {
    const http = createServer()
    const upstream = await listen(http)
    const server = await serveWebSocket(registry, { server: http, ...quiet })
    const middle = new WebSocketServer({ port: 0, host: "127.0.0.1" })
    await once(middle, "listening")
    const url = `ws://127.0.0.1:${(middle.address() as AddressInfo).port}`
    const link = new SocketLink(url, async () => {
      middle.close()
      for (const client of middle.clients) client.terminate()
      await server.close()
      http.closeAllConnections()
      http.close()
    })
    middle.on("connection", (caller) => void link.#join(caller, upstream))
    return link
  }

  async close(): Promise<void> {
    await this.#close()
  }

  async #join(caller: WebSocket, upstream: string): Promise<void> {
    const { tampering } = this
    const server = new WebSocket(upstream)
    const early: string[] = []
    const pass = (to: WebSocket, text: string, of: "caller" | "server"): void => {
      for (const frame of tampering?.frames(text, of) ?? [text]) {
        if (to.readyState === WebSocket.OPEN) to.send(frame)
      }
    }
    for (const socket of [caller, server]) socket.on("error", () => undefined)
    caller.on("message", (data: Buffer) => {
      if (server.readyState === WebSocket.OPEN) pass(server, String(data), "caller")
      else early.push(String(data))
    })
    server.on("message", (data: Buffer) => pass(caller, String(data), "server"))
    server.on("open", () => {
      for (const text of early) pass(server, text, "caller")
    })
    caller.on("close", () => server.terminate())
    server.on("close", () => caller.terminate())
  }
}

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** An API whose requests and answers are changed: the lines of answers, and the data of events in them. */
function tamperedFetch(api: HTTPServer, tampering: Tampering): typeof fetch {
  return async (url, init) => {
    const text = typeof init?.body === "string" ? init.body : ""
    const body = tampering.frames(text, "caller").at(-1)
    if (body === undefined) throw new TypeError("fetch failed")
    const answer = await api.fetch(new Request(url, { ...init, body }))
    const lines = (await answer.text()).split("\n").flatMap((line) => {
      const [, name = "", data = ""] = /^(data: )?(.*)$/s.exec(line) ?? []
      if (!/^[[{]/.test(data)) return [line]
      return tampering.frames(data, "server").map((one) => name + one)
    })
    // An answer names no request: it is for all that are in its own.
    tampering.delivered.push(text, new Headers(init?.headers).get("request-id") ?? "")
    init?.signal?.throwIfAborted()
    return new Response(lines.join("\n"), { status: answer.status, headers: answer.headers })
  }
}

/** A worker on a broker in memory, and callers. */
class BusLink implements AsyncDisposable {
  readonly #server: CallServer
  readonly #broker: MemoryBroker
  readonly #tampering: Tampering
  #made = 0

  constructor(registry: AnyRegistry, tampering: Tampering, hasQueues: boolean) {
    this.#broker = new MemoryBroker({ hasQueues, maxPayload: 1_000_000 })
    this.#tampering = tampering
    this.#server = serveCalls(registry, { transport: this.#transport("worker"), ...quiet })
  }

  caller(): Transport {
    return this.#transport("caller")
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close()
  }

  #transport(name: string): Transport {
    const bus = new TamperedBus(this.#broker, "anyone", `${name}${++this.#made}`, this.#tampering)
    return createBusTransport(bus, { ...quiet })
  }
}

class TamperedBus extends MemoryBus {
  readonly #tampering: Tampering

  constructor(broker: MemoryBroker, user: string, address: string, tampering: Tampering) {
    super(broker, user, address)
    this.#tampering = tampering
  }

  override open(receiver: BusReceiver): void {
    const tampering = this.#tampering
    super.open({
      connected: () => receiver.connected(),
      disconnected: (...args) => receiver.disconnected(...args),
      noResponders: (mark) => receiver.noResponders(mark),
      denied: (...args) => receiver.denied(...args),
      failed: (error) => receiver.failed(error),
      fromCaller(text, from) {
        for (const frame of tampering.frames(text, "caller")) receiver.fromCaller(frame, from)
      },
      fromWorker(text) {
        for (const frame of tampering.frames(text, "server")) receiver.fromWorker(frame)
      },
    })
  }
}

function operations(): OperationRegistry {
  const common = {
    namespace: "fuzz",
    description: "Part of the fuzzer",
    accessControl: { requiredScopes: [] },
  } as const
  return createRegistry(
    [
      defineOperation({
        ...common,
        name: "echo",
        type: "query",
        inputSchema: Type.Object({ n: Type.Integer() }),
        outputSchema: Type.Object({ n: Type.Integer() }),
        handler: (input) => input,
      }),
      defineOperation({
        ...common,
        name: "count",
        type: "subscription",
        inputSchema: Type.Object({ to: Type.Integer({ maximum: 100 }) }),
        outputSchema: Type.Integer(),
        async *handler({ to }) {
          for (let n = 0; n < to; n++) yield n
        },
      }),
      defineOperation({
        ...common,
        name: "wait",
        type: "mutation",
        inputSchema: Type.Object({}),
        outputSchema: Type.Unknown(),
        handler: (_input, { signal }) => sleep(1000, null, { signal }),
      }),
    ],
    quiet,
  )
}

async function inTime<TValue>(what: string, done: PromiseLike<TValue>): Promise<TValue> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} hangs`)), TOO_LONG)
  })
  try {
    return await Promise.race([done, late])
  } finally {
    clearTimeout(timer)
  }
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(5)
}
