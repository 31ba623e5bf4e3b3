// A gateway as a process: the server of the configuration in its first argument, served on standard
// input and output.

import { createMCPClient } from "../../../../src/from-mcp.ts"
import type { MCPClientConfig } from "../../../../src/from-mcp.ts"
import { createRegistry } from "../../../../src/index.ts"
import { silentLogger } from "../../../../src/testing.ts"
import { toMCP } from "../../../../src/to-mcp.ts"

const config = JSON.parse(process.argv[2] ?? "{}") as MCPClientConfig
const registry = createRegistry([], { logger: silentLogger })
const wrapper = await createMCPClient("up", { ...config, logger: silentLogger })
wrapper.registerAll(registry)
const server = toMCP(registry, { logger: silentLogger, naming: "raw", expose: { mode: "all" } })
const connection = await server.stdio({ exit: false })
await connection.closed
await server.close()
await wrapper.close()
