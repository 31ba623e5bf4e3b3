// A hostile MCP server as a process: node --import tsx mcp-child.ts <seed>
import { createInterface } from "node:readline"
import { HostilePeer } from "./mcp-peer.ts"

const peer = new HostilePeer(Number(process.argv[2]))
for await (const line of createInterface({ input: process.stdin })) {
  for (const said of peer.answer(JSON.parse(line) as object)) {
    if (said === "cut") process.exit(3)
    process.stdout.write(`${said.text}\n`)
  }
}
