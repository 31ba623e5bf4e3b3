// What needs Node: published as `@alkdev/operations/node`.

export { createPublicFetch } from "./http-client/public-fetch.ts"
export type { PublicFetchOptions } from "./http-client/public-fetch.ts"
export type { LookupLike } from "./http-client/public-lookup.ts"
export { findConfig } from "./hub/config-file/find.ts"
export { loadConfig } from "./hub/config-file/load.ts"
export type { LoadConfigOptions } from "./hub/config-file/load.ts"
export { openAudit } from "./hub/audit/audit.ts"
export type { Audit, AuditOptions } from "./hub/audit/options.ts"
export type { AuditHead, AuditKey, AuditProblem } from "./hub/audit/chain.ts"
export { verifyAudit } from "./hub/audit/verify.ts"
export type { AuditReport, VerifyAuditOptions } from "./hub/audit/verify.ts"
export { createHub } from "./hub/create-hub.ts"
export type {
  Hub,
  HubOptions,
  ReportItem,
  SourceReport,
  SourceState,
  SourceStatus,
} from "./hub/model.ts"
export { serveHub } from "./hub/serve-hub.ts"
export type { ServedHub, ServeHubOptions } from "./hub/serve-hub.ts"
export type { OpenAPIFS } from "./internal/platform.ts"
export { nodeFS } from "./node/fs.ts"
export { scanDirectory } from "./node/fs.ts"
export { serveHTTP } from "./hub/serve-http.ts"
export type { HTTPWebSocketOptions, ServedHTTP, ServeHTTPOptions } from "./node/serve-http.ts"
