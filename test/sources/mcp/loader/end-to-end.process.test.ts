import { randomUUID } from "node:crypto"
import { readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createMCPClient } from "../../../../src/from-mcp.ts"
import type {
  MCPClientConfig,
  MCPClientWrapper,
  MCPOperation,
  MCPOrigin,
} from "../../../../src/from-mcp.ts"
import { unwrapOrThrow } from "../../../../src/index.ts"
import { silentLogger } from "../../../../src/testing.ts"
import type { OperationRegistry, ResponseEnvelope } from "../../../../src/index.ts"
import { quietRegistry, rejection } from "../../../support/operations.ts"
import { serveAwkward } from "../awkward/http.ts"
import { awkward } from "../support/awkward.ts"
import { waitFor } from "../../../support/wait-for.ts"

interface Opened extends AsyncDisposable {
  readonly wrapper: MCPClientWrapper
  readonly registry: OperationRegistry
  call(
    tool: string,
    input?: unknown,
    options?: Parameters<OperationRegistry["execute"]>[2],
  ): Promise<ResponseEnvelope>
}

/** A server whose tools are in a registry. */
async function open(config: MCPClientConfig): Promise<Opened> {
  const wrapper = await createMCPClient("srv", { logger: silentLogger, ...config })
  const registry = quietRegistry()
  wrapper.registerAll(registry)
  return {
    wrapper,
    registry,
    call: (tool, input = {}, options) => registry.execute(`srv.${tool}`, input, options),
    [Symbol.asyncDispose]: () => wrapper.close(),
  }
}

function originOf({ _meta }: MCPOperation): MCPOrigin | undefined {
  return _meta?.["mcp"] as MCPOrigin | undefined
}

/** Both eras over stdio and HTTP: what a call means does not depend on the way. */
const WAYS: readonly [string, "legacy" | "modern", "stdio" | "http"][] = [
  ["legacy over stdio", "legacy", "stdio"],
  ["modern over stdio", "modern", "stdio"],
  ["legacy over HTTP", "legacy", "http"],
  ["modern over HTTP", "modern", "http"],
]

describe.each(WAYS)("%s", (_, era, way) => {
  async function openWay(
    config: MCPClientConfig = {},
    faults: Readonly<Record<string, string | number | boolean>> = {},
  ): Promise<Opened> {
    if (way === "stdio") return await open({ ...awkward({ era, ...faults }), ...config })
    const server = await serveAwkward({ era, ...faults })
    const opened = await open({ url: server.url, ...config })
    const dispose = async (): Promise<void> => {
      await opened.wrapper.close()
      await server[Symbol.asyncDispose]()
    }
    return { ...opened, [Symbol.asyncDispose]: dispose }
  }

  /** For all tests that need nothing else, and leave it as it was. */
  let plain: Opened

  beforeAll(async () => {
    plain = await openWay()
  })

  afterAll(() => plain[Symbol.asyncDispose]())

  test("results are what the server sent", async () => {
    const server = plain

    const sum = await server.call("add", { a: 1, b: 2 })
    expect(sum).toMatchObject({
      data: { sum: 3 },
      meta: { source: "mcp", isError: false, server: "srv", tool: "add", era },
    })
    for (const value of [0, "", false, null, [1], { a: 1 }]) {
      const envelope = await server.call("structured", { value })
      expect(envelope.data).toEqual(value)
      expect(envelope.meta).toMatchObject({ structuredContent: value })
    }
    const { data, meta } = await server.call("unknown_block")
    expect(data).toMatchObject([{ text: "before" }, { type: "text" }, { text: "after" }])
    expect(meta).toMatchObject({ unknownBlocks: [{ type: "hologram", depth: 3 }] })
    expect((await server.call("text_json")).data).toEqual({ temp: 21.5, list: ["a"] })
    // A result that does not fit is reported, and otherwise left alone.
    expect((await server.call("mismatch")).meta).toMatchObject({
      structuredContent: { temp: "warm", list: "no", extra: true },
    })
  })

  test("a failure that a tool reports is a result, and throws only for who wants it", async () => {
    const server = plain

    const envelope = await server.call("error_mismatch")

    expect(envelope.meta).toMatchObject({ isError: true })
    expect(envelope.data).toEqual({ reason: "no sensor" })
    const failed = await server.call("error_result")
    expect(() => unwrapOrThrow(failed)).toThrow("It went wrong.")
  })

  test("errors of the protocol keep their code, and name server and tool", async () => {
    const server = plain

    const error = await rejection(
      server.call("rpc_error", { code: -32050, message: "Odd.", data: { why: 1 } }),
    )

    expect(error).toMatchObject({ code: "EXECUTION_ERROR", details: { code: -32050 } })
    expect((error as Error).message).toMatch(/rpc_error.*srv/s)
  })

  test("progress comes in order, all of it, before the result", async () => {
    const server = plain
    const seen: number[] = []

    await server.call(
      "progress",
      { count: 30 },
      { progress: ({ progress }) => seen.push(progress) },
    )

    expect(seen).toEqual(Array.from({ length: 30 }, (_each, at) => at + 1))
  })

  test("an aborted call tells the server, and one that is too late as well", async () => {
    const server = plain
    const controller = new AbortController()
    const hanging = server.call("hang", {}, { signal: controller.signal })
    const late = server.call("hang", {}, { timeout: 200 })
    setTimeout(() => controller.abort(), 100)

    expect(await rejection(hanging)).toMatchObject({ code: "ABORTED" })
    expect(await rejection(late)).toMatchObject({ code: "TIMEOUT" })
    await waitFor(async () => {
      const { data } = await server.call("cancelled")
      expect((data as { cancelled: unknown[] }).cancelled).toHaveLength(2)
    })
  })

  test("questions of the server reach its own handlers", async () => {
    const asked: unknown[] = []
    await using server = await openWay({
      elicitation: async (request, about) => {
        asked.push(request.message, about)
        return { action: "accept", content: { name: "Ada" } }
      },
    })

    const { data } = await server.call("ask", { kind: "form" })

    expect(data).toMatchObject({ action: "accept", content: { name: "Ada" } })
    expect(asked[1]).toEqual({ server: "srv", tool: "ask" })
  })

  test("questions of the server reach the caller where the server may ask one", async () => {
    await using server = await openWay({ forwardInput: true })

    const { data } = await server.call(
      "ask",
      { kind: "form" },
      { requestInput: async () => ({ action: "accept", content: { name: "Grace" } }) },
    )

    expect(data).toMatchObject({ action: "accept", content: { name: "Grace" } })
  })

  test("a question that nobody can answer fails the call, and does not hang", async () => {
    const server = plain

    const outcome = await server.call("ask", { kind: "form" }, { timeout: 5000 }).then(
      ({ data }) => data,
      (error: unknown) => error,
    )

    // An older server asks while it works, and is told at once that nobody answers.
    expect(outcome).toMatchObject(
      era === "legacy"
        ? { code: -32601 }
        : { code: "UNAVAILABLE", retryable: false, details: { reason: "CAPABILITY_REQUIRED" } },
    )
  })

  test("resources and prompts are there for who asks for them", async () => {
    await using server = await openWay({ resources: true, prompts: true }, { more: true })
    const { registry, wrapper } = server

    expect(
      wrapper.operations
        .filter(({ namespace }) => namespace !== "srv")
        .map(({ namespace, name, type }) => `${type} ${namespace}.${name}`),
    ).toEqual([
      "query srv-resources.notes",
      "query srv-resources.logo",
      "query srv-resources.city",
      "query srv-resources.search",
      "query srv-prompts.greet",
      "query srv-prompts.plain",
    ])
    const notes = await registry.execute("srv-resources.notes")
    expect(notes.data).toMatchObject({ contents: [{ text: "text of file:///notes.txt" }] })
    const city = await registry.execute("srv-resources.city", { country: "fr", name: "Sète/x" })
    expect(city.data).toMatchObject({ contents: [{ uri: "city:///fr/S%C3%A8te%2Fx" }] })
    const greet = await registry.execute("srv-prompts.greet", { name: "Ada" })
    expect(greet.data).toMatchObject({ messages: [{ content: { text: "Greet Ada plainly." } }] })
    expect(await rejection(registry.execute("srv-prompts.greet", {}))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
    expect(await wrapper.client.readResource("file:///logo.png")).toMatchObject({
      contents: [{ mimeType: "image/png" }],
    })
    expect(await wrapper.client.getPrompt("plain")).toMatchObject({ messages: [{ role: "user" }] })
  })

  test("a change of the tools changes the registry", async () => {
    await using server = await openWay({ pin: "off" })
    const { registry } = server

    await server.call("change", { add: { name: "fresh", inputSchema: { type: "object" } } })
    await waitFor(() => expect(registry.has("srv.fresh")).toBe(true))
    await server.call("change", { remove: "fresh" })
    await waitFor(() => expect(registry.has("srv.fresh")).toBe(false))

    expect(registry.has("srv.echo")).toBe(true)
  })

  test("a rug that is pulled leaves the old definition and a refusal", async () => {
    await using server = await openWay({ pin: "block" })
    await server.call("rug_pull")
    await waitFor(() => expect(server.wrapper.status().quarantined).toEqual(["echo"]))

    expect(server.registry.getSpec("srv.echo")?.description).toBe("The tool echo.")
    expect(await rejection(server.call("echo", { text: "x" }))).toMatchObject({
      code: "CONFLICT",
      details: { reason: "TOOL_DEFINITION_CHANGED" },
    })
  })

  test("odd tools are there under legal names, or reported", async () => {
    await using server = await openWay(
      {},
      { groups: "names,nameless,duplicates,schemas,inputs,task,hidden,huge" },
    )
    const { wrapper } = server
    const byTool = new Map(wrapper.tools.map((one) => [originOf(one)?.tool?.name, one]))

    for (const name of ["with.dot", "with space", "grüße_世界", "x".repeat(130), "__proto__"]) {
      const operation = byTool.get(name)
      expect(operation, name).toBeDefined()
      const { data } = await server.call(operation?.name ?? "")
      expect(data).toMatchObject({ tool: name })
    }
    expect((await server.call("array_output")).data).toEqual([1, 2, 3])
    expect((await server.call("null_output")).data).toBeNull()
    expect(wrapper.warnings.length).toBeGreaterThanOrEqual(7)
    expect(new Set(wrapper.tools.map(({ name }) => name)).size).toBe(wrapper.tools.length)
  })

  test("trace context travels, and nothing else of the metadata does", async () => {
    const server = plain

    const { data } = await server.call(
      "anything",
      { text: "x", not: undefined },
      {
        metadata: {
          traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
          secret: "s",
        },
      },
    )

    expect(data).toMatchObject({
      args: { text: "x" },
      meta: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" },
    })
    expect(JSON.stringify(data)).not.toContain("secret")
  })
})

describe("a process that ends", () => {
  test("fails its calls at once, comes back with the next, and its tools with it", async () => {
    await using server = await open({ ...awkward() })
    const first = server.wrapper.status().pid
    const crash = rejection(server.call("crash", { code: 9 }))

    expect(await crash).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: true })
    expect(server.wrapper.status()).toMatchObject({ status: "lost" })
    expect((await server.call("echo", { text: "back" })).data).toMatchObject([{ text: "back" }])
    expect(server.wrapper.status()).toMatchObject({ status: "ready", restarts: 1 })
    expect(server.wrapper.status().pid).not.toBe(first)
  })

  test("that does not begin well leaves nothing behind", async () => {
    const pidFile = join(tmpdir(), `pids-${randomUUID()}`)
    const error = await rejection(
      open({ ...awkward({ hangOnList: true, ignoreTerm: true, pidFile }), timeout: 300 }),
    )

    expect(error).toMatchObject({ code: "TIMEOUT" })
    const pids = readFileSync(pidFile, "utf8").trim().split(/\s+/).map(Number)
    rmSync(pidFile)
    expect(pids).not.toEqual([])
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow("ESRCH")
  })
})

describe("an expired session", () => {
  test("is begun anew, and the tools are looked at again", async () => {
    await using http = await serveAwkward({ era: "legacy", sessions: true })
    await using server = await open({ url: http.url })
    http.peer.change({ name: "later", inputSchema: { type: "object" } }, undefined)
    http.expire()

    expect((await server.call("echo", { text: "again" })).data).toMatchObject([{ text: "again" }])
    await waitFor(() => expect(server.registry.has("srv.later")).toBe(true))
  })
})

describe("createMCPClient", () => {
  test("gives up when it is told to, and leaves nothing", async () => {
    const signal = AbortSignal.timeout(300)
    const error = await rejection(
      createMCPClient(
        "srv",
        { ...awkward({ hangAtStart: true }), logger: silentLogger },
        { signal },
      ),
    )

    expect(error).toMatchObject({ code: "ABORTED" })
  })

  test("does not connect to what is disabled", async () => {
    expect(
      await rejection(createMCPClient("srv", { command: "node", disabled: true })),
    ).toMatchObject({ code: "UNAVAILABLE", retryable: false })
  })

  test.each([
    ["a.b", { command: "node" }],
    ["", { command: "node" }],
    ["srv", {}],
    ["srv", { command: "node", url: "http://localhost" }],
  ])("refuses the name %j or its config, naming what is wrong", async (name, config) => {
    expect(await rejection(createMCPClient(name, config))).toMatchObject({
      code: "VALIDATION_ERROR",
    })
  })
})
