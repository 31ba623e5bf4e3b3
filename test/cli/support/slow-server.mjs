// An MCP server on stdio that does not answer before so many milliseconds: `node slow-server.mjs 5000`.
import { createInterface } from "node:readline"
import { setTimeout } from "node:timers/promises"

const RESULTS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "slow", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools: [{ name: "ping", inputSchema: { type: "object" } }] }),
}

const ready = setTimeout(Number(process.argv[2]))

createInterface({ input: process.stdin }).on("line", (line) => void answer(line))

async function answer(line) {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  await ready
  const error = { code: -32601, message: "Method not found" }
  const outcome = method in RESULTS ? { result: RESULTS[method](params) } : { error }
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...outcome })}\n`)
}
