// A secret is planted behind every kind of reference, and looked for in all that a hub lets out.
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { loadConfig } from "../../src/hub/config-file/load.ts"
import { createHub } from "../../src/hub/create-hub.ts"

const CANARY = "canary-0d4e-planted-secret"
const NODE = JSON.stringify(process.execPath)

let folder: string
let server: Server
let seen = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "operations-canary-"))
  // Says back what it was sent, in every way a careless server does.
  server = createServer((request, response) => {
    const { authorization = "", "x-key": key = "" } = request.headers
    if (`${authorization}${String(key)}`.includes(CANARY)) seen++
    response.writeHead(500, { "content-type": "application/json", "x-echo": authorization })
    response.end(JSON.stringify({ message: `bad credentials: ${authorization} ${String(key)}` }))
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
})

afterAll(async () => {
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
  await rm(folder, { recursive: true, force: true })
})

test("a hub uses a planted secret and never shows it", async () => {
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`
  await writeFile(join(folder, "secret"), `${CANARY}\n`)
  await writeFile(join(folder, "api.json"), JSON.stringify(documentFor(url)))
  await writeFile(join(folder, "die.mjs"), "console.error(process.env.KEY); process.exit(1)")
  const config = {
    sources: {
      api: {
        openapi: "./api.json",
        auth: `\${command:${NODE} -e "console.log('${CANARY.slice(0, 6)}' + '${CANARY.slice(6)}')"}`,
        headers: { "X-Key": "${file:secret}" },
      },
      document: { openapi: `${url}/none.json`, documentHeaders: { "X-Key": "${env:CANARY}" } },
      dies: { mcp: `${NODE} die.mjs`, env: { KEY: "${env:CANARY}" } },
      web: { mcp: `${url}/mcp`, headers: { Authorization: "Bearer ${env:CANARY}" } },
      remote: { remote: url, token: "${env:CANARY}" },
      missing: { openapi: "./api.json", auth: "${env:CANARI}" },
    },
  }
  // Commands name the secret in pieces, so that the file itself does not hold it.
  const file = join(folder, "operations.config.json")
  await writeFile(file, JSON.stringify(config))
  const lines: unknown[] = []
  const log = (...args: unknown[]): void => void lines.push(args)
  const env = { PATH: process.env["PATH"], CANARY }

  await using hub = createHub(await loadConfig(file), {
    env,
    retry: false,
    logger: { debug: log, info: log, warn: log, error: log },
  })
  await hub.ready()
  const failure = await hub.registry.execute("api.pets").catch((error: unknown) => error)

  const out = [hub.sources, lines, failure, hub.report("api"), hub.registry.getAllSpecs()]
  expect(deepText(out)).not.toContain(CANARY)
  expect(failure).toBeInstanceOf(Error)
  expect(hub.sources.find(({ name }) => name === "missing")).toMatchObject({
    state: "failed",
    reason: expect.stringMatching(/"CANARI" is not set\. Did you mean "CANARY"\?/),
  })
  // Both headers of the call, the document's, and whatever the others tried.
  expect(seen).toBeGreaterThanOrEqual(2)
})

/** All there is to see of a value, in a log, on a terminal and in JSON. */
function deepText(value: unknown): string {
  return inspect(value, { depth: 20, maxStringLength: null }) + JSON.stringify(value)
}

function documentFor(url: string): unknown {
  return {
    openapi: "3.1.0",
    info: { title: "Pets", version: "1" },
    servers: [{ url }],
    paths: {
      "/pets": {
        get: {
          operationId: "pets",
          security: [{ token: [] }],
          responses: { 200: { description: "Pets" } },
        },
      },
    },
    components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
  }
}
