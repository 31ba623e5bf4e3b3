import type { OptionsSchema } from "../../internal/options.ts"
import type { MCPIcon } from "../../core/envelope.ts"
import { SURFACE_OPTIONS, type SurfaceOptions } from "../../tools/options.ts"
import type { Authenticate } from "../authenticate.ts"
import { UPGRADE_RULES, type UpgradeRules } from "../upgrade.ts"

/** Where clients get tokens for this server: RFC 9728. */
export interface ResourceMetadata {
  /** The address of this server, as clients know it. */
  readonly resource: string
  readonly authorization_servers: readonly string[]
  readonly scopes_supported?: readonly string[]
  readonly bearer_methods_supported?: readonly string[]
  readonly resource_name?: string
  readonly resource_documentation?: string
  readonly [key: string]: unknown
}

/** Authentication options of an MCP server. */
export interface MCPAuthOptions {
  /** Without it every caller is anonymous, unless the server is mounted in one that authenticates. */
  readonly authenticate?: Authenticate | undefined
  /** Milliseconds that `authenticate` may take; default: 10,000. */
  readonly authenticateTimeout?: number | undefined
  /** Scopes that every request needs. */
  readonly requiredScopes?: readonly string[] | undefined
  /** Served under `/.well-known/oauth-protected-resource`; clients without a token receive its URL. */
  readonly resourceMetadata?: ResourceMetadata | undefined
}

const AUTH_OPTIONS: OptionsSchema<MCPAuthOptions> = {
  authenticate: "function",
  authenticateTimeout: "duration",
  requiredScopes: { list: "text" },
  resourceMetadata: {
    members: {
      resource: { required: "url" },
      authorization_servers: { required: { list: "text" } },
      scopes_supported: { list: "text" },
      bearer_methods_supported: { list: "text" },
      resource_name: "string",
      resource_documentation: "string",
    },
    open: true,
  },
}

/** Limits of sessions, which are kept in memory. */
export interface SessionLimits {
  /** Concurrent sessions; default: 1024. Beyond it the least recently used one ends, of the same caller if possible. */
  readonly max?: number | undefined
  /** Sessions per identity, or per address for anonymous callers; default: 32. Beyond it the oldest one ends. */
  readonly maxPerCaller?: number | undefined
  /** Milliseconds after which an unused session ends; default: 30 minutes. */
  readonly idleMs?: number | undefined
}

const SESSION_LIMITS: OptionsSchema<SessionLimits> = {
  max: "count",
  maxPerCaller: "count",
  idleMs: "duration",
}

/** Options of `toMCP`. */
export interface MCPServerOptions extends SurfaceOptions, MCPAuthOptions, UpgradeRules {
  /** Name and version of the server; default: "operations", "1.0.0". */
  readonly name?: string | undefined
  readonly version?: string | undefined
  readonly title?: string | undefined
  readonly icons?: readonly MCPIcon[] | undefined
  readonly websiteUrl?: string | undefined
  /**
   * What models read first; default: the list of namespaces. In search mode,
   * how to find and call an operation is added. `false` for no instructions.
   */
  readonly instructions?: string | false | undefined
  /**
   * Settles when the operations are registered, if that takes a while. Until then the first lists of tools wait, for
   * three seconds at most; everything else is answered at once, and operations that come later are announced.
   */
  readonly ready?: PromiseLike<unknown> | undefined
  /** Sessions of clients up to 2025-11-25; `false` serves them without, and then handlers cannot ask for input. */
  readonly sessions?: SessionLimits | false | undefined
  /** Maximum size of a request body, in bytes; default: 4 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** Milliseconds without an event before a comment is sent; default: 15,000. */
  readonly keepAliveMs?: number | undefined
  /** Key that seals the answers modern clients carry between rounds. Set it if several servers share clients: 32 bytes or more. */
  readonly stateKey?: string | Uint8Array | undefined
  /** Milliseconds that a client may take for a round of questions; default: 5 minutes. */
  readonly stateTtlMs?: number | undefined
  /** Milliseconds that a legacy client may take for an answer. Default: those of the registry, 5 minutes. */
  readonly inputTimeoutMs?: number | undefined
  /** Milliseconds that `close` waits for running calls; default: 5,000. */
  readonly drainMs?: number | undefined
}

export const MCP_SERVER_OPTIONS: OptionsSchema<MCPServerOptions> = {
  ...SURFACE_OPTIONS,
  ...AUTH_OPTIONS,
  ...UPGRADE_RULES,
  name: "text",
  version: "text",
  title: "string",
  icons: { list: { members: { src: { required: "text" } }, open: true } },
  websiteUrl: "url",
  instructions: { either: ["string", { oneOf: [false] }] },
  ready: { methods: ["then"], expected: "a promise" },
  sessions: { either: [{ oneOf: [false] }, { members: SESSION_LIMITS }] },
  maxBodyBytes: "count",
  keepAliveMs: "duration",
  stateKey: { secret: { either: ["text", { methods: ["subarray"], expected: "a Uint8Array" }] } },
  stateTtlMs: "duration",
  inputTimeoutMs: "duration",
  drainMs: { min: 0 },
}
