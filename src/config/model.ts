// What a user writes in `operations.config.ts`, and the same with everything filled in.

import type { MCPClientConfig } from "../sources/mcp/config.ts"
import type { CallHeaders } from "../core/call-headers.ts"
import type { Credential, Secret } from "../sources/openapi/config.ts"
import type { ConfigFault } from "./error.ts"
import type {
  AccessControl,
  Identity,
  NormalizeMode,
  OutputMode,
  Visibility,
} from "../core/types.ts"

/** Who may call what of a source; the first rule that matches counts. */
export interface AccessRule extends AccessControl {
  /** Ids or names, `*` for any part: `"issues.*"`; default: every operation of the source. */
  readonly match?: string | readonly string[] | undefined
}

/** What may be said of any source. */
export interface CommonSource {
  /** In front of its operations; default: the source's name. */
  readonly namespace?: string | undefined
  /** Only these operations, by name or id; `*` stands for any part. */
  readonly include?: string | readonly string[] | undefined
  readonly exclude?: string | readonly string[] | undefined
  /** New names by old ones. */
  readonly rename?: Readonly<Record<string, string>> | undefined
  /** `internal` operations are for other operations alone, and never served. */
  readonly visibility?: Visibility | undefined
  readonly access?: AccessRule | readonly AccessRule[] | undefined
  /** A hub without it is not ready, as `/readyz` says; default: brokers, and nothing else. */
  readonly required?: boolean | undefined
  readonly disabled?: boolean | undefined
}

/** A folder of TypeScript or JavaScript modules. */
export interface ScanSource extends CommonSource {
  /** Relative to the config file. */
  readonly scan: string
}

/** An API that an OpenAPI document describes. */
export interface OpenAPISource extends CommonSource {
  /** A file, relative to the config, or an http(s) address. */
  readonly openapi: string
  /** Where requests go; default: the servers that the document names. */
  readonly baseUrl?: string | undefined
  /** Sent with each request; values may refer: `"Bearer ${env:TOKEN}"`. Functions receive who calls. */
  readonly headers?: CallHeaders | undefined
  /** Sent when the document is loaded, and nowhere else. */
  readonly documentHeaders?: Readonly<Record<string, string>> | undefined
  /** Send `documentHeaders` over plain http to another machine: for a network that only you reach. */
  readonly insecure?: boolean | undefined
  /** Refuse private addresses for the document and for calls, also where a public name resolves to one. */
  readonly blockPrivate?: boolean | undefined
  readonly normalize?: NormalizeMode | undefined
  readonly output?: OutputMode | undefined
  /** One credential for all operations that need one, by reference: `"${env:TOKEN}"`. */
  readonly auth?: Credential | Secret | undefined
  /** Credentials by the name of the security scheme. */
  readonly credentials?: Readonly<Record<string, Credential | Secret>> | undefined
  readonly allowedOrigins?: readonly string[] | undefined
  readonly timeout?: number | undefined
}

/** The tools of an MCP server. */
export interface MCPSource extends CommonSource {
  /** A command line, an http(s) address, or an entry as editors have it. */
  readonly mcp: string | MCPClientConfig
  /** Sent with each request to a server on the web; values may refer. Functions receive who calls. */
  readonly headers?: CallHeaders | undefined
  /** Variables of the server's process; values may refer. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Refuse a server on a private address, also where a public name resolves to one. */
  readonly blockPrivate?: boolean | undefined
}

/** The operations of another hub, or of the workers behind a broker. */
export interface RemoteSource extends CommonSource {
  /**
   * Where it is: `https://tools.example.com`, or its WebSocket, `wss://…/ws`.
   *
   * A broker: `nats://…` or `tls://…` (several servers of one cluster with commas between), `redis://…` or
   * `rediss://…`.
   */
  readonly remote: string
  /**
   * A token or API key, by reference: `"${env:TOKEN}"`. NATS knows tokens, too. A function receives who
   * calls: callers with tokens of their own get connections of their own to the hub.
   */
  readonly token?: Secret | undefined
  /** Sent when a connection to a hub is opened. Functions receive who calls, as that of `token`. */
  readonly headers?: CallHeaders | undefined
  /** At a broker: whom the hub calls as, which is also its login where there is a `password`. */
  readonly user?: string | undefined
  readonly password?: string | undefined
  /** What the workers' addresses at the broker begin with: "operations". */
  readonly prefix?: string | undefined
  /** What a broker's certificate is checked with, and what the hub shows it: texts of PEM files, by reference. */
  readonly tls?:
    | {
        readonly ca?: string | undefined
        readonly cert?: string | undefined
        readonly key?: string | undefined
      }
    | undefined
  /**
   * A broker on another machine may do without TLS and credentials, and a hub there receives `token` and
   * `headers` without TLS: for a network that only you reach.
   */
  readonly insecure?: boolean | undefined
  /** Refuse a hub on a private address, also where a public name resolves to one. */
  readonly blockPrivate?: boolean | undefined
  /** Tells workers behind a broker who calls, signed; without it they hear of the hub alone. */
  readonly ticket?: TicketConfig | undefined
}

/** How a hub signs whom it calls for. */
export interface TicketConfig {
  /** Who signs: what the workers' verifiers expect. */
  readonly issuer: string
  /** Whom it is for: what the workers' verifiers expect. */
  readonly audience: string
  /** The private key, Ed25519, as PEM (PKCS #8) or JWK, by reference: `"${file:./hub-key.pem}"`. */
  readonly key: string
  /** Which of the verifiers' keys it belongs to, where they have several. */
  readonly keyId?: string | undefined
  /** What the hub itself may see when it asks for the list of operations. */
  readonly scopes?: readonly string[] | undefined
}

export type SourceConfig = ScanSource | OpenAPISource | MCPSource | RemoteSource
export type SourceKind = "scan" | "openapi" | "mcp" | "remote"

/** An API key of somebody: its hash, as `operations hash-key` gives it or a reference to it; and who it is. */
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
  /** 3000; 0 for any. */
  readonly port?: number | undefined
  /** 127.0.0.1. Any other than a loopback needs `apiKeys` or `jwt`. */
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
  /** `/mcp`; on where `@modelcontextprotocol/server` is installed. */
  readonly mcp?: boolean | undefined
  /** `/ws`; on where `ws` is installed. */
  readonly websocket?: boolean | undefined
  /**
   * What callers read of errors that were not written for them: `hide`, or `expose` for a hub on a loopback address
   * without authentication and proxies.
   */
  readonly errors?: "expose" | "hide" | undefined
  /** `/`, a page to find, try and watch operations with; on. */
  readonly console?: boolean | undefined
}

/** How operations run. */
export interface RegistryConfig {
  /** Milliseconds that a call may take; 30,000. */
  readonly timeout?: number | undefined
  readonly output?: OutputMode | undefined
  readonly normalize?: NormalizeMode | undefined
}

/** A configuration: which sources there are, and how they are served. */
export interface OperationsConfig {
  /** Where editors find the schema of this file. */
  readonly $schema?: string | undefined
  /** By name; or a list, named by `namespace` or by what each points to. */
  readonly sources?: Readonly<Record<string, SourceConfig>> | readonly SourceConfig[] | undefined
  /** MCP servers as editors keep them; each is a source of its name. */
  readonly mcpServers?: Readonly<Record<string, unknown>> | undefined
  readonly server?: ServerConfig | undefined
  readonly registry?: RegistryConfig | undefined
}

/** One source, with a name, and lists where a user may write one word. */
export interface SettledSource {
  readonly name: string
  readonly kind: SourceKind
  readonly namespace: string
  readonly include: readonly string[] | undefined
  readonly exclude: readonly string[]
  readonly rename: Readonly<Record<string, string>>
  readonly visibility: Visibility | undefined
  readonly access: readonly AccessRule[]
  readonly disabled: boolean
  /** As it was written, references included. */
  readonly config: SourceConfig
}

/** A configuration as the hub takes it. */
export interface SettledConfig {
  readonly sources: readonly SettledSource[]
  readonly server: ServerConfig
  readonly registry: RegistryConfig
  /** The folder that relative paths start from. */
  readonly baseDir: string
  /** The file it was read from. */
  readonly file: string | undefined
  /** What works and should be otherwise, such as a secret that is written out. Names, never values. */
  readonly warnings?: readonly ConfigFault[] | undefined
}
