// Serves operations that show the trace they are part of, over one wire, in a process or thread of its own. With
// "traced" it has telemetry, and prints each span as JSON.
import { appendFileSync, writeSync } from "node:fs"
import { isMainThread, parentPort, workerData } from "node:worker_threads"
import { context } from "@opentelemetry/api"
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks"
import { type ReadableSpan, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace"
import type { OperationContext, Transport } from "../../src/index.ts"
import { serveCalls } from "../../src/index.ts"
import { createNatsTransport } from "../../src/nats.ts"
import { serveHTTP } from "../../src/node.ts"
import { instrument } from "../../src/otel.ts"
import { createRedisTransport } from "../../src/redis.ts"
import { silentLogger } from "../../src/testing.ts"
import { toMCP } from "../../src/to-mcp.ts"
import { createWorkerTransport } from "../../src/worker.ts"
import { serveWebSocket } from "../../src/websocket.ts"
import { operation, quietRegistry } from "../support/operations.ts"

const [wire = "", mode = "", place = ""] = isMainThread
  ? process.argv.slice(2)
  : (workerData as string[])
const logger = silentLogger
const inputSchema = { type: "object", properties: {} }

function traceOf({ metadata = {} }: OperationContext): object {
  const { traceparent, tracestate, baggage } = metadata
  return { traceparent, tracestate, baggage }
}

const registry = quietRegistry([
  operation("far.show", {
    type: "query",
    inputSchema,
    outputSchema: { type: "object" },
    handler: (_input: never, it: OperationContext) => traceOf(it),
  }),
  operation("far.nested", {
    type: "query",
    inputSchema,
    outputSchema: { type: "object" },
    handler: async (_input: never, it: OperationContext) => {
      await it.call("far.show", {})
      return traceOf(it)
    },
  }),
  operation("far.note", {
    type: "query",
    inputSchema: { type: "object", required: ["id"], properties: { id: { type: "string" } } },
    outputSchema: { type: "object" },
    mcp: { as: "resource", uri: "note://{id}" },
    handler: (_input: never, it: OperationContext) => traceOf(it),
  }),
  operation("far.ask", {
    type: "query",
    inputSchema,
    outputSchema: { type: "object" },
    mcp: { as: "prompt" },
    handler: (_input: never, it: OperationContext) => traceOf(it),
  }),
  operation("far.watch", {
    type: "subscription",
    inputSchema,
    async *handler(_input: never, it: OperationContext) {
      yield traceOf(it)
    },
  }),
])

/** stdout of an MCP server has its messages: that writes into a file. */
const print = (line: string): void => {
  if (wire === "MCP, stdio") appendFileSync(place, `${line}\n`)
  else if (isMainThread) writeSync(1, `${line}\n`)
  else parentPort?.postMessage(line)
}

if (mode === "traced") {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  const exporter = {
    export(spans: readonly { readonly name: string }[], done: (result: { code: number }) => void) {
      for (const span of spans as readonly ReadableSpan[]) {
        const { traceId, spanId } = span.spanContext()
        const parent = span.parentSpanContext?.spanId
        const via = span.attributes["operations.entry"]
        print(
          `span ${JSON.stringify({ name: span.name, kind: span.kind, traceId, spanId, parent, via })}`,
        )
      }
      done({ code: 0 })
    },
    shutdown: () => Promise.resolve(),
  }
  const spanProcessors = [new SimpleSpanProcessor({ exporter })]
  instrument(registry, {
    tracerProvider: new TracerProvider({ spanProcessors }),
    incoming: "continue",
  })
}

async function serve(): Promise<string | undefined> {
  switch (wire) {
    case "HTTP":
    case "OpenAPI":
      return (await serveHTTP(registry, { port: 0, websocket: false, logger })).url
    case "WebSocket":
      return (await serveWebSocket(registry, { port: 0, logger })).url
    case "MCP, HTTP":
      return (await toMCP(registry, { logger }).listen({ port: 0 })).url
    case "MCP, stdio":
      await toMCP(registry, { logger }).stdio()
      return undefined
    case "thread":
      serveCalls(registry, { transport: createWorkerTransport(parentPort as never), logger })
      return "thread"
    default: {
      const transport: Transport & { whenConnected(): Promise<unknown> } =
        wire === "NATS"
          ? createNatsTransport({ servers: place, logger })
          : createRedisTransport({ url: place, logger })
      serveCalls(registry, { transport, logger })
      await transport.whenConnected()
      return place
    }
  }
}

print(`ready ${await serve()}`)
