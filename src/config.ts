// The entry `./config`: the types of a configuration, and its validation. Lightweight, and for any platform.

export { defineConfig } from "./config/define.ts"
export type { ConfigContext, ConfigFunction, UserConfig } from "./config/define.ts"
export { ConfigError } from "./config/error.ts"
export type { ConfigFault } from "./config/error.ts"
export { configSchema } from "./config/config-shapes.ts"
export { resolveConfig } from "./config/resolve.ts"
export type { ResolveConfigOptions } from "./config/resolve.ts"
export type {
  AccessRule,
  ApiKeyConfig,
  CommonSource,
  MCPSource,
  OpenAPISource,
  OperationsConfig,
  RecordConfig,
  RegistryConfig,
  RemoteSource,
  ResolvedConfig,
  ResolvedSource,
  ScanSource,
  ServerConfig,
  SourceConfig,
  SourceKind,
} from "./config/model.ts"
