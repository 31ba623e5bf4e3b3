// Pages under development, whose server passes their requests on: a real Vite and a real browser.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, request as send } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createServer as createVite } from "vite"
import type { ProxyOptions } from "vite"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import config from "../../examples/http-client/vite.config.ts"
import { createRegistry, defineOperation } from "../../src/index.ts"
import { serveHTTP } from "../../src/node.ts"
import type { ServedHTTP } from "../../src/node.ts"
import { silentLogger } from "../../src/testing.ts"
import { toMCP } from "../../src/to-mcp.ts"
import { Type } from "../../src/type.ts"
import { launchBrowser } from "../support/browser.ts"
import type { Browser } from "../support/browser.ts"
import { CHROMIUM, provideProgram } from "../support/programs.ts"

let runs = 0
const rest = { description: "Of a test", accessControl: { requiredScopes: [] } } as const
const add = defineOperation({
  ...rest,
  type: "mutation",
  inputSchema: Type.Object({ title: Type.String() }),
  outputSchema: Type.Integer(),
  handler: () => ++runs,
})
const ticks = defineOperation({
  ...rest,
  type: "subscription",
  inputSchema: Type.Object({}),
  outputSchema: Type.Integer(),
  async *handler() {
    yield await Promise.resolve(++runs)
  },
})

const cleanups: (() => unknown)[] = []

async function serve(options: object): Promise<ServedHTTP> {
  const registry = createRegistry({ task: { add, ticks } }, { output: "strict" })
  const mcp = toMCP(registry, { logger: silentLogger })
  const served = await serveHTTP(registry, { port: 0, mcp, logger: silentLogger, ...options })
  cleanups.push(() => served.close())
  return served
}

const SERVERS: Readonly<Record<string, object>> = {
  "without authentication": {},
  "with authentication": { authenticate: () => ({ id: "ada", scopes: [] }) },
}

let served: ServedHTTP
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup()
})

/** Sends a request with any headers, and reads the status and the problem. */
async function post(headers: Record<string, string>, path: string): Promise<[number, string]> {
  const { port, hostname } = new URL(served.url)
  const body = JSON.stringify({ title: "x" })
  return await new Promise((resolve, reject) => {
    const outgoing = send(
      {
        port,
        hostname,
        path,
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
      },
      (response) => {
        let text = ""
        response.on("data", (chunk) => (text += String(chunk)))
        response.on("end", () => resolve([response.statusCode ?? 0, text]))
      },
    )
    outgoing.on("error", reject).end(body)
  })
}

describe.each(Object.entries(SERVERS))("a server %s", (_, options) => {
  beforeAll(async () => {
    served = await serve(options)
  })

  test.each([
    ["http://localhost:5173", "127.0.0.1:3000"],
    ["https://localhost:5173", "localhost:3000"],
    ["http://127.0.0.1:5173", "[::1]:3000"],
    ["http://[::1]:5173", "127.0.0.1"],
  ])("answers what a proxy on this machine passes on for a page of %s", async (origin, host) => {
    const headers = { host, origin, "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" }
    expect((await post(headers, "/api/task/add"))[0]).toBe(200)
  })

  // A page cannot set Sec-Fetch-Site, nor Host; it can point a name of its own at this machine.
  test.each([
    [
      "another local page, directly",
      { origin: "http://localhost:5173", "sec-fetch-site": "same-site" },
    ],
    [
      "another local page by another name",
      { origin: "http://localhost:5173", "sec-fetch-site": "cross-site" },
    ],
    ["a page of which nothing is known", { origin: "http://localhost:5173" }],
    ["a foreign page", { origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
    [
      "a page that rebinds its name to the proxy",
      { origin: "http://evil.example:5173", "sec-fetch-site": "same-origin" },
    ],
    [
      "a name that begins like this machine",
      { origin: "http://localhost.evil.example", "sec-fetch-site": "same-origin" },
    ],
    [
      "a name that begins like an address",
      { origin: "http://127.0.0.1.evil.example", "sec-fetch-site": "same-origin" },
    ],
    [
      "credentials that look like this machine",
      { origin: "http://localhost@evil.example", "sec-fetch-site": "same-origin" },
    ],
    ["a local file", { origin: "null", "sec-fetch-site": "same-origin" }],
    ["no URL", { origin: "localhost", "sec-fetch-site": "same-origin" }],
    ["two sites", { origin: "http://localhost:5173", "sec-fetch-site": "same-origin,cross-site" }],
  ])("refuses %s", async (_name, headers) => {
    const before = runs
    for (const path of ["/api/task/add", "/operations/task.add", "/batch", "/mcp"]) {
      const [status] = await post({ host: "127.0.0.1:3000", ...headers }, path)
      expect([path, status]).toEqual([path, 403])
    }
    expect(runs).toBe(before)
  })

  test("says what to write for a development server, and only for one", async () => {
    const host = "127.0.0.1:3000"
    const [, local] = await post({ host, origin: "http://localhost:5173" }, "/api/task/add")
    expect(local).toContain(String.raw`set allowedOrigins: [\"http://localhost:5173\"]`)
    expect(local).toContain("changeOrigin: false")
    const [, foreign] = await post({ host, origin: "https://evil.example" }, "/api/task/add")
    expect(foreign).toContain("is not in allowedOrigins.")
    expect(foreign).not.toContain("set allowedOrigins")
  })
})

test("a page that reaches a public name through a proxy on another machine is refused", async () => {
  served = await serve({ allowedHosts: ["api.example.com"] })
  const origin = "http://localhost:5173"
  const headers = { host: "api.example.com", origin, "sec-fetch-site": "same-origin" }
  expect((await post(headers, "/api/task/add"))[0]).toBe(403)
})

const chromium = provideProgram(CHROMIUM)

describe.skipIf(chromium === undefined)("Vite's proxy, in Chromium", () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser(chromium as string)
    cleanups.push(() => browser.close())
  })

  /** A development server for an empty page, whose proxy is that of the guide. */
  async function develop(change: (target: string) => string | ProxyOptions): Promise<string> {
    const root = mkdtempSync(join(tmpdir(), "operations-vite-"))
    cleanups.push(() => rmSync(root, { recursive: true, force: true }))
    writeFileSync(
      join(root, "index.html"),
      "<!doctype html><link rel=icon href=data:,><title>x</title>",
    )
    const { proxy = {} } = config.server ?? {}
    const lines = Object.entries(proxy).map(([path, target]) => {
      expect(target).toBe("http://127.0.0.1:3000")
      return [path, change(served.url)] as const
    })
    const vite = await createVite({
      configFile: false,
      root,
      logLevel: "silent",
      cacheDir: join(root, "cache"),
      server: { port: 0, host: "localhost", hmr: false, proxy: Object.fromEntries(lines) },
    })
    await vite.listen()
    cleanups.push(() => vite.close())
    const { port } = vite.httpServer!.address() as AddressInfo
    return `http://localhost:${port}/`
  }

  const CALL = (url: string): string => `fetch(${JSON.stringify(url)}, {
    method: "POST", headers: { "content-type": "application/json" }, body: '{"title":"x"}'
  }).then(async (answer) => [answer.status, await answer.text()], (error) => [0, String(error)])`
  const FORM = `(() => {
    const form = new FormData()
    form.append("title", "x")
    return fetch("/api/task/add", { method: "POST", body: form }).then(({ status }) => status)
  })()`
  const EVENTS = `fetch("/api/task/ticks").then(async (answer) => [answer.status, await answer.text()])`

  test.each<[string, (target: string) => string | ProxyOptions]>([
    ["one line", (target) => target],
    ["changeOrigin: false", (target) => ({ target, changeOrigin: false })],
  ])("works as %s: calls, streams and errors", async (_, change) => {
    served = await serve({})
    const page = await browser.open(await develop(change))
    expect(await page.evaluate(CALL("/api/task/add"))).toEqual([200, String(runs)])
    expect(await page.evaluate(EVENTS)).toEqual([200, expect.stringContaining(`data: ${runs}`)])
    // This operation takes no files, which is said by the API and not by the check of origins.
    expect(await page.evaluate(FORM)).toBe(415)
  })

  test("is nothing that another local page can use directly", async () => {
    served = await serve({})
    const other = createServer((_request, response) => {
      response
        .writeHead(200, { "content-type": "text/html" })
        .end("<!doctype html><title>x</title>")
    })
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve))
    cleanups.push(() => other.close())
    const { port } = other.address() as AddressInfo
    const vite = await develop((target) => target)
    const before = runs
    const page = await browser.open(`http://localhost:${port}/`)
    for (const url of [`${served.url}/api/task/add`, `${vite}api/task/add`]) {
      const expression = CALL(url)
        .replace('"application/json"', '"text/plain"')
        .replace("method:", 'mode: "no-cors", method:')
      await page.evaluate(expression)
      await page.evaluate(CALL(url))
    }
    expect(runs).toBe(before)
  })
})
