/** Calls of MCP tools: those that are served, and those that are imported. */
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server"
import assert from "node:assert/strict"
import { resolve } from "node:path"
import { Quote, quote, QuoteInput, quoteInputs } from "./cases.ts"
import { quoteByHand } from "./contenders/floor.ts"
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
export const MANY_TOOLS = "tools/call, 500 operations"
export const SDK_CALL = "callTool of the SDK"
export const OUR_CALL = "execute of an imported tool"

const SERVER = {
  command: process.execPath,
  args: ["--import", "tsx", resolve(import.meta.dirname, "mcp-child.ts")],
}

export async function mcp(library: MCPLibrary): Promise<MCPRows> {
  const { createMCPClient, createRegistry, toMCP } = library
  const few = toMCP(createRegistry(quotes(library, 5)), { expose: { mode: "all" } })
  const many = toMCP(createRegistry(quotes(library, 500)), { expose: { mode: "all" } })
  const found = toMCP(createRegistry(quotes(library, 500)), { expose: { mode: "search" } })

  const sdkServer = createMcpHandler(() => {
    const server = new McpServer({ name: "bench", version: "1.0.0" })
    server.registerTool(
      "shop_quote3",
      { inputSchema: fromJsonSchema(QuoteInput), outputSchema: fromJsonSchema(Quote) },
      async (input) => {
        const structuredContent = await quote(input as QuoteInput)
        const text = JSON.stringify(structuredContent)
        return { content: [{ type: "text", text }], structuredContent: { ...structuredContent } }
      },
    )
    return server
  })

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
    assert.deepEqual(dataOf(await textOf(byHand(requestOf("shop_quote3", input)))), expected)
    const peer = await textOf(sdkServer.fetch(requestOf("shop_quote3", input)))
    assert.deepEqual(dataOf(peer), expected)
    assert.deepEqual(await answer(few, "shop_quote3", input), expected)
    assert.deepEqual(await answer(many, "shop_quote300", input), expected)
  }

  return {
    served: [
      row(BY_HAND, (input) => textOf(byHand(requestOf("shop_quote3", input)))),
      row(SDK_SERVER, (input) => textOf(sdkServer.fetch(requestOf("shop_quote3", input)))),
      row(FEW_TOOLS, (input) => send(few, "shop_quote3", input)),
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

function quotes({ defineOperation }: MCPLibrary, count: number) {
  return Array.from({ length: count }, (_, index) =>
    defineOperation({
      namespace: "shop",
      name: `quote${index}`,
      type: "query",
      description: "Prices an article",
      inputSchema: QuoteInput,
      outputSchema: Quote,
      accessControl: { requiredScopes: [] },
      handler: quote,
    }),
  )
}

function requestOf(name: string, input: object): Request {
  return new Request("http://localhost/mcp", {
    method: "POST",
    headers: {
      host: "localhost",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: JSON.stringify({
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
    }),
  })
}

/** A server of one tool, as one would write it for this very request. */
async function byHand(request: Request): Promise<Response> {
  const { id, method, params } = JSON.parse(await request.text()) as {
    readonly id: number
    readonly method: string
    readonly params: { readonly name: string; readonly arguments: QuoteInput }
  }
  if (method !== request.headers.get("mcp-method") || params.name !== "shop_quote3") {
    return new Response(null, { status: 400 })
  }
  const structuredContent = await quoteByHand(params.arguments)
  const content = [{ type: "text", text: JSON.stringify(structuredContent) }]
  const result = { content, structuredContent, resultType: "complete" }
  return new Response(JSON.stringify({ jsonrpc: "2.0", id, result }), {
    headers: { "content-type": "application/json" },
  })
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
