import { validateOptions } from "./internal/options.ts"
import type { MCPClientConfig } from "./sources/mcp/config.ts"
import { MCP_FIELDS } from "./sources/mcp/config-fields.ts"
import { connectClient, CREATE_CLIENT_OPTIONS } from "./sources/mcp/client/connect.ts"
import type { CreateMCPClientOptions } from "./sources/mcp/client/connect.ts"
import type { MCPClientWrapper } from "./sources/mcp/client/wrapper.ts"

export { mapMCPContentBlocks } from "./mcp/content.ts"
export { MCPClientLoader } from "./sources/mcp/client/loader.ts"
export { mcpEnvelope } from "./core/envelope.ts"

export type {
  MCPAsker,
  MCPClientConfig,
  MCPClientInfo,
  MCPHeaders,
  MCPLaunch,
  MCPRoot,
  MCPToolConfig,
  MCPTransportType,
} from "./sources/mcp/config.ts"
export type { MCPInputVariable } from "./sources/mcp/config-read.ts"
export type {
  MCPEra,
  MCPHiddenText,
  MCPOrigin,
  MCPToolAnnotations,
  MCPToolDefinition,
} from "./mcp/model.ts"
export type {
  DefinitionChange,
  PinnedDefinition,
  PinnedTool,
  PinPolicy,
  PinQuestion,
  Pins,
  PinStore,
} from "./sources/mcp/pins.ts"
export type {
  MCPAuthProvider,
  MCPOAuthProviderLike,
  MCPTokenProvider,
  MCPTransportLike,
} from "./sources/mcp/transport-like.ts"
export type { CreateMCPClientOptions } from "./sources/mcp/client/connect.ts"
export type { MCPCallOptions, MCPClient } from "./sources/mcp/client/client.ts"
export type { MCPLoaded } from "./sources/mcp/client/loaded.ts"
export type { MCPClientLoaderOptions } from "./sources/mcp/client/loader.ts"
export type {
  MCPConnectionEvent,
  MCPList,
  MCPListKind,
  MCPPeer,
} from "./sources/mcp/client/model.ts"
export type { MCPToolsChange } from "./sources/mcp/client/refresh.ts"
export type { MCPServerStatus } from "./sources/mcp/client/status.ts"
export type { MCPClientWrapper, MCPOperation } from "./sources/mcp/client/wrapper.ts"

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
