import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import {
  closeMCPClient,
  createMCPClient,
  mapMCPContentBlocks,
  mcpEnvelope,
  MCPClientLoader,
} from "../../../src/from-mcp.ts"
import type { MCPClientConfig, MCPClientWrapper } from "../../../src/from-mcp.ts"
import { isResponseEnvelope } from "../../../src/index.ts"
import { silentLogger } from "../../../src/testing.ts"
import type { InputResponse, OperationRegistry } from "../../../src/index.ts"
import { real, serveReal } from "./support/real.ts"
import { quietRegistry, rejection } from "../../support/operations.ts"
import { waitFor } from "../../support/wait-for.ts"

const EVERYTHING = "@modelcontextprotocol/server-everything"
const FILESYSTEM = "@modelcontextprotocol/server-filesystem"
const MEMORY = "@modelcontextprotocol/server-memory"
const THINKING = "@modelcontextprotocol/server-sequential-thinking"
const CONTEXT7 = "@upstash/context7-mcp"

const ANSWERS = {
  elicitation: async (request: { readonly type?: string | undefined }): Promise<InputResponse> =>
    request.type === "url"
      ? { action: "accept" }
      : { action: "accept", content: { name: "Ada", check: true } },
  sampling: async (): Promise<InputResponse> => ({
    action: "accept",
    content: { role: "assistant", model: "none", content: { type: "text", text: "42" } },
  }),
  roots: [{ uri: "file:///tmp", name: "tmp" }],
} satisfies MCPClientConfig

/** An input for each tool of the everything server, and what its result has to say. */
const EVERY_TOOL: readonly [string, object, RegExp][] = [
  ["echo", { message: "hi" }, /Echo: hi/],
  ["get-annotated-message", { messageType: "error", includeImage: true }, /"priority":1.*"image"/s],
  ["get-env", {}, /PATH/],
  ["get-resource-links", { count: 2 }, /resource_link/],
  ["get-resource-reference", { resourceType: "Blob", resourceId: 1 }, /"blob":/],
  ["get-structured-content", { location: "Chicago" }, /"temperature":/],
  ["get-sum", { a: 1, b: 2 }, /The sum of 1 and 2 is 3/],
  ["get-tiny-image", {}, /image\/png/],
  [
    "gzip-file-as-resource",
    { name: "a.gz", data: "data:text/plain;base64,aGk=", outputType: "resource" },
    /application\/gzip/,
  ],
  ["toggle-simulated-logging", {}, /Started simulated/],
  ["toggle-subscriber-updates", {}, /Started simulated/],
  ["trigger-long-running-operation", { duration: 0.1, steps: 3 }, /completed/],
  ["get-roots-list", {}, /file:\/\/\/tmp/],
  ["trigger-elicitation-request", {}, /Name: Ada/],
  [
    "trigger-url-elicitation",
    { url: "https://example.com/pay", message: "Pay.", elicitationId: "e1" },
    /./,
  ],
  ["trigger-sampling-request", { prompt: "How many?", maxTokens: 5 }, /42/],
]

let folder: string

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "from-mcp-")))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function registered(
  name: string,
  config: MCPClientConfig,
): Promise<AsyncDisposable & { wrapper: MCPClientWrapper; registry: OperationRegistry }> {
  const wrapper = await createMCPClient(name, { logger: silentLogger, ...config })
  const registry = quietRegistry()
  wrapper.registerAll(registry)
  return { wrapper, registry, [Symbol.asyncDispose]: () => wrapper.close() }
}

/** Calls every tool, and gives how many there are. */
async function everyTool(config: MCPClientConfig): Promise<number> {
  await using server = await registered("every", { ...config, ...ANSWERS })
  const { registry, wrapper } = server
  // Which tools there are depends on what the client can do, and is told after the handshake.
  await waitFor(() => expect(wrapper.tools).toHaveLength(EVERY_TOOL.length + 1))

  for (const [tool, input, words] of EVERY_TOOL) {
    // Again if need be: what the server has to ask for first, it has when it has it.
    await waitFor(async () => {
      const { data, meta } = await registry.execute(`every.${tool}`, input)
      expect(meta, tool).toMatchObject({ source: "mcp", isError: false })
      expect(JSON.stringify(data), tool).toMatch(words)
    })
  }
  expect(
    await rejection(registry.execute("every.simulate-research-query", { topic: "x" })),
  ).toMatchObject({ code: "EXECUTION_ERROR", details: { reason: "UNSUPPORTED" } })
  expect(await rejection(registry.execute("every.get-sum", { a: "1" }))).toMatchObject({
    code: "VALIDATION_ERROR",
  })
  return wrapper.tools.length
}

describe("the everything server", () => {
  test("every tool works over stdio", async () => {
    expect(await everyTool(real(EVERYTHING))).toBe(17)
  })

  test("every tool works over Streamable HTTP", async () => {
    await using http = await serveReal(EVERYTHING, () => ["streamableHttp"])
    expect(await everyTool({ url: `http://127.0.0.1:${http.port}/mcp` })).toBe(17)
  })

  test("every tool works over the old transport", async () => {
    await using http = await serveReal(EVERYTHING, () => ["sse"])
    expect(await everyTool({ type: "sse", url: `http://127.0.0.1:${http.port}/sse` })).toBe(17)
  })

  test("progress is complete and in order; resources, templates and prompts are queries", async () => {
    await using server = await registered("every", {
      ...real(EVERYTHING),
      resources: true,
      prompts: true,
    })
    const { registry, wrapper } = server
    const seen: unknown[] = []

    await registry.execute(
      "every.trigger-long-running-operation",
      { duration: 0.2, steps: 4 },
      { progress: (value) => seen.push(value) },
    )

    expect(seen).toMatchObject([1, 2, 3, 4].map((progress) => ({ progress, total: 4 })))
    const template = wrapper.operations.find(({ name }) => name.startsWith("Dynamic_Text"))

    const text = await registry.execute(`every-resources.${template?.name}`, { resourceId: "7" })
    expect(text.data).toMatchObject({ contents: [{ uri: "demo://resource/dynamic/text/7" }] })
    const page = await registry.execute("every-resources.features.md")
    expect(JSON.stringify(page.data)).toContain("text/markdown")
    const prompt = await registry.execute("every-prompts.args-prompt", { city: "Oslo" })
    expect(JSON.stringify(prompt.data)).toContain("Oslo")
  })
})

describe("the filesystem server", () => {
  test("reads and writes, reports what is not allowed as a result, and gives more than stdio clients usually take", async () => {
    writeFileSync(join(folder, "pixel.png"), Buffer.from("iVBORw0KGgo=", "base64"))
    await using server = await registered("files", real(FILESYSTEM, folder))
    const { registry } = server

    await registry.execute("files.write_file", { path: join(folder, "a.txt"), content: "hello" })
    const text = await registry.execute("files.read_text_file", { path: join(folder, "a.txt") })
    expect(text.data).toEqual({ content: "hello" })
    const image = await registry.execute("files.read_media_file", {
      path: join(folder, "pixel.png"),
    })
    expect(image.meta).toMatchObject({ content: [{ type: "image", mimeType: "image/png" }] })
    const outside = await registry.execute("files.read_text_file", { path: "/etc/passwd" })
    expect(outside.meta).toMatchObject({ isError: true })
    writeFileSync(join(folder, "large.txt"), "x".repeat(12_000_000))
    const { data } = await registry.execute("files.read_text_file", {
      path: join(folder, "large.txt"),
    })

    expect((data as { content: string }).content).toHaveLength(12_000_000)
  })
})

describe("other real servers", () => {
  test("the memory server keeps what it is given", async () => {
    await using server = await registered("memory", {
      ...real(MEMORY),
      env: { MEMORY_FILE_PATH: join(folder, "memory.jsonl") },
    })
    const entity = { name: "Ada", entityType: "person", observations: ["wrote programs"] }

    await server.registry.execute("memory.create_entities", { entities: [entity] })

    const { data } = await server.registry.execute("memory.search_nodes", { query: "programs" })
    expect(data).toMatchObject({ entities: [entity], relations: [] })
  })

  test("the sequential thinking server thinks", async () => {
    await using server = await registered("think", real(THINKING))

    const { data } = await server.registry.execute("think.sequentialthinking", {
      thought: "First.",
      nextThoughtNeeded: false,
      thoughtNumber: 1,
      totalThoughts: 1,
    })

    expect(data).toMatchObject({ thoughtNumber: 1, nextThoughtNeeded: false })
  })

  test.each(["legacy", "modern"] as const)("context7 speaks %s over stdio", async (era) => {
    await using server = await registered("docs", { ...real(CONTEXT7), era })

    expect(server.wrapper.client.peer?.era).toBe(era)
    expect(server.wrapper.tools.map(({ name }) => name)).toContain("resolve-library-id")
  })

  test("context7 is found to be modern over HTTP", async () => {
    await using http = await serveReal(CONTEXT7, (port) => [
      "--transport",
      "http",
      "--port",
      String(port),
    ])
    await using server = await registered("docs", { url: `http://127.0.0.1:${http.port}/mcp` })

    expect(server.wrapper.client.peer).toMatchObject({
      era: "modern",
      protocolVersion: "2026-07-28",
    })
    expect(server.wrapper.tools).toHaveLength(2)
  })
})

describe("the entry", () => {
  test("loads several real servers into one registry, and lets them go", async () => {
    const loader = new MCPClientLoader({ logger: silentLogger })
    const registry = quietRegistry()
    const loaded = await loader.load({
      mcpServers: { think: real(THINKING), files: real(FILESYSTEM, folder) },
    })
    loader.registerAll(registry)

    expect(loaded).toHaveLength(2)
    expect(registry.search("think step by step")[0]?.id).toBe("think.sequentialthinking")
    for (const wrapper of loader.getAllWrappers()) await closeMCPClient(wrapper)
    await loader.closeAll()
    expect(registry.list()).toEqual([])
  })

  test("has the functions that adapters of one's own need", () => {
    const content = mapMCPContentBlocks([{ type: "text", text: "a" }, { type: "odd" }])

    expect(content).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: '{"type":"odd"}' },
    ])
    expect(isResponseEnvelope(mcpEnvelope(content, { isError: false, content }))).toBe(true)
  })
})
