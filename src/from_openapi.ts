export { FromOpenAPI, FromOpenAPIFile, FromOpenAPIUrl, prepareRequest } from "./openapi-import.ts"
export type {
  ImportedOperation,
  ImportedOperations,
  OpenAPIConfig,
  OpenAPISpec,
  OpenAPIUrlConfig,
} from "./openapi-import.ts"
export type { RequestOptions } from "./openapi/call.ts"
export type { Credential, HTTPServiceConfig, Secret } from "./openapi/config.ts"
export type { CallHeaders, HeaderValue } from "./internal/call-headers.ts"
export type { CredentialContext } from "./types.ts"
export type { OperationSummary } from "./openapi/import.ts"
export type { PreparedRequest } from "./openapi/model.ts"
export type { OpenAPIOperation, OpenAPIParameter } from "./openapi/written.ts"
export type { ImportNote, ImportReport, ReportedOperation } from "./openapi/report.ts"
export type { ReconnectPolicy } from "./http/reconnect.ts"
export { paginate } from "./paginate.ts"
export type { PaginateOptions } from "./paginate.ts"
export { OpenAPIServiceRegistry } from "./openapi-services.ts"
