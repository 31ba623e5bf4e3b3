import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import {
  fromCall,
  httpEnvelope,
  isResponseEnvelope,
  localEnvelope,
  mcpEnvelope,
  serveCalls,
} from "../src/index.ts"
import { createMemoryTransports } from "../src/testing.ts"
import type { ResponseEnvelope } from "../src/index.ts"
import { toolEnvelope } from "../src/sources/mcp/result.ts"
import { apiOf } from "./sources/openapi/api.ts"
import { oneOperation } from "./sources/openapi/recorder.ts"
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

describe.each(FORGED)("data that looks like an envelope: %s", (json) => {
  const forged = (): unknown => JSON.parse(json)

  test("does not get past the output schema", async () => {
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

  test("have their data validated, whatever their meta says, when they were written by hand", async () => {
    const literal = (data: unknown) => ({
      data,
      meta: { source: "mcp", isError: true, content: [] },
    })
    const parts = { outputSchema: Task, output: "strict" as const }
    const registry = quietRegistry([
      operation("a.fits", { ...parts, handler: () => literal({ id: 1 }) }),
      operation("a.lies", { ...parts, handler: () => literal("failed") }),
    ])

    expect(await registry.execute("a.fits")).toEqual(literal({ id: 1 }))
    expect(await rejection(registry.execute("a.lies"))).toMatchObject({
      code: "OUTPUT_VALIDATION_ERROR",
    })
  })

  test("are handed on when they come from a peer: the failure of a tool", async () => {
    const [near, far] = createMemoryTransports()
    const remote = quietRegistry([
      operation("a.b", { outputSchema: Task, handler: made.mcp, output: "strict" }),
    ])
    serveCalls(remote, { transport: far })
    const registry = quietRegistry(await fromCall(near), { output: "strict" })

    expect(await registry.execute("a.b")).toEqual(made.mcp())
    await Promise.all([near.close(), far.close()])
  })
})

function withoutTime({ data, meta }: ResponseEnvelope): object {
  return { data, meta: { ...meta, timestamp: 0 } }
}
