// Every exported function that takes options, with the rules for them.

import {
  createApprovals,
  createClient,
  fromCall,
  OperationRegistry,
  PendingRequestMap,
} from "../../src/index.ts"
import { ANSWER_OPTIONS } from "../../src/approvals/approvals.ts"
import { createMemoryTransports } from "../../src/testing.ts"
import { BUILD_ENV_OPTIONS, buildEnv } from "../../src/engine/env.ts"
import { SEARCH_OPTIONS } from "../../src/engine/catalog.ts"
import { MIDDLEWARE_OPTIONS } from "../../src/core/middleware.ts"
import {
  REGISTER_HANDLER_OPTIONS,
  REGISTER_OPTIONS,
  REGISTRY_OPTIONS,
} from "../../src/engine/registry-options.ts"
import {
  FromOpenAPI,
  FromOpenAPIFile,
  FromOpenAPIUrl,
  prepareRequest,
} from "../../src/sources/openapi/from-openapi.ts"
import {
  OPENAPI_OPTIONS,
  OPENAPI_URL_OPTIONS,
  REQUEST_OPTIONS,
} from "../../src/sources/openapi/options.ts"
import { OpenAPIServiceRegistry } from "../../src/sources/openapi/services.ts"
import { createRegistry } from "../../src/engine/registry.ts"
import { buildCallHandler, serveCalls } from "../../src/protocol/server/serve.ts"
import { resolveConfig } from "../../src/config.ts"
import { createPublicFetch, PUBLIC_FETCH_OPTIONS } from "../../src/http-client/public-fetch.ts"
import { FROM_CALL_OPTIONS } from "../../src/protocol/from-call.ts"
import { openAudit } from "../../src/hub/audit/audit.ts"
import { AUDIT_OPTIONS } from "../../src/hub/audit/options.ts"
import { VERIFY_AUDIT_OPTIONS, verifyAudit } from "../../src/hub/audit/verify.ts"
import { createHub } from "../../src/hub/create-hub.ts"
import { HUB_OPTIONS } from "../../src/hub/model.ts"
import { SERVE_HUB_OPTIONS, serveHub } from "../../src/hub/serve-hub.ts"
import type { OptionsSchema } from "../../src/internal/options.ts"
import { RESOLVE_CONFIG_OPTIONS } from "../../src/config/resolve.ts"
import { createMCPClient, MCPClientLoader } from "../../src/from-mcp.ts"
import { CREATE_CLIENT_OPTIONS } from "../../src/sources/mcp/client/wrapper.ts"
import {
  FROM_SCHEMA_OPTIONS,
  FROM_STANDARD_SCHEMA_OPTIONS,
  FromSchema,
  fromStandardSchema,
} from "../../src/schema/from-schema.ts"
import { LOAD_CONFIG_OPTIONS, loadConfig } from "../../src/hub/config-file/load.ts"
import { MCP_FIELDS } from "../../src/sources/mcp/config-fields.ts"
import { LOADER_OPTIONS } from "../../src/sources/mcp/client/loader.ts"
import { nodeFS, scanDirectory } from "../../src/node/fs.ts"
import { INSTRUMENT_OPTIONS } from "../../src/otel/options.ts"
import { instrument } from "../../src/otel.ts"
import { PAGINATE_OPTIONS, paginate } from "../../src/sources/openapi/paginate.ts"
import { SCAN_OPTIONS } from "../../src/sources/scan/options.ts"
import { scanDefinitions, scanOperations } from "../../src/sources/scan/scanner.ts"
import {
  TICKET_SIGNER_OPTIONS,
  createTicketSigner,
} from "../../src/transport/bus/tickets/signer.ts"
import {
  TICKET_VERIFIER_OPTIONS,
  createTicketVerifier,
} from "../../src/transport/bus/tickets/verifier.ts"
import { createNatsTransport, NATS_OPTIONS } from "../../src/transport/nats/transport.ts"
import { createRedisLimiter, REDIS_LIMITER_OPTIONS } from "../../src/policy/redis/limiter.ts"
import {
  createRedisIdempotencyStore,
  REDIS_IDEMPOTENCY_OPTIONS,
} from "../../src/policy/redis/idempotency-store.ts"
import { createRedisTransport, REDIS_OPTIONS } from "../../src/transport/redis/transport.ts"
import { createWorkerTransport, WORKER_OPTIONS } from "../../src/transport/worker.ts"
import { serveHTTP } from "../../src/hub/serve-http.ts"
import { SERVE_HTTP_OPTIONS } from "../../src/node/serve-http.ts"
import { PENDING_MAP_OPTIONS } from "../../src/protocol/pending/requests.ts"
import {
  CALL_HANDLER_OPTIONS,
  DRAIN_OPTIONS,
  SERVE_CALLS_OPTIONS,
} from "../../src/protocol/server/serve.ts"
import { HTTP_OPTIONS } from "../../src/serve/http/options.ts"
import { toHTTP } from "../../src/serve/http/to-http.ts"
import {
  createHTTPTransport,
  HTTP_TRANSPORT_OPTIONS,
} from "../../src/transport/http/http-transport.ts"
import { LISTEN_OPTIONS } from "../../src/serve/mcp/listen.ts"
import { STDIO_OPTIONS } from "../../src/serve/mcp/stdio.ts"
import { MCP_SERVER_OPTIONS } from "../../src/serve/mcp/options.ts"
import { toMCP } from "../../src/serve/mcp/to-mcp.ts"
import { TOOLS_OPTIONS, toTools } from "../../src/tools/to-tools.ts"
import { serveWebSocket } from "../../src/serve/websocket/serve-websocket.ts"
import { SERVE_WEBSOCKET_OPTIONS } from "../../src/serve/websocket/options.ts"
import {
  createWebSocketTransport,
  WEBSOCKET_OPTIONS,
} from "../../src/transport/websocket/websocket.ts"

/** One function, as the test of options sees it. */
export interface OptionFunction {
  /** The export; a method comes after a dot. */
  readonly name: string
  /** What messages call it. */
  readonly caller: string
  readonly schema: OptionsSchema
  readonly construct: (options: never) => unknown
  /** Nothing is opened, read or started when it is called with options that are fine; default: so. */
  readonly isPassive?: boolean
}

const registry = new OperationRegistry()
const hub = createHub(resolveConfig({ sources: {} }, { baseDir: "." }))

const port = { postMessage() {}, on() {}, off() {} }
const document = { openapi: "3.1.0", info: { title: "API", version: "1" }, paths: {} }
const text = JSON.stringify(document)
const fs = { readFile: async () => text }

export const FUNCTIONS: readonly OptionFunction[] = [
  row("createRegistry", REGISTRY_OPTIONS, (options) => createRegistry([], options)),
  {
    ...row("OperationRegistry", REGISTRY_OPTIONS, (options) => new OperationRegistry(options)),
    caller: "new OperationRegistry",
  },
  method("OperationRegistry", "register", REGISTER_OPTIONS, (options) =>
    registry.register({} as never, options),
  ),
  method("OperationRegistry", "registerAll", REGISTER_OPTIONS, (options) =>
    registry.registerAll([], options),
  ),
  method("OperationRegistry", "registerSpec", REGISTER_OPTIONS, (options) =>
    registry.registerSpec({} as never, options),
  ),
  method("OperationRegistry", "registerHandler", REGISTER_HANDLER_OPTIONS, (options) =>
    registry.registerHandler("a.b", () => 1, options),
  ),
  method("createApprovals", "answer", ANSWER_OPTIONS, (options) =>
    createApprovals([]).answer("x", options),
  ),
  method("OperationRegistry", "search", SEARCH_OPTIONS, (options) => registry.search("x", options)),
  method("OperationRegistry", "use", MIDDLEWARE_OPTIONS, (options) =>
    registry.use((_call, next) => next(), options),
  ),
  row("buildEnv", BUILD_ENV_OPTIONS, buildEnv),
  row("FromOpenAPI", OPENAPI_OPTIONS, (options) => FromOpenAPI(document, options)),
  row("FromOpenAPIFile", OPENAPI_OPTIONS, (options) => FromOpenAPIFile("/a.json", options, fs)),
  row(
    "FromOpenAPIUrl",
    OPENAPI_URL_OPTIONS,
    (options) => FromOpenAPIUrl("http://127.0.0.1:1/", options),
    false,
  ),
  {
    ...row("OpenAPIServiceRegistry.add", OPENAPI_OPTIONS, (options) =>
      new OpenAPIServiceRegistry().add(document, options),
    ),
    caller: "FromOpenAPI",
  },
  row("prepareRequest", REQUEST_OPTIONS, (options) => prepareRequest({}, undefined, options)),
  row("createHTTPTransport", HTTP_TRANSPORT_OPTIONS, (options) =>
    createHTTPTransport("https://example.com", options),
  ),
  row("toHTTP", HTTP_OPTIONS, (options) => toHTTP(registry, options)),
  row("serveHTTP", SERVE_HTTP_OPTIONS, (options) => serveHTTP(registry, options), false),
  row("toTools", TOOLS_OPTIONS, (options) => toTools(registry, options)),
  row("toMCP", MCP_SERVER_OPTIONS, (options) => toMCP(registry, options)),
  method("toMCP", "listen", LISTEN_OPTIONS, (options) => toMCP(registry).listen(options), false),
  method("toMCP", "stdio", STDIO_OPTIONS, (options) => toMCP(registry).stdio(options), false),
  row("openAudit", AUDIT_OPTIONS, (options) => openAudit("audit.jsonl", options), false),
  row("verifyAudit", VERIFY_AUDIT_OPTIONS, (options) => verifyAudit("audit.jsonl", options), false),
  row("createHub", HUB_OPTIONS, (options) => createHub(hub.config, options)),
  row("serveHub", SERVE_HUB_OPTIONS, (options) => serveHub(hub, options), false),
  row(
    "serveWebSocket",
    SERVE_WEBSOCKET_OPTIONS,
    (options) => serveWebSocket(registry, options),
    false,
  ),
  row("createWebSocketTransport", WEBSOCKET_OPTIONS, (options) =>
    createWebSocketTransport("ws://127.0.0.1:1/", options),
  ),
  {
    ...row(
      "PendingRequestMap",
      PENDING_MAP_OPTIONS,
      (options) => new PendingRequestMap(undefined, options),
    ),
    caller: "new PendingRequestMap",
  },
  row("createClient", PENDING_MAP_OPTIONS, (options) =>
    createClient(createMemoryTransports()[0], options),
  ),
  row(
    "fromCall",
    FROM_CALL_OPTIONS,
    (options) => fromCall(createMemoryTransports()[0], options),
    false,
  ),
  row("buildCallHandler", CALL_HANDLER_OPTIONS, buildCallHandler, false),
  row("serveCalls", SERVE_CALLS_OPTIONS, (options) => serveCalls(registry, options), false),
  method(
    "serveCalls",
    "drain",
    DRAIN_OPTIONS,
    (options) => serveCalls(registry, { transport: createMemoryTransports()[0] }).drain(options),
    false,
  ),
  row("createMCPClient", MCP_FIELDS, (options) => createMCPClient("files", options), false),
  row(
    "createMCPClient",
    CREATE_CLIENT_OPTIONS,
    (options) => createMCPClient("files", {}, options),
    false,
  ),
  {
    ...row("MCPClientLoader", LOADER_OPTIONS, (options) => new MCPClientLoader(options)),
    caller: "new MCPClientLoader",
  },
  row("createWorkerTransport", WORKER_OPTIONS, (options) => createWorkerTransport(port, options)),
  row("createNatsTransport", NATS_OPTIONS, createNatsTransport, false),
  row("createRedisTransport", REDIS_OPTIONS, createRedisTransport, false),
  row("createRedisLimiter", REDIS_LIMITER_OPTIONS, createRedisLimiter),
  row("createRedisIdempotencyStore", REDIS_IDEMPOTENCY_OPTIONS, createRedisIdempotencyStore),
  row("createTicketSigner", TICKET_SIGNER_OPTIONS, createTicketSigner),
  row("createTicketVerifier", TICKET_VERIFIER_OPTIONS, createTicketVerifier),
  row("instrument", INSTRUMENT_OPTIONS, (options) => instrument(registry, options)),
  row("paginate", PAGINATE_OPTIONS, (options) => paginate(registry, "a.b", {}, options)),
  row("createPublicFetch", PUBLIC_FETCH_OPTIONS, createPublicFetch),
  row("FromSchema", FROM_SCHEMA_OPTIONS, (options) => FromSchema({}, options)),
  row("fromStandardSchema", FROM_STANDARD_SCHEMA_OPTIONS, (options) =>
    fromStandardSchema({} as never, options),
  ),
  row("scanOperations", SCAN_OPTIONS, (options) => scanOperations("nowhere", nodeFS, options)),
  row("scanDefinitions", SCAN_OPTIONS, (options) => scanDefinitions("nowhere", nodeFS, options)),
  {
    ...row("scanDirectory", SCAN_OPTIONS, (options) => scanDirectory("nowhere", options)),
    caller: "scanDefinitions",
  },
  row("loadConfig", LOAD_CONFIG_OPTIONS, (options) => loadConfig("nowhere.json", options)),
  row("resolveConfig", RESOLVE_CONFIG_OPTIONS, (options) => resolveConfig({}, options)),
]

/**
 * Every other export. A new one goes here, or gets a row above.
 *
 * Options of a call are checked by the kernel, as `VALIDATION_ERROR`; `compileSchema` has the flag `formats` only.
 */
export const WITHOUT_OPTIONS: readonly string[] = [
  "AccessControlSchema",
  "CallError",
  "CallEventMap",
  "CallEventSchema",
  "ConfigError",
  "ERROR_CODES",
  "ErrorCode",
  "ErrorDefinitionSchema",
  "HTTPResponseMetaSchema",
  "IdentitySchema",
  "LocalResponseMetaSchema",
  "MCPAnnotationsSchema",
  "MCPContentBlockSchema",
  "MCPResponseMetaSchema",
  "OperationAnnotationsSchema",
  "OperationDeprecationSchema",
  "OperationSpecSchema",
  "OperationType",
  "OperationTypeSchema",
  "Bytes",
  "FileStream",
  "RESPONSE_SOURCES",
  "ResponseEnvelopeSchema",
  "ResponseMetaSchema",
  "Type",
  "assertIsSchema",
  "checkAccess",
  "closeMCPClient",
  "collectErrors",
  "compileSchema",
  "defineContextValue",
  "configSchema",
  "consoleLogger",
  "createManualClock",
  "createMemoryTransports",
  "createQueryUtils",
  "toAISDK",
  "toAnthropic",
  "toOpenAIResponses",
  "decodeCallEvent",
  "decodeEnvelope",
  "defineConfig",
  "defineOperation",
  "encodeCallEvent",
  "encodeEnvelope",
  "enforceAccess",
  "findConfig",
  "formatValueErrors",
  "hashApiKey",
  "httpEnvelope",
  "httpResponse",
  "isCallError",
  "isDeclaredError",
  "isDryRun",
  "isResponseEnvelope",
  "localEnvelope",
  "mapError",
  "mapMCPContentBlocks",
  "mcpEnvelope",
  "nodeFS",
  "readBearerToken",
  "readCookie",
  "schemaDiagnostics",
  "silentLogger",
  "subscribe",
  "toFile",
  "unwrap",
  "unwrapOrThrow",
  "validateOrThrow",
  "workerTag",
]

function row(
  name: string,
  schema: OptionsSchema,
  construct: OptionFunction["construct"],
  isPassive = true,
): OptionFunction {
  return { name, caller: name, schema, construct, isPassive }
}

function method(
  of: string,
  name: string,
  schema: OptionsSchema,
  construct: OptionFunction["construct"],
  isPassive = true,
): OptionFunction {
  return { ...row(`${of}.${name}`, schema, construct, isPassive), caller: name }
}
