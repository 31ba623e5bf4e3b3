// The configuration of a server, and the same with every default filled in.

import type { CallHeaders } from "../../core/call-headers.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Filled } from "../../internal/options.ts"
import type { MCPIcon } from "../../core/envelope.ts"
import type {
  AccessControl,
  FormInputRequest,
  InputResponse,
  NormalizeMode,
  OperationType,
  OutputMode,
  SamplingInputRequest,
  UrlInputRequest,
  Visibility,
} from "../../core/types.ts"
import type { MCPEra, MCPToolDefinition } from "../../mcp/model.ts"
import type { PinPolicy, PinStore } from "./pins.ts"

/** Transports messages to an MCP server: a transport of the SDK, or a custom one. */
export interface MCPTransportLike {
  start(): Promise<void>
  send(message: unknown, options?: unknown): Promise<void>
  close(): Promise<void>
  onmessage?: ((message: never, extra?: never) => void) | undefined
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
}

/** Provides the token for each request; `onUnauthorized` is called when the server refused one. */
export interface MCPTokenProvider {
  token(): Promise<string | undefined>
  onUnauthorized?(context: never): Promise<void>
}

/** An OAuth client provider of the SDK, passed on unchanged. */
export interface MCPOAuthProviderLike {
  readonly redirectUrl: string | URL | undefined
  readonly clientMetadata: object
  tokens(): unknown
  saveTokens(tokens: never, context?: never): unknown
}

export type MCPAuthProvider = MCPTokenProvider | MCPOAuthProviderLike

/** Options of one tool of a server. */
export interface MCPToolConfig {
  /** Whether it reads or changes data; overrides the server's hint. */
  readonly type?: Extract<OperationType, "query" | "mutation"> | undefined
  /** Leaves the tool out. */
  readonly disabled?: boolean | undefined
  readonly accessControl?: AccessControl | undefined
  /** Idle timeout in milliseconds. */
  readonly timeout?: number | undefined
}

/** The server, and its tool if known, that asks a question. */
export interface MCPAsker {
  readonly server: string
  readonly tool?: string | undefined
}

/** A folder in which a server may work. */
export interface MCPRoot {
  /** A `file:` URI. */
  readonly uri: string
  readonly name?: string | undefined
}

/** How we identify ourselves to servers. */
export interface MCPClientInfo {
  readonly name: string
  readonly version: string
  readonly title?: string | undefined
  readonly icons?: readonly MCPIcon[] | undefined
}

/** The process that is about to be started. */
export interface MCPLaunch {
  readonly server: string
  /** The command and its arguments as passed to the system, without a shell. */
  readonly argv: readonly string[]
  readonly cwd: string | undefined
  /** Variables that the entry sets, in addition to the inherited ones. May contain secrets. */
  readonly env: Readonly<Record<string, string>>
  /** Dangers of the launch: variables such as `NODE_OPTIONS`, which run other code in the program. */
  readonly warnings: readonly string[]
}

/** Headers, or functions that return them for each request and receive the caller. */
export type MCPHeaders = CallHeaders

/** The transport type, with the names of all common config files. */
export type MCPTransportType =
  | "stdio"
  | "local"
  | "http"
  | "streamable-http"
  | "streamableHttp"
  | "remote"
  | "sse"

/** How to connect to an MCP server, and how to import its tools. */
export interface MCPClientConfig {
  /** Program to start; with an array, the rest are its first arguments. */
  readonly command?: string | readonly string[] | undefined
  readonly args?: readonly string[] | undefined
  /** Set for the process, in addition to the few variables that every process needs. */
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly cwd?: string | undefined
  /** Variables of this process that the server's process inherits; `true` for all of them. */
  readonly inheritEnv?: readonly string[] | true | undefined

  readonly url?: string | URL | undefined
  /** Sent with each request, to the origin of `url` only. */
  readonly headers?: MCPHeaders | undefined
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /**
   * Refuse private, loopback and link-local addresses, including public names that resolve to one: for the
   * server itself, after redirects, and for addresses it names, such as its authorization server.
   */
  readonly blockPrivate?: boolean | undefined
  readonly authProvider?: MCPAuthProvider | undefined
  /** Default: "stdio" with `command`, "http" with `url`. */
  readonly type?: MCPTransportType | undefined

  /** A custom transport. An object can be used once; a function is called again after a lost connection. */
  readonly transport?:
    | MCPTransportLike
    | (() => MCPTransportLike | Promise<MCPTransportLike>)
    | undefined

  /** Version of the operations; "1.0.0". */
  readonly version?: string | undefined
  /** "auto" probes the server. */
  readonly era?: "auto" | MCPEra | undefined
  /** Trust the server's hints about its tools: read-only tools become queries. */
  readonly trust?: boolean | undefined
  /** By the server's own names of its tools. */
  readonly tools?: Readonly<Record<string, MCPToolConfig>> | undefined
  /** Leaves out tools for which it returns `false`. */
  readonly filter?: ((tool: MCPToolDefinition) => boolean) | undefined
  /** Idle timeout of a request in milliseconds; 60,000. Progress resets it. */
  readonly timeout?: number | undefined
  /** Total timeout of a request in milliseconds, without the time of its questions; 600,000. */
  readonly maxTotalTimeout?: number | undefined
  /** Timeout of connecting in milliseconds; 30,000, or 120,000 with a command that may install it, such as `npx`. */
  readonly connectTimeout?: number | undefined
  /** Maximum number of concurrent requests; 64. Others wait. */
  readonly maxConcurrency?: number | undefined
  /** Maximum size of a message of the server in bytes; 64 MiB. */
  readonly maxMessageBytes?: number | undefined
  /** Maximum size of a result in bytes; default: `maxMessageBytes`. */
  readonly maxResultBytes?: number | undefined
  /** Maximum number of tools, of resources and of prompts; 10,000. */
  readonly maxTools?: number | undefined
  /** Maximum number of pages of a list; 100. */
  readonly maxPages?: number | undefined
  /** What happens when a tool's definition changes; "warn". */
  readonly pin?: PinPolicy | undefined
  /** Where pinned tool definitions are stored; default: in memory. */
  readonly pins?: PinStore | undefined
  /** Resources become queries in `<server>-resources`; `false`. */
  readonly resources?: boolean | undefined
  /** Prompts become queries in `<server>-prompts`; `false`. */
  readonly prompts?: boolean | undefined
  /** Answers the server's questions to the user, if the caller of a tool does not. */
  readonly elicitation?:
    | ((request: FormInputRequest | UrlInputRequest, about: MCPAsker) => Promise<InputResponse>)
    | undefined
  /** Answers the server's requests to a language model. */
  readonly sampling?:
    | ((request: SamplingInputRequest, about: MCPAsker) => Promise<InputResponse>)
    | undefined
  /** The folders in which the server may work. */
  readonly roots?:
    | readonly MCPRoot[]
    | ((about: MCPAsker) => readonly MCPRoot[] | Promise<readonly MCPRoot[]>)
    | undefined
  /** Let the server ask even without these three: callers answer, with `requestInput` of their call; `false`. */
  readonly forwardInput?: boolean | undefined
  /** Who may call the operations; default: everyone. */
  readonly accessControl?: AccessControl | undefined
  readonly visibility?: Visibility | undefined
  readonly normalize?: NormalizeMode | undefined
  readonly output?: OutputMode | undefined
  /**
   * `caller`: each identity that calls has a session of its own with a server that has sessions, and a process of its
   * own with one that is started; it ends when it is not used. Callers without an identity share one. `shared`, the
   * default outside a hub: all callers share one.
   */
  readonly sessions?: "shared" | "caller" | undefined
  /** Do not connect to the server. */
  readonly disabled?: boolean | undefined
  readonly logger?: Logger | undefined
  readonly clientInfo?: MCPClientInfo | undefined
  /** Called before a process is started; anything but `true` refuses. */
  readonly approve?: ((launch: MCPLaunch) => boolean | Promise<boolean>) | undefined
}

/** A server that runs as a child process. */
export interface MCPStdioChannel {
  readonly kind: "stdio"
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
  readonly inheritEnv: readonly string[] | true | undefined
}

/** A server that is reached over HTTP. */
export interface MCPHttpChannel {
  readonly kind: "http"
  readonly url: URL
  readonly headers: MCPHeaders
  readonly fetch: typeof globalThis.fetch | undefined
  readonly blockPrivate: boolean
  readonly authProvider: MCPAuthProvider | undefined
  /** When to use the old SSE transport: always, or if the new one is not available. */
  readonly sse: "only" | "fallback"
}

/** A custom transport. */
export interface MCPOwnChannel {
  readonly kind: "own"
  readonly make: () => MCPTransportLike | Promise<MCPTransportLike>
  /** `make` creates a new transport each time, so that a lost one can be replaced. */
  readonly isRepeatable: boolean
}

export type MCPChannel = MCPStdioChannel | MCPHttpChannel | MCPOwnChannel

type OfChannel = keyof MCPStdioChannel | keyof MCPHttpChannel | "type" | "transport"
type WithoutDefault =
  | "filter"
  | "pins"
  | "elicitation"
  | "sampling"
  | "visibility"
  | "normalize"
  | "output"
  | "approve"
type WithDefault = Exclude<keyof MCPClientConfig, OfChannel | WithoutDefault | "tools" | "roots">

/** A valid `MCPClientConfig` with every default filled in. */
export interface ResolvedServer
  extends Filled<MCPClientConfig, WithDefault>, Required<Pick<MCPClientConfig, WithoutDefault>> {
  /** The namespace. */
  readonly name: string
  readonly channel: MCPChannel
  /** By the server's own names; a map, since a tool may be called `__proto__`. */
  readonly tools: ReadonlyMap<string, MCPToolConfig>
  /** A function, also for a fixed list of roots. */
  readonly roots:
    | ((about: MCPAsker) => readonly MCPRoot[] | Promise<readonly MCPRoot[]>)
    | undefined
}
