// The types of `operations.config.ts`, and of the resolved configuration.

import type { Middleware, MiddlewareFunction, MiddlewareOptions } from "../core/middleware.ts"
import type { ApprovalRule } from "../core/approvals.ts"
import type { PolicyRule } from "../core/resilience.ts"
import type { Identity, Visibility } from "../core/types.ts"
import type { OperationPolicy } from "../core/operation-settings.ts"
import type { ConfigFault } from "./error.ts"
import type { SourceConfig, SourceKind } from "./kinds/index.ts"
import type { AccessRule, CommonSource } from "./kinds/kind.ts"

/** An API key: its hash (printed by `operations hash-key`, or a reference to it) and the caller's identity. */
export type ApiKeyConfig =
  | { readonly hash: string; readonly identity: Identity }
  /** The same in short. */
  | {
      readonly hash: string
      readonly id: string
      readonly scopes?: readonly string[] | undefined
    }

/** How the hub is served. */
export interface ServerConfig {
  /** Default: 3000; 0 picks a free port. */
  readonly port?: number | undefined
  /** Default: 127.0.0.1. Other than loopback addresses need `apiKeys` or `jwt`. */
  readonly host?: string | undefined
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly basePath?: string | undefined
  readonly apiKeys?: readonly ApiKeyConfig[] | undefined
  readonly jwt?:
    | {
        readonly jwksUrl: string
        readonly issuer: string
        readonly audience: string
        readonly algorithms?: readonly string[] | undefined
        /** Do not load the keys from private addresses. */
        readonly blockPrivate?: boolean | undefined
      }
    | undefined
  readonly allowedHosts?: readonly string[] | undefined
  readonly allowedOrigins?: readonly string[] | undefined
  readonly trustedProxies?: readonly string[] | undefined
  readonly cors?: { readonly origins: readonly string[] } | undefined
  readonly rateLimit?:
    | { readonly requests: number; readonly windowMs?: number | undefined }
    | undefined
  readonly limits?: LimitsConfig | undefined
  /** Maximum size of a body with files, in bytes; default: 1 MiB. Files beyond 1 MiB are streams. */
  readonly maxUploadBytes?: number | undefined
  /** `/mcp`; default: true. */
  readonly mcp?: boolean | undefined
  /** `/ws`; on where `ws` is installed. */
  readonly websocket?: boolean | undefined
  /**
   * Whether callers see the messages of internal errors. Default: `hide`; `expose` on a loopback address without
   * authentication and proxies.
   */
  readonly errors?: "expose" | "hide" | undefined
  /**
   * Keeps inputs, results and errors of the last calls in memory, without what looks like a secret, for administrators
   * who look into a call; default: false.
   */
  readonly record?: boolean | RecordConfig | undefined
  /** Serves the console at `/`, a page to find, try and watch operations; on by default. */
  readonly console?: boolean | undefined
}

/** What each caller may have open at the same time; a caller without an identity is identified by its address. */
export interface LimitsConfig {
  /** Running calls; default: 100. Further ones wait over a WebSocket, and are refused elsewhere. */
  readonly calls?: number | undefined
  /** Streams of server-sent events, over HTTP and MCP; default: 20. */
  readonly sseStreams?: number | undefined
  /** Streams over WebSockets, including those of server-sent events; default: 100. */
  readonly streams?: number | undefined
  /** WebSockets; default: 50. */
  readonly sockets?: number | undefined
}

/** How many calls are recorded; the oldest are dropped. */
export interface RecordConfig {
  /** Number of calls; default: 200. */
  readonly calls?: number | undefined
  /** Memory for their inputs and results in bytes; default: 8 MiB. */
  readonly bytes?: number | undefined
}

/** A log of who called what. */
export interface AuditConfig {
  /** The file, relative to the configuration. Only one process may write it. */
  readonly file: string
  /** The secret of the seals, without which no line can be changed undetected. Without a key, the seals detect only accidental damage. */
  readonly key?: string | undefined
  /**
   * What is written of inputs: a fingerprint (the default with a `key`, which it needs), a copy without likely secrets,
   * or nothing.
   */
  readonly record?: "fingerprint" | "redacted" | "none" | undefined
  /** Whether a mutation waits until its line is on the disk itself, or only with the operating system; default: `mutations`. */
  readonly fsync?: "mutations" | "never" | undefined
  /** Size after which another file is begun; default: 64 MiB. */
  readonly maxBytes?: number | undefined
  /** Number of full files that are kept; all by default. */
  readonly keep?: number | undefined
  /** What becomes of mutations while no line can be written; default: `refuse`. */
  readonly onFailure?: "refuse" | "continue" | undefined
}

/** Where spans and metrics of calls go. */
export interface TelemetryConfig {
  /** Base address of a collector, for OTLP over HTTP; default: `OTEL_EXPORTER_OTLP_ENDPOINT`. Without one, nothing is sent. */
  readonly otlp?: string | undefined
  /** Headers for the collector. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The name of the service; default: `OTEL_SERVICE_NAME`, then `operations`. */
  readonly service?: string | undefined
  /** The share of traces that are sent, from 0 to 1, unless the caller has decided; default: 1. */
  readonly sample?: number | undefined
  /** How far callers from outside are believed; by default those without an identity are only linked. */
  readonly incoming?: "continue" | "link" | "ignore" | undefined
  /** What leaves with requests; default: `all` to other registries, `trace` to APIs and MCP servers. */
  readonly outgoing?: "trace" | "all" | "none" | undefined
  /** The address of a trace in your tracing page, with `{traceId}`; the console links to it. */
  readonly link?: string | undefined
}

/** How operations run. */
export type RegistryConfig = Pick<OperationPolicy, "timeout" | "output" | "normalize">

/** A middleware of the hub. */
export interface MiddlewareEntry extends MiddlewareOptions {
  /** A module whose default export is one, relative to the configuration; in a script also the middleware itself. */
  readonly use: string | Middleware | MiddlewareFunction
  /** For messages; default: the path of the module. */
  readonly name?: string | undefined
}

/** A configuration: which sources there are, and how they are served. */
export interface OperationsConfig {
  /** The address of this file's schema, for editors. */
  readonly $schema?: string | undefined
  /** Sources by name; or a list, each named by its `namespace` or after its target. */
  readonly sources?: Readonly<Record<string, SourceConfig>> | readonly SourceConfig[] | undefined
  /** MCP servers in the format of editors; each becomes a source with its name. */
  readonly mcpServers?: Readonly<Record<string, unknown>> | undefined
  readonly server?: ServerConfig | undefined
  readonly registry?: RegistryConfig | undefined
  /** What runs around the calls of all sources; the first is outermost. */
  readonly middleware?: readonly (string | MiddlewareEntry)[] | undefined
  /** Who called what, in a file of sealed lines. */
  readonly audit?: AuditConfig | undefined
  /** Where spans and metrics of calls go. */
  readonly telemetry?: TelemetryConfig | undefined
  /** Policies by pattern; of several that match, the first that sets a policy counts, before that of the source. */
  readonly policies?: readonly PolicyRule[] | undefined
  /** What a person has to approve first, and what is denied; the first rule that applies counts. */
  readonly approvals?: readonly ApprovalRule[] | undefined
}

/** A source with its defaults filled in. */
export interface ResolvedSource<TSource extends CommonSource = SourceConfig> {
  readonly name: string
  readonly kind: SourceKind
  readonly namespace: string
  readonly include: readonly string[] | undefined
  readonly exclude: readonly string[]
  readonly rename: Readonly<Record<string, string>>
  readonly visibility: Visibility | undefined
  readonly access: readonly AccessRule[]
  readonly disabled: boolean
  /** The source as written, with unresolved references. */
  readonly config: TSource
}

/** A valid configuration with its defaults filled in; the input of `createHub`. */
export interface ResolvedConfig {
  readonly sources: readonly ResolvedSource[]
  readonly server: ServerConfig
  readonly registry: RegistryConfig
  readonly middleware?: readonly MiddlewareEntry[] | undefined
  readonly policies?: readonly PolicyRule[] | undefined
  readonly approvals?: readonly ApprovalRule[] | undefined
  readonly audit?: AuditConfig | undefined
  readonly telemetry?: TelemetryConfig | undefined
  /** The folder that relative paths start from. */
  readonly baseDir: string
  /** The file it was read from. */
  readonly file: string | undefined
  /** Things that work but should change, such as a literal secret. They contain names, never values. */
  readonly warnings?: readonly ConfigFault[] | undefined
}
