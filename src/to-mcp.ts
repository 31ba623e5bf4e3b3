// The entry `@alkdev/operations/to-mcp`: a registry as an MCP server.

export { toMCP } from "./serve/mcp/to-mcp.ts"
export type { MCPServer } from "./serve/mcp/to-mcp.ts"
export type { ExposeOptions, ExposeRule } from "./serve/expose.ts"
export type { SurfaceCost } from "./serve/mcp/model.ts"
export type { AuthInfoLike, GivenCaller } from "./serve/mcp/auth.ts"
export type {
  MCPAuthOptions,
  MCPServerOptions,
  ResourceMetadata,
  SessionLimits,
  SurfaceOptions,
} from "./serve/mcp/options.ts"
export type { Listening, ListenOptions } from "./serve/mcp/listen.ts"
export type { NodeRequestLike, NodeResponseLike } from "./serve/node-types.ts"
export type { NodeGiven } from "./serve/node.ts"
export type { StdioConnection, StdioOptions } from "./serve/mcp/stdio.ts"
export { readBearerToken } from "./serve/upgrade.ts"
export type { UpgradeRequestLike, UpgradeRules } from "./serve/upgrade.ts"
export type { Authenticate } from "./serve/authenticate.ts"
