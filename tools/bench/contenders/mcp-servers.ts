import { getRequestListener } from "@hono/node-server"
import {
  fromJsonSchema,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server"
import { createServer } from "node:http"
import type { Server } from "node:http"
import { QUOTE, Quote, quote, QuoteInput } from "../cases.ts"
import type { MCPLibrary } from "../library.ts"
import { quoteByHand } from "./floor.ts"

/** The tool that every server has. */
export const TOOL = "shop_quote3"

/** Id of the one session of the SDK's server. */
export const SESSION = "bench"

/** A server with one tool, written by hand with Node alone for exactly these requests. */
export function mcpFloor(): Server {
  return createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const [only] = chunks
      const text = chunks.length === 1 ? String(only) : Buffer.concat(chunks).toString()
      answerByHand(text, request.headers["mcp-method"]).then(
        (body) => {
          const length = Buffer.byteLength(body)
          response.writeHead(200, { "content-type": "application/json", "content-length": length })
          response.end(body)
        },
        () => response.writeHead(400, { "content-length": 0 }).end(),
      )
    })
  })
}

/** The text of the answer to a `tools/call`; rejects for any other request. */
export async function answerByHand(
  text: string,
  confirmed: string | readonly string[] | null | undefined,
): Promise<string> {
  const { id, method, params } = JSON.parse(text) as {
    readonly id: number
    readonly method: string
    readonly params: { readonly name: string; readonly arguments: QuoteInput }
  }
  if (method !== confirmed || params.name !== TOOL) throw new TypeError("Unknown")
  const structuredContent = await quoteByHand(params.arguments)
  const content = [{ type: "text", text: JSON.stringify(structuredContent) }]
  const result = { content, structuredContent, resultType: "complete" }
  return JSON.stringify({ jsonrpc: "2.0", id, result })
}

/** A registry with so many operations. */
export function quotes(
  { createRegistry, defineOperation }: MCPLibrary,
  count: number,
): Parameters<MCPLibrary["toMCP"]>[0] {
  const operations = Array.from({ length: count }, (_, index) =>
    defineOperation({
      ...QUOTE,
      namespace: "shop",
      name: `quote${index}`,
    }),
  )
  return createRegistry(operations)
}

/** A registry of five operations that is served. */
export function mcpOurs(library: MCPLibrary, hasSessions: boolean): Server {
  const sessions = hasSessions ? {} : false
  const served = library.toMCP(quotes(library, 5), { expose: { mode: "all" }, sessions })
  return createServer((request, response) => void served.node(request, response))
}

/** A server of the SDK with one session, which has begun. */
export async function mcpSDK(): Promise<Server> {
  const server = sdkServer()
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => SESSION,
  })
  await server.connect(transport)
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  }
  const clientInfo = { name: "bench", version: "1.0.0" }
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }
  const body = JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params })
  const opened = await transport.handleRequest(
    new Request("http://localhost/mcp", { method: "POST", headers, body }),
  )
  await opened.text()
  const listener = getRequestListener((request) => transport.handleRequest(request))
  return createServer((request, response) => void listener(request, response))
}

/** A server of the SDK. */
export function sdkServer(): McpServer {
  const server = new McpServer({ name: "bench", version: "1.0.0" })
  server.registerTool(
    TOOL,
    { inputSchema: fromJsonSchema(QuoteInput), outputSchema: fromJsonSchema(Quote) },
    async (input) => {
      const structuredContent = await quote(input as QuoteInput)
      const text = JSON.stringify(structuredContent)
      return { content: [{ type: "text", text }], structuredContent: { ...structuredContent } }
    },
  )
  return server
}
