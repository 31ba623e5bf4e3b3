import { validateOptions } from "../../internal/options.ts"
import type { MCPClientConfig } from "./config.ts"
import { MCP_FIELDS } from "./config-fields.ts"
import { connectClient, CREATE_CLIENT_OPTIONS } from "./client/connect.ts"
import type { CreateMCPClientOptions } from "./client/connect.ts"
import type { MCPClientWrapper } from "./client/wrapper.ts"

/**
 * Connects to an MCP server and lists its tools. Whoever calls this closes what it gives.
 *
 * `name` is the namespace of the operations. Rejects with a `CallError` that says what to do when the
 * configuration is wrong or the server cannot be used, and then nothing is left running.
 */
export async function createMCPClient(
  name: string,
  config: MCPClientConfig,
  options: CreateMCPClientOptions = {},
): Promise<MCPClientWrapper> {
  validateOptions("createMCPClient", config, MCP_FIELDS)
  validateOptions("createMCPClient", options, CREATE_CLIENT_OPTIONS)
  return await connectClient(name, config, options.signal)
}

/** Closes a client: its connection, the process behind it, and what is registered of it. Twice is fine. */
export async function closeMCPClient(wrapper: MCPClientWrapper): Promise<void> {
  await wrapper.close()
}
