import { connect } from "node:net"
import type { Socket } from "node:net"
import { Type } from "typebox"
import { afterEach } from "vitest"
import { WebSocket } from "ws"
import { defineOperation } from "../../../src/core/define.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { serveHTTP } from "../../../src/node.ts"
import type { ServedHTTP, ServeHTTPOptions } from "../../../src/node.ts"
import { createRegistry } from "../../../src/engine/registry.ts"
import type { AnyRegistry } from "../../../src/engine/registry.ts"

/** What operations of tests have in common. */
export const base = {
  namespace: "demo",
  version: "1.0.0",
  description: "Of a test",
  inputSchema: Type.Unknown(),
  outputSchema: Type.Unknown(),
  accessControl: { requiredScopes: [] },
} as const

/** What handlers of a test registry have been through. */
export interface Seen {
  runs: number
  aborted: number
  pulled: number
  /** Resolved by the next handler that hangs. */
  waiting: Deferred
  ended: Deferred
  /** Lets the handlers of `demo.gate` go on. */
  gate: Deferred
  metadata: unknown
}

/** A promise that is resolved from elsewhere. */
export interface Deferred {
  readonly promise: Promise<void>
  readonly resolve: () => void
}

/** A promise to be resolved from elsewhere. */
export function deferred(): Deferred {
  let resolve = (): void => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve: () => resolve() }
}

/** A registry for tests of servers, and what its handlers saw. */
export function demo(): { readonly registry: AnyRegistry; readonly seen: Seen } {
  const seen: Seen = {
    runs: 0,
    aborted: 0,
    pulled: 0,
    waiting: deferred(),
    ended: deferred(),
    gate: deferred(),
    metadata: undefined,
  }
  const registry = createRegistry([
    defineOperation({
      ...base,
      name: "echo",
      type: "query",
      handler: (input, { metadata }) => {
        seen.runs++
        seen.metadata = metadata
        return input
      },
    }),
    defineOperation({
      ...base,
      name: "ids",
      type: "query",
      handler: (_, { requestId, deadline }) => ({ requestId, isTimed: deadline !== undefined }),
    }),
    defineOperation({
      ...base,
      name: "hang",
      type: "mutation",
      handler: async (_, { signal }) => {
        seen.waiting.resolve()
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve())
        })
        seen.aborted++
        seen.ended.resolve()
      },
    }),
    defineOperation({
      ...base,
      name: "gate",
      type: "query",
      handler: async () => {
        seen.waiting.resolve()
        await seen.gate.promise
        return "through"
      },
    }),
    defineOperation({
      ...base,
      name: "count",
      type: "subscription",
      inputSchema: Type.Object({ to: Type.Integer(), size: Type.Optional(Type.Integer()) }),
      async *handler({ to, size = 0 }, { metadata }) {
        seen.metadata = metadata
        try {
          for (let at = 1; at <= to; at++) {
            seen.pulled++
            yield size === 0 ? at : "x".repeat(size)
          }
        } finally {
          seen.ended.resolve()
        }
      },
    }),
    defineOperation({
      ...base,
      name: "idle",
      type: "subscription",
      async *handler(_, { signal }) {
        yield "first"
        seen.waiting.resolve()
        await new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve())
        })
        seen.aborted++
        seen.ended.resolve()
      },
    }),
    defineOperation({
      ...base,
      name: "nasty",
      type: "subscription",
      async *handler() {
        yield "\n\nevent: admin\ndata: x\r\rid: 7\u2028"
        throw new Error("broken in the middle")
      },
    }),
    defineOperation({
      ...base,
      name: "secret",
      type: "subscription",
      accessControl: { requiredScopes: ["secret"] },
      async *handler() {
        yield 1
      },
    }),
    defineOperation({
      ...base,
      namespace: "other",
      name: "echo",
      type: "query",
      handler: (input) => input,
    }),
    defineOperation({
      ...base,
      name: "inner",
      type: "query",
      visibility: "internal",
      handler: () => "internal",
    }),
  ]) as unknown as AnyRegistry
  return { registry, seen }
}

/** Serves on any free port, without a word in the log. */
export function serve(registry: AnyRegistry, options: ServeHTTPOptions = {}): Promise<ServedHTTP> {
  return serveHTTP(registry, { port: 0, logger: silentLogger, ...options })
}

/** Servers of a test file. */
export interface Servers {
  /** What else has to be closed after a test; last first. */
  readonly cleanups: (() => unknown)[]
  /** Serves a registry until the test is over. */
  readonly open: (registry: AnyRegistry, options?: ServeHTTPOptions) => Promise<ServedHTTP>
  /** The same with the registry of `demo`. */
  readonly start: (options?: ServeHTTPOptions) => Promise<Started>
}

/** A server, and what its handlers saw. */
export interface Started {
  readonly api: ServedHTTP
  readonly url: string
  /** Where WebSockets are. */
  readonly ws: string
  readonly seen: Seen
}

/** Servers that are closed after each test of the file that calls this. */
export function useServers(): Servers {
  const cleanups: (() => unknown)[] = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
  })
  const open: Servers["open"] = async (registry, options) => {
    const api = await serve(registry, options)
    cleanups.push(() => api.close())
    return api
  }
  return {
    cleanups,
    open,
    async start(options) {
      const { registry, seen } = demo()
      const api = await open(registry, options)
      return { api, url: api.url, ws: `${api.url.replace("http", "ws")}/ws`, seen }
    },
  }
}

/** 101, or the status with which an upgrade is refused. */
export function upgradeStatus(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number | undefined> {
  const socket = new WebSocket(url, { headers })
  return new Promise((resolve) => {
    socket.on("unexpected-response", (_, response) => {
      resolve(response.statusCode)
      response.destroy()
    })
    socket.on("open", () => {
      socket.close()
      resolve(101)
    })
    socket.on("error", () => undefined)
  })
}

/** What comes back for bytes that are sent as they are, until the server closes or `isEnough`. */
export function raw(
  url: string,
  bytes: string,
  isEnough: (text: string) => boolean = () => false,
): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let text = ""
    const socket: Socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1")
      if (isEnough(text)) socket.destroy()
    })
    socket.on("close", () => resolve(text))
    socket.on("error", (error) => (text === "" ? reject(error) : resolve(text)))
  })
}

/** POST of JSON. */
export function post(url: string, body?: unknown, init: RequestInit = {}): Promise<Response> {
  return fetch(url, {
    method: "POST",
    ...init,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(init.headers as Record<string, string> | undefined),
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  })
}

/** Sends bytes and leaves, once the server has closed its side too. */
export function cutShort(url: string, bytes: string): Promise<void> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket: Socket = connect(Number(port), hostname, () => socket.end(bytes))
    socket.on("error", () => undefined)
    socket.on("close", () => resolve())
    socket.resume()
  })
}

/** One event of a stream. */
export interface SeenEvent {
  readonly id?: string
  readonly event?: string
  readonly data?: string
}

/** The events of a text. */
export function eventsOf(text: string): SeenEvent[] {
  return text
    .split("\n\n")
    .filter((block) => block !== "" && !block.startsWith(":"))
    .map((block) =>
      Object.fromEntries(
        block.split("\n").map((line) => {
          const colon = line.indexOf(": ")
          return [line.slice(0, colon), line.slice(colon + 2)]
        }),
      ),
    )
}
