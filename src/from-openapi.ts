export {
  FromOpenAPI,
  FromOpenAPIFile,
  FromOpenAPIUrl,
  prepareRequest,
} from "./sources/openapi/from-openapi.ts"
export type {
  ImportedOperation,
  ImportedOperations,
  OpenAPIConfig,
  OpenAPISpec,
  OpenAPIUrlConfig,
} from "./sources/openapi/from-openapi.ts"
export type { RequestOptions } from "./sources/openapi/config.ts"
export type { Credential, HTTPServiceConfig, Secret } from "./sources/openapi/config.ts"
export type { CallHeaders, HeaderValue } from "./core/call-headers.ts"
export type { CredentialContext } from "./core/types.ts"
export type { OperationSummary } from "./sources/openapi/import.ts"
export type { PreparedRequest } from "./http-client/request.ts"
export type { OpenAPIOperation, OpenAPIParameter } from "./sources/openapi/from-openapi.ts"
export type { ImportNote, ImportReport, ReportedOperation } from "./sources/openapi/report.ts"
export type { ReconnectPolicy } from "./http-client/reconnect.ts"
export { paginate } from "./sources/openapi/paginate.ts"
export type { PaginateOptions } from "./sources/openapi/paginate.ts"
export { OpenAPIServiceRegistry } from "./sources/openapi/services.ts"
