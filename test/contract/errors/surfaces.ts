import type { ErrorReporting, FailedCall } from "../../../src/engine/failures.ts"
import { createHub, serveHTTP, serveHub } from "../../../src/node.ts"
import {
  createClient,
  createMemoryTransports,
  createRegistry,
  isCallError,
  serveCalls,
  silentLogger,
} from "../../../src/index.ts"
import type {
  AnyOperation,
  CallError,
  Identity,
  Logger,
  OperationRegistry,
} from "../../../src/index.ts"
import { createHTTPTransport } from "../../../src/http.ts"
import { hashApiKey } from "../../../src/to-http.ts"
import type { HTTPProblem } from "../../../src/to-http.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import { createNatsTransport } from "../../../src/nats.ts"
import { createRedisTransport } from "../../../src/redis.ts"
import type { Transport } from "../../../src/protocol/transport.ts"
import { createWorkerTransport } from "../../../src/worker.ts"
import { createWebSocketTransport } from "../../../src/websocket.ts"
import { configOf } from "../../hub/plain.ts"
import { connect } from "../../serve/mcp/support/clients.ts"
import { failingOperations } from "./operations.ts"

const ADA: Identity = { id: "ada", scopes: [] }
const KEY = "a-key-of-ada-0123456789"

/** What a caller got. */
export interface Seen {
  readonly items: readonly unknown[]
  readonly code: string | undefined
  readonly message: string
  readonly details: unknown
  readonly requestId: string | undefined
  readonly retryable: boolean | undefined
  readonly mayHaveExecuted: boolean | undefined
  readonly retryAfterMs: number | undefined
}

export type Line = readonly [level: string, fields: Readonly<Record<string, unknown>>]
export type Report = readonly [error: CallError, call: FailedCall]

/** A way in, with all that those who run it hear. */
export interface Surface extends AsyncDisposable {
  readonly lines: Line[]
  /** What `onError` of the server heard, and that of the registry. */
  readonly heard: Report[]
  readonly heardByRegistry: Report[]
  readonly call: (id: string) => Promise<Seen>
  readonly stream?: (id: string) => Promise<Seen>
}

export interface SurfaceTerms {
  readonly upstream: string
  readonly errors: ErrorReporting["errors"]
  readonly broker?: string | undefined
  /** What is served instead of operations that fail. */
  readonly operations?: readonly AnyOperation[] | undefined
}

type Open = (ground: Ground, terms: SurfaceTerms) => Promise<Pick<Surface, "call" | "stream">>

/** What all ways share: one registry, its log, and its error listener. */
class Ground {
  readonly lines: Line[] = []
  readonly heard: Report[] = []
  readonly heardByRegistry: Report[] = []
  readonly closers: (() => unknown)[] = []
  readonly logger: Logger = {
    ...silentLogger,
    warn: (_, fields) => void this.lines.push(["warn", fields ?? {}]),
    error: (_, fields) => void this.lines.push(["error", fields ?? {}]),
  }
  readonly operations: readonly AnyOperation[]
  readonly registry: OperationRegistry
  readonly reporting: ErrorReporting

  constructor({ upstream, errors, operations = failingOperations(upstream) }: SurfaceTerms) {
    this.operations = operations
    this.registry = createRegistry(operations, {
      logger: this.logger,
      onError: (...report) => void this.heardByRegistry.push(report),
    })
    this.reporting = { errors, onError: (...report) => void this.heard.push(report) }
  }
}

const overHTTP =
  (call: (url: string, id: string) => Promise<Seen>, stream?: typeof call): Open =>
  async ({ registry, reporting, closers }) => {
    const served = await serveHTTP(registry, {
      ...reporting,
      port: 0,
      websocket: false,
      authenticate: () => ADA,
    })
    closers.push(() => served.close())
    return {
      call: (id) => call(served.url, id),
      ...(stream !== undefined && { stream: (id: string) => stream(served.url, id) }),
    }
  }

const overCalls =
  (
    link: (terms: SurfaceTerms, name: string) => Promise<[serving: Transport, calling: Transport]>,
  ): Open =>
  async ({ registry, reporting, closers }, terms) => {
    const [serving, calling] = await link(terms, `errors${++links}`)
    const server = serveCalls({
      ...reporting,
      registry,
      transport: serving,
      resolveIdentity: () => ADA,
    })
    closers.push(() => server.close())
    return clientOf(calling, closers)
  }

let links = 0

export const SURFACES: Readonly<Record<string, Open>> = {
  gateway: overHTTP(
    (url, id) => post(`${url}/operations/${id}`, {}),
    (url, id) => events(`${url}/operations/${id}`),
  ),
  REST: overHTTP(
    (url, id) => post(`${url}/api/${id.replace(".", "/")}`, {}),
    (url, id) => events(`${url}/api/${id.replace(".", "/")}`),
  ),
  batch: overHTTP(async (url, id) => {
    const response = await send(`${url}/batch`, [{ id, input: {} }])
    const { results } = (await response.json()) as { results: { problem: HTTPProblem }[] }
    return seenOf(results[0]?.problem)
  }),
  WebSocket: async ({ registry, reporting, closers }) => {
    const served = await serveHTTP(registry, { ...reporting, port: 0, authenticate: () => ADA })
    closers.push(() => served.close())
    const url = `${served.url.replace("http", "ws")}/ws`
    return clientOf(createWebSocketTransport(url, { logger: silentLogger }), closers)
  },
  "HTTP client": async ({ registry, reporting, closers }) => {
    const options = { ...reporting, port: 0, websocket: false, authenticate: () => ADA }
    const served = await serveHTTP(registry, options)
    closers.push(() => served.close())
    return clientOf(createHTTPTransport(served.url), closers)
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
  hub: async (ground, { errors }) => {
    const hub = createHub(configOf([]), {
      logger: ground.logger,
      onError: (...report) => void ground.heardByRegistry.push(report),
    })
    hub.registry.registerAll(ground.operations)
    const apiKeys = [{ hash: hashApiKey(KEY), id: ADA.id }]
    const served = await serveHub(hub, { ...ground.reporting, errors, port: 0, apiKeys })
    ground.closers.push(
      () => served.close(),
      () => hub.close(),
    )
    return {
      call: (id) => post(`${served.url}/operations/${id}`, {}),
      stream: (id) => events(`${served.url}/operations/${id}`),
    }
  },
}

/** Opens one of them. Whoever opens it closes it. */
export async function openSurface(name: string, terms: SurfaceTerms): Promise<Surface> {
  const ground = new Ground(terms)
  const { lines, heard, heardByRegistry, closers } = ground
  const opened = await SURFACES[name]?.(ground, terms)
  if (opened === undefined) throw new Error(`There is no surface "${name}".`)
  return {
    lines,
    heard,
    heardByRegistry,
    ...opened,
    async [Symbol.asyncDispose]() {
      for (const close of closers.toReversed()) await close()
      await ground.registry.close()
    },
  }
}

function overMCP(era: "modern" | "legacy"): Open {
  return async ({ registry, reporting, closers }) => {
    const mcp = toMCP(registry, {
      ...reporting,
      authenticate: () => ADA,
      expose: { mode: "all" },
    })
    const listening = await mcp.listen({ port: 0 })
    const client = await connect(listening.url, era)
    closers.push(
      () => mcp.close(),
      () => client.close(),
    )
    const call = async (id: string): Promise<Seen> => {
      const result = await client.callTool({ name: id.replace(".", "_"), arguments: {} })
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
      }
    }
    return { call, stream: call }
  }
}

function clientOf(
  transport: Transport,
  closers: (() => unknown)[],
): Pick<Surface, "call" | "stream"> {
  const client = createClient(transport, { logger: silentLogger })
  closers.push(() => client.close())
  return {
    call: (id) => client.call(id, {}).then(succeeded, (error: unknown) => errorSeen(error, [])),
    async stream(id) {
      const items: unknown[] = []
      try {
        for await (const { data } of client.subscribe(id, {})) items.push(data)
      } catch (error) {
        return errorSeen(error, items)
      }
      return succeeded()
    },
  }
}

function succeeded(): never {
  throw new Error("The call was to fail.")
}

function errorSeen(error: unknown, items: readonly unknown[]): Seen {
  if (!isCallError(error)) throw error
  const { code, message, details, requestId, retryable, mayHaveExecuted, retryAfterMs } = error
  return { items, code, message, details, requestId, retryable, mayHaveExecuted, retryAfterMs }
}

function send(url: string, body: unknown, accept = "application/json"): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", accept, authorization: `Bearer ${KEY}` },
    body: JSON.stringify(body),
  })
}

async function post(url: string, body: unknown): Promise<Seen> {
  const response = await send(url, body)
  return seenOf((await response.json()) as HTTPProblem)
}

async function events(url: string): Promise<Seen> {
  const response = await send(url, {}, "text/event-stream")
  const text = await response.text()
  const found = [...text.matchAll(/(?:event: (\w+)\n)?data: (.*)\n/g)]
  const items = found.filter(([, event]) => event === undefined)
  const problem = found.find(([, event]) => event === "error")?.[2] ?? "{}"
  return {
    ...seenOf(JSON.parse(problem) as HTTPProblem),
    items: items.map(([, , data = ""]) => {
      const item = JSON.parse(data) as { data?: unknown }
      return typeof item === "object" ? item.data : item
    }),
  }
}

function seenOf(problem: HTTPProblem | undefined): Seen {
  return {
    items: [],
    code: problem?.code,
    message: problem?.detail ?? "",
    details: problem?.details,
    requestId: problem?.requestId,
    retryable: problem?.retryable,
    mayHaveExecuted: problem?.mayHaveExecuted,
    retryAfterMs: problem?.retryAfterMs,
  }
}
