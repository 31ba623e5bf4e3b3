// One trace through processes and threads, over every transport, with and without telemetry.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { MessageChannel, Worker } from "node:worker_threads"
import { SpanKind } from "@opentelemetry/api"
import { describe, expect, onTestFinished, test } from "vitest"
import { createMCPClient } from "../../src/from-mcp.ts"
import { FromOpenAPIUrl } from "../../src/from-openapi.ts"
import { createHTTPTransport } from "../../src/http.ts"
import { createClient, fromCall } from "../../src/index.ts"
import { refusal, type CallError } from "../../src/core/errors.ts"
import type { AnyOperation, CallWay, OperationContext, Transport } from "../../src/index.ts"
import { createNatsTransport } from "../../src/nats.ts"
import { instrument } from "../../src/otel.ts"
import { createRedisTransport } from "../../src/redis.ts"
import { silentLogger } from "../../src/testing.ts"
import { createWebSocketTransport } from "../../src/websocket.ts"
import { createWorkerTransport } from "../../src/worker.ts"
import { program } from "../sources/mcp/support/program.ts"
import { provideBrokers } from "../support/brokers.ts"
import { operation, quietRegistry } from "../support/operations.ts"
import { waitFor } from "../support/wait-for.ts"
import { collect } from "./collect.ts"

const BROKERS = await provideBrokers()
const SCRIPT = program(join(import.meta.dirname, "traced-worker.ts"))
const logger = silentLogger

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
const SENT = {
  traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01`,
  tracestate: "vendor=1",
  baggage: "team=blue",
}

interface FarSpan {
  readonly name: string
  readonly kind: SpanKind
  readonly traceId: string
  readonly spanId: string
  readonly parent?: string
  /** The way in. */
  readonly via?: string
}

interface Far {
  readonly url?: string
  readonly operations: readonly AnyOperation[]
  readonly spans: readonly FarSpan[]
}

const remote = async (link: Transport): Promise<AnyOperation[]> => {
  onTestFinished(() => link.close())
  return await fromCall(link, { logger })
}

const WIRES: Readonly<Record<string, (url: string) => Promise<readonly AnyOperation[]>>> = {
  OpenAPI: (url) => FromOpenAPIUrl(`${url}/openapi.json`, { namespace: "far", baseUrl: url }),
  WebSocket: (url) => remote(createWebSocketTransport(url)),
  "MCP, HTTP": (url) => toolsOf({ url }),
  NATS: (servers) => remote(createNatsTransport({ servers, logger })),
  Redis: (url) => remote(createRedisTransport({ url, logger })),
}

/** How calls come over a wire, as rules of `approvals` and spans name it. */
const WAYS: Readonly<Record<string, CallWay>> = {
  OpenAPI: "http",
  WebSocket: "websocket",
  "MCP, HTTP": "mcp",
  "MCP, stdio": "mcp",
  NATS: "nats",
  Redis: "redis",
  thread: "worker",
}

async function toolsOf(where: Parameters<typeof createMCPClient>[1]): Promise<AnyOperation[]> {
  const client = await createMCPClient("far", { ...where, resources: true, prompts: true, logger })
  onTestFinished(() => client.close())
  const registry = quietRegistry()
  client.registerAll(registry)
  return [...registry.list()] as AnyOperation[]
}

async function start(wire: string, mode: string): Promise<Far> {
  const spans: FarSpan[] = []
  const read = (line: string): void => {
    if (line.startsWith("span ")) spans.push(JSON.parse(line.slice(5)) as FarSpan)
  }
  if (wire === "thread") {
    const thread = new Worker(SCRIPT, { workerData: [wire, mode], execArgv: [] })
    onTestFinished(async () => void (await thread.terminate()))
    thread.on("message", (line: unknown) => typeof line === "string" && read(line))
    return { operations: await remote(createWorkerTransport(thread)), spans }
  }
  if (wire === "MCP, stdio") {
    const file = join(mkdtempSync(join(tmpdir(), "operations-otel-")), "spans")
    onTestFinished(() => rmSync(dirname(file), { recursive: true }))
    const args = [SCRIPT, wire, mode, file]
    const operations = await toolsOf({ command: process.execPath, args })
    const spansIn = (): FarSpan[] => {
      spans.length = 0
      readFileSync(file, "utf8").split("\n").forEach(read)
      return spans
    }
    return {
      operations,
      get spans() {
        return spansIn()
      },
    }
  }
  const broker = await BROKERS[wire]?.()
  onTestFinished(() => broker?.[Symbol.asyncDispose]())
  const child = spawn(process.execPath, [SCRIPT, wire, mode, broker?.url ?? ""], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  onTestFinished(async () => {
    child.kill("SIGKILL")
    if (child.exitCode === null && child.signalCode === null) await once(child, "close")
  })
  const url = await new Promise<string>((resolve) => {
    createInterface(child.stdout).on("line", (line) => {
      if (line.startsWith("ready ")) resolve(line.slice(6))
      else read(line)
    })
  })
  return { url, operations: (await WIRES[wire]?.(url)) ?? [], spans }
}

/** A registry that calls the far operation from a handler. */
function near({ operations }: Far, id: string) {
  return quietRegistry([
    ...operations,
    operation("near.call", {
      type: "query",
      handler: async (_input: never, { call }: OperationContext) => (await call(id, {})).data,
    }),
  ])
}

const wires = [...Object.keys(WIRES), "thread", "MCP, stdio"].filter(
  (name) => !["NATS", "Redis"].includes(name) || name in BROKERS,
)
const idOver = (wire: string, name: string): string =>
  wire.startsWith("MCP") ? `far.far_${name}` : `far.${name}`

describe.each(wires)("the trace of a call over %s", (wire) => {
  test("is passed on unchanged from the outermost caller, without telemetry", async () => {
    const far = await start(wire, "plain")
    await using registry = near(far, idOver(wire, "show"))

    const { data } = await registry.execute("near.call", {}, { metadata: SENT })
    const none = await registry.execute("near.call", {})

    expect(data).toEqual(SENT)
    expect(none.data).toEqual({})
  })

  test("goes on as spans with the right parents and kinds", async () => {
    const far = await start(wire, "traced")
    await using registry = near(far, idOver(wire, "nested"))
    const { spans, tracerProvider } = collect()
    instrument(registry, { tracerProvider, metrics: false })

    await registry.execute("near.call", {}, { metadata: SENT })

    await waitFor(() => expect(far.spans.length).toBeGreaterThanOrEqual(2))
    const all = [...spans(), ...far.spans]
    const byId = new Map(all.map((span) => [span.spanId, span]))
    expect(new Set(all.map(({ traceId }) => traceId))).toEqual(new Set([TRACE_ID]))
    // The outermost span continues what was sent; no other span is an orphan.
    const orphans = all.filter(({ parent }) => !byId.has(parent ?? ""))
    expect(orphans).toMatchObject([{ name: "near.call", parent: "b7ad6b7169203331" }])
    const server = far.spans.find(({ kind }) => kind === SpanKind.SERVER)
    const inner = far.spans.find(({ kind }) => kind === SpanKind.INTERNAL)
    expect([server?.via, inner?.via]).toEqual([WAYS[wire], undefined])
    expect(inner?.parent).toBe(server?.spanId)
    const sender = byId.get(server?.parent ?? "")
    expect(sender?.kind).toBe(SpanKind.CLIENT)
  })
})

describe.each(["MCP, HTTP", "MCP, stdio"])("the trace of a read over %s", (wire) => {
  const CANARY = "canary-4e21"

  test.each(["note", "ask"])("reaches %s, as spans without addresses", async (name) => {
    const far = await start(wire, "traced")
    const found = far.operations.find(({ namespace, name: own }) =>
      `${namespace}.${own}`.includes(name),
    )
    const id = `${found?.namespace}.${found?.name}`
    await using registry = quietRegistry(far.operations)
    const { spans, tracerProvider } = collect()
    instrument(registry, { tracerProvider, metrics: false })

    const input = name === "note" ? { id: CANARY } : {}
    const { data } = await registry.execute(id, input, { metadata: SENT })

    expect(JSON.stringify(data)).toContain("vendor=1")
    await waitFor(() => expect(far.spans).not.toEqual([]))
    const method = name === "note" ? "resources/read" : "prompts/get far_ask"
    const [client, call] = spans()
    expect(client).toMatchObject({ name: method, kind: SpanKind.CLIENT, parent: call?.spanId })
    expect(far.spans).toMatchObject([
      { name: method, kind: SpanKind.SERVER, parent: client?.spanId, traceId: TRACE_ID },
    ])
    expect(JSON.stringify([spans(), far.spans])).not.toContain(CANARY)
  })
})

describe("the trace of a request over HTTP", () => {
  test("reaches gateway, stream and batch, where a call may have its own", async () => {
    const { url = "" } = await start("HTTP", "plain")
    const json = { "content-type": "application/json" }
    const ask = async (path: string, body: unknown, headers: object): Promise<string> => {
      const init = { method: "POST", body: JSON.stringify(body), headers: { ...json, ...headers } }
      return await (await fetch(`${url}${path}`, init)).text()
    }
    const other = { traceparent: SENT.traceparent.replace("b7ad", "c8be") }
    const calls = [
      { id: "far.show", input: {} },
      { id: "far.show", input: {}, metadata: other },
    ]
    const events = { accept: "text/event-stream" }

    const plain = await ask("/operations/far.show?unwrap=1", {}, SENT)
    const rest = await (await fetch(`${url}/api/far/show`, { headers: SENT })).text()
    expect([plain, rest].map((text): unknown => JSON.parse(text))).toEqual([SENT, SENT])
    const items = await fetch(`${url}/api/far/watch`, { headers: { ...SENT, ...events } })
    expect(await items.text()).toContain("vendor=1")
    const batch = await ask("/batch", calls, SENT)
    expect(batch).toContain(SENT.traceparent)
    expect(batch).toContain(other.traceparent)
  })

  test("leaves with calls of a client, alone and in batches", async () => {
    const { url = "" } = await start("HTTP", "plain")
    await using client = createClient(createHTTPTransport(url))
    const ids = ["far.show", "far.show", "far.show"]
    const one = await client.call("far.show", {}, { trace: SENT })
    const more = await Promise.all(ids.map((id) => client.call(id, {}, { trace: SENT })))
    expect([one, ...more].map(({ data }) => data)).toEqual([SENT, SENT, SENT, SENT])
    // What is malformed is left out, and harms no call.
    const bad = { trace: { traceparent: "nonsense", tracestate: "a=1\n", baggage: "b=1" } }
    expect((await client.call("far.show", {}, bad)).data).toEqual({ baggage: "b=1" })
  })
})

test("a message channel in one process carries a trace, too", async () => {
  const { port1, port2 } = new MessageChannel()
  const { serveCalls } = await import("../../src/index.ts")
  const show = operation("far.show", {
    handler: (_input: never, { metadata }: OperationContext) => metadata?.["tracestate"],
  })
  const server = serveCalls(quietRegistry([show]), { transport: createWorkerTransport(port1) })
  onTestFinished(() => server.close())
  const registry = quietRegistry(await remote(createWorkerTransport(port2)))
  const { data } = await registry.execute("far.show", {}, { metadata: SENT })
  expect(data).toBe("vendor=1")
})

describe("a stream of a registry in another process", () => {
  const cases: readonly (readonly [string, number, Readonly<Record<string, unknown>>])[] = [
    ["that ends", 3, { "operations.stream.items": 3 }],
    ["that is left", 1, { "operations.stream.items": 1, "operations.outcome": "aborted" }],
    ["that fails", 9, { "operations.stream.items": 3, "error.type": "SPOILED" }],
    // Its caller leaves while it waits for an item.
    ["that is silent", 9, { "operations.stream.items": 3, "operations.outcome": "aborted" }],
  ]

  test.each(cases)("%s is one span with its items", async (name, wanted, attributes) => {
    const { port1, port2 } = new MessageChannel()
    const count = operation("far.count", {
      type: "subscription",
      async *handler(_input: never, { signal }: OperationContext): AsyncGenerator<number> {
        yield* [1, 2, 3]
        if (name === "that is silent") await once(signal, "abort")
        if (name === "that fails") throw refusal("SPOILED", "The milk is sour")
      },
    })
    const { serveCalls } = await import("../../src/index.ts")
    const server = serveCalls(quietRegistry([count]), { transport: createWorkerTransport(port1) })
    onTestFinished(() => server.close())
    const registry = quietRegistry(await remote(createWorkerTransport(port2)))
    const { spans, tracerProvider } = collect()
    instrument(registry, { tracerProvider, metrics: false })

    let items = 0
    const leaving = new AbortController()
    const read = async (): Promise<void> => {
      for await (const _ of registry.subscribe("far.count", {}, { signal: leaving.signal })) {
        if (++items === wanted) break
        if (items === 3 && name === "that is silent") setImmediate(() => leaving.abort())
      }
    }
    const error = await read().then(
      () => undefined,
      (thrown: unknown) => thrown as CallError,
    )

    await waitFor(() => expect(spans()).toHaveLength(2))
    expect(error?.code).toBe(name === "that is silent" ? "ABORTED" : attributes["error.type"])
    const client = spans().find(({ kind }) => kind === SpanKind.CLIENT)
    const call = spans().find(({ kind }) => kind === SpanKind.INTERNAL)
    expect(client).toMatchObject({ name: "far.count", parent: call?.spanId, attributes })
    expect(call?.attributes).toMatchObject(attributes)
  })
})
