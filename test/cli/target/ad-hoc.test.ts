import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { readArgs } from "../../../src/cli/args.ts"
import { sourceOptions } from "../../../src/cli/shared-options.ts"
import { adHocSources } from "../../../src/cli/target/ad-hoc.ts"
import { configFor } from "../../../src/cli/target/config.ts"
import type { ResolvedConfig } from "../../../src/config.ts"
import { testIO } from "../support/run.ts"

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-cli-"))
  const title = "Swagger Petstore - OpenAPI 3.0"
  await writeFile(join(folder, "openapi.json"), JSON.stringify({ info: { title } }, null, 2))
  await writeFile(join(folder, "openapi.yaml"), "openapi: 3.1.0\ninfo:\n  title: 'The Shop API'\n")
  await writeFile(join(folder, "swagger.json"), "{}")
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

function sources(...argv: string[]): ReturnType<typeof adHocSources> {
  return adHocSources(readArgs(argv, sourceOptions), testIO({ cwd: folder }))
}

async function names(...argv: string[]): Promise<string[]> {
  return (await config(...argv)).sources.map(({ name }) => name)
}

function config(...argv: string[]): Promise<ResolvedConfig> {
  return configFor(readArgs(argv, sourceOptions), testIO({ cwd: folder }))
}

describe("sources of a command line", () => {
  test("are what the options say", async () => {
    expect(
      await sources(
        ...["--openapi", "shop.yaml", "--base-url", "http://localhost:1"],
        ...["--header", "X-Key:  ${env:KEY} ", "--header", "a:b:c"],
        ...["--mcp", "npx -y server", "--mcp", "https://mcp.example.com/mcp"],
        ...["--scan", "ops", "--remote", "https://hub.example.com"],
      ),
    ).toEqual([
      {
        openapi: "shop.yaml",
        baseUrl: "http://localhost:1",
        headers: { "X-Key": "${env:KEY}", a: "b:c" },
      },
      { mcp: "npx -y server" },
      { mcp: "https://mcp.example.com/mcp", headers: { "X-Key": "${env:KEY}", a: "b:c" } },
      { scan: "ops" },
      { remote: "https://hub.example.com", headers: { "X-Key": "${env:KEY}", a: "b:c" } },
    ])
  })

  test.each([
    [["--openapi", "./apis/petstore.yaml"], ["petstore"]],
    [["--openapi", "openapi.json"], ["petstore"]],
    [["--openapi", "openapi.yaml"], ["shop"]],
    [["--openapi", "swagger.json"], ["swagger"]],
    [["--openapi", "https://api.github.com/openapi.json"], ["github"]],
    [["--mcp", "npx -y @modelcontextprotocol/server-everything stdio"], ["everything"]],
    [["--mcp", "uvx mcp-server-git"], ["git"]],
  ])("%j is called %j", async (argv, expected) => {
    expect(await names(...argv)).toEqual(expected)
  })

  test("two of one name have different ones in the end", async () => {
    const found = await names("--openapi", "a/shop.yaml", "--openapi", "b/shop.yaml")

    expect(new Set(found).size).toBe(2)
  })

  test.each([
    [["--openapi", ""], "--openapi needs a value"],
    [["--scan", " "], "--scan needs a value"],
    [["--base-url", "http://x", "--scan", "x"], "--base-url is for one --openapi document"],
    [["--openapi=a", "--openapi=b", "--base-url=http://x"], "there are 2"],
    [["--mcp", "npx server", "--header", "a: b"], "--header is for requests"],
    [["--openapi=a", "--header", "canary"], "--header takes a name and a value"],
    [["--openapi=a", "--header", ": canary"], "--header takes a name and a value"],
    [["--openapi=a", "--header", "__proto__: canary"], "--header takes a name and a value"],
  ])("refuses %j", async (argv, message) => {
    await expect(sources(...argv)).rejects.toThrow(message)
    await expect(sources(...argv)).rejects.toThrow(/^(?!.*canary)/s)
  })
})

describe("the configuration of a command line", () => {
  test("--source selects sources, and an unknown name lists them", async () => {
    const both = ["--openapi", "openapi.json", "--scan", "ops"]

    expect(await names(...both, "--source", "petstore")).toEqual(["petstore"])
    await expect(names(...both, "--source", "petstor")).rejects.toThrow(
      'There is no source "petstor". Did you mean "petstore"? Sources: petstore, ops.',
    )
  })

  test("relative paths start where the command was typed", async () => {
    expect((await config("--scan", "ops")).baseDir).toBe(folder)
  })

  test("a command line without any source says what to do", async () => {
    await expect(config()).rejects.toThrow("Write one: operations init")
  })
})
