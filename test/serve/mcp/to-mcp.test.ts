import { Type } from "typebox"
import { describe, expect, test, vi } from "vitest"
import { silentLogger } from "../../../src/testing.ts"
import { toMCP } from "../../../src/serve/mcp/to-mcp.ts"
import type { MCPServerOptions } from "../../../src/serve/mcp/options.ts"
import { greet, operation, quietRegistry } from "../../support/operations.ts"
import { connect, textOf } from "./support/clients.ts"

const URL_HERE = "http://localhost/mcp"
const HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
}

/** What a server says of itself to a client that begins. */
async function greeting(options: MCPServerOptions): Promise<Record<string, unknown>> {
  await using server = toMCP(quietRegistry([greet]), {
    logger: silentLogger,
    sessions: false,
    ...options,
  })
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "raw", version: "1.0.0" },
  }
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })
  const response = await server.fetch(
    new Request(URL_HERE, { method: "POST", headers: HEADERS, body }),
  )
  const text = await response.text()
  const json = /^data: (\{.*\})$/m.exec(text)?.[1] ?? text
  return (JSON.parse(json) as { readonly result: Record<string, unknown> }).result
}

describe("what a server says of itself", () => {
  test("uses the configured name, version and instructions", async () => {
    const info = {
      name: "mine",
      version: "2.0.0",
      title: "Mine",
      icons: [{ src: "https://x.example/i.png" }],
      websiteUrl: "https://x.example",
    }

    expect(await greeting({ ...info, instructions: "Ask." })).toMatchObject({
      serverInfo: info,
      instructions: "Ask.",
    })
  })

  test("is by default its name and its namespaces, which can be left out", async () => {
    const said = await greeting({})

    expect(said["serverInfo"]).toEqual({ name: "operations", version: "1.0.0" })
    expect(said["instructions"]).toContain("demo")
    expect(await greeting({ instructions: false })).not.toHaveProperty("instructions")
  })
})

describe("a request", () => {
  test("that cannot be read is an error in few words, and the log has the reason", async () => {
    const error = vi.fn()
    await using server = toMCP(quietRegistry([greet]), { logger: { ...silentLogger, error } })
    const broken = new Error("the disk is full")
    const body = new ReadableStream({ pull: (controller) => controller.error(broken) })
    const init = { method: "POST", headers: HEADERS, body, duplex: "half" } as RequestInit

    const response = await server.fetch(new Request(URL_HERE, init))

    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain("disk")
    expect(error).toHaveBeenCalledExactlyOnceWith("An MCP request failed", { error: broken })
  })

  test("of someone who has left is not logged as a failure", async () => {
    const error = vi.fn()
    await using server = toMCP(quietRegistry([greet]), { logger: { ...silentLogger, error } })
    const controller = new AbortController()
    const body = new ReadableStream({
      pull(stream) {
        controller.abort()
        stream.error(new Error("gone"))
      },
    })
    const { signal } = controller
    const init = { method: "POST", headers: HEADERS, body, signal, duplex: "half" } as RequestInit

    expect((await server.fetch(new Request(URL_HERE, init))).status).toBe(499)
    expect(error).not.toHaveBeenCalled()
  })

  test("without a body is no JSON, and one that says that it is too long is not read", async () => {
    await using server = toMCP(quietRegistry([greet]), { logger: silentLogger, maxBodyBytes: 10 })
    const bare = new Request(URL_HERE, { method: "POST", headers: HEADERS })
    const long = new Request(URL_HERE, {
      method: "POST",
      headers: { ...HEADERS, "content-length": "11" },
      body: "{}",
    })

    expect((await server.fetch(bare)).status).toBe(400)
    expect((await server.fetch(long)).status).toBe(413)
    expect(long.bodyUsed).toBe(false)
  })

  test("a request to a closing server receives a retry advice", async () => {
    const server = toMCP(quietRegistry([greet]), { logger: silentLogger })
    await Promise.all([server.close(), server.close()])

    const response = await server.fetch(new Request(URL_HERE))

    expect(response.status).toBe(503)
    expect(response.headers.get("retry-after")).toBe("5")
  })
})

test("what is no registry is refused at once", () => {
  for (const odd of [undefined, {}, { execute: 1 }]) {
    expect(() => toMCP(odd as never)).toThrow(TypeError)
  }
})

describe.each(["legacy", "modern"] as const)("strict schemas for a client, %s", (era) => {
  test("close all objects, and calls may have nulls or leave members out", async () => {
    const echo = operation("demo.echo", {
      inputSchema: Type.Object({
        id: Type.Integer(),
        note: Type.Optional(Type.String()),
        at: Type.Optional(Type.Object({ x: Type.Optional(Type.Number()) })),
      }),
      handler: (input: unknown) => JSON.stringify(input),
    })
    const loose = operation("demo.loose", {
      inputSchema: Type.Object({ labels: Type.Record(Type.String(), Type.String()) }),
      handler: () => "loose",
    })
    const options = { schemaProfile: "strict", logger: silentLogger } as const
    await using server = toMCP(quietRegistry([echo, loose]), options)
    await using listening = await server.listen({ port: 0 })
    await using client = await connect(listening.url, era)
    const schemas = new Map(
      (await client.listTools()).tools.map(({ name, inputSchema }) => [name, inputSchema]),
    )
    expect(schemas.get("demo_echo")).toMatchObject({
      properties: {
        note: { type: ["string", "null"] },
        at: { type: ["object", "null"], additionalProperties: false, required: ["x"] },
      },
      required: ["id", "note", "at"],
      additionalProperties: false,
    })
    expect(schemas.get("demo_loose")).not.toHaveProperty("additionalProperties", false)

    const call = async (args: Record<string, unknown>): Promise<string> =>
      textOf(await client.callTool({ name: "demo_echo", arguments: args }))
    expect(await call({ id: 1, note: null, at: { x: null } })).toBe('{"id":1,"at":{}}')
    expect(await call({ id: 1, note: "n", at: null })).toBe('{"id":1,"note":"n"}')
    expect(await call({ id: 1 })).toBe('{"id":1}')
    expect(await call({ id: null, note: null, at: null })).toContain("VALIDATION_ERROR")
    const labels = { labels: { a: "b" } }
    expect(textOf(await client.callTool({ name: "demo_loose", arguments: labels }))).toBe("loose")
  })
})
