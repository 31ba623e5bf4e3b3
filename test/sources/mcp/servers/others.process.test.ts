import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { MCPClientLoader } from "../../../../src/from-mcp.ts"
import { silentLogger } from "../../../../src/testing.ts"
import { quietRegistry, rejection } from "../../../support/operations.ts"
import { real, serveReal } from "../support/real.ts"
import {
  CONTEXT7,
  EVERYTHING,
  isAlive,
  MEMORY,
  metaOf,
  temporaryFolder,
  textOf,
  THINKING,
  use,
} from "./support.ts"

describe("the memory server", () => {
  test("keeps a graph, gives it back, and forgets", async () => {
    using folder = temporaryFolder()
    const file = join(folder.path, "memory.jsonl")
    const config = { ...real(MEMORY), env: { MEMORY_FILE_PATH: file } }
    const entities = [
      { name: "Ada", entityType: "person", observations: ["wrote programs"] },
      { name: "Engine", entityType: "machine", observations: [] },
    ]
    const relations = [{ from: "Ada", to: "Engine", relationType: "programs" }]
    {
      await using server = await use("memory", config)
      expect((await server.call("create_entities", { entities })).data).toEqual({ entities })
      expect((await server.call("create_relations", { relations })).data).toEqual({ relations })
      const observations = [{ entityName: "Engine", contents: ["was never built"] }]
      await server.call("add_observations", { observations })
    }
    // Another process: what is there is in the file.
    await using server = await use("memory", config)
    const { data } = await server.call("read_graph")
    const [ada, engine] = entities
    expect(data).toEqual({
      entities: [ada, { ...engine, observations: ["was never built"] }],
      relations,
    })
    expect((await server.call("search_nodes", { query: "never" })).data).toMatchObject({
      entities: [{ name: "Engine" }],
    })
    expect((await server.call("open_nodes", { names: ["Ada"] })).data).toMatchObject({
      entities: [ada],
    })
    await server.call("delete_entities", { entityNames: ["Engine"] })
    expect((await server.call("read_graph")).data).toEqual({ entities: [ada], relations: [] })
    expect(readFileSync(file, "utf8")).not.toContain("Engine")
  })
})

describe("the sequential thinking server", () => {
  const first = { thought: "First.", thoughtNumber: 1, totalThoughts: 2, nextThoughtNeeded: true }

  test("counts thoughts and branches", async () => {
    await using server = await use("think", real(THINKING))

    expect((await server.call("sequentialthinking", first)).data).toMatchObject({
      thoughtNumber: 1,
      thoughtHistoryLength: 1,
    })
    const branch = { ...first, thoughtNumber: 2, branchFromThought: 1, branchId: "other" }
    expect((await server.call("sequentialthinking", branch)).data).toMatchObject({
      thoughtHistoryLength: 2,
      branches: ["other"],
    })
    const error = await rejection(server.call("sequentialthinking", { thought: "?" }))
    expect(error).toMatchObject({ code: "VALIDATION_ERROR" })
  })
})

describe("context7", () => {
  let http: Awaited<ReturnType<typeof serveReal>>

  beforeAll(async () => {
    http = await serveReal(CONTEXT7, (port) => ["--transport", "http", "--port", String(port)])
  })

  afterAll(() => http[Symbol.asyncDispose]())

  test.each([
    ["legacy", "2025-11-25"],
    ["modern", "2026-07-28"],
  ] as const)("speaks %s over stdio; what it cannot reach is a result", async (era, version) => {
    await using server = await use("docs", { ...real(CONTEXT7), era })

    expect(server.wrapper.client.peer).toMatchObject({
      era,
      protocolVersion: version,
      serverInfo: { name: "Context7" },
    })
    expect(server.wrapper.tools.map(({ name }) => name)).toEqual([
      "resolve-library-id",
      "query-docs",
    ])
    const input = { query: "routing", libraryName: "express" }
    const result = await server.call("resolve-library-id", input)
    expect(metaOf(result)).toMatchObject({ era, protocolVersion: version, isError: false })
    expect(textOf(result)).not.toBe("")
  })

  test.each([
    ["auto", "modern"],
    ["legacy", "legacy"],
  ] as const)("asked for %s over HTTP it is %s", async (era, found) => {
    await using server = await use("docs", { url: `http://127.0.0.1:${http.port}/mcp`, era })

    expect(server.wrapper.client.peer?.era).toBe(found)
    expect(server.wrapper.tools).toHaveLength(2)
    const result = await server.call("query-docs", { libraryId: "/a/b", query: "hooks" })
    expect(metaOf(result)).toMatchObject({ era: found, isError: false })
    expect(textOf(result)).not.toBe("")
  })
})

test("several servers are loaded at once, and one that is not there hides nobody", async () => {
  using folder = temporaryFolder()
  mkdirSync(join(folder.path, "project"))
  writeFileSync(join(folder.path, "memory.jsonl"), "")
  const loader = new MCPClientLoader({ logger: silentLogger })
  const registry = quietRegistry()
  loader.registerAll(registry)

  const loaded = await loader.load({
    mcpServers: {
      every: real(EVERYTHING, "stdio"),
      think: real(THINKING),
      memory: { ...real(MEMORY), env: { MEMORY_FILE_PATH: join(folder.path, "memory.jsonl") } },
      gone: { command: join(folder.path, "no-such-program") },
    },
  })

  expect(loaded.map(({ name }) => name).toSorted()).toEqual(["every", "memory", "think"])
  expect(loaded.servers["gone"]).toMatchObject({ status: "failed", error: { code: "UNAVAILABLE" } })
  const pids = loaded.map((wrapper) => wrapper.status().pid ?? 0)
  expect((await registry.execute("every.echo", { message: "hi" })).data).toMatchObject([
    { text: "Echo: hi" },
  ])
  expect((await registry.execute("memory.read_graph")).data).toEqual({
    entities: [],
    relations: [],
  })
  await loader.closeAll()
  expect(pids.filter(isAlive)).toEqual([])
  expect(registry.list()).toEqual([])
})
