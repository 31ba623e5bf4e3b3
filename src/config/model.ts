// The types of `operations.config.ts`, and of the resolved configuration.

import type { MCPClientConfig } from "../sources/mcp/config.ts"
import type { CallHeaders } from "../core/call-headers.ts"
import type { Secret } from "../sources/openapi/config.ts"
import type { OpenAPIUrlConfig } from "../sources/openapi/options.ts"
import type { ConfigFault } from "./error.ts"
import type { Middleware, MiddlewareFunction, MiddlewareOptions } from "../core/middleware.ts"
import type { PolicyRule, Resilience } from "../core/resilience.ts"
import type {
  AccessControl,
  Identity,
  NormalizeMode,
  OutputMode,
  Visibility,
} from "../core/types.ts"

/** Who may call which operations of a source; the first matching rule applies. */
export interface AccessRule extends AccessControl {
  /** Ids or names, `*` for any part: `"issues.*"`; default: every operation of the source. */
  readonly match?: string | readonly string[] | undefined
}

/** Options that every kind of source has. */
export interface CommonSource {
  /** The prefix of its operation ids; default: the source's name. */
  readonly namespace?: string | undefined
  /** Only these operations, by name or id; `*` stands for any part. */
  readonly include?: string | readonly string[] | undefined
  readonly exclude?: string | readonly string[] | undefined
  /** New operation names by old name. */
  readonly rename?: Readonly<Record<string, string>> | undefined
  /** `internal` operations can be called by other operations only and are never served. */
  readonly visibility?: Visibility | undefined
  readonly access?: AccessRule | readonly AccessRule[] | undefined
  /** What happens when its calls fail, are slow or are made too often; `"standard"` for usual limits. */
  readonly resilience?: Resilience | "standard" | undefined
  /** While it is missing, `/readyz` reports the hub as not ready; default: `true` for brokers only. */
  readonly required?: boolean | undefined
  readonly disabled?: boolean | undefined
}

/** A folder of TypeScript or JavaScript modules. */
export interface ScanSource extends CommonSource {
  /** Relative to the config file. */
  readonly scan: string
}

/** Options that the hub sets, and those that a file cannot hold. */
type HubOptions =
  | "namespace"
  | "servers"
  | "filter"
  | "fetch"
  | "signal"
  | "documentUrl"
  | "allowedReferences"

/** An API that an OpenAPI document describes. Its texts may contain references: `"Bearer ${env:TOKEN}"`. */
export interface OpenAPISource extends CommonSource, Omit<OpenAPIUrlConfig, HubOptions> {
  /** A file, relative to the config, or an http(s) address. */
  readonly openapi: string
  /** Where requests go; default: the servers that the document names. */
  readonly baseUrl?: string | undefined
}

/** The tools of an MCP server. */
export interface MCPSource extends CommonSource {
  /** A command line, an http(s) address, or an entry in the format of editors. */
  readonly mcp: string | MCPClientConfig
  /** Sent with each request to an HTTP server; values may contain references. Functions receive the caller. */
  readonly headers?: CallHeaders | undefined
  /** Environment variables of the server's process; values may contain references. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Refuse a server on a private address, including public names that resolve to one. */
  readonly blockPrivate?: boolean | undefined
}

/** The operations of another hub, or of the workers behind a broker. */
export interface RemoteSource extends CommonSource {
  /**
   * The address of a hub: `https://tools.example.com`, or its WebSocket, `wss://…/ws`.
   *
   * The address of a broker: `nats://…` or `tls://…` (separate the servers of a cluster by commas), `redis://…`
   * or `rediss://…`.
   */
  readonly remote: string
  /**
   * A token or API key, by reference: `"${env:TOKEN}"`. NATS accepts tokens, too. A function receives
   * the caller: callers with their own tokens get their own connections to the hub.
   */
  readonly token?: Secret | undefined
  /** Sent when a connection to a hub is opened. Functions receive the caller, like that of `token`. */
  readonly headers?: CallHeaders | undefined
  /** For a broker: the name under which the hub calls; with a `password`, also its login. */
  readonly user?: string | undefined
  readonly password?: string | undefined
  /** The prefix of the workers' subjects or channels; default: "operations". */
  readonly prefix?: string | undefined
  /** The CA for the broker's certificate, and the hub's own certificate: PEM texts, by reference. */
  readonly tls?:
    | {
        readonly ca?: string | undefined
        readonly cert?: string | undefined
        readonly key?: string | undefined
      }
    | undefined
  /**
   * Allow a broker on another machine without TLS and credentials, and sending `token` and `headers` to a hub
   * without TLS: for private networks.
   */
  readonly insecure?: boolean | undefined
  /** Refuse a hub on a private address, including public names that resolve to one. */
  readonly blockPrivate?: boolean | undefined
  /** Sends signed caller identities to the workers; without it they see the hub as the caller. */
  readonly ticket?: TicketConfig | undefined
}

/** How a hub signs the identity of its callers. */
export interface TicketConfig {
  /** The issuer that the workers' verifiers expect. */
  readonly issuer: string
  /** The audience that the workers' verifiers expect. */
  readonly audience: string
  /** The private key, Ed25519, as PEM (PKCS #8) or JWK, by reference: `"${file:./hub-key.pem}"`. */
  readonly key: string
  /** The id of the matching key, when the verifiers have several. */
  readonly keyId?: string | undefined
  /** The hub's own scopes when it lists the operations. */
  readonly scopes?: readonly string[] | undefined
}

export type SourceConfig = ScanSource | OpenAPISource | MCPSource | RemoteSource
export type SourceKind = "scan" | "openapi" | "mcp" | "remote"

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
  /** `/mcp`; on where `@modelcontextprotocol/server` is installed. */
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

/** How operations run. */
export interface RegistryConfig {
  /** Timeout of a call in milliseconds; default: 30,000. */
  readonly timeout?: number | undefined
  readonly output?: OutputMode | undefined
  readonly normalize?: NormalizeMode | undefined
}

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
  /** Policies by pattern; of several that match, the first that sets a policy counts, before that of the source. */
  readonly policies?: readonly PolicyRule[] | undefined
}

/** A source with its defaults filled in. */
export interface ResolvedSource {
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
  readonly config: SourceConfig
}

/** A valid configuration with its defaults filled in; the input of `createHub`. */
export interface ResolvedConfig {
  readonly sources: readonly ResolvedSource[]
  readonly server: ServerConfig
  readonly registry: RegistryConfig
  readonly middleware?: readonly MiddlewareEntry[] | undefined
  readonly policies?: readonly PolicyRule[] | undefined
  /** The folder that relative paths start from. */
  readonly baseDir: string
  /** The file it was read from. */
  readonly file: string | undefined
  /** Things that work but should change, such as a literal secret. They contain names, never values. */
  readonly warnings?: readonly ConfigFault[] | undefined
}
