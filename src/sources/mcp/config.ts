// What a user says about a server, and the same with every default filled in.

import type { CallHeaders } from "../../core/call-headers.ts"
import type { Logger } from "../../internal/logger.ts"
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
import type { MCPAuthProvider, MCPTransportLike } from "./transport-like.ts"

/** What may be said about one tool of a server. */
export interface MCPToolConfig {
  /** Whether it reads or changes something, whatever the server says. */
  readonly type?: Extract<OperationType, "query" | "mutation"> | undefined
  /** It is left out. */
  readonly disabled?: boolean | undefined
  readonly accessControl?: AccessControl | undefined
  /** Milliseconds without a sign of life. */
  readonly timeout?: number | undefined
}

/** Which server, and which of its tools, asks. */
export interface MCPAsker {
  readonly server: string
  readonly tool?: string | undefined
}

/** A folder that a server may ask for. */
export interface MCPRoot {
  /** A `file:` URI. */
  readonly uri: string
  readonly name?: string | undefined
}

/** Who we say we are. */
export interface MCPClientInfo {
  readonly name: string
  readonly version: string
  readonly title?: string | undefined
  readonly icons?: readonly MCPIcon[] | undefined
}

/** The process that is about to be started. */
export interface MCPLaunch {
  readonly server: string
  /** The command and its arguments, as they are handed to the system; no shell reads them. */
  readonly argv: readonly string[]
  readonly cwd: string | undefined
  /** Variables that the entry sets, beside those of this process that are passed on. May hold secrets. */
  readonly env: Readonly<Record<string, string>>
  /** What is dangerous about the launch: variables such as `NODE_OPTIONS`, which run other code in the program. */
  readonly warnings: readonly string[]
}

/** Headers, or functions that return them for each request, with who calls what. */
export type MCPHeaders = CallHeaders

/** How a server is reached: the names of all config files that are around. */
export type MCPTransportType =
  | "stdio"
  | "local"
  | "http"
  | "streamable-http"
  | "streamableHttp"
  | "remote"
  | "sse"

/** How to reach one MCP server, and what to make of it. */
export interface MCPClientConfig {
  /** Program to start; with an array, the rest are its first arguments. */
  readonly command?: string | readonly string[] | undefined
  readonly args?: readonly string[] | undefined
  /** Set for the process, beside the few variables that every process needs. */
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly cwd?: string | undefined
  /** Variables of this process that the server's process gets too; `true` for all of them. */
  readonly inheritEnv?: readonly string[] | true | undefined

  readonly url?: string | URL | undefined
  /** Sent with each request, to the origin of `url` only. */
  readonly headers?: MCPHeaders | undefined
  /** Default: the platform's. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /**
   * Refuse private, loopback and link-local addresses, also those that a public name resolves to: for the
   * server itself, after redirects, and for what it names, such as its authorization server.
   */
  readonly blockPrivate?: boolean | undefined
  readonly authProvider?: MCPAuthProvider | undefined
  /** Default: "stdio" with `command`, "http" with `url`. */
  readonly type?: MCPTransportType | undefined

  /** A transport of your own. One that was made can be used once; a function is asked again after a loss. */
  readonly transport?:
    | MCPTransportLike
    | (() => MCPTransportLike | Promise<MCPTransportLike>)
    | undefined

  /** Version of the operations; "1.0.0". */
  readonly version?: string | undefined
  /** "auto" finds out. */
  readonly era?: "auto" | MCPEra | undefined
  /** What the server says of its tools is believed: tools that only read become queries. */
  readonly trust?: boolean | undefined
  /** By the server's own names of its tools. */
  readonly tools?: Readonly<Record<string, MCPToolConfig>> | undefined
  /** Leaves out tools for which it gives `false`. */
  readonly filter?: ((tool: MCPToolDefinition) => boolean) | undefined
  /** Milliseconds without a sign of life after which a request fails; 60,000. Progress is a sign. */
  readonly timeout?: number | undefined
  /** Milliseconds that a request may take whatever happens; 600,000. */
  readonly maxTotalTimeout?: number | undefined
  /** Milliseconds for connecting; 30,000. */
  readonly connectTimeout?: number | undefined
  /** Requests at the same time; 64. Others wait. */
  readonly maxConcurrency?: number | undefined
  /** Bytes of one message of the server; 64 MiB. */
  readonly maxMessageBytes?: number | undefined
  /** Bytes of one result; as `maxMessageBytes`. */
  readonly maxResultBytes?: number | undefined
  /** Tools, and also resources or prompts, that are taken of one server; 10,000. */
  readonly maxTools?: number | undefined
  /** Pages of one list; 100. */
  readonly maxPages?: number | undefined
  /** What happens when a tool is no longer what it was; "warn". */
  readonly pin?: PinPolicy | undefined
  /** Where it is kept what tools were; default: in memory. */
  readonly pins?: PinStore | undefined
  /** Resources become queries in `<server>-resources`; `false`. */
  readonly resources?: boolean | undefined
  /** Prompts become queries in `<server>-prompts`; `false`. */
  readonly prompts?: boolean | undefined
  /** Answers questions of the server for its user, where the caller of a tool does not. */
  readonly elicitation?:
    | ((request: FormInputRequest | UrlInputRequest, about: MCPAsker) => Promise<InputResponse>)
    | undefined
  /** Answers questions of the server for a language model. */
  readonly sampling?:
    | ((request: SamplingInputRequest, about: MCPAsker) => Promise<InputResponse>)
    | undefined
  /** The folders that the server is told to work in. */
  readonly roots?:
    | readonly MCPRoot[]
    | ((about: MCPAsker) => readonly MCPRoot[] | Promise<readonly MCPRoot[]>)
    | undefined
  /** The server may ask also without these three: callers answer, with `requestInput` of their call; `false`. */
  readonly forwardInput?: boolean | undefined
  /** Who may call the operations; by default anyone. */
  readonly accessControl?: AccessControl | undefined
  readonly visibility?: Visibility | undefined
  readonly normalize?: NormalizeMode | undefined
  readonly output?: OutputMode | undefined
  /** It is not connected to. */
  readonly disabled?: boolean | undefined
  readonly logger?: Logger | undefined
  readonly clientInfo?: MCPClientInfo | undefined
  /** Asked before a process is started; anything but `true` refuses. */
  readonly approve?: ((launch: MCPLaunch) => boolean | Promise<boolean>) | undefined
}

/** A process that is started. */
export interface MCPStdioChannel {
  readonly kind: "stdio"
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string | undefined
  readonly inheritEnv: readonly string[] | true | undefined
}

/** An address on the web. */
export interface MCPHttpChannel {
  readonly kind: "http"
  readonly url: URL
  readonly headers: MCPHeaders
  readonly fetch: typeof globalThis.fetch | undefined
  readonly blockPrivate: boolean
  readonly authProvider: MCPAuthProvider | undefined
  /** The old transport: at once, or when the new one is not there. */
  readonly sse: "only" | "fallback"
}

/** A transport that the user made. */
export interface MCPOwnChannel {
  readonly kind: "own"
  readonly make: () => MCPTransportLike | Promise<MCPTransportLike>
  /** `make` gives a new one each time, so that a lost one can be replaced. */
  readonly isRepeatable: boolean
}

export type MCPChannel = MCPStdioChannel | MCPHttpChannel | MCPOwnChannel

/** A `MCPClientConfig` that was found sound, with every default filled in. */
export interface SettledServer {
  /** The namespace. */
  readonly name: string
  readonly channel: MCPChannel
  readonly version: string
  readonly era: "auto" | MCPEra
  readonly trust: boolean
  /** By the server's own names; a map, since a tool may be called `__proto__`. */
  readonly tools: ReadonlyMap<string, MCPToolConfig>
  readonly filter: ((tool: MCPToolDefinition) => boolean) | undefined
  /** Milliseconds; `Infinity` for no limit, as in the next two. */
  readonly timeout: number
  readonly maxTotalTimeout: number
  readonly connectTimeout: number
  readonly maxConcurrency: number
  readonly maxMessageBytes: number
  readonly maxResultBytes: number
  readonly maxTools: number
  readonly maxPages: number
  readonly pin: PinPolicy
  /** `undefined`: in memory. */
  readonly pins: PinStore | undefined
  readonly resources: boolean
  readonly prompts: boolean
  readonly elicitation: MCPClientConfig["elicitation"]
  readonly sampling: MCPClientConfig["sampling"]
  /** Always a function where there are roots. */
  readonly roots:
    | ((about: MCPAsker) => readonly MCPRoot[] | Promise<readonly MCPRoot[]>)
    | undefined
  readonly forwardInput: boolean
  readonly accessControl: AccessControl
  readonly visibility: Visibility | undefined
  readonly normalize: NormalizeMode | undefined
  readonly output: OutputMode | undefined
  readonly disabled: boolean
  readonly logger: Logger
  readonly clientInfo: MCPClientInfo
  readonly approve: MCPClientConfig["approve"]
}
