/**
 * One server in a separate process, so that its CPU time and its heap contain only its own work.
 *
 * Sends its port first. Then it responds to `cpu` with its CPU nanoseconds so far, and to `weigh` with its
 * memory.
 */
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"
import { cpuSoFar, weigh } from "./asked-child.ts"
import { loadBuiltHTTP, loadBuiltMCP } from "./library.ts"
import type { ServerName } from "./http-targets.ts"

const server = await create(process.argv[2] as ServerName)
// A connection must stay open until the next round of its server.
server.keepAliveTimeout = 600_000
// The parent process is gone.
process.on("disconnect", () => process.exit())
process.on("message", (question) => {
  process.send?.(question === "cpu" ? cpuSoFar() : weigh())
})
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port))

async function create(name: ServerName): Promise<Server> {
  if (name === "ours") {
    const { httpOurs } = await import("./contenders/http-ours.ts")
    return await httpOurs(await loadBuiltHTTP())
  }
  if (name === "floor") return (await import("./contenders/http-floor.ts")).httpFloor()
  switch (name) {
    case "mcp-floor":
      return (await import("./contenders/mcp-servers.ts")).mcpFloor()
    case "mcp-ours":
    case "mcp-stateless": {
      const { mcpOurs } = await import("./contenders/mcp-servers.ts")
      return mcpOurs(await loadBuiltMCP(), name === "mcp-ours")
    }
    case "mcp-sdk":
      return await (await import("./contenders/mcp-servers.ts")).mcpSDK()
    case "fastify":
      return await (await import("./contenders/http-peers.ts")).fastifyServer()
    case "hono":
      return (await import("./contenders/http-peers.ts")).honoServer()
    case "trpc":
      return (await import("./contenders/http-peers.ts")).trpcServer()
    case "orpc":
      return (await import("./contenders/http-peers.ts")).orpcServer()
    case "orpc-batch":
      return (await import("./contenders/http-peers.ts")).orpcServer(true)
  }
}
