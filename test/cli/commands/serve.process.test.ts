import { spawn } from "node:child_process"
import { once } from "node:events"
import { writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { createMCPClient } from "../../../src/from-mcp.ts"
import { createClient, createRegistry } from "../../../src/index.ts"
import { createWebSocketTransport } from "../../../src/websocket.ts"
import { describe, expect, test, vi } from "vitest"
import { program } from "../../sources/mcp/support/program.ts"
import { root } from "../../support/manifest.ts"
import { waitFor } from "../../support/wait-for.ts"
import { DOCUMENT, folderWith, moduleText } from "../support/folder.ts"
import { run } from "../support/run.ts"
import { descendantsOf, eventually, isAlive, startServe } from "../support/served.ts"

async function data(url: string, id: string): Promise<unknown> {
  const response = await fetch(`${url}/operations/${id}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  })
  return ((await response.json()) as { data?: unknown }).data
}

describe("operations serve", () => {
  test("serve answers from the ready sources while another one fails", async () => {
    await using folder = await folderWith({
      "operations.config.json": JSON.stringify({
        server: { title: "Mine", port: 0 },
        sources: { local: { scan: "./operations" }, gone: { openapi: "./gone.yaml" } },
      }),
      "operations/own.mjs": moduleText("own", "first"),
    })
    await using served = await startServe([], { cwd: folder.path })

    expect(served.stdout()).toContain(`Mine is at ${served.url}`)
    expect(served.stdout()).toContain("1 operation of 1 source; not there: gone.")
    expect(served.stdout()).toContain(`Console    ${served.url}/\n  HTTP `)
    expect(served.stdout()).toContain(`MCP        ${served.url}/mcp`)
    expect(served.stderr()).toContain("✓ local  1 operation")
    expect(served.stderr()).toContain("✗ gone")
    expect(await data(served.url, "own.first")).toBe("first")

    expect(await served.stop("SIGTERM")).toBe(0)
  })

  test("finishes running calls on SIGTERM, over HTTP and WebSocket", async () => {
    await using folder = await folderWith({
      "operations.config.json": JSON.stringify({
        server: { port: 0 },
        sources: { own: { scan: "./operations" } },
      }),
      "operations/own.mjs": `import { existsSync } from "node:fs"
        export default {
          namespace: "own", name: "slow", version: "1.0.0", type: "mutation", description: "Waits.",
          inputSchema: { type: "object" }, outputSchema: {}, accessControl: { requiredScopes: [] },
          async handler() {
            console.error("A call runs.")
            while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 5))
            return "paid"
          },
        }`,
    })
    await using served = await startServe([], { cwd: folder.path })
    const url = `${served.url.replace("http", "ws")}/ws`
    await using client = createClient(createWebSocketTransport(url))
    const calls = Array.from({ length: 5 }, () => [
      client.call("own.slow", {}).then(({ data: result }) => result),
      data(served.url, "own.slow"),
    ]).flat()
    await eventually("ten calls", async () => served.stderr().split("A call runs.").length === 11)

    const stopped = served.stop("SIGTERM")
    await served.said("Stopping")
    await writeFile(join(folder.path, "go"), "")
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 10 }, () => "paid"))
    expect(await stopped).toBe(0)
  })

  test("takes up changes of the configuration and of modules, and no mistakes", async () => {
    const config = (more: object): string =>
      JSON.stringify({ sources: { local: { scan: "./operations" }, ...more } })
    await using folder = await folderWith({
      "operations.config.json": config({}),
      "operations/own.mjs": moduleText("own", "first"),
      "others/two.mjs": moduleText("others", "second"),
    })
    const file = join(folder.path, "operations.config.json")
    await using served = await startServe(["--port", "0"], { cwd: folder.path })

    await writeFile(file, config({ others: { scan: "./others" } }))
    await served.said("has changed and is in use.")
    await eventually(
      "a new source",
      async () => (await data(served.url, "others.second")) === "second",
    )

    await writeFile(file, config({ others: { scn: "./others" } }))
    await served.said("The previous configuration stays in use.")
    expect(await data(served.url, "others.second")).toBe("second")

    await writeFile(join(folder.path, "operations/own.mjs"), moduleText("own", "third"))
    await eventually(
      "a changed module",
      async () => (await data(served.url, "own.third")) === "third",
    )
    expect(await served.stop("SIGINT")).toBe(0)
  })

  test("takes up a changed script, with what it imports", async () => {
    await using folder = await folderWith({
      "operations.config.mjs": `import { sources } from "./sources.mjs"\nexport default { sources }\n`,
      "sources.mjs": `export const sources = { a: { scan: "./a" } }\n`,
      "a/one.mjs": moduleText("one", "first"),
      "b/two.mjs": moduleText("two", "second"),
    })
    await using served = await startServe(["--port", "0"], { cwd: folder.path })
    await writeFile(
      join(folder.path, "sources.mjs"),
      `export const sources = { b: { scan: "./b" } }\n`,
    )
    await writeFile(
      join(folder.path, "operations.config.mjs"),
      `import { sources } from "./sources.mjs"\nexport default { sources, registry: {} }\n`,
    )
    await eventually(
      "a new source",
      async () => (await data(served.url, "two.second")) === "second",
    )
    expect(await data(served.url, "one.first")).toBeUndefined()
  })

  test("prints one JSON value under --json", async () => {
    await using folder = await folderWith({ "weather.yaml": DOCUMENT })
    const stop = new AbortController()
    let printed = ""
    const stdout = {
      write: (text: string | Uint8Array) => {
        printed += String(text)
        stop.abort("SIGTERM")
      },
    }
    const { main } = await import("../../../src/cli/main.ts")
    const code = await main(["serve", "--port", "0", "--json", "-q", "--openapi", "weather.yaml"], {
      stdout,
      stderr: { write: () => undefined },
      stdin: (async function* () {})(),
      env: {},
      cwd: folder.path,
      signal: stop.signal,
      program: "operations",
    })
    expect(code).toBe(0)
    expect(JSON.parse(printed)).toMatchObject({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      mcpUrl: expect.stringContaining("/mcp"),
      wsUrl: expect.stringContaining("/ws"),
      operations: 1,
      sources: [{ name: "weather", state: "ready", operations: 1 }],
    })
  })

  test("says which port is taken and what to do", async () => {
    await using folder = await folderWith({ "weather.yaml": DOCUMENT })
    const server = createServer()
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const { port } = server.address() as AddressInfo
    const argv = ["serve", "--openapi", "weather.yaml", "--port", String(port)]
    const taken = await run(argv, { cwd: folder.path })
    server.close()
    expect(taken).toMatchObject({ code: 1, stdout: "" })
    expect(taken.stderr).toContain(`Port ${port}`)
    expect(taken.stderr).toContain("--port 0")
  })

  test.each([
    [["--port", "70000"], "up to 65535"],
    [["--port", "x"], "whole number"],
    [["--watch", "--no-watch"], "either --watch or --no-watch"],
    [["--stdio", "--port", "0"], "goes without --port"],
    [["--hub", "http://127.0.0.1:1"], "--remote"],
    [["extra"], "does not know what to do"],
  ])("refuses %j with what to do", async (argv, message) => {
    const { code, stdout, stderr } = await run(["serve", ...argv])
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toContain(message)
  })

  test("ends its servers with itself, also when it is killed", async () => {
    const server = "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
    const argv = ["--port", "0", "--no-watch", "--mcp", `node ${server} stdio`]
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      await using served = await startServe(argv)
      const pid = served.child.pid as number
      const servers = descendantsOf(pid)
      expect(servers).not.toEqual([])
      process.kill(pid, signal)
      await eventually("no process is left", () => ![pid, ...servers].some(isAlive))
    }
  })
})

describe("operations serve under npm", () => {
  test("ends when the shell that npm started it with is gone", async () => {
    const argv = ["serve", "--port", "0", "--no-watch", "--scan", "demo/operations"]
    const command = [process.execPath, program(join(root, "src/cli/bin.ts"))]
    const shell = spawn("sh", ["-c", `"$@"; true`, "sh", ...command, ...argv], {
      cwd: root,
      env: { ...process.env, npm_lifecycle_event: "start" },
      stdio: ["ignore", "pipe", "ignore"],
    })
    const lines = createInterface({ input: shell.stdout })
    const [started] = (await once(lines, "line")) as [string]
    expect(started).toBe("")
    const children = descendantsOf(shell.pid as number)
    shell.kill("SIGTERM")
    await eventually("no process is left", () => !children.some(isAlive))
    lines.close()
  })
})

describe("operations serve --stdio", () => {
  test("serves MCP to a client that starts it", async () => {
    await using folder = await folderWith({
      "operations.config.json": `{ "sources": { "local": { "scan": "./operations" } } }`,
      "operations/own.mjs": `console.log("a module that talks")\n${moduleText("own", "first")}`,
    })
    const client = await createMCPClient("hub", {
      command: process.execPath,
      args: [
        program(join(root, "src/cli/bin.ts")),
        "serve",
        "--stdio",
        "--config",
        join(folder.path, "operations.config.json"),
      ],
    })
    const registry = createRegistry([])
    client.registerAll(registry)
    const { data: said } = await registry.execute("hub.own_first", {})
    expect(JSON.stringify(said)).toContain("first")
    await client.close()
  })

  test("answers at once while a source hangs, and announces what is opened later", async () => {
    const slow = join(root, "test/cli/support/slow-server.mjs")
    await using folder = await folderWith({
      "operations.config.json": JSON.stringify({
        sources: {
          local: { scan: "./operations" },
          slow: { mcp: `${process.execPath} ${slow} 5000` },
          hangs: { mcp: `${process.execPath} ${slow} 1000000` },
        },
      }),
      "operations/own.mjs": moduleText("own", "first"),
    })
    const config = join(folder.path, "operations.config.json")
    const args = [program(join(root, "src/cli/bin.ts")), "serve", "--stdio", "--config", config]
    const transport = new StdioClientTransport({
      command: process.execPath,
      args,
      stderr: "ignore",
    })
    const client = new Client({ name: "t", version: "1" })
    const changed = vi.fn()
    client.setNotificationHandler("notifications/tools/list_changed", changed)
    await client.connect(transport)
    const names = async (): Promise<string[]> =>
      (await client.listTools()).tools.map(({ name }) => name)
    // It waits for the folder, and for others only for some seconds.
    expect(await names()).toEqual(["own_first"])
    changed.mockClear()
    await waitFor(() => expect(changed).toHaveBeenCalled())
    expect(await names()).toEqual(["own_first", "slow_ping"])
    await client.close()
  })

  test("writes nothing but the protocol, and ends when its client is gone", async () => {
    await using folder = await folderWith({
      "operations.config.json": `{ "sources": { "local": { "scan": "./operations" }, "gone": { "openapi": "./no.yaml" } } }`,
      "operations/own.mjs": `console.log("talk")\nprocess.stdout.write("more talk\\n")\n${moduleText("own", "first")}`,
    })
    const child = spawn(
      process.execPath,
      [program(join(root, "src/cli/bin.ts")), "serve", "--stdio"],
      {
        cwd: folder.path,
        env: { ...process.env, OPERATIONS_TRUST: "1" },
      },
    )
    let stderr = ""
    child.stderr.on("data", (text: Buffer) => (stderr += text.toString()))
    const params = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "t", version: "1" },
    }
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const ask = async (id: number, method: string): Promise<unknown> => {
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`)
      for (;;) {
        const message = JSON.parse((await lines.next()).value as string) as { readonly id?: number }
        expect(message).toMatchObject({ jsonrpc: "2.0" })
        if (message.id === id) return message
      }
    }
    await ask(1, "initialize")
    expect(await ask(2, "tools/list")).toMatchObject({ result: { tools: [{ name: "own_first" }] } })
    child.stdin.end()
    expect(await once(child, "exit")).toEqual([0, null])
    expect(stderr).toContain("✗ gone")
    expect(stderr).toContain("more talk")
  })
})
