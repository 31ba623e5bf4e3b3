// @isolated: it changes what the whole process uses.
import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { defineOperation } from "../../../src/core/define.ts"
import { silentLogger } from "../../../src/internal/logger.ts"
import { createRegistry } from "../../../src/engine/registry.ts"
import type { AnyRegistry } from "../../../src/engine/registry.ts"
import { toHTTP } from "../../../src/to-http.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import { rawRequest } from "../mcp/support/clients.ts"
import { base } from "../http/support.ts"
import { expressWith, fastifyWith, LOSING_WAYS, MOUNT_WAYS } from "./mounts.ts"
import type { Mountable, Mounted } from "./mounts.ts"

/** A registry with one mutation, which keeps what it ran with. */
function storing(): { readonly registry: AnyRegistry; readonly stored: unknown[] } {
  const stored: unknown[] = []
  const registry = createRegistry([
    defineOperation({
      ...base,
      name: "store",
      type: "mutation",
      inputSchema: Type.Unknown(),
      handler: (input) => {
        stored.push(input)
        return "stored"
      },
    }),
  ]) as unknown as AnyRegistry
  return { registry, stored }
}

function json(value: unknown): RequestInit {
  return text(JSON.stringify(value))
}

function text(body: string): RequestInit {
  return { method: "POST", headers: { "content-type": "application/json" }, body }
}

const TASK = { title: "Café ☕", tags: ["a", "b"], nested: { at: [1, null, true] } }
const CALL = { params: { name: "demo_store", arguments: TASK } }

describe.each(MOUNT_WAYS)("a body in $name", (way) => {
  test("reaches the operation by gateway, REST and batch", async () => {
    const { registry, stored } = storing()
    await using http = toHTTP(registry, { logger: silentLogger })
    await using mounted = await way.mount(http, "")
    const gateway = await mounted.send("/operations/demo.store", json(TASK))
    expect(await gateway.json()).toMatchObject({ data: "stored" })
    expect((await mounted.send("/api/demo/store", json(TASK))).status).toBe(200)
    const batch = await mounted.send("/batch", json([{ id: "demo.store", input: TASK }]))
    expect(batch.status).toBe(200)
    expect(stored).toEqual([TASK, TASK, TASK])
  })

  test("is held to its limits", async () => {
    const { registry, stored } = storing()
    await using http = toHTTP(registry, { logger: silentLogger, maxBodyBytes: 200, maxDepth: 4 })
    await using mounted = await way.mount(http, "")
    const send = async (init: RequestInit): Promise<number> =>
      (await mounted.send("/api/demo/store", init)).status
    expect(await send(json({ a: "x".repeat(200) }))).toBe(413)
    expect(await send(json([[[[[1]]]]]))).toBe(400)
    expect(await send(json([[[[1]]]]))).toBe(200)
    expect(stored).toEqual([[[[[1]]]]])
  })

  test("that is no JSON is refused, and so is one of another type", async () => {
    const { registry, stored } = storing()
    await using http = toHTTP(registry, { logger: silentLogger })
    await using mounted = await way.mount(http, "")
    expect((await mounted.send("/api/demo/store", text("{"))).status).toBe(400)
    const form = new URLSearchParams({ title: "x" })
    const refused = await mounted.send("/api/demo/store", { method: "POST", body: form })
    expect(refused.status).toBe(415)
    expect(stored).toEqual([])
  })

  test("that is empty stays empty", async () => {
    const { registry, stored } = storing()
    await using http = toHTTP(registry, { logger: silentLogger })
    await using mounted = await way.mount(http, "")
    expect((await mounted.send("/api/demo/store", { method: "POST" })).status).toBe(200)
    expect((await mounted.send("/api/demo/store", json({}))).status).toBe(200)
    expect(stored).toEqual([undefined, {}])
  })

  test("reaches a tool of an MCP server", async () => {
    const { registry, stored } = storing()
    await using mcp = toMCP(registry, { logger: silentLogger })
    await using mounted = await way.mount(mcp, "")
    const response = await mounted.send("/mcp", rawRequest("tools/call", CALL))
    expect(response.status).toBe(200)
    expect(await response.text()).toContain("stored")
    expect(stored).toEqual([TASK])
  })
})

const NOT_STRICT = MOUNT_WAYS.filter(({ name }) => name !== "Express, all parsers")

test.each(NOT_STRICT)("a body that is no object is the same in $name", async (way) => {
  const { registry, stored } = storing()
  await using http = toHTTP(registry, { logger: silentLogger })
  await using mounted = await way.mount(http, "")
  const values = ["text", '{"a":1}', "1", 0, true, false, null, []]
  for (const value of values) await mounted.send("/api/demo/store", json(value))
  expect(stored).toEqual(values)
})

describe.each(LOSING_WAYS)("a body that was lost: $name", (way) => {
  test.each(["/operations/demo.store", "/api/demo/store", "/batch"])(
    "gives 500 with advice at %s, and nothing runs",
    async (path) => {
      const { registry, stored } = storing()
      await using http = toHTTP(registry, { logger: silentLogger })
      await using mounted = await way.mount(http, "")
      const response = await mounted.send(path, json(TASK))
      expect(response.status).toBe(500)
      expect(response.headers.get("content-type")).toBe("application/problem+json")
      expect(await response.json()).toMatchObject({
        code: "EXECUTION_ERROR",
        detail: expect.stringMatching(/other code has read the request body.* pass/i) as string,
        mayHaveExecuted: false,
      })
      expect(stored).toEqual([])
    },
  )

  test("gives 500 with advice from an MCP server, and nothing runs", async () => {
    const { registry, stored } = storing()
    await using mcp = toMCP(registry, { logger: silentLogger })
    await using mounted = await way.mount(mcp, "")
    const response = await mounted.send("/mcp", rawRequest("tools/call", CALL))
    expect(response.status).toBe(500)
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringContaining("other code has read") as string },
    })
    expect(stored).toEqual([])
  })
})

describe("a parsed body as the third argument", () => {
  // As request.body of Fastify, which the sender chooses.
  const bodies: readonly unknown[] = [
    TASK,
    { body: TASK, identity: { id: "root", scopes: ["*"] }, more: 1 },
    [],
    [TASK],
    "text",
    "",
    null,
    0,
    false,
  ]
  const inFastify = async (server: Mountable): Promise<Mounted> =>
    await fastifyWith((request, reply) =>
      server.node(request.raw, reply.raw, request.body as never),
    )

  test.each(bodies)("is refused with advice: %j", async (body) => {
    const { registry, stored } = storing()
    await using http = toHTTP(registry, { logger: silentLogger })
    await using mounted = await inFastify(http)
    const response = await mounted.send("/api/demo/store", json(body))
    expect(response.status).toBe(500)
    expect(await response.json()).toMatchObject({
      code: "EXECUTION_ERROR",
      detail: expect.stringContaining("{ body: request.body }") as string,
      mayHaveExecuted: false,
    })
    await using mcp = toMCP(registry, { logger: silentLogger })
    await using other = await inFastify(mcp)
    const refused = await other.send("/mcp", rawRequest("tools/call", CALL))
    expect(refused.status).toBe(500)
    expect(await refused.text()).toContain("{ body: request.body }")
    await using around = toHTTP(registry, { logger: silentLogger, mounts: { "/mcp": mcp } })
    await using third = await inFastify(around)
    expect((await third.send("/mcp", rawRequest("tools/call", CALL))).status).toBe(500)
    expect(stored).toEqual([])
  })

  test("is refused if it is request.body, even with the members of the options", async () => {
    const { registry, stored } = storing()
    await using http = toHTTP(registry, { logger: silentLogger })
    await using mounted = await expressWith((request, response) =>
      http.node(request, response, request.body as never),
    )
    const body = { body: {}, identity: { id: "root", scopes: ["*"] } }
    expect((await mounted.send("/api/demo/store", json(body))).status).toBe(500)
    expect((await mounted.send("/api/demo/store", json({}))).status).toBe(500)
    expect(stored).toEqual([])
  })
})
