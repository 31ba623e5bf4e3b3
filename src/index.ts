// The public API of the core: names that are not here are internal.

export { isDryRun } from "./core/dry-run.ts"
export type { DryRun, ShownRequest } from "./core/dry-run.ts"
export { OperationType } from "./core/types.ts"
export type { OperationPolicy } from "./core/operation-settings.ts"
export type {
  Change,
  Middleware,
  MiddlewareCall,
  MiddlewareFunction,
  MiddlewareOptions,
  Next,
  Revalidation,
  StreamNext,
} from "./core/middleware.ts"
export { createApprovals } from "./approvals/approvals.ts"
export type { Approvals } from "./approvals/approvals.ts"
export type { ApprovalAnswer, WaitingApproval } from "./approvals/tickets.ts"
export type {
  ApprovalCall,
  ApprovalCondition,
  ApprovalDecision,
  ApprovalFunction,
  ApprovalList,
  ApprovalRule,
  CallApproval,
  Verdict,
} from "./core/approvals.ts"
export { defineContextValue } from "./core/context-value.ts"
export type { ContextValue } from "./core/context-value.ts"
export { httpResponse } from "./core/http-response.ts"
export type { CookieOptions, HTTPResponse } from "./core/http-response.ts"
export type {
  BreakerPolicy,
  CachePolicy,
  ConcurrencyPolicy,
  Fallback,
  HedgePolicy,
  IdempotencyPolicy,
  IdempotencyStore,
  PolicyRule,
  RateLimiter,
  RateLimitPolicy,
  Resilience,
  RetryPolicy,
  TimeoutPolicy,
} from "./core/resilience.ts"
export type {
  AccessControl,
  CallOptions,
  CallPolicy,
  CallWay,
  CredentialContext,
  ErrorDefinition,
  FormInputRequest,
  Identity,
  InputRequest,
  InputResponse,
  NormalizeMode,
  OperationAnnotations,
  OperationDeprecation,
  OperationSpec,
  InputMode,
  OutputMode,
  ProgressUpdate,
  RegisteredOperations,
  RegisteredRoutes,
  MCPExposure,
  RestRoute,
  RootsInputRequest,
  SamplingInputRequest,
  UrlInputRequest,
  Visibility,
} from "./core/types.ts"
export type {
  IOperationDefinition,
  OperationContext,
  OperationHandler,
  SubscriptionHandler,
} from "./core/handler.ts"
export type {
  EnvelopeStream,
  ErrorsOf,
  IdOf,
  NestedCallOptions,
  NotCallable,
  OperationEnv,
  OperationId,
  OperationRoutes,
  OperationShape,
  OutputFor,
  RoutedOperation,
  RoutedShapes,
  ShapeOf,
  ShapesOf,
} from "./core/infer.ts"
export type { InputOf, OutputOf, StandardSchemaLike } from "./schema/standard.ts"
export { AccessControlSchema, OperationSpecSchema } from "./core/spec-schemas.ts"

export { defineOperation, isDeclaredError } from "./core/define.ts"
export type { AnyOperation, HandlerOf, Operation } from "./core/define.ts"

export { createRegistry, OperationRegistry } from "./engine/registry.ts"
export type {
  AnyRegistry,
  RegisteredOperation,
  RegisterOptions,
  RegistryChange,
  RegistryOptions,
  SearchOptions,
  SearchResult,
  TrustedCalls,
} from "./engine/registry.ts"
export type {
  CallEntry,
  CallOutcome,
  CallScope,
  CallTracer,
  TraceAttributes,
  TraceContext,
  TraceDestination,
  TracedCall,
  TraceFields,
} from "./core/tracing.ts"
export type { ErrorExposure, ErrorListener, ErrorReporting, FailedCall } from "./engine/failures.ts"
export type { CallEnded, CallStarted, CallTrace } from "./engine/observe.ts"
export { subscribe } from "./engine/subscribe.ts"
export { buildEnv } from "./engine/env.ts"
export type { BuildEnvOptions } from "./engine/env.ts"
export { checkAccess, enforceAccess } from "./core/access.ts"
export type { NormalizeReport, OutputWarning } from "./engine/result-pipeline.ts"
export type { NormalizeChange, NormalizeKind } from "./schema/normalize/report.ts"

export {
  httpEnvelope,
  isResponseEnvelope,
  localEnvelope,
  mcpEnvelope,
  RESPONSE_SOURCES,
  unwrap,
  unwrapOrThrow,
} from "./core/envelope.ts"
export type {
  HTTPResponseMeta,
  HTTPStreamEvent,
  LocalResponseMeta,
  MCPAnnotations,
  MCPContentBlock,
  MCPIcon,
  MCPResourceContent,
  MCPResponseMeta,
  PolicyResponseMeta,
  ResponseEnvelope,
  ResponseMeta,
  ResponseSource,
} from "./core/envelope.ts"
export {
  HTTPResponseMetaSchema,
  LocalResponseMetaSchema,
  MCPContentBlockSchema,
  MCPResponseMetaSchema,
  ResponseEnvelopeSchema,
  ResponseMetaSchema,
} from "./core/envelope-schemas.ts"

export { CallError, ERROR_CODES, ErrorCode, isCallError } from "./core/errors.ts"
export type { CallErrorJSON, CallErrorOptions, ErrorCodeInfo } from "./core/errors.ts"
export { mapError } from "./core/map-error.ts"
export type { ErrorStamp } from "./core/map-error.ts"

export {
  assertIsSchema,
  collectErrors,
  formatValueErrors,
  validateOrThrow,
} from "./core/validation.ts"
export type { ValueError } from "./core/validation.ts"
export { FromSchema } from "./schema/from-schema.ts"
export type { FromSchemaOptions } from "./schema/from-schema.ts"
export {
  FromOpenAPI,
  FromOpenAPIFile,
  FromOpenAPIUrl,
  OpenAPIServiceRegistry,
} from "./from-openapi.ts"
export type {
  Credential,
  HTTPServiceConfig,
  ImportedOperation,
  ImportedOperations,
  ImportNote,
  ImportReport,
  OpenAPIConfig,
  OpenAPIOperation,
  OpenAPIParameter,
  OpenAPISpec,
  OpenAPIUrlConfig,
  OperationSummary,
  ReconnectPolicy,
  ReportedOperation,
  Secret,
} from "./from-openapi.ts"
export { fromStandardSchema } from "./schema/from-schema.ts"

export { scanDefinitions, scanOperations } from "./sources/scan/scanner.ts"
export type {
  OperationManifest,
  ScannedDefinition,
  ScanOptions,
  ScanProblem,
  ScannerFS,
} from "./sources/scan/scanner.ts"

export type {
  CallAbortedEvent,
  CallCompletedEvent,
  CallAnsweredEvent,
  CallAskedEvent,
  CallCreditEvent,
  CallErrorEvent,
  CallEvent,
  CallProgressEvent,
  CallRequestedEvent,
  CallRespondedEvent,
} from "./core/events.ts"
export { PendingRequestMap, type CallLink } from "./protocol/pending/request-map.ts"
export type {
  PendingRequestMapOptions,
  PendingResponse,
  PendingSubscription,
} from "./protocol/pending/requests.ts"
export type { PendingOptions } from "./protocol/pending/options.ts"
export {
  buildCallHandler,
  CallEventMap,
  CallEventSchema,
  serveCalls,
} from "./protocol/server/serve.ts"
export type {
  CallHandler,
  CallHandlerConfig,
  CallHandlerOptions,
  CallServer,
  ServeCallsOptions,
} from "./protocol/server/serve.ts"
export type { CallPeer, ResolveIdentity, ServeLimits } from "./protocol/server/server.ts"
export { createClient } from "./protocol/client.ts"
export type { Client, ClientCalls, OperationsOf } from "./protocol/client.ts"
export { fromCall } from "./protocol/from-call.ts"
export type { FromCallOptions, RemoteOperations } from "./protocol/from-call.ts"
export type {
  DeliveryStatus,
  ServedOperation,
  ServedOperations,
  Transport,
  TransportPeer,
  TransportReceiver,
} from "./protocol/transport.ts"

export type { Logger } from "./internal/logger.ts"
export type { Clock, OpenAPIFS } from "./internal/platform.ts"
