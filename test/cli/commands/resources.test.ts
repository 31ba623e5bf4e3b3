import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Type } from "typebox"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { serveHTTP, type ServedHTTP } from "../../../src/node.ts"
import { silentLogger } from "../../../src/testing.ts"
import { toMCP } from "../../../src/to-mcp.ts"
import { operation, quietRegistry } from "../../support/operations.ts"
import { run, type Ran, type RunOptions } from "../support/run.ts"

const query = (id: string, rest: Parameters<typeof operation>[1]) =>
  operation(id, { type: "query", inputSchema: Type.Object({}), ...rest })

const PIXEL = new Uint8Array([0, 1, 27, 255])
const cities = ["Bonn", "Berlin", "Paris"]

/** Operations that are served as resources and prompts. */
const operations = [
  query("note.get", {
    title: "A note",
    inputSchema: Type.Object({ id: Type.Integer() }),
    outputSchema: Type.String(),
    mcp: { as: "resource", uri: "note://{id}" },
    handler: ({ id }: never) => `Note ${id + 1}`,
  }),
  query("note.pixel", {
    mcp: { as: "resource", uri: "note://pixel" },
    handler: () => new Blob([PIXEL], { type: "image/png" }),
  }),
  query("note.guarded", {
    mcp: { as: "resource", uri: "guarded://1" },
    handler: () => "behind a rule",
  }),
  query("write.letter", {
    inputSchema: Type.Object({ to: Type.String(), city: Type.Optional(Type.String()) }),
    mcp: { as: "prompt", complete: { city: "geo.cities" } },
    handler: (input: never) => `Write to ${(input as { readonly to: string }).to}.`,
  }),
  query("write.talk", {
    mcp: { as: "prompt" },
    handler: () => ({
      messages: [
        { role: "user", content: { type: "text", text: "Hi." } },
        { role: "assistant", content: { type: "text", text: "Hello." } },
      ],
    }),
  }),
  query("geo.cities", {
    inputSchema: Type.Object({ value: Type.String(), arguments: Type.Object({}) }),
    handler: ({ value }: never) => cities.filter((city) => city.startsWith(value)),
  }),
]

const approvals = [{ match: "note.guarded", decide: "ask" as const }]
const registry = quietRegistry(operations, { approvals })
const server = toMCP(quietRegistry(operations), { logger: silentLogger })
let hub: ServedHTTP
let folder: string
let args: Readonly<Record<string, readonly string[]>>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-resources-"))
  hub = await serveHTTP(registry, { port: 0, console: true })
  const { url } = await server.listen({ port: 0 })
  const config = join(folder, "operations.config.json")
  await writeFile(config, JSON.stringify({ sources: { up: { mcp: url } } }))
  args = { hub: ["--hub", hub.url], config: ["--config", config], mcp: ["--mcp", url] }
})

afterAll(async () => {
  await hub.close()
  await server.close()
  await registry.close()
  await rm(folder, { recursive: true })
})

const runOn = (where: string, argv: readonly string[], options?: RunOptions): Promise<Ran> =>
  run([...argv, ...(args[where] ?? [])], options)

describe.each(["hub", "config", "mcp"])("resources and prompts, with --%s", (where) => {
  test("resources are listed with addresses and media types, a line each", async () => {
    const { code, stdout } = await runOn(where, ["resources"])

    expect(code).toBe(0)
    expect(stdout).toMatch(/^note:\/\/\{id\}\ttext\/plain\tA note$/m)
    expect(stdout).toMatch(/^note:\/\/pixel\t/m)
    expect(stdout).not.toContain("letter")
  })

  test("a resource is read by its address, also one of a template", async () => {
    expect((await runOn(where, ["read", "note://41"])).stdout).toBe("Note 42\n")
  })

  test("a resource that does not exist fails with the closest address", async () => {
    const { code, stderr } = await runOn(where, ["read", "note://pixl"])
    // It is an address of the template, whose input is a number.
    expect({ code, stderr }).toMatchObject({ stderr: expect.stringContaining("/id") })
    const other = await runOn(where, ["read", "gaurded://1"])
    expect(other.stderr).toContain(
      'There is no resource "gaurded://1". Did you mean "guarded://1"?',
    )
    expect((await runOn(where, ["read", "note://{id}"])).stderr).toContain("is a template")
  })

  test("bytes of a resource go to a file, and never to a terminal", async () => {
    const file = join(folder, `${where}.png`)
    const terminal = await runOn(where, ["read", "note://pixel"], { columns: 80 })
    expect(terminal.stdout).not.toContain("\u001B\uFFFD")
    expect(terminal.stderr).toContain("--output <file>")
    await runOn(where, ["read", "note://pixel", "--output", file])
    expect([...(await readFile(file))]).toEqual([...PIXEL])
  })

  test("prompts are listed, and filled in", async () => {
    const [letter] = (await runOn(where, ["prompts"])).stdout.split("\n")
    const name = String(letter).split("\t")[0] ?? ""
    expect((await runOn(where, ["prompt", name, "to=Ada"])).stdout).toBe("Write to Ada.\n")
    expect((await runOn(where, ["prompt", name])).stderr).toContain("/to")
    const talk = name.replace("letter", "talk")
    expect((await runOn(where, ["prompt", talk])).stdout).toBe("user:\nHi.\nassistant:\nHello.\n")
    const wrong = await runOn(where, ["prompt", `${name}s`])
    expect(wrong.stderr).toContain(`There is no prompt "${name}s". Did you mean "${name}"?`)
  })

  test("the values for an argument of a prompt are those that its server offers", async () => {
    const [letter] = (await runOn(where, ["prompts"])).stdout.split("\n")
    const name = String(letter).split("\t")[0] ?? ""
    const { stdout } = await runOn(where, ["prompt", name, "--complete", "city"])
    expect(stdout).toBe("Bonn\nBerlin\nParis\n")
  })
})

describe("operations read, under rules", () => {
  test("asks before a resource is read, and --yes answers", async () => {
    const denied = await runOn("hub", ["read", "guarded://1", "--no-input"])
    expect(denied.code).toBe(3)
    expect(denied.stderr).toContain("note.guarded")
    const approved = await runOn("hub", ["read", "guarded://1", "--yes"])
    expect(approved).toMatchObject({ code: 0, stdout: "behind a rule\n" })
  })

  test("--json prints the envelope of a resource", async () => {
    const { stdout } = await runOn("hub", ["read", "note://1", "--json"])
    expect(JSON.parse(stdout)).toMatchObject({ data: "Note 2", meta: { source: "local" } })
    const listed = JSON.parse((await runOn("hub", ["resources", "note", "--json"])).stdout)
    expect(listed.resources).toContainEqual(
      expect.objectContaining({ id: "note.get", as: "resource", uri: "note://{id}" }),
    )
  })
})
