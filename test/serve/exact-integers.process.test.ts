// Integers beyond those that a number keeps exactly: sent to an API digit for digit, or refused.
import { spawn } from "node:child_process"
import type { ChildProcessWithoutNullStreams } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { resolve } from "node:path"
import { createInterface } from "node:readline"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { WebSocket } from "ws"
import { silentLogger } from "../../src/testing.ts"
import type { OperationRegistry } from "../../src/index.ts"
import { serveHTTP } from "../../src/node.ts"
import { toMCP } from "../../src/to-mcp.ts"
import { program } from "../sources/mcp/support/program.ts"
import { rawRequest } from "./mcp/support/clients.ts"
import { exactRegistry } from "./mcp/support/exact-operations.ts"

const BIG = "12345678901234567890"
/** What JavaScript writes for 2 ** 60, and a number keeps. */
const KEPT = "1152921504606847000"

/** What the API and the handler received. */
const received: string[] = []
const api = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    received.push(Buffer.concat(chunks).toString())
    response.setHeader("content-type", "application/json").end("{}")
  })
})

let registry: OperationRegistry
let url = ""
let mcp = ""
let child: ChildProcessWithoutNullStreams
const closers: (() => unknown)[] = []
beforeAll(async () => {
  api.listen(0, "127.0.0.1")
  await once(api, "listening")
  const baseUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`
  registry = exactRegistry(baseUrl)
  const served = await serveHTTP(registry, { port: 0, logger: silentLogger })
  url = served.url
  const tools = toMCP(registry, { logger: silentLogger, expose: { mode: "all" } })
  mcp = (await tools.listen({ port: 0 })).url
  const script = program(resolve(import.meta.dirname, "mcp/support/exact-stdio-server.ts"))
  child = spawn(process.execPath, [script, baseUrl])
  closers.push(
    () => child.kill(),
    () => api.close(),
    () => served.close(),
    () => tools.close(),
  )
})
afterAll(async () => {
  for (const close of closers.toReversed()) await close()
})

const json = { "content-type": "application/json" }
const post = async (path: string, body: string): Promise<string> =>
  await (await fetch(`${url}${path}`, { method: "POST", headers: json, body })).text()

/** Ways to send the text of an input; each resolves to the text of the answer. */
const WAYS: Readonly<Record<string, (id: string, input: string) => Promise<string>>> = {
  REST: (id, input) => post(`/api/${id.replace(".", "/")}`, input),
  gateway: (id, input) => post(`/operations/${id}`, input),
  batch: (id, input) => post("/batch", `[{"id":"${id}","input":${input}}]`),
  MCP: async (id, input) => {
    const params = { name: id.replace(".", "_"), arguments: "INPUT" }
    const request = rawRequest("tools/call", { params })
    const body = request.body.replace('"INPUT"', input)
    return await (await fetch(mcp, { ...request, body })).text()
  },
  "MCP over stdio": async (id, input) => {
    const params = { name: id.replace(".", "_"), arguments: "INPUT" }
    const { body } = rawRequest("tools/call", { params })
    const lines = createInterface({ input: child.stdout })
    child.stdin.write(`${body.replace('"INPUT"', input)}\n`)
    const [line] = (await once(lines, "line")) as [string]
    lines.close()
    return line
  },
  "raw WebSocket frames": async (id, input) => {
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws`)
    await once(socket, "open")
    const event = { type: "call.requested", requestId: "r1", operationId: id }
    socket.send(`${JSON.stringify(event).slice(0, -1)},"input":${input}}`)
    const [frame] = (await once(socket, "message")) as [Buffer]
    socket.close()
    return frame.toString()
  },
}

describe.each(Object.entries(WAYS))("an integer that a number changes, over %s,", (way, send) => {
  const inputs = { "own.keep": `{"id":${BIG}}`, "api.keep": `{"body":{"id":${BIG}}}` }

  test("reaches no handler as another one", async () => {
    received.length = 0
    const answer = await send("own.keep", inputs["own.keep"])
    expect(received).toEqual([])
    expect(answer).toContain("VALIDATION_ERROR")
  })

  test("is sent to an imported API as it is, or is refused", async () => {
    received.length = 0
    const flat = registry.getSpec("api.keep")?.inputSchema as { properties?: object }
    const isFlat = Object.hasOwn(flat?.properties ?? {}, "id")
    const answer = await send("api.keep", isFlat ? inputs["own.keep"] : inputs["api.keep"])
    // A batch refuses it, and names it.
    const isRefused = way === "batch"
    expect(received).toEqual(isRefused ? [] : [`{"id":${BIG}}`])
    expect(answer.includes(BIG)).toBe(isRefused)
  })

  test("stays a number if that keeps it", async () => {
    received.length = 0
    await send("own.keep", `{"id":${KEPT}}`)
    expect(received).toEqual([`number ${KEPT}`])
  })
})

test.each(["REST", "gateway", "batch", "MCP", "MCP over stdio"])(
  "an integer of 41 digits is refused over %s",
  async (way) => {
    received.length = 0
    const answer = await WAYS[way]?.("own.keep", `{"id":${"9".repeat(41)}}`)
    expect(received).toEqual([])
    expect(answer).toContain(`The integer ${"9".repeat(40)}`)
  },
)
