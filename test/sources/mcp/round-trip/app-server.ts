// A server of the SDK with an MCP App: a tool whose result a page shows.
import { McpServer } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"

const URI = "ui://chart/view"

serveStdio(() => {
  const server = new McpServer(
    { name: "chart", version: "1.0.0" },
    { instructions: "Draws charts. Ask for few values." },
  )
  server.registerTool(
    "draw",
    {
      description: "Draws a chart",
      _meta: { ui: { resourceUri: URI, visibility: ["model", "app"] } },
    },
    () => ({ content: [{ type: "text", text: "1, 2, 3" }] }),
  )
  server.registerResource(
    "chart page",
    URI,
    { mimeType: "text/html;profile=mcp-app", _meta: { ui: { prefersBorder: true } } },
    (uri) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: "text/html;profile=mcp-app",
          text: "<!doctype html><title>é</title><script>1 < 2</script>\r\n",
          _meta: { ui: { csp: { connectDomains: ["https://example.com"] } } },
        },
      ],
    }),
  )
  return server
})
