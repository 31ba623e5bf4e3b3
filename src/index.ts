// The public surface of the core, written out: a name that is not here is nobody's business.

export { OperationType } from "./types.ts"
export type {
  AccessControl,
  CallOptions,
  CredentialContext,
  ErrorDefinition,
  FormInputRequest,
  Identity,
  InputRequest,
  InputResponse,
  IOperationDefinition,
  NormalizeMode,
  OperationAnnotations,
  OperationContext,
  OperationHandler,
  OperationPolicy,
  OperationSpec,
  OutputMode,
  ProgressUpdate,
  RegisteredOperations,
  RootsInputRequest,
  SamplingInputRequest,
  SubscriptionHandler,
  UrlInputRequest,
  Visibility,
} from "./types.ts"
export type {
  EnvelopeStream,
  ErrorsOf,
  IdOf,
  InputOf,
  NestedCallOptions,
  NotCallable,
  OperationEnv,
  OperationId,
  OperationShape,
  OutputFor,
  OutputOf,
  ShapeOf,
  ShapesOf,
  StandardSchemaLike,
} from "./infer.ts"
export {
  AccessControlSchema,
  ErrorDefinitionSchema,
  IdentitySchema,
  OperationAnnotationsSchema,
  OperationSpecSchema,
  OperationTypeSchema,
} from "./spec-schemas.ts"

export { defineOperation, isDeclaredError } from "./define.ts"
export type { AnyOperation, HandlerOf, Operation } from "./define.ts"

export { createRegistry, OperationRegistry } from "./registry.ts"
export type {
  AnyRegistry,
  RegisteredOperation,
  RegisterOptions,
  RegistryChange,
  RegistryOptions,
  SearchOptions,
  SearchResult,
  TrustedCalls,
} from "./registry.ts"
export type { ErrorExposure, ErrorListener, ErrorReporting, FailedCall } from "./engine/failures.ts"
export type { CallEnded, CallStarted, CallTrace } from "./engine/observe.ts"
export { subscribe } from "./subscribe.ts"
export { buildEnv } from "./env.ts"
export type { BuildEnvOptions } from "./env.ts"
export { checkAccess, enforceAccess } from "./access.ts"
export type { NormalizeReport, OutputWarning } from "./result-pipeline.ts"
export type { NormalizeChange, NormalizeKind } from "./schema/normalize/index.ts"

export {
  httpEnvelope,
  isResponseEnvelope,
  localEnvelope,
  mcpEnvelope,
  RESPONSE_SOURCES,
  unwrap,
  unwrapOrThrow,
} from "./response-envelope.ts"
export type {
  HTTPResponseMeta,
  HTTPStreamEvent,
  LocalResponseMeta,
  MCPAnnotations,
  MCPContentBlock,
  MCPIcon,
  MCPResourceContent,
  MCPResponseMeta,
  ResponseEnvelope,
  ResponseMeta,
  ResponseSource,
} from "./response-envelope.ts"
export {
  HTTPResponseMetaSchema,
  LocalResponseMetaSchema,
  MCPAnnotationsSchema,
  MCPContentBlockSchema,
  MCPResponseMetaSchema,
  ResponseEnvelopeSchema,
  ResponseMetaSchema,
} from "./envelope-schemas.ts"
export { decodeEnvelope, encodeEnvelope } from "./wire.ts"
export type { BinaryKind, WireEnvelope } from "./wire.ts"

export { CallError, ERROR_CODES, ErrorCode, isCallError } from "./errors.ts"
export type { CallErrorJSON, CallErrorOptions, ErrorCodeInfo } from "./errors.ts"
export { mapError } from "./map-error.ts"
export type { ErrorStamp } from "./map-error.ts"

export { assertIsSchema, collectErrors, formatValueErrors, validateOrThrow } from "./validation.ts"
export type { ValueError } from "./validation.ts"
export { compileSchema } from "./schema/compiled.ts"
export type { CompiledSchema } from "./schema/compiled.ts"
export { FromSchema, schemaDiagnostics } from "./from_schema.ts"
export type { FromSchemaOptions } from "./from_schema.ts"
export type { SchemaDiagnostic, SchemaDiagnosticCode } from "./schema/admit.ts"
export {
  FromOpenAPI,
  FromOpenAPIFile,
  FromOpenAPIUrl,
  OpenAPIServiceRegistry,
  paginate,
  prepareRequest,
} from "./from_openapi.ts"
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
  PaginateOptions,
  PreparedRequest,
  ReconnectPolicy,
  ReportedOperation,
  RequestOptions,
  Secret,
} from "./from_openapi.ts"
export { fromStandardSchema } from "./from_standard_schema.ts"

export { scanDefinitions, scanOperations } from "./scanner.ts"
export type {
  OperationManifest,
  ScannedDefinition,
  ScanOptions,
  ScanProblem,
  ScannerFS,
} from "./scanner.ts"

export {
  buildCallHandler,
  CallEventMap,
  CallEventSchema,
  PendingRequestMap,
  serveCalls,
} from "./call.ts"
export type {
  CallAbortedEvent,
  CallCompletedEvent,
  CallCreditEvent,
  CallErrorEvent,
  CallEvent,
  CallHandler,
  CallHandlerConfig,
  CallHandlerOptions,
  CallLink,
  CallPeer,
  CallProgressEvent,
  CallRequestedEvent,
  CallRespondedEvent,
  CallServer,
  PendingOptions,
  PendingRequestMapOptions,
  PendingResponse,
  PendingSubscription,
  ResolveIdentity,
  ServeCallsOptions,
  ServeLimits,
} from "./call.ts"
export { createClient } from "./client.ts"
export type { Client, ClientCalls, OperationsOf } from "./client.ts"
export { fromCall } from "./from_call.ts"
export type { FromCallOptions, RemoteOperations } from "./from_call.ts"
export { createMemoryTransports } from "./transport/memory.ts"
export type {
  CallFate,
  ServedOperation,
  ServedOperations,
  Transport,
  TransportPeer,
  TransportReceiver,
} from "./transport/types.ts"
export { decodeCallEvent, encodeCallEvent } from "./call-codec.ts"

export { consoleLogger, silentLogger } from "./logger.ts"
export type { Logger } from "./logger.ts"
export type { Clock, OpenAPIFS } from "./platform.ts"
export { createManualClock } from "./manual-clock.ts"
export type { ManualClock } from "./manual-clock.ts"
