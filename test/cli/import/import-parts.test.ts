import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { readArgs } from "../../../src/cli/args.ts"
import { newSources } from "../../../src/cli/import/new-sources.ts"
import type { NewSource } from "../../../src/cli/import/new-sources.ts"
import { recognise } from "../../../src/cli/import/new-sources.ts"
import { writeSource } from "../../../src/cli/commands/import.ts"
import type { CommandArgs } from "../../../src/cli/model.ts"
import { UsageError } from "../../../src/cli/model.ts"
import { DOCUMENT, folderWith } from "../support/folder.ts"
import { testIO } from "../support/run.ts"

const SERVERS = '{"mcpServers":{"one":{"command":"node","args":["a.js"]},"two":{"command":"x"}}}'
const ONE = '{"mcpServers":{"one":{"command":"node","args":["a.js"]}}}'

function args(...argv: string[]): CommandArgs {
  const texts = ["openapi", "mcp", "scan", "remote", "base-url", "header", "name"]
  const option = { type: "string", description: "" } as const
  return readArgs(argv, Object.fromEntries(texts.map((name) => [name, option])))
}

describe("recognise", () => {
  test.each([
    ["wss://hub.test", "remote"],
    ["WS://hub.test", "remote"],
    ["https://x.test/v1/spec.YAML?x=1", "openapi"],
    ["https://x.test/v3/api-docs", "openapi"],
    ["https://x.test/mcp/", "mcp"],
    ["https://x.test/sse", "mcp"],
    ["https://mcp.x.test/any", "mcp"],
    ["npx some-server", "mcp"],
    ["node ./server.js", "mcp"],
    ["server", "mcp"],
    [".", "scan"],
  ])("%s is %s", async (text, option) => {
    expect(await recognise(text, import.meta.dirname)).toEqual({ option, text })
  })

  test.each(["./none", "~/none", "a/b", "a\\b", "none.yml", "none.mts"])(
    "%s is a path where nothing is",
    async (text) => {
      await expect(recognise(text, "/nowhere")).rejects.toThrow(
        new UsageError(`There is no file or folder "${text}" in /nowhere.`),
      )
    },
  )

  test("files are recognised by their content", async () => {
    await using folder = await folderWith({
      "doc.txt": DOCUMENT,
      "m.mts": "",
      "s.json": SERVERS,
      "n.json": "{ not json",
    })
    const of = (text: string) => recognise(text, folder.path)
    expect(await of("doc.txt")).toEqual({ option: "openapi", text: "doc.txt" })
    expect(await of("s.json")).toMatchObject({ servers: [{ name: "one" }, { name: "two" }] })
    await expect(of("m.mts")).rejects.toThrow('"m.mts" is a module. Give its folder (.)')
    await expect(of("n.json")).rejects.toThrow("neither an OpenAPI document nor a file of an")
    await expect(of("https://x.test/any")).rejects.toThrow("What is at https://x.test/any?")
  })
})

describe("new sources", () => {
  async function made(...argv: string[]): Promise<NewSource[]> {
    await using folder = await folderWith({
      "sub/doc.yaml": DOCUMENT,
      "sub/ops/x.txt": "",
      "sub/s.json": SERVERS,
      "sub/one.json": ONE,
    })
    const io = testIO({ cwd: join(folder.path, "sub") })
    return await newSources(args(...argv), io, folder.path)
  }

  test("one at a time", async () => {
    await expect(made()).rejects.toThrow('"import" adds one source at a time; got none.')
    await expect(made("doc.yaml", "--mcp", "x")).rejects.toThrow("got more than one.")
  })

  test("paths start where the configuration lies", async () => {
    const [document] = await made("doc.yaml", "--base-url", "http://127.0.0.1:1")
    expect(document?.source).toMatchObject({
      openapi: "./sub/doc.yaml",
      baseUrl: "http://127.0.0.1:1",
    })
    expect((await made("ops"))[0]?.source).toEqual({ scan: "./sub/ops" })
    expect((await made("--scan", "../.."))[0]?.source).toEqual({ scan: ".." })
    const [far] = await made("--openapi", "https://x.test/openapi.json", "--name", "far")
    expect(far).toEqual({ name: "far", source: { openapi: "https://x.test/openapi.json" } })
    const [server] = await made("npx some-server")
    expect(server?.source).toEqual({ mcp: "npx some-server" })
  })

  test("the servers of an editor come together, and a name is for one", async () => {
    expect((await made("s.json")).map(({ name }) => name)).toEqual(["one", "two"])
    await expect(made("s.json", "--name", "x")).rejects.toThrow(
      "--name is for one source; this file has several.",
    )
    expect((await made("one.json", "--name", "mine")).map(({ name }) => name)).toEqual(["mine"])
  })

  test.each(["a b", "__proto__", "a.b"])("%s is no name", async (name) => {
    await expect(made("ops", "--name", name)).rejects.toThrow(
      `--name takes letters, digits, "_" and "-"; got "${name}".`,
    )
  })

  test("a secret that is written out is not taken", async () => {
    const secret = "Bearer sk-0123456789abcdef0123456789abcdef"
    const given = made("doc.yaml", "--header", `authorization: ${secret}`)
    await expect(given).rejects.toThrow(UsageError)
    await expect(given).rejects.not.toThrow("sk-0123")
    const [source] = await made("doc.yaml", "--header", "authorization: ${env:KEY}")
    expect(source?.source).toMatchObject({ headers: { authorization: "${env:KEY}" } })
  })
})

describe("write", () => {
  const added: NewSource = { name: "ops", source: { scan: "./ops" } }

  async function written(file: string, text: string, known: readonly string[] = []) {
    await using folder = await folderWith({ [file]: text })
    const path = join(folder.path, file)
    const isDone = await writeSource(path, added, known, testIO({ cwd: folder.path }))
    return { isDone, text: await readFile(path, "utf8") }
  }

  test("data is added to", async () => {
    const { isDone, text } = await written("c.json", '{"sources":{}}')
    expect(isDone).toBe(true)
    expect(JSON.parse(text)).toEqual({ sources: { ops: { scan: "./ops" } } })
  })

  test("what cannot be read stays as it is", async () => {
    expect(await written("c.json", "{ broken")).toEqual({ isDone: false, text: "{ broken" })
  })

  test("a script is run, and is as it was where that gives something else", async () => {
    const good = "export default { sources: {} }\n"
    const { isDone, text } = await written("c.mjs", good)
    expect([isDone, text.includes("./ops")]).toEqual([true, true])
    expect(await written("c.mjs", good, ["lost"])).toEqual({ isDone: false, text: good })
    const throws = 'export default { sources: {} }\nthrow new Error("no")\n'
    expect(await written("c.mjs", throws)).toEqual({ isDone: false, text: throws })
  })
})
