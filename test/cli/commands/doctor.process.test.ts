import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { SurfaceCost } from "../../../src/to-mcp.ts"
import { DOCUMENT, folderWith, moduleText } from "../support/folder.ts"
import { run } from "../support/run.ts"
import { root } from "../../support/manifest.ts"
import { startServe } from "../support/served.ts"

const CANARY = "canary-d0c7"

describe("operations doctor", () => {
  test("doctor reports credentials, the import of each source, and that everything is well", async () => {
    await using folder = await folderWith({
      "operations.config.yaml": [
        "sources:",
        "  local: { scan: ./operations }",
        "  weather:",
        "    openapi: ./weather.yaml",
        "    headers: { x-api-key: '${env:WEATHER_KEY}', x-other: '${env:OTHER:-none}' }",
        "    documentHeaders: { x-api-key: '${file:key.txt}' }",
        "  off: { mcp: nothing at all, disabled: true }",
      ].join("\n"),
      "operations/own.mjs": moduleText("own", "first"),
      "weather.yaml": DOCUMENT,
      "key.txt": CANARY,
    })
    const env = { WEATHER_KEY: CANARY }

    const { code, stdout, stderr } = await run(["doctor"], { cwd: folder.path, env })

    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).toContain("✓ WEATHER_KEY (sources.weather.headers.x-api-key)")
    expect(stdout).toContain("✓ file key.txt")
    expect(stdout).toContain("✓ local")
    expect(stdout).toContain("1 kept, 1 skipped")
    expect(stdout).toContain("skipped /lost")
    expect(stdout).toContain("is disabled")
    expect(stdout).toContain("Everything is well.")
    expect(stdout).not.toContain(CANARY)
  })

  test("a file of a folder that cannot be loaded is a warning, which commands name, too", async () => {
    await using folder = await folderWith({
      "operations.config.yaml": "sources: { local: { scan: ./operations } }",
      "operations/own.mjs": moduleText("own", "first"),
      "operations/broken.mjs": 'import "./none.mjs"',
    })
    const cwd = folder.path
    const { code, stdout } = await run(["doctor"], { cwd })
    expect(code).toBe(0)
    expect(stdout).toContain("! 1 of its files or exports cannot be used.")
    expect(stdout).toContain("none.mjs")
    expect(stdout).toContain("Nothing is wrong, with 1 warning.")

    const listed = await run(["list"], { cwd })
    expect(listed.stdout).toContain("own.first")
    expect(listed.stderr).toContain('Source "local": 1 of its files or exports cannot be used.')
    expect(listed.stderr).toContain("operations doctor")
    expect((await run(["list", "--quiet"], { cwd })).stderr).toBe("")
  })

  test("warns about MCP servers whose session callers share", async () => {
    const mcp = `${process.execPath} ${join(root, "test/sources/mcp/support/browser-server.mjs")}`
    await using folder = await folderWith({
      "operations.config.json": JSON.stringify({
        server: { apiKeys: [{ id: "ada", scopes: [], hash: "0".repeat(64) }] },
        sources: {
          own: { mcp },
          one: { mcp, sessions: "shared" },
          entry: { mcp: { command: mcp.split(" "), sessions: "shared" } },
        },
      }),
    })
    const { code, stdout } = await run(["doctor"], { cwd: folder.path })
    expect(code).toBe(0)
    expect(stdout.match(/! sources\.\w+: all callers share one session/g)).toEqual([
      "! sources.one: all callers share one session",
      "! sources.entry: all callers share one session",
    ])
  })

  test("warns about policies and middleware for operations that do not exist", async () => {
    await using folder = await folderWith({
      "operations.config.json": JSON.stringify({
        sources: { local: { scan: "./operations" } },
        policies: [
          { match: "own.*", timeout: { attempt: 1000 } },
          { match: ["own.first", "owm.*"], timeout: { attempt: 1000 } },
        ],
        middleware: [{ use: "./audit.mjs", match: "nowhere.*" }, "./audit.mjs"],
      }),
      "operations/own.mjs": moduleText("own", "first"),
      "audit.mjs": "export default (call, next) => next()",
    })

    const { code, stdout } = await run(["doctor"], { cwd: folder.path })
    expect(code).toBe(0)
    expect(stdout).toContain('! policies[1]: no operation matches "owm.*".')
    expect(stdout).toContain('! middleware[0]: no operation matches "nowhere.*".')
    expect(stdout.match(/no operation matches/g)).toHaveLength(2)
  })

  test("names what is missing and what fails, and exits with 1", async () => {
    await using folder = await folderWith({
      "operations.config.json": JSON.stringify({
        sources: {
          a: { openapi: "./missing.yaml", auth: "${env:NOT_SET}" },
          b: { mcp: { command: "no-such-program-here" }, env: { KEY: "${file:missing.txt}" } },
        },
      }),
    })
    const cwd = folder.path

    const result = await run(["doctor"], { cwd })
    expect(result.code).toBe(1)
    expect(result.stdout).toContain("✗ NOT_SET is not set: export NOT_SET=… (sources.a.auth)")
    expect(result.stdout).toContain("✗ file missing.txt does not exist")
    expect(result.stdout).toContain("✗ a")
    expect(result.stdout).toContain("4 things are wrong.")

    const { code, stdout, stderr } = await run(["doctor", "--json"], { cwd })
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" })
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      config: { ok: true, file: join(cwd, "operations.config.json") },
      credentials: [
        { kind: "env", name: "NOT_SET", state: "missing", places: ["sources.a.auth"] },
        { kind: "file", name: "missing.txt", state: "missing" },
      ],
      sources: [
        { name: "a", state: "failed", reason: expect.stringContaining("") },
        { name: "b", state: "failed" },
      ],
    })
  })

  test("says where a configuration is wrong", async () => {
    await using folder = await folderWith({
      "operations.config.yaml": "sources:\n  a:\n    opnapi: ./x.yaml\n",
    })
    const result = await run(["doctor"], { cwd: folder.path })
    expect(result.code).toBe(1)
    expect(result.stdout).toContain("operations.config.yaml:3")
    expect(result.stdout).toContain("1 thing is wrong.")

    const { code, stdout } = await run(["doctor", "--json"], { cwd: folder.path })
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      config: { ok: false, faults: [{ line: 3 }] },
    })
  })

  test("looks at one source alone, and at sources of the command line", async () => {
    await using folder = await folderWith({
      "operations.config.json": `{ "sources": { "a": { "scan": "./operations" }, "b": { "openapi": "./no.yaml" } } }`,
      "operations/own.mjs": moduleText("own", "first"),
      "weather.yaml": DOCUMENT,
    })
    const cwd = folder.path
    expect((await run(["doctor", "--source", "a"], { cwd })).code).toBe(0)
    expect((await run(["doctor", "--source", "b"], { cwd })).code).toBe(1)
    const adHoc = await run(["doctor", "--openapi", "weather.yaml"], { cwd })
    expect(adHoc).toMatchObject({ code: 0, stdout: expect.stringContaining("✓ weather") })
  })

  test("asks a hub that runs", async () => {
    await using folder = await folderWith({ "weather.yaml": DOCUMENT })
    await using hub = await startServe(["--port", "0", "--openapi", "weather.yaml"], {
      cwd: folder.path,
    })
    const { code, stdout, stderr } = await run(["doctor", "--hub", hub.url])
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).toContain("✓ weather")
    expect(stdout).toContain("1 kept, 1 skipped")

    const dead = await run(["doctor", "--hub", "http://127.0.0.1:9"])
    expect(dead.code).toBe(1)
    expect(dead.stderr).not.toBe("")
  })

  test("estimates the tokens of tools by source, here and of a hub", async () => {
    await using folder = await folderWith({
      "operations/own.mjs": moduleText("own", "first"),
      "operations/other.mjs": moduleText("other", "second").replace("[]", '["secret"]'),
      "weather.yaml": DOCUMENT,
    })
    const sources = ["--scan", "operations", "--openapi", "weather.yaml"]
    const cwd = folder.path
    const { code, stdout } = await run(["doctor", "--tokens", ...sources], { cwd })
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /all tools +3 tools +\d+ tokens +served\n +operations +2 tools +\d+ tokens\n +weather +1 tool /,
    )
    expect(stdout).toMatch(/search tools +4 tools +\d+ tokens\n/)

    const here = JSON.parse(
      (await run(["doctor", "--tokens", "--json", ...sources], { cwd })).stdout,
    )
    const { all, parts, mode } = here.tools as SurfaceCost
    const sum = parts.reduce((bytes, part) => bytes + part.bytes - 1, 1)
    expect({ mode, tools: all.tokens, sum }).toEqual({
      mode: "all",
      tools: Math.ceil(all.bytes / 4),
      sum: all.bytes,
    })
    const plain = await run(["doctor", "--json", ...sources], { cwd })
    expect(JSON.parse(plain.stdout)).not.toHaveProperty("tools")

    await using hub = await startServe(["--port", "0", ...sources], { cwd })
    const there = await run(["doctor", "--tokens", "--json", "--hub", hub.url])
    const { tools } = JSON.parse(there.stdout) as { tools: SurfaceCost }
    // A caller of the hub sees what it may use.
    expect(tools.parts.map((part) => [part.name, part.tools])).toEqual([
      ["weather", 1],
      ["operations", 1],
    ])
    expect(tools.search).toEqual(here.tools.search)
  })

  test("refuses what it does not know", async () => {
    expect(await run(["doctor", "extra"])).toMatchObject({ code: 2, stdout: "" })
    expect(await run(["doctor", "--fix"])).toMatchObject({ code: 2, stdout: "" })
  })
})
