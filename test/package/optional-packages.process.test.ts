// The package in a folder of its own, first without any optional package, then with those of the README.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { root } from "../support/manifest.ts"
import { BUILD_TIMEOUT, buildPackage, run, type BuiltPackage } from "./build.ts"

let built: BuiltPackage
beforeAll(async () => {
  built = await buildPackage()
  // Where a project begins nothing above is looked at.
  await mkdir(join(built.app, ".git"))
}, BUILD_TIMEOUT)
afterAll(() => built?.[Symbol.asyncDispose]())

const PRELUDE = `
import { createRegistry, defineOperation } from "@alkdev/operations"
import { serveHTTP } from "@alkdev/operations/node"
import { toHTTP } from "@alkdev/operations/to-http"
import { toMCP } from "@alkdev/operations/to-mcp"
const registry = createRegistry([])
const logged = []
const keep = (message) => logged.push(message)
const logger = { debug() {}, info() {}, warn: keep, error: keep }
const jwt = { jwks: "https://a.example/keys", issuer: "a", audience: "b", algorithms: ["RS256"] }
const failed = (error) => error.message
`

/** What a module of the application prints as JSON. */
async function evaluate(code: string): Promise<unknown> {
  const output = await run(
    "node",
    ["--input-type=module", "--eval", `${PRELUDE}\nconsole.log(JSON.stringify(await (${code})()))`],
    built.app,
  )
  return JSON.parse(output)
}

const JOSE = 'auth.jwt needs the optional package "jose". Install it: npm install jose'
const WS = 'serve/websocket needs the optional package "ws". Install it: npm install ws'

describe("without optional packages", () => {
  test("tokens cannot be checked: serveHTTP does not start, toHTTP says so once and answers with it", async () => {
    const found = await evaluate(`async () => {
      const rejected = await serveHTTP(registry, { port: 0, auth: { jwt }, logger }).catch(failed)
      logged.length = 0
      const api = toHTTP(registry, { auth: { jwt }, logger })
      const headers = { authorization: "Bearer a.b.c" }
      const ask = async (path) => await api.fetch(new Request("http://localhost" + path, { headers }))
      const answers = [await ask("/operations"), await ask("/operations"), await ask("/readyz")]
      const { detail, retryable } = await answers[0].json()
      return { rejected, logged, detail, retryable, status: answers.map(({ status }) => status) }
    }`)
    expect(found).toEqual({
      rejected: JOSE,
      logged: [JOSE],
      detail: `Tokens cannot be checked: ${JOSE}`,
      retryable: false,
      status: [503, 503, 503],
    })
  })

  test("WebSockets are left out with one warning, unless they were asked for", async () => {
    const found = await evaluate(`async () => {
      const asked = await serveHTTP(registry, { port: 0, websocket: true, logger }).catch(failed)
      const served = await serveHTTP(registry, { port: 0, logger })
      await served.close()
      return { asked, logged }
    }`)
    expect(found).toEqual({
      asked: WS,
      logged: [`WebSocket clients cannot connect: ${WS}, or set websocket: false.`],
    })
  })

  test("an MCP server needs none: over HTTP, and over standard input and output", async () => {
    const found = await evaluate(`async () => {
      const mcp = toMCP(registry, { logger })
      const clientInfo = { name: "a", version: "1" }
      const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })
      const headers = { "content-type": "application/json", accept: "*/*" }
      const { url } = await mcp.listen({ port: 0 })
      const opened = await fetch(url, { method: "POST", headers, body })
      const { result } = await opened.json()
      const { close } = await mcp.stdio({ exit: false })
      await close()
      await mcp.close()
      return { status: opened.status, version: result.protocolVersion, logged }
    }`)
    expect(found).toEqual({ status: 200, version: "2025-11-25", logged: [] })
  })

  test("a hub whose telemetry cannot be sent serves, and logs what to install", async () => {
    const found = (await evaluate(`async () => {
      const { createHub, resolveConfig } = await import("@alkdev/operations/node").then(async (node) => ({
        ...node, ...(await import("@alkdev/operations/config")) }))
      const errors = []
      const error = (message, fields) => errors.push(message + ": " + fields.error)
      const config = resolveConfig({ telemetry: { otlp: "http://127.0.0.1:9" } }, { baseDir: "." })
      const hub = createHub(config, { logger: { ...logger, error } })
      await hub.ready()
      await hub.close()
      return errors
    }`)) as string[]
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(
      "Spans and metrics are not sent: telemetry needs optional packages. Install them: npm install @opentelemetry/api @opentelemetry/sdk-trace ",
    )
  })

  test(
    "serve names each package and one command; doctor, init and import do, too",
    async () => {
      await writeFile(
        join(built.app, ".mcp.json"),
        JSON.stringify({ mcpServers: { files: { command: "node", args: ["server.js"] } } }),
      )
      const init = await operations("init", "--format", "json")
      expect(init.stderr).toContain(
        'Source "files" needs the package "@modelcontextprotocol/client", which is not installed.\n' +
          "Install it: npm install @modelcontextprotocol/client\n",
      )

      const served = await operations("serve", "--port", "0", "--json")
      expect(JSON.parse(served.stdout)).toMatchObject({
        mcpUrl: expect.stringContaining("/mcp") as string,
        wsUrl: null,
      })
      expect(served.stderr).toContain(
        [
          '! WebSocket (/ws) is not served without the package "ws", which is not installed.',
          '! Source "files" needs the package "@modelcontextprotocol/client", which is not installed.',
          "! Install them: npm install ws @modelcontextprotocol/client\n",
        ].join("\n"),
      )

      const doctor = await operations("doctor")
      expect(doctor).toMatchObject({ code: 1 })
      expect(doctor.stdout).toContain("Install them: npm install ws @modelcontextprotocol/client\n")

      const imported = await operations("import", "node other.js", "--name", "other")
      expect(imported).toMatchObject({ code: 1 })
      expect(imported.stderr).toContain(
        'Source "other" needs the package "@modelcontextprotocol/client", which is not installed. ' +
          "Install it: npm install @modelcontextprotocol/client",
      )
      expect(await readFile(join(built.app, "operations.config.json"), "utf8")).not.toContain(
        "other",
      )
    },
    BUILD_TIMEOUT,
  )
})

test(
  "what the README says to install is enough for its command line",
  async () => {
    const readme = await readFile(resolve(root, "README.md"), "utf8")
    const line = /^npm install (@alkdev\/operations .+)$/m.exec(section(readme, "The hub"))
    const names = (line?.[1] ?? "").split(" ").filter((name) => name !== "@alkdev/operations")
    expect(names).not.toEqual([])
    for (const name of names) await link(name)
    const server = resolve(root, "node_modules/@modelcontextprotocol/server-everything")
    const files = { mcp: { command: "node", args: [join(server, "dist/index.js")] } }
    await writeFile(
      join(built.app, "operations.config.json"),
      JSON.stringify({ sources: { local: { scan: "./operations" }, files } }),
    )

    const { stdout, stderr } = await operations("serve", "--port", "0", "--json")
    expect(stderr).not.toContain("not installed")
    expect(JSON.parse(stdout)).toMatchObject({
      mcpUrl: expect.stringContaining("/mcp") as string,
      wsUrl: expect.stringContaining("/ws") as string,
      sources: [{ state: "ready" }, { state: "ready" }],
    })
  },
  BUILD_TIMEOUT,
)

function section(page: string, title: string): string {
  return page.split(/^## /m).find((text) => text.startsWith(title)) ?? ""
}

async function link(name: string): Promise<void> {
  const target = join(built.app, "node_modules", name)
  await mkdir(dirname(target), { recursive: true })
  await symlink(resolve(root, "node_modules", name), target, "junction")
}

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the program of the package; one that serves is stopped when it has said where. */
async function operations(...args: readonly string[]): Promise<Ran> {
  const bin = join(built.installed, "dist/cli/bin.js")
  const child = spawn(process.execPath, [bin, ...args], { cwd: built.app })
  let stdout = ""
  let stderr = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text
    if (args[0] === "serve" && stdout.endsWith("\n")) child.kill("SIGTERM")
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  child.stdin.end()
  const [code] = (await once(child, "close")) as [number | null]
  return { code, stdout, stderr }
}
