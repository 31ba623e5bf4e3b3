// The entry `@alkdev/operations/from-mcp`: operations of MCP servers.

export { closeMCPClient, createMCPClient } from "./sources/mcp/client/wrapper.ts"
export { mapMCPContentBlocks } from "./mcp/content.ts"
export { MCPClientLoader } from "./sources/mcp/client/loader.ts"
export { mcpEnvelope } from "./core/envelope.ts"

export type {
  MCPAsker,
  MCPAuthProvider,
  MCPClientConfig,
  MCPClientInfo,
  MCPHeaders,
  MCPLaunch,
  MCPOAuthProviderLike,
  MCPRoot,
  MCPTokenProvider,
  MCPToolConfig,
  MCPTransportLike,
  MCPTransportType,
} from "./sources/mcp/config.ts"
export type { MCPInputVariable } from "./sources/mcp/config-entry.ts"
export type {
  MCPEra,
  MCPHiddenText,
  MCPOrigin,
  MCPToolAnnotations,
  MCPToolDefinition,
} from "./mcp/model.ts"
export type {
  PinnedDefinition,
  PinnedTool,
  PinPolicy,
  PinQuestion,
  Pins,
  PinStore,
} from "./sources/mcp/pins.ts"
export type { DefinitionChange } from "./sources/mcp/definition-diff.ts"
export type { CreateMCPClientOptions } from "./sources/mcp/client/wrapper.ts"
export type {
  MCPCallOptions,
  MCPClient,
  MCPClientWrapper,
  MCPOperation,
} from "./sources/mcp/client/client.ts"
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
