/** Calls of MCP tools: those that are served, and those that are imported. */
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { createMcpHandler } from "@modelcontextprotocol/server"
import assert from "node:assert/strict"
import { resolve } from "node:path"
import { quote, quoteInputs } from "./cases.ts"
import type { QuoteInput } from "./cases.ts"
import { answerByHand, quotes, sdkServer, TOOL } from "./contenders/mcp-servers.ts"
import type { MCPLibrary } from "./library.ts"
import { callLoop } from "./measure.ts"
import type { Workload } from "./measure.ts"

/** The rows, and what closes what they call. */
export interface MCPRows {
  /** `tools/call` as a request in and a response out, without a socket. */
  readonly served: readonly Workload[]
  /** A call of a server in a child process, this side of the pipe. */
  readonly imported: readonly Workload[]
  close(): Promise<void>
}

export const BY_HAND = "tools/call by hand"
const SDK_SERVER = "tools/call, server of the SDK"
export const FEW_TOOLS = "tools/call, 5 operations"
/** Without the platform's request objects, so that all allocations are ours. */
const NODE_TOOLS = "tools/call, 5 operations, as a request of Node"
export const MANY_TOOLS = "tools/call, 500 operations"
export const SDK_CALL = "callTool of the SDK"
export const OUR_CALL = "execute of an imported tool"

const SERVER = {
  command: process.execPath,
  args: ["--import", "tsx", resolve(import.meta.dirname, "mcp-child.ts")],
}

export async function mcp(library: MCPLibrary): Promise<MCPRows> {
  const { createMCPClient, createRegistry, toMCP } = library
  const few = toMCP(quotes(library, 5), { expose: { mode: "all" } })
  const many = toMCP(quotes(library, 500), { expose: { mode: "all" } })
  const found = toMCP(quotes(library, 500), { expose: { mode: "search" } })

  const sdkHandler = createMcpHandler(sdkServer)
  const sendNode = nodeSender(few)

  const transport = new StdioClientTransport(SERVER)
  const sdk = new Client({ name: "bench", version: "1.0.0" })
  await sdk.connect(transport)
  await sdk.listTools()
  const ours = await createMCPClient("bench", SERVER)
  const registry = createRegistry([])
  ours.registerAll(registry)
  const imported = registry as { execute(id: string, input: unknown): Promise<{ data: unknown }> }

  const direct = (input: QuoteInput): Promise<unknown> =>
    sdk.callTool({ name: "quote", arguments: input })
  const through = (input: QuoteInput): Promise<{ data: unknown }> =>
    imported.execute("bench.quote", input)
  for (const input of quoteInputs) {
    const expected = await quote(input)
    assert.deepEqual(
      ((await direct(input)) as { structuredContent: unknown }).structuredContent,
      expected,
    )
    assert.deepEqual((await through(input)).data, expected)
    assert.deepEqual(dataOf(await textOf(byHand(requestOf(TOOL, input)))), expected)
    const peer = await textOf(sdkHandler.fetch(requestOf(TOOL, input)))
    assert.deepEqual(dataOf(peer), expected)
    assert.deepEqual(await answer(few, TOOL, input), expected)
    assert.deepEqual(dataOf(await sendNode(input)), expected)
    assert.deepEqual(await answer(many, "shop_quote300", input), expected)
  }

  return {
    served: [
      row(BY_HAND, (input) => textOf(byHand(requestOf(TOOL, input)))),
      row(SDK_SERVER, (input) => textOf(sdkHandler.fetch(requestOf(TOOL, input)))),
      row(FEW_TOOLS, (input) => send(few, TOOL, input)),
      row(NODE_TOOLS, sendNode),
      row(MANY_TOOLS, (input) => send(many, "shop_quote300", input)),
      row("call_operation, 500 operations", (input) =>
        send(found, "call_operation", { id: "shop.quote300", input }),
      ),
    ],
    imported: [row(SDK_CALL, direct), row(OUR_CALL, through)],
    async close() {
      await Promise.all([sdk.close(), ours.close(), few.close(), many.close(), found.close()])
    },
  }
}

type Served = ReturnType<MCPLibrary["toMCP"]>

function row(name: string, call: (input: QuoteInput) => Promise<unknown>): Workload {
  return { name, run: callLoop(name, call, quoteInputs) }
}

function requestOf(name: string, input: object): Request {
  const headers = headersOf(name)
  return new Request("http://localhost/mcp", { method: "POST", headers, body: bodyOf(name, input) })
}

function headersOf(name: string): Readonly<Record<string, string>> {
  return {
    host: "localhost",
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": name,
  }
}

function bodyOf(name: string, input: object): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name,
      arguments: input,
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  })
}

/** A hand-written server with one tool, for exactly this request. */
async function byHand(request: Request): Promise<Response> {
  const text = await answerByHand(await request.text(), request.headers.get("mcp-method"))
  return new Response(text, { headers: { "content-type": "application/json" } })
}

/** Sends requests as Node receives them, with bodies that a framework has read; returns the text of an answer. */
function nodeSender(server: Served): (input: QuoteInput) => Promise<string> {
  const requests = new Map(
    quoteInputs.map((input) => {
      const body = bodyOf(TOOL, input)
      const length = String(Buffer.byteLength(body))
      return [
        input,
        { body, request: new NodeRequest({ ...headersOf(TOOL), "content-length": length }) },
      ]
    }),
  )
  return async (input) => {
    const { request, body } = requests.get(input) ?? {}
    const response = new NodeResponse()
    await server.node(request as NodeRequest, response, { body })
    return response.text
  }
}

class NodeRequest {
  readonly method = "POST"
  readonly url = "/mcp"
  readonly headers: Readonly<Record<string, string>>

  constructor(headers: Readonly<Record<string, string>>) {
    this.headers = headers
  }

  on(): void {}
  off(): void {}
  resume(): void {}
}

class NodeResponse {
  readonly writableFinished = false
  readonly destroyed = false
  readonly writableNeedDrain = false
  text = ""

  writeHead(): void {}
  flushHeaders(): void {}
  on(): void {}
  once(): void {}
  off(): void {}

  write(): boolean {
    return true
  }

  destroy(): void {}

  end(text = ""): void {
    this.text = text
  }
}

async function textOf(response: Promise<Response>): Promise<string> {
  return await (await response).text()
}

async function send(server: Served, name: string, input: object): Promise<string> {
  return await textOf(server.fetch(requestOf(name, input)))
}

async function answer(server: Served, name: string, input: object): Promise<unknown> {
  return dataOf(await send(server, name, input))
}

function dataOf(text: string): unknown {
  const { result } = JSON.parse(text) as { result?: { structuredContent?: unknown } }
  assert.ok(result !== undefined, text)
  return result.structuredContent
}
