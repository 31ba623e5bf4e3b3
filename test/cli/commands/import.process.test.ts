import { readFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { describe, expect, test } from "vitest"
import { root } from "../../support/manifest.ts"
import { operations } from "../support/child.ts"
import { DOCUMENT, folderWith, moduleText } from "../support/folder.ts"
import { run } from "../support/run.ts"

const YAML = "# mine\nsources:\n  local: { scan: ./operations } # first\n"
const everything = resolve(
  root,
  "node_modules/@modelcontextprotocol/server-everything/dist/index.js",
)

describe("operations import", () => {
  test("adds a document, keeps comments, and says what became of its operations", async () => {
    await using folder = await folderWith({
      "operations.config.yaml": YAML,
      "sub/weather.yaml": DOCUMENT,
    })
    const cwd = join(folder.path, "sub")

    const { code, stdout, stderr } = await run(["import", "weather.yaml"], { cwd })

    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stdout).toContain("✓ weather: 1 kept, 1 skipped")
    expect(stdout).toContain("skipped /lost")
    expect(stderr).toContain(`"weather" is in ../operations.config.yaml now.`)
    expect(await readFile(join(folder.path, "operations.config.yaml"), "utf8")).toBe(
      `${YAML}  weather:\n    openapi: ./sub/weather.yaml\n`,
    )
  })

  test("adds an MCP server by its command, under a name that is given", async () => {
    await using folder = await folderWith({ "operations.config.json": `{ "sources": {} }` })
    const command = `node ${everything} stdio`
    const added = await run(["import", command, "--name", "every", "--json"], { cwd: folder.path })

    expect({ code: added.code, stderr: added.stderr }).toMatchObject({ code: 0 })
    const outcome = JSON.parse(added.stdout) as { report: { kept: number } }
    expect(outcome).toMatchObject({ name: "every", written: true, state: "ready" })
    expect(outcome.report.kept).toBeGreaterThan(5)
    expect(JSON.parse(await readFile(join(folder.path, "operations.config.json"), "utf8"))).toEqual(
      {
        sources: { every: { mcp: command } },
      },
    )
  })

  test("adds a folder to a script, and its operations are there", async () => {
    await using folder = await folderWith({
      "operations.config.mjs": "export default {\n  sources: {\n    // none yet\n  },\n}\n",
      "tools/own.mjs": moduleText("own", "first"),
    })
    const cwd = folder.path
    const added = await operations(["import", "tools"], { cwd })
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining("✓ tools: 1 kept") })
    expect(await readFile(join(cwd, "operations.config.mjs"), "utf8")).toBe(
      `export default {\n  sources: {\n    // none yet\n    tools: { scan: "./tools" },\n  },\n}\n`,
    )
    expect((await operations(["list"], { cwd })).stdout).toContain("own.first")
  })

  test("gives what is to be written where a script is too clever, and leaves that alone", async () => {
    const clever = "const sources = {}\nexport default { sources }\n"
    await using folder = await folderWith({
      "operations.config.mjs": clever,
      "tools/own.mjs": moduleText("own", "first"),
    })
    const { code, stdout, stderr } = await operations(["import", "tools"], { cwd: folder.path })
    expect(code).toBe(1)
    expect(stderr).toContain(`Put this under "sources"`)
    expect(stdout).toContain(`tools: { scan: "./tools" },`)
    expect(await readFile(join(folder.path, "operations.config.mjs"), "utf8")).toBe(clever)
  })

  test("puts a script back that no longer gives the source", async () => {
    const ignored = "export const unused = { sources: {} }\nexport default {}\n"
    await using folder = await folderWith({
      "operations.config.mjs": ignored,
      "tools/own.mjs": moduleText("own", "first"),
    })
    const { code, stdout } = await operations(["import", "tools"], { cwd: folder.path })
    expect(code).toBe(1)
    expect(stdout).toContain(`tools: { scan: "./tools" },`)
    expect(await readFile(join(folder.path, "operations.config.mjs"), "utf8")).toBe(ignored)
  })

  test("does not add a source that cannot be opened, unless forced", async () => {
    await using folder = await folderWith({ "operations.config.yaml": YAML })
    const cwd = folder.path
    const argv = ["import", "--openapi", "http://127.0.0.1:9/openapi.json", "--name", "far"]
    const failed = await run(argv, { cwd })
    expect(failed.code).toBe(1)
    expect(failed.stderr).toContain("✗ far:")
    expect(failed.stderr).toContain("It was not added.")
    expect(await readFile(join(cwd, "operations.config.yaml"), "utf8")).toBe(YAML)

    expect((await run([...argv, "--force"], { cwd })).code).toBe(0)
    expect(await readFile(join(cwd, "operations.config.yaml"), "utf8")).toContain("far:")
  })

  test("shows what it would do on a dry run", async () => {
    await using folder = await folderWith({
      "operations.config.yaml": YAML,
      "weather.yaml": DOCUMENT,
    })
    const { code, stdout } = await run(["import", "weather.yaml", "--dry-run"], {
      cwd: folder.path,
    })
    expect(code).toBe(0)
    expect(stdout).toContain("weather:\n  openapi: ./weather.yaml")
    expect(await readFile(join(folder.path, "operations.config.yaml"), "utf8")).toBe(YAML)
  })

  test("adds all servers of an editor's file, without their credentials", async () => {
    const mcpServers = {
      one: { command: "node", args: [everything, "stdio"], env: { API_KEY: "canary-77aa" } },
      two: { command: "node", args: [everything, "stdio"] },
    }
    await using folder = await folderWith({
      "operations.config.yaml": YAML,
      ".mcp.json": JSON.stringify({ mcpServers }),
    })
    const env = { API_KEY: "canary-77aa", PATH: process.env["PATH"] }
    const added = await run(["import", ".mcp.json"], { cwd: folder.path, env })
    expect({ code: added.code, stderr: added.stderr }).toMatchObject({ code: 0 })
    const text = await readFile(join(folder.path, "operations.config.yaml"), "utf8")
    expect(text).toContain("${env:API_KEY}")
    expect(text + added.stdout + added.stderr).not.toContain("canary-77aa")
  })

  test("writes the credential of an API as a reference", async () => {
    await using folder = await folderWith({
      "operations.config.yaml": YAML,
      "weather.yaml": DOCUMENT,
    })
    const argv = ["import", "weather.yaml", "--auth", "${env:WEATHER_TOKEN}"]
    const env = { WEATHER_TOKEN: "canary-1f", PATH: process.env["PATH"] }
    const { code, stderr, stdout } = await run(argv, { cwd: folder.path, env })
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const text = await readFile(join(folder.path, "operations.config.yaml"), "utf8")
    expect(text).toMatch(/auth: "?\$\{env:WEATHER_TOKEN\}"?/)
    expect(text + stderr + stdout).not.toContain("canary-1f")
    const literal = await run(["import", "weather.yaml", "--name", "w", "--auth", "canary-1f"], {
      cwd: folder.path,
    })
    expect(literal.code).toBe(2)
    expect(literal.stderr).toContain("Use a reference such as ${env:NAME}")
    expect(literal.stderr).not.toContain("canary-1f")
  })

  test("writes no credential that is given as it is", async () => {
    await using folder = await folderWith({
      "operations.config.yaml": YAML,
      "weather.yaml": DOCUMENT,
    })
    const { code, stderr } = await run(
      ["import", "weather.yaml", "--header", "Authorization: Bearer canary-9c"],
      { cwd: folder.path },
    )
    expect(code).toBe(2)
    expect(stderr).not.toContain("canary-9c")
    expect(await readFile(join(folder.path, "operations.config.yaml"), "utf8")).toBe(YAML)
  })

  test.each([
    [[], "one source at a time"],
    [["a.yaml", "b.yaml"], "does not know what to do"],
    [["./missing.yaml"], `There is no file or folder "./missing.yaml"`],
    [["https://example.com/v1"], "--openapi https://example.com/v1 for a document"],
    [["operations/own.mjs"], "is a module. Give its folder"],
    [["operations.config.yaml"], "is neither an OpenAPI document"],
    [["weather.yaml", "--name", "__proto__"], "--name takes letters"],
    [["weather.yaml", "--name", "a b"], "--name takes letters"],
    [["weather.yaml", "--name", "local"], `has a source "local" already`],
    [["weather.yaml", "--config", ".mcp.json"], "belongs to an editor"],
    [["weather.yaml", "--token", "x"], "without --token"],
    [["weather.yaml", "--hub", "http://127.0.0.1:1"], "without --hub"],
  ])("refuses %j with what to do", async (argv, message) => {
    await using folder = await folderWith({
      "operations.config.yaml": YAML,
      "operations/own.mjs": moduleText("own", "first"),
      "weather.yaml": DOCUMENT,
    })
    const { code, stdout, stderr } = await run(["import", ...argv], { cwd: folder.path })
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toContain(message)
  })

  test("says how to begin where there is no configuration", async () => {
    await using folder = await folderWith({ "weather.yaml": DOCUMENT })
    const { code, stderr } = await run(["import", "weather.yaml"], { cwd: folder.path })
    expect(code).toBe(2)
    expect(stderr).toContain("Write one: operations init")
  })
})
