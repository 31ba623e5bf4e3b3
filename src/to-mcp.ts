// The entry `@alkdev/operations/to-mcp`: a registry as an MCP server.

export { toMCP } from "./serve/mcp/to-mcp.ts"
export type { MCPServer } from "./serve/mcp/to-mcp.ts"
export type { ExposeOptions, ExposeRule } from "./tools/expose.ts"
export type { SurfaceCost, ToolCost } from "./tools/model.ts"
export type { AuthInfoLike, GivenCaller } from "./serve/mcp/auth.ts"
export type {
  MCPAuthOptions,
  MCPServerOptions,
  ResourceMetadata,
  SessionLimits,
} from "./serve/mcp/options.ts"
export type { SurfaceOptions } from "./tools/options.ts"
export type { Listening, ListenOptions } from "./serve/mcp/listen.ts"
export type { NodeRequestLike, NodeResponseLike } from "./serve/node-types.ts"
export type { NodeGiven } from "./serve/node.ts"
export type { StdioConnection, StdioOptions } from "./serve/mcp/stdio.ts"
export { readBearerToken } from "./serve/upgrade.ts"
export type { UpgradeRequestLike, UpgradeRules } from "./serve/upgrade.ts"
export type { Authenticate } from "./serve/authenticate.ts"
