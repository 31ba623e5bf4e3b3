// A value that must not be recorded is planted wherever callers and sources can put one, in a hub of its own process.
import { mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { hashApiKey } from "../../src/to-http.ts"
import { createMCPClient } from "../../src/from-mcp.ts"
import { silentLogger } from "../../src/testing.ts"
import { startServe } from "../cli/support/served.ts"
import { parseMetrics } from "../support/prometheus.ts"
import { quietRegistry } from "../support/operations.ts"
import { folder, operationText } from "./support.ts"

const CANARY = "canary-7d20f1-must-not-be-recorded"
/** The same as a credential of the hub, which is masked wherever it appears. */
const SECRET = "canary-a3340b-credential-of-the-hub"
const TRACE = "0af7651916cd43dd8448eb211c80319c"

/** A server of this process; `undefined` never answers. */
async function listen(answer: ((headers: object) => string) | undefined) {
  const received: string[] = []
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => (body += text))
    request.on("end", () => {
      received.push(`${request.url} ${JSON.stringify(request.headers)} ${body}`)
      if (answer === undefined) return
      response.setHeader("content-type", "application/json")
      response.end(answer(request.headers))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** The configuration of a hub with local operations and an API. */
function hubFolder(collector: string, api: string): string {
  const files = {
    "echo.ts": operationText("local.echo", "(input) => input"),
    "nested.ts": operationText(
      "local.nested",
      `async (input, { call }) => (await call("api.getPet", { id: input.value, q: input.value })).data`,
    ),
    // An error that is not declared is logged, with its message and its caller.
    "fail.ts": operationText(
      "local.fail",
      `(input) => { throw Object.assign(new Error(input.value), { code: "NO_PETS" }) }`,
      `errorSchemas: [{ code: "NO_PETS", description: "There are none", schema: {} }]`,
    ),
  }
  const document = {
    openapi: "3.1.0",
    info: { title: "Pets", version: "1" },
    paths: {
      "/pets/{id}": {
        get: {
          operationId: "getPet",
          security: [{ token: [] }],
          parameters: [
            { name: "id", in: "path", required: true, schema: { type: "string" } },
            { name: "q", in: "query", schema: { type: "string" } },
          ],
          responses: { 200: { description: "A pet" } },
        },
      },
    },
    components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
  }
  const path = folder({ "api.json": JSON.stringify(document) })
  mkdirSync(join(path, "operations"))
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(path, "operations", name), text)
  const config = {
    server: { port: 0, apiKeys: [{ hash: hashApiKey(CANARY), id: CANARY, scopes: ["hub:admin"] }] },
    telemetry: { otlp: collector, headers: { "x-collector": "${env:SECRET}" } },
    sources: {
      local: { scan: "./operations" },
      api: { openapi: "./api.json", baseUrl: api, auth: "${env:SECRET}" },
    },
  }
  writeFileSync(join(path, "operations.config.json"), JSON.stringify(config))
  return path
}

describe("a hub in a process of its own", () => {
  test("puts a planted value into no span, metric or log line, whichever way it comes", async () => {
    const collector = await listen(() => "{}")
    const api = await listen(() => JSON.stringify({ name: CANARY }))
    const served = await startServe(["--verbose"], {
      cwd: hubFolder(collector.url, api.url),
      env: { SECRET, OPERATIONS_TRUST: "1" },
    })
    onTestFinished(() => served[Symbol.asyncDispose]())
    const headers = {
      ...{ "content-type": "application/json", "x-api-key": CANARY, "x-else": CANARY },
      ...{ traceparent: `00-${TRACE}-b7ad6b7169203331-01`, baggage: `secret=${CANARY}` },
    }
    const send = async (path: string, body?: unknown): Promise<string> => {
      const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }
      return await (await fetch(`${served.url}${path}`, { ...init, headers })).text()
    }
    const value = { value: CANARY }
    expect(await send("/operations/local.echo", value)).toContain(CANARY)
    const before = parseMetrics(await send("/metrics"))
    expect(await send("/operations/local.nested", value)).toContain(CANARY)
    expect(await send("/operations/local.fail", value)).toContain("NO_PETS")
    await send(`/operations/${CANARY.slice(0, 6)}?${CANARY}`, value)
    await send(`/api/local/echo?value=${CANARY}`)
    await send("/batch", [{ id: "local.echo", input: value, metadata: value }])
    const client = await createMCPClient("hub", {
      ...{ url: `${served.url}/mcp`, headers: { "x-api-key": CANARY }, logger: silentLogger },
    })
    const registry = quietRegistry()
    client.registerAll(registry)
    const echoed = await registry.execute("hub.local_echo", value)
    expect(JSON.stringify(echoed.data)).toContain(CANARY)
    await client.close()
    const metrics = await send("/metrics")
    const after = parseMetrics(metrics)
    const counters = [...before].filter(([name]) => /_(?:total|bucket|sum|count)\{/.test(name))
    expect(counters).not.toEqual([])
    for (const [name, count] of counters) expect(after.get(name)).toBeGreaterThanOrEqual(count)
    const timelines = await send("/hub/load")
    expect(await served.stop()).toBe(0)

    const sent = collector.received.map((text) => text.replace(/"x-collector":"[^"]*"/, ""))
    // What is to be looked through is there.
    expect(sent.join("")).toContain(TRACE)
    expect(sent.join("")).toContain("local.nested")
    expect(sent.join("")).toContain("NO_PETS")
    expect(sent.join("")).toContain("GET /pets/{id}")
    expect(api.received.join("")).toContain(`/pets/${CANARY}`)
    expect(metrics).toContain('operation="local.echo"')
    const out = {
      sent: sent.join(""),
      metrics,
      timelines,
      log: `${served.stdout()}${served.stderr()}`,
    }
    for (const [place, text] of Object.entries(out)) {
      expect(text, place).not.toContain(CANARY)
      expect(text, place).not.toContain(SECRET)
    }
  })

  test.each([["is away"], ["never answers"]])("ends in time when its collector %s", async (how) => {
    const silent = await listen(undefined)
    const url = how === "is away" ? "http://127.0.0.1:9" : silent.url
    const served = await startServe([], {
      cwd: hubFolder(url, "http://127.0.0.1:9"),
      env: { SECRET, OPERATIONS_TRUST: "1" },
    })
    onTestFinished(() => served[Symbol.asyncDispose]())
    const headers = { "content-type": "application/json", "x-api-key": CANARY }
    const calls = Array.from({ length: 50 }, async () => {
      const init = { method: "POST", body: "{}", headers }
      return (await fetch(`${served.url}/operations/local.echo`, init)).status
    })
    expect(new Set(await Promise.all(calls))).toEqual(new Set([200]))
    const before = performance.now()
    expect(await served.stop()).toBe(0)
    // A bound of the design: real time has to pass, and may be late, but not by another wait.
    expect(performance.now() - before).toBeLessThan(10_000)
  })
})
