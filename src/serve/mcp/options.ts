import { ERROR_REPORTING, Failures, type ErrorReporting } from "../../engine/failures.ts"
import type { Filled, OptionsSchema } from "../../internal/options.ts"
import type { Logger } from "../../internal/logger.ts"
import type { MCPIcon } from "../../core/envelope.ts"
import type { OperationSpec } from "../../core/types.ts"
import { isolatedLogger } from "../../internal/notify.ts"
import { systemClock } from "../../internal/clock.ts"
import { KeptResults } from "../../tools/kept-results.ts"
import type { Authenticate } from "../authenticate.ts"
import { EXPOSE_OPTIONS, exposure, type ExposeOptions } from "../expose.ts"
import { UPGRADE_RULES, type UpgradeRules } from "../upgrade.ts"

/** With more operations, a model searches them instead of reading a list. */
export const MAX_LISTED_TOOLS = 64

/** How operations are shown to MCP clients. */
export interface SurfaceOptions extends ErrorReporting {
  /**
   * Names of tools. `underscore`: `task_create`, which every client accepts; `dots`: `task.create`; `raw`: tools
   * of the one imported server keep the names that they have there; or a function. Illegal or duplicate names
   * are changed. A name is never given to another operation while the server lives.
   */
  readonly naming?: "underscore" | "dots" | "raw" | ((spec: OperationSpec) => string) | undefined
  /** `portable` rewrites input schemas so that all models accept them; `spec`, the default, keeps them. */
  readonly schemaProfile?: "spec" | "portable" | undefined
  readonly expose?: ExposeOptions | undefined
  /** Returns text for a result in place of JSON; `undefined` keeps the JSON. */
  readonly textResult?: ((data: unknown, spec: OperationSpec) => string | undefined) | undefined
  /**
   * Characters of a result that a model receives; default: 40,000. Of a longer one it receives whole items, and reads
   * on with the tool `read_result`. `Infinity` sends results whole. Tools of imported servers that are served as tools
   * of their own are passed on as they are, unless this is set.
   */
  readonly maxResultLength?: number | undefined
  /** Maximum size of a result, in bytes of JSON; default: 8 MB. */
  readonly maxResultBytes?: number | undefined
  /** Tools on one page of the list; default: 200. */
  readonly pageSize?: number | undefined
  /** Milliseconds that clients may cache a list; default: 5 minutes. */
  readonly ttlMs?: number | undefined
  /** Default number of items that a call of a subscription collects; default: 100. */
  readonly streamLimit?: number | undefined
  /** Maximum number of items that a caller may ask for; default: 1000. */
  readonly maxStreamLimit?: number | undefined
  /** Default time that a call of a subscription collects, in milliseconds; default: 10 s. */
  readonly streamTimeoutMs?: number | undefined
  /** Maximum time that a caller may ask for, in milliseconds; default: 5 minutes. */
  readonly maxStreamTimeoutMs?: number | undefined
  readonly logger?: Logger | undefined
}

const SURFACE_OPTIONS: OptionsSchema<SurfaceOptions> = {
  naming: { either: [{ oneOf: ["underscore", "dots", "raw"] }, "function"] },
  schemaProfile: { oneOf: ["spec", "portable"] },
  expose: {
    members: {
      ...EXPOSE_OPTIONS,
      mode: { oneOf: ["auto", "all", "search"] },
      threshold: { min: 0, whole: true },
    } satisfies OptionsSchema<ExposeOptions>,
  },
  textResult: "function",
  maxResultLength: "count",
  maxResultBytes: "count",
  pageSize: "count",
  ttlMs: { min: 0, whole: true },
  streamLimit: "count",
  maxStreamLimit: "count",
  streamTimeoutMs: "count",
  maxStreamTimeoutMs: "count",
  ...ERROR_REPORTING,
  logger: "logger",
}

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
  /** Milliseconds that a legacy client may take for an answer; default: 10 minutes. */
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

/** Options with defaults filled in. */
export interface ResolvedSurfaceOptions
  extends
    Pick<SurfaceOptions, "textResult">,
    Filled<
      SurfaceOptions,
      "naming" | "maxResultLength" | "maxResultBytes" | "pageSize" | "ttlMs" | "logger"
    >,
    Filled<ExposeOptions, "mode" | "threshold"> {
  readonly isPortable: boolean
  readonly isExposed: (spec: OperationSpec) => boolean
  readonly streams: StreamLimits
  readonly failures: Failures
  /** `maxResultLength` was given: it applies to tools of imported servers, too. */
  readonly isLimitSet: boolean
  /** Results that were longer than `maxResultLength`. */
  readonly kept: KeptResults
}

/** How much of a stream one call collects. */
export interface StreamLimits {
  readonly limit: number
  readonly maxLimit: number
  readonly timeoutMs: number
  readonly maxTimeoutMs: number
}

/** Fills in defaults. */
export function resolveSurfaceOptions(options: SurfaceOptions): ResolvedSurfaceOptions {
  const { naming = "underscore", schemaProfile = "spec", expose = {}, textResult } = options
  const { mode = "auto", threshold = MAX_LISTED_TOOLS } = expose
  const { maxResultLength = 40_000, maxResultBytes = 8 * 1024 * 1024, pageSize = 200 } = options
  const logger = isolatedLogger(options.logger)
  const maxLimit = options.maxStreamLimit ?? 1000
  const maxTimeoutMs = options.maxStreamTimeoutMs ?? 300_000
  return {
    ...{ naming, mode, threshold, textResult, maxResultLength, maxResultBytes, pageSize, logger },
    isPortable: schemaProfile === "portable",
    isExposed: exposure(expose, logger),
    ttlMs: Math.min(options.ttlMs ?? 300_000, Number.MAX_SAFE_INTEGER),
    streams: {
      limit: Math.min(options.streamLimit ?? 100, maxLimit),
      maxLimit,
      timeoutMs: Math.min(options.streamTimeoutMs ?? 10_000, maxTimeoutMs),
      maxTimeoutMs,
    },
    failures: new Failures("mcp", options, logger),
    isLimitSet: options.maxResultLength !== undefined,
    kept: new KeptResults(systemClock),
  }
}
