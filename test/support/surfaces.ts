import type { ErrorReporting, FailedCall } from "../../src/engine/failures.ts"
import { createHub, serveHTTP, serveHub } from "../../src/node.ts"
import type { ServedHTTP } from "../../src/node.ts"
import { createClient, createRegistry, fromCall, isCallError, serveCalls } from "../../src/index.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import type {
  AnyOperation,
  CallError,
  CallOptions,
  CallPolicy,
  Identity,
  Logger,
  OperationRegistry,
  RegistryOptions,
  ResponseEnvelope,
} from "../../src/index.ts"
import { createHTTPTransport } from "../../src/http.ts"
import { hashApiKey } from "../../src/to-http.ts"
import type { HTTPProblem } from "../../src/to-http.ts"
import { toMCP } from "../../src/to-mcp.ts"
import { createNatsTransport } from "../../src/nats.ts"
import { createRedisTransport } from "../../src/redis.ts"
import type { Transport } from "../../src/protocol/transport.ts"
import { createWorkerTransport } from "../../src/worker.ts"
import { createWebSocketTransport } from "../../src/websocket.ts"
import { configOf } from "../hub/plain.ts"
import { connect } from "../serve/mcp/support/clients.ts"
import { failingOperations } from "../contract/errors/operations.ts"

const ADA: Identity = { id: "ada", scopes: [] }
const KEY = "a-key-of-ada-0123456789"

/** What a caller sends beside the id; ways without a place for an option leave it out. */
export interface SurfaceCall {
  readonly input?: unknown
  readonly idempotencyKey?: string | undefined
  readonly timeout?: number | undefined
  readonly policy?: CallPolicy | undefined
  readonly signal?: AbortSignal | undefined
  readonly metadata?: CallOptions["metadata"]
  readonly progress?: CallOptions["progress"]
  readonly requestInput?: CallOptions["requestInput"]
}

/** What a caller got: a result, or an error with its `code`. */
export interface Seen {
  readonly data?: unknown
  readonly items: readonly unknown[]
  readonly code: string | undefined
  readonly message: string
  readonly details: unknown
  readonly requestId: string | undefined
  readonly retryable: boolean | undefined
  readonly mayHaveExecuted: boolean | undefined
  readonly retryAfterMs: number | undefined
  readonly attempts?: number | undefined
}

export type Line = readonly [level: string, fields: Readonly<Record<string, unknown>>]
export type Report = readonly [error: CallError, call: FailedCall]

/** A way in, with all that those who run it hear. */
export interface Surface extends AsyncDisposable {
  readonly lines: Line[]
  /** What `onError` of the server heard, and that of the registry. */
  readonly reported: Report[]
  readonly reportedByRegistry: Report[]
  readonly call: (id: string, options?: SurfaceCall) => Promise<Seen>
  readonly stream?: (id: string, options?: SurfaceCall) => Promise<Seen>
  /** Closes the server as a deploy does: with time for what runs. */
  readonly drain?: () => Promise<void>
}

export interface SurfaceTerms {
  readonly upstream: string
  readonly errors: ErrorReporting["errors"]
  readonly broker?: string | undefined
  /** What is served instead of operations that fail. */
  readonly operations?: readonly AnyOperation[] | undefined
  /** Options of the registry that is served, such as its policies. */
  readonly registry?: RegistryOptions | undefined
  /** Milliseconds that `drain` waits for what runs. */
  readonly drainMs?: number | undefined
}

type Opened = Pick<Surface, "call" | "stream" | "drain">

type Open = (ground: Ground, terms: SurfaceTerms) => Promise<Opened>

/** What all ways share: one registry, its log, and its error listener. */
class Ground {
  readonly lines: Line[] = []
  readonly reported: Report[] = []
  readonly reportedByRegistry: Report[] = []
  readonly closers: (() => unknown)[] = []
  readonly logger: Logger = {
    ...silentLogger,
    warn: (_, fields) => void this.lines.push(["warn", fields ?? {}]),
    error: (_, fields) => void this.lines.push(["error", fields ?? {}]),
  }
  readonly operations: readonly AnyOperation[]
  readonly registry: OperationRegistry
  readonly reporting: ErrorReporting

  constructor({
    upstream,
    errors,
    operations = failingOperations(upstream),
    registry,
  }: SurfaceTerms) {
    this.operations = operations
    this.registry = createRegistry(operations, {
      ...registry,
      logger: this.logger,
      onError: (...report) => void this.reportedByRegistry.push(report),
    })
    this.reporting = { errors, onError: (...report) => void this.reported.push(report) }
  }
}

const overHTTP =
  (
    call: (url: string, id: string, options: SurfaceCall) => Promise<Seen>,
    stream?: typeof call,
  ): Open =>
  async ({ registry, reporting, closers }, { drainMs }) => {
    const served = await serveHTTP(registry, {
      ...reporting,
      port: 0,
      websocket: false,
      drainMs,
      authenticate: () => ADA,
    })
    closers.push(() => served.close())
    return {
      drain: () => served.close(),
      call: (id, options = {}) => call(served.url, id, options),
      ...(stream !== undefined && {
        stream: (id: string, options: SurfaceCall = {}) => stream(served.url, id, options),
      }),
    }
  }

const overCalls =
  (
    link: (terms: SurfaceTerms, name: string) => Promise<[serving: Transport, calling: Transport]>,
  ): Open =>
  async ({ registry, reporting, closers }, terms) => {
    const [serving, calling] = await link(terms, `errors${++links}`)
    const server = serveCalls(registry, {
      ...reporting,
      transport: serving,
      resolveIdentity: () => ADA,
    })
    closers.push(() => server.close())
    const drain = (): Promise<void> => server.drain({ grace: terms.drainMs })
    return { ...clientOf(calling, closers), drain }
  }

let links = 0

export const SURFACES: Readonly<Record<string, Open>> = {
  gateway: overHTTP(
    (url, id, options) => post(`${url}/operations/${id}`, options),
    (url, id, options) => events(`${url}/operations/${id}`, options),
  ),
  REST: overHTTP(
    (url, id, options) => post(`${url}/api/${id.replace(".", "/")}`, options),
    (url, id, options) => events(`${url}/api/${id.replace(".", "/")}`, options),
  ),
  batch: overHTTP(async (url, id, { input = {}, signal, timeout, ...terms }) => {
    const item = { id, input, timeoutMs: timeout, ...terms }
    const response = await send(`${url}/batch`, { input: [item], signal })
    const { results } = (await response.json()) as {
      results: { problem?: HTTPProblem; envelope?: { data?: unknown } }[]
    }
    const { problem, envelope } = results[0] ?? {}
    return problem === undefined ? resultSeen(envelope?.data) : problemSeen(problem)
  }),
  WebSocket: async ({ registry, reporting, closers }, { drainMs }) => {
    const options = { ...reporting, port: 0, drainMs, authenticate: () => ADA }
    const served = await serveHTTP(registry, options)
    closers.push(() => served.close())
    return socketTo(served, closers)
  },
  "HTTP client": async ({ registry, reporting, closers }, { drainMs }) => {
    const options = { ...reporting, port: 0, websocket: false, drainMs, authenticate: () => ADA }
    const served = await serveHTTP(registry, options)
    closers.push(() => served.close())
    const drain = (): Promise<void> => served.close()
    return { ...clientOf(createHTTPTransport(served.url), closers), drain }
  },
  "MCP, modern": overMCP("modern"),
  "MCP, legacy": overMCP("legacy"),
  memory: overCalls(async () => createMemoryTransports()),
  worker: overCalls(async () => {
    const { port1, port2 } = new MessageChannel()
    return [createWorkerTransport(port1), createWorkerTransport(port2)]
  }),
  NATS: overCalls(async ({ broker }, prefix) => {
    const options = { servers: broker, prefix, logger: silentLogger }
    return [createNatsTransport(options), createNatsTransport(options)]
  }),
  Redis: overCalls(async ({ broker = "" }, prefix) => {
    const options = { url: broker, prefix, logger: silentLogger }
    return [createRedisTransport(options), createRedisTransport(options)]
  }),
  hub: async (ground, { errors, drainMs }) => {
    const hub = createHub(configOf([]), {
      logger: ground.logger,
      onError: (...report) => void ground.reportedByRegistry.push(report),
    })
    hub.registry.registerAll(ground.operations)
    const apiKeys = [{ hash: hashApiKey(KEY), id: ADA.id }]
    const served = await serveHub(hub, { ...ground.reporting, errors, port: 0, apiKeys, drainMs })
    ground.closers.push(
      () => served.close(),
      () => hub.close(),
    )
    return {
      drain: () => served.close(),
      call: (id, options = {}) => post(`${served.url}/operations/${id}`, options),
      stream: (id, options = {}) => events(`${served.url}/operations/${id}`, options),
    }
  },
}

/** All ways in: those, the registry itself, and a gateway in between. */
export const WAYS_IN: Readonly<Record<string, Open>> = {
  registry: async ({ registry }) =>
    callsOf({
      call: (id, input, options) => registry.execute(id, input, { ...options, identity: ADA }),
      subscribe: (id, input, options) =>
        registry.subscribe(id, input, { ...options, identity: ADA }),
    }),
  ...SURFACES,
  "two hops": async ({ registry, reporting, closers }, { drainMs }) => {
    const [toServer, toGateway] = createMemoryTransports()
    const server = serveCalls(registry, {
      ...reporting,
      transport: toServer,
      resolveIdentity: () => ADA,
    })
    const gateway = createRegistry([], { logger: silentLogger })
    closers.push(
      () => server.close(),
      () => gateway.close(),
    )
    await fromCall(toGateway, { registry: gateway, logger: silentLogger })
    const options = { port: 0, drainMs, authenticate: () => ADA, logger: silentLogger }
    const served = await serveHTTP(gateway, { ...options, errors: reporting.errors })
    closers.push(() => served.close())
    return socketTo(served, closers)
  },
}

/** Those over which handlers can ask their callers. */
export const WAYS_TO_ASK: readonly string[] = [
  ...["registry", "memory", "worker", "WebSocket", "NATS", "Redis", "two hops"],
]

/** Opens one of them. Whoever opens it closes it. */
export async function openSurface(name: string, terms: SurfaceTerms): Promise<Surface> {
  const ground = new Ground(terms)
  const { lines, reported, reportedByRegistry, closers } = ground
  const opened = await WAYS_IN[name]?.(ground, terms)
  if (opened === undefined) throw new Error(`There is no way in "${name}".`)
  return {
    lines,
    reported,
    reportedByRegistry,
    ...opened,
    async [Symbol.asyncDispose]() {
      for (const close of closers.toReversed()) await close()
      await ground.registry.close()
    },
  }
}

function overMCP(era: "modern" | "legacy"): Open {
  return async ({ registry, reporting, closers }, { drainMs }) => {
    const mcp = toMCP(registry, {
      ...reporting,
      drainMs,
      authenticate: () => ADA,
      expose: { mode: "all" },
    })
    const listening = await mcp.listen({ port: 0 })
    const client = await connect(listening.url, era)
    closers.push(
      () => mcp.close(),
      () => client.close(),
    )
    const call = async (id: string, { input = {}, signal }: SurfaceCall = {}): Promise<Seen> => {
      const tool = { name: id.replace(".", "_"), arguments: input as Record<string, unknown> }
      const result = await client.callTool(tool, signal && { signal })
      if (result.isError !== true) return resultSeen(result.structuredContent)
      const [first, second] = result.content as { text: string }[]
      const [, code, message = ""] = /^(\w+): ([^]*)$/.exec(first?.text ?? "") ?? []
      const about = result._meta?.["alkdev.operations/error"] as Partial<Seen> | undefined
      const { items = [] } = JSON.parse(second?.text ?? "{}") as { items?: unknown[] }
      const [words = "", ...more] = message.split("\n")
      const details = more.find((line) => line.startsWith("Details: "))
      return {
        items,
        code,
        message: words,
        details: details === undefined ? undefined : JSON.parse(details.slice(9)),
        requestId: about?.requestId,
        retryable: about?.retryable,
        mayHaveExecuted: about?.mayHaveExecuted,
        retryAfterMs: about?.retryAfterMs,
        attempts: about?.attempts,
      }
    }
    return { call, stream: call, drain: () => mcp.close() }
  }
}

function socketTo(served: ServedHTTP, closers: (() => unknown)[]): Opened {
  const url = `${served.url.replace("http", "ws")}/ws`
  // A stream that its server ended is not opened again: the tables compare the errors.
  const transport = createWebSocketTransport(url, { logger: silentLogger, resumeMs: 0 })
  const client = clientOf(transport, closers)
  return { ...client, drain: () => served.close() }
}

function clientOf(
  transport: Transport,
  closers: (() => unknown)[],
): Pick<Surface, "call" | "stream"> {
  const client = createClient(transport, { logger: silentLogger })
  closers.push(() => client.close())
  return callsOf(client)
}

interface Caller {
  call(id: string, input: unknown, options: CallOptions): Promise<ResponseEnvelope>
  subscribe(id: string, input: unknown, options: CallOptions): AsyncIterable<ResponseEnvelope>
}

function callsOf(client: Caller): Pick<Surface, "call" | "stream"> {
  return {
    call: (id, { input = {}, ...options } = {}) =>
      client.call(id, input, options).then(
        ({ data }) => resultSeen(data),
        (error: unknown) => errorSeen(error, []),
      ),
    async stream(id, { input = {}, ...options } = {}) {
      const items: unknown[] = []
      try {
        for await (const { data } of client.subscribe(id, input, options)) items.push(data)
      } catch (error) {
        return errorSeen(error, items)
      }
      return { ...resultSeen(undefined), items }
    },
  }
}

function resultSeen(data: unknown): Seen {
  return { ...problemSeen(undefined), data }
}

function errorSeen(error: unknown, items: readonly unknown[]): Seen {
  if (!isCallError(error)) throw error
  const { code, message, details, requestId, retryable, mayHaveExecuted } = error
  const { retryAfterMs, attempts } = error
  const flags = { retryable, mayHaveExecuted, retryAfterMs, attempts }
  return { items, code, message, details, requestId, ...flags }
}

function send(
  url: string,
  { input = {}, idempotencyKey, timeout, policy, signal }: SurfaceCall,
  accept = "application/json",
): Promise<Response> {
  const cache = policy?.cache && { skip: "no-store", refresh: "no-cache" }[policy.cache]
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept,
      authorization: `Bearer ${KEY}`,
      ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      ...(timeout !== undefined && { "x-timeout-ms": String(timeout) }),
      ...(cache !== undefined && { "cache-control": cache }),
    },
    body: JSON.stringify(input),
    signal: signal ?? null,
  })
}

async function post(url: string, options: SurfaceCall): Promise<Seen> {
  const response = await send(url, options)
  if (response.status === 204) return resultSeen(undefined)
  // The result is a file.
  const isJSON = response.headers.get("content-type")?.includes("json") === true
  if (!isJSON) return resultSeen(await response.text())
  const body = (await response.json()) as HTTPProblem & { readonly data?: unknown }
  if (!response.ok) return problemSeen(body)
  // The gateway answers with an envelope, a REST path with the data.
  return resultSeen(url.includes("/operations/") ? body.data : body)
}

async function events(url: string, options: SurfaceCall): Promise<Seen> {
  const response = await send(url, options, "text/event-stream")
  // Refused before the stream began.
  if (!response.ok) return problemSeen((await response.json()) as HTTPProblem)
  const text = await response.text()
  const found = [...text.matchAll(/(?:event: (\w+)\n)?data: ([^\n]*)\n/g)]
  const items = found.filter(([, event]) => event === undefined)
  const problem = found.find(([, event]) => event === "error")?.[2] ?? "{}"
  return {
    ...problemSeen(JSON.parse(problem) as HTTPProblem),
    items: items.map(([, , data = ""]) => {
      const item = JSON.parse(data) as { data?: unknown }
      // The gateway sends envelopes, a REST path the data.
      return url.includes("/operations/") ? item.data : item
    }),
  }
}

function problemSeen(problem: (HTTPProblem & { readonly attempts?: number }) | undefined): Seen {
  return {
    items: [],
    code: problem?.code,
    message: problem?.detail ?? "",
    details: problem?.details,
    requestId: problem?.requestId,
    retryable: problem?.retryable,
    mayHaveExecuted: problem?.mayHaveExecuted,
    retryAfterMs: problem?.retryAfterMs,
    attempts: problem?.attempts,
  }
}
