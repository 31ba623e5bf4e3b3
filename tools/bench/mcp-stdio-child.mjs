// A program that serves the same registry over standard input and output: by hand, or with `toMCP`.
import process from "node:process"
import { Type } from "typebox"

process.on("message", () => {
  const { user, system } = process.cpuUsage()
  process.send?.(user + system)
})
process.on("disconnect", () => process.exit())

const program = process.argv[2]
if (program !== "node") {
  const { createRegistry, defineOperation } = await import("../../dist/bundle/index.js")
  const quote = defineOperation({
    namespace: "shop",
    name: "quote3",
    type: "query",
    description: "Prices an article",
    inputSchema: Type.Object({}, { additionalProperties: true }),
    outputSchema: Type.Object({}, { additionalProperties: true }),
    accessControl: { requiredScopes: [] },
    handler: (input) => ({ ...input, total: 1 }),
  })
  const registry = createRegistry([quote])
  if (program === "ours") {
    const { toMCP } = await import("../../dist/bundle/to-mcp.js")
    await toMCP(registry).stdio()
  } else {
    let rest = ""
    process.stdin.on("data", (chunk) => {
      const lines = (rest + String(chunk)).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) void answer(registry, JSON.parse(line))
    })
  }
}

async function answer(registry, { id, method, params }) {
  const result =
    method === "initialize"
      ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} } }
      : await called(registry, params.arguments)
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`)
}

async function called(registry, input) {
  const { data } = await registry.execute("shop.quote3", input)
  return { content: [{ type: "text", text: JSON.stringify(data) }], structuredContent: data }
}
