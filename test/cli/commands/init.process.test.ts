import { readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { operations } from "../support/child.ts"
import { DOCUMENT, folderWith, moduleText } from "../support/folder.ts"
import { run } from "../support/run.ts"

const CANARY = "canary-5b1f"

describe("operations init", () => {
  test.each(["ts", "js", "yaml", "json"])(
    "writes a configuration in %s that works",
    async (format) => {
      await using folder = await folderWith({})
      const cwd = folder.path

      const { code, stdout } = await run(["init", "--format", format], { cwd })
      expect(code).toBe(0)
      const file = format === "js" ? "operations.config.mjs" : `operations.config.${format}`
      expect(stdout).toContain(`wrote ${file}`)

      // TypeScript needs tsx or a newer Node; the process gets the first.
      const tsx = { NODE_OPTIONS: `--import ${import.meta.resolve("tsx")}` }
      const env = format === "ts" ? tsx : {}
      const called = await operations(["call", "hello.greet", "name=Ada"], { cwd, env })
      expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining("Hello, Ada!") })
    },
  )

  test("takes up documents and the servers of editors, and no credential with them", async () => {
    const mcp = {
      mcpServers: {
        "my tools": {
          command: "node",
          args: ["server.js", "--api-key", CANARY, `--token=${CANARY}`, "--port", "7"],
          env: { TOOLS_TOKEN: CANARY, KEPT: "${env:KEPT}", MEMORY_FILE_PATH: "./memory.json" },
        },
        web: {
          url: `https://user:${CANARY}@mcp.example/mcp?api_key=${CANARY}&v=1`,
          headers: { Authorization: `Bearer ${CANARY}` },
        },
        nothing: 7,
      },
    }
    await using folder = await folderWith({
      ".mcp.json": `// mine\n${JSON.stringify(mcp)}`,
      ".vscode/mcp.json": `{ "servers": { "web": { "url": "https://other.example/mcp" }, } }`,
      "mcp.json": "not JSON",
      "openapi.yaml": DOCUMENT,
      "docs/shop.openapi.json": `{ "openapi": "3.0.0", "paths": {} }`,
      "docs/swagger-ui.yaml": "theme: dark",
    })

    const { code, stderr } = await run(["init", "--format", "json"], { cwd: folder.path })

    expect(code).toBe(0)
    expect(stderr).toContain(`Source "my_tools" is from .mcp.json.`)
    const text = await readFile(join(folder.path, "operations.config.json"), "utf8")
    expect(text).not.toContain(CANARY)
    expect(JSON.parse(text)).toEqual({
      sources: {
        local: { scan: "./operations", output: "strict" },
        my_tools: {
          mcp: {
            command: "node",
            args: [
              "server.js",
              "--api-key",
              "${env:MY_TOOLS_TOKEN}",
              "--token=${env:MY_TOOLS_TOKEN}",
              "--port",
              "7",
            ],
            env: {
              TOOLS_TOKEN: "${env:TOOLS_TOKEN}",
              KEPT: "${env:KEPT}",
              MEMORY_FILE_PATH: "./memory.json",
            },
          },
        },
        web: {
          mcp: {
            url: "https://mcp.example/mcp?api_key=${env:WEB_API_KEY}&v=1",
            headers: { Authorization: "${env:WEB_AUTHORIZATION}" },
          },
        },
        weather: { openapi: "./openapi.yaml" },
        shop: { openapi: "./docs/shop.openapi.json" },
      },
    })
  })

  test("keeps plain values of an editor's variables, and names the secrets that it left out", async () => {
    const plain = {
      MEMORY_FILE_PATH: "/data/memory.json",
      LOG_LEVEL: "debug",
      PORT: "7",
      EMPTY: "",
      TEAM: "Größe & Co",
      HOME_PAGE: "https://example.com/docs?page=2",
      MAX_TOKENS: "100",
      NODE_OPTIONS: "--max-old-space-size=512",
    }
    const secret = {
      GITHUB_TOKEN: "x",
      OPENAI_KEY: "x",
      DB_PASS: "x",
      DATABASE_URL: "postgres://ada:hunter2@db.example/app",
      SENTRY_DSN: "https://0123@sentry.example/1",
      SETTINGS: "host=db;password=hunter2",
      HEADER: "Bearer hunter2hunter2",
      ODD: "sk-proj-0123456789abcdef",
      UNNAMED: "a94a8fe5ccb19ba61c4c0873d391e987",
    }
    const tools = { command: "node", args: ["s.js"], env: { ...plain, ...secret } }
    const web = { url: "https://mcp.example/mcp", headers: { Authorization: "Bearer x" } }
    const mcp = JSON.stringify({ mcpServers: { tools, web } })
    await using folder = await folderWith({
      ".mcp.json": mcp,
      "operations/own.mjs": moduleText("own", "first"),
    })
    // A variable that is set needs no advice.
    const env = { PATH: process.env["PATH"], OPENAI_KEY: "y" }

    const { stderr } = await run(["init", "--format", "json"], { cwd: folder.path, env })

    const text = await readFile(join(folder.path, "operations.config.json"), "utf8")
    const { sources } = JSON.parse(text) as { sources: { tools: { mcp: { env: object } } } }
    const references = Object.keys(secret).map((name) => [name, `\${env:${name}}`])
    expect(sources.tools.mcp.env).toEqual({ ...plain, ...Object.fromEntries(references) })
    expect(text + stderr).not.toMatch(/hunter2|0123456789|a94a8fe5/)
    const named = [...stderr.matchAll(/export (\w+) \(its value is in \.mcp\.json\)/g)]
    expect(named.map(([, name]) => name)).toEqual([
      ...Object.keys(secret).filter((name) => name !== "OPENAI_KEY"),
      "WEB_AUTHORIZATION",
    ])
    const json = await run(["init", "--format", "json", "--dry-run", "--json", "other"], {
      cwd: folder.path,
    })
    expect(json.code).toBe(0)
  })

  test("entries get the names of fields that a configuration has, whichever their editor uses", async () => {
    const files = { type: "local", command: ["node", "s.js"], environment: { REGION: "eu" } }
    const web = { serverUrl: "https://mcp.example/mcp" }
    const off = { command: "node", envFile: "./.env", disabled: true }
    const out = { command: "node", enabled: false }
    await using folder = await folderWith({
      ".mcp.json": JSON.stringify({ mcpServers: { files, web, off, out } }),
    })
    await run(["init", "--format", "json"], { cwd: folder.path })

    const text = await readFile(join(folder.path, "operations.config.json"), "utf8")
    expect(JSON.parse(text)).toMatchObject({
      sources: {
        files: { mcp: { type: "local", command: ["node", "s.js"], env: { REGION: "eu" } } },
        web: { mcp: { url: "https://mcp.example/mcp" } },
        // What is turned off in the editor stays turned off.
        off: { mcp: { command: "node", envFile: "./.env", disabled: true } },
        out: { mcp: { command: "node", disabled: true } },
      },
    })
  })

  test("a secret that is left out and not set is named once by the next command", async () => {
    const tools = { command: "node", args: ["s.js"], env: { GITHUB_TOKEN: "x" } }
    await using folder = await folderWith({
      ".mcp.json": JSON.stringify({ mcpServers: { tools } }),
    })
    const cwd = folder.path
    const env = { PATH: process.env["PATH"] }
    await run(["init", "--format", "json", "--yes"], { cwd, env })
    for (const command of [["list"], ["doctor"]]) {
      const { stderr, stdout } = await run([...command, "--trust"], { cwd, env })
      const said = stderr + stdout
      expect(said).toContain("env.GITHUB_TOKEN")
      expect(said).not.toContain(`Source "tools", `)
    }
    const { stderr } = await run(["list", "--trust"], { cwd, env })
    expect(stderr).toContain(`Source "tools" failed: env.GITHUB_TOKEN: `)
  })

  test("overwrites nothing", async () => {
    const hello = moduleText("own", "hello")
    await using folder = await folderWith({ "operations/hello.ts": hello })
    const cwd = folder.path
    expect((await run(["init"], { cwd })).code).toBe(0)
    expect(await readFile(join(cwd, "operations/hello.ts"), "utf8")).toBe(hello)

    await writeFile(join(cwd, "operations.config.yaml"), "mine")
    const again = await run(["init", "--format", "yaml"], { cwd })
    expect(again.code).toBe(2)
    expect(again.stderr).toContain("is there already, and stays as it is")
    expect(await readFile(join(cwd, "operations.config.yaml"), "utf8")).toBe("mine")
  })

  test("writes into a folder that is not there yet, and nothing on a dry run", async () => {
    await using folder = await folderWith({})
    const cwd = folder.path
    const dry = await run(["init", "new/tools", "--format", "yaml", "--dry-run"], { cwd })
    expect(dry.stdout).toContain("scan: ./operations")
    expect(await readdir(cwd)).toEqual([".git"])

    const { stdout, code } = await run(["init", "new/tools", "--format", "yaml", "--json"], { cwd })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      written: ["new/tools/operations.config.yaml", expect.stringMatching(/hello\.(?:ts|mjs)$/)],
      sources: [],
    })
    expect(await readdir(join(cwd, "new/tools"))).toContain("operations.config.yaml")
  })

  test("says which formats there are", async () => {
    const { code, stderr } = await run(["init", "--format", "toml"])
    expect(code).toBe(2)
    expect(stderr).toContain(`There is no format "toml"; there are ts, js, yaml, json.`)
  })
})
