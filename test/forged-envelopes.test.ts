import { Type } from "typebox"
import { MessageChannel } from "node:worker_threads"
import { describe, expect, test, vi } from "vitest"
import {
  createMemoryTransports,
  decodeEnvelope,
  encodeEnvelope,
  fromCall,
  httpEnvelope,
  isResponseEnvelope,
  localEnvelope,
  mcpEnvelope,
  PendingRequestMap,
  serveCalls,
} from "../src/index.ts"
import type { ResponseEnvelope, Transport } from "../src/index.ts"
import { createWorkerTransport } from "../src/transport/worker.ts"
import { toolEnvelope } from "../src/mcp/result.ts"
import { apiOf } from "./openapi/api.ts"
import { oneOperation } from "./openapi/recorder.ts"
import { operation, quietRegistry, rejection } from "./support/operations.ts"

/** JSON of a stranger that has the shape of each kind of envelope. */
const FORGED = [
  { data: { id: "no number" }, meta: { source: "mcp", isError: true, content: [] } },
  { data: { id: "no number" }, meta: { source: "mcp", isError: false, content: [] } },
  { data: { id: "no number" }, meta: { source: "http", statusCode: 200 } },
  { data: { id: "no number" }, meta: { source: "local", operationId: "x.y", timestamp: 1 } },
  { meta: { source: "local", operationId: "x.y", timestamp: 1 } },
].map((value) => JSON.stringify(value))

const Task = Type.Object({ id: Type.Number() })

const LINKS: Record<string, () => readonly [Transport, Transport]> = {
  memory: () => createMemoryTransports(),
  "worker port": () => {
    const { port1, port2 } = new MessageChannel()
    return [createWorkerTransport(port1), createWorkerTransport(port2)]
  },
}

describe.each(FORGED)("data that looks like an envelope: %s", (json) => {
  const forged = (): unknown => JSON.parse(json)

  test("is validated as a whole", async () => {
    expect(isResponseEnvelope(forged())).toBe(true)
    const parts = { outputSchema: Task, output: "strict" as const }
    const registry = quietRegistry([
      operation("a.now", { ...parts, handler: forged }),
      operation("a.later", { ...parts, handler: async () => forged() }),
      operation("a.items", {
        ...parts,
        type: "subscription",
        async *handler() {
          yield forged()
        },
      }),
    ])
    const refused = { code: "OUTPUT_VALIDATION_ERROR" }
    expect(await rejection(registry.execute("a.now"))).toMatchObject(refused)
    expect(await rejection(registry.execute("a.later"))).toMatchObject(refused)
    const items = registry.subscribe("a.items")[Symbol.asyncIterator]()
    expect(await rejection(items.next())).toMatchObject(refused)
  })

  test("is data where any data is allowed", async () => {
    const registry = quietRegistry([operation("a.b", { handler: forged })])
    expect(await registry.execute("a.b")).toMatchObject({
      data: forged(),
      meta: { source: "local", operationId: "a.b" },
    })
  })

  test.each(Object.keys(LINKS))("stays data over a link: %s", async (kind) => {
    const [near, far] = (LINKS[kind] as () => readonly [Transport, Transport])()
    const remote = quietRegistry([
      operation("a.b", { handler: forged }),
      operation("a.items", {
        type: "subscription",
        async *handler() {
          yield forged()
        },
      }),
    ])
    serveCalls({ registry: remote, transport: far })
    const registry = quietRegistry(await fromCall(near))
    const expected = { data: forged(), meta: { source: "local", operationId: "a.b" } }
    expect(await registry.execute("a.b")).toMatchObject(expected)
    for await (const item of registry.subscribe("a.items")) {
      expect(item).toMatchObject({ data: forged(), meta: { operationId: "a.items" } })
    }
    await Promise.all([near.close(), far.close()])
  })

  test("is the body of an API's answer", async () => {
    await using api = await apiOf(oneOperation("/x", "get", {}), (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(json)
    })
    expect(await api.registry.execute("api.op", {})).toMatchObject({
      data: forged(),
      meta: { source: "http", statusCode: 200 },
    })
  })

  test("is the structured content of an MCP tool", () => {
    const envelope = toolEnvelope({ content: [], structuredContent: forged() }, {
      server: "s",
      tool: { name: "t" },
      durationMs: 1,
    } as never)
    expect(envelope).toMatchObject({ data: forged(), meta: { source: "mcp", isError: false } })
  })
})

describe("envelopes that a handler made on purpose", () => {
  const made = {
    local: () => localEnvelope({ id: 1 }, "x.y"),
    http: () => httpEnvelope({ id: 1 }, { statusCode: 201, headers: {}, contentType: "a/b" }),
    mcp: () => mcpEnvelope("failed", { isError: true, content: [] }),
  }

  test.each(Object.entries(made))("are handed on: %s", async (_kind, make) => {
    const registry = quietRegistry(
      [
        operation("a.made", { outputSchema: Task, handler: make }),
        operation("a.other", { handler: () => ({ ...make(), data: { id: 2 } }) }),
        operation("a.nested", {
          handler: (_input: never, context: { call: (id: string) => unknown }) =>
            context.call("a.made"),
        }),
      ],
      { output: "strict" },
    )
    const expected = withoutTime(make())
    expect(withoutTime(await registry.execute("a.made"))).toEqual(expected)
    expect(withoutTime(await registry.execute("a.nested"))).toEqual(expected)
    const other = withoutTime(await registry.execute("a.other"))
    expect(other).toEqual({ ...expected, data: { id: 2 } })
  })

  test("are handed on when they were decoded", async () => {
    const wire: unknown = JSON.parse(JSON.stringify(encodeEnvelope(made.http())))
    const handler = (): unknown => decodeEnvelope(wire)
    const registry = quietRegistry([operation("a.b", { handler })])
    expect(await registry.execute("a.b")).toMatchObject({ meta: { statusCode: 201 } })
  })

  test("are data when they arrived frozen, and nobody fails", async () => {
    const map = new PendingRequestMap()
    const { data, meta } = structuredClone(made.http())
    const handler = (): unknown => {
      const response = map.call("x.y")
      map.respond(response.requestId, { data, meta: Object.freeze(meta) })
      return response
    }
    const registry = quietRegistry([operation("a.b", { handler })])
    expect(await registry.execute("a.b")).toMatchObject({ data: { data, meta } })
  })

  test("are recognised when another copy of the package made them", async () => {
    vi.resetModules()
    const other = await import("../src/response-envelope.ts")
    expect(other.httpEnvelope).not.toBe(httpEnvelope)
    const registry = quietRegistry([
      operation("a.b", {
        handler: () => other.mcpEnvelope("no", { isError: true, content: [] }),
      }),
    ])
    expect(await registry.execute("a.b")).toMatchObject({ data: "no", meta: { source: "mcp" } })
  })
})

function withoutTime({ data, meta }: ResponseEnvelope): object {
  return { data, meta: { ...meta, timestamp: 0 } }
}
