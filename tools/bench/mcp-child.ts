/** A server with one tool, on nothing but the SDK: what both clients of the benchmark call. */
import { Server } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { Quote, quote, QuoteInput } from "./cases.ts"

// Only plain data goes over a pipe; the SDK's types require this form.
const tool = {
  name: "quote",
  description: "Prices an article",
  inputSchema: JSON.parse(JSON.stringify(QuoteInput)) as { type: "object" },
  outputSchema: JSON.parse(JSON.stringify(Quote)) as { type: "object" },
}

serveStdio(() => {
  const server = new Server({ name: "bench", version: "1.0.0" }, { capabilities: { tools: {} } })
  server.setRequestHandler("tools/list", () => ({ tools: [tool] }))
  server.setRequestHandler("tools/call", async ({ params }) => {
    const structuredContent = await quote(params.arguments as QuoteInput)
    return {
      structuredContent,
      content: [{ type: "text", text: JSON.stringify(structuredContent) }],
    }
  })
  return server
})
