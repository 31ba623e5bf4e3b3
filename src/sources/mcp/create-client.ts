import { validateOptions } from "../../internal/options.ts"
import type { MCPClientConfig } from "./config.ts"
import { MCP_FIELDS } from "./config-fields.ts"
import { connectClient, CREATE_CLIENT_OPTIONS } from "./client/connect.ts"
import type { CreateMCPClientOptions } from "./client/connect.ts"
import type { MCPClientWrapper } from "./client/wrapper.ts"

/**
 * Connects to an MCP server and lists its tools. Close the returned client when you no longer need it.
 *
 * `name` is the namespace of the operations. Rejects with a `CallError` that says what to do when the
 * configuration is invalid or the server cannot be used; nothing is left running then.
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

/** Closes a client: its connection, its process and its registrations. May be called more than once. */
export async function closeMCPClient(wrapper: MCPClientWrapper): Promise<void> {
  await wrapper.close()
}
