// The entry `./config`: the types of a configuration, and its validation. Lightweight, and for any platform.

export { defineConfig } from "./config/define.ts"
export type { ConfigContext, ConfigFunction, UserConfig } from "./config/define.ts"
export { ConfigError } from "./config/error.ts"
export type { ConfigFault } from "./config/error.ts"
export { configSchema } from "./config/config-shapes.ts"
export { resolveConfig } from "./config/resolve.ts"
export type { ResolveConfigOptions } from "./config/resolve.ts"
export type { SourceConfig, SourceKind } from "./config/kinds/index.ts"
export type { AccessRule, CommonSource } from "./config/kinds/kind.ts"
export type { MCPSource } from "./config/kinds/mcp.ts"
export type { OpenAPISource } from "./config/kinds/openapi.ts"
export type { RemoteSource } from "./config/kinds/remote.ts"
export type { ScanSource } from "./config/kinds/scan.ts"
export type {
  ApiKeyConfig,
  OperationsConfig,
  RecordConfig,
  RegistryConfig,
  ResolvedConfig,
  ResolvedSource,
  ServerConfig,
} from "./config/model.ts"
