import { ERROR_REPORTING } from "../../engine/failures.ts"
import type { ErrorReporting } from "../../engine/failures.ts"
import type { OptionRule, OptionsSchema } from "../../internal/options.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Clock } from "../../internal/platform.ts"
import type { Authenticate } from "../gate.ts"
import { EXPOSE_OPTIONS, exposure } from "../expose.ts"
import type { ExposeOptions } from "../expose.ts"
import { UPGRADE_RULES } from "../upgrade.ts"
import { AUTH_OPTIONS } from "./auth/options.ts"
import type { AuthOptions } from "./auth/options.ts"
import { CORS_OPTIONS } from "./cors.ts"
import type { CorsOptions } from "./cors.ts"
import { RATE_LIMIT_OPTIONS } from "../accounts.ts"
import type { RateLimitOptions } from "../accounts.ts"
import type { HTTPAnswer, HTTPIncoming } from "../exchange.ts"
import type { HTTPMount, MountOptions } from "./mounts.ts"
import type { HTTPContext, RestOptions, Routes, ResolvedHTTPOptions } from "./context.ts"
import { normalizePath } from "./mount-path.ts"

/** Options of `toHTTP`. */
export interface HTTPServerOptions extends ErrorReporting {
  /** What the OpenAPI document calls the API: "Operations", "1.0.0". */
  readonly title?: string | undefined
  readonly version?: string | undefined
  readonly description?: string | undefined
  /** In front of every path, such as `/v1`; a framework that mounts the API may have removed it. */
  readonly basePath?: string | undefined
  /** `/operations` and `/batch`; on. */
  readonly gateway?: boolean | undefined
  /** A path for each operation, `/api/{namespace}/{name}`; on. */
  readonly rest?: boolean | RestOptions | undefined
  /** Which operations are served; all that are not internal. */
  readonly expose?: Pick<ExposeOptions, "include" | "exclude" | "namespaces"> | undefined
  /** Who calls, by API keys and signed tokens; or else `authenticate`. */
  readonly auth?: AuthOptions | undefined
  readonly authenticate?: Authenticate | undefined
  /** Milliseconds that finding out who calls may take; 10,000. */
  readonly authenticateTimeout?: number | undefined
  /** Addresses of proxies whose `X-Forwarded-For` counts; none. */
  readonly trustedProxies?: readonly string[] | undefined
  readonly allowedHosts?: readonly string[] | undefined
  readonly allowedOrigins?: readonly string[] | undefined
  /** Lets pages of these origins read answers; off. */
  readonly cors?: CorsOptions | undefined
  /** 1 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** Calls in one batch; 100. */
  readonly maxBatch?: number | undefined
  /** Levels of JSON; 64. */
  readonly maxDepth?: number | undefined
  /** Requests of one identity; no limit. */
  readonly rateLimit?: RateLimitOptions | undefined
  /** Requests of one identity at the same time; 100. */
  readonly maxConcurrency?: number | undefined
  readonly sse?: SSEOptions | undefined
  /** Milliseconds that a call may take at most; clients may ask for less with `x-timeout-ms`. */
  readonly timeout?: number | undefined
  /** Milliseconds that `close` waits for calls that run; 5,000. */
  readonly drainMs?: number | undefined
  /**
   * Others that answer under a path, such as an MCP server: hosts, origins, authentication and limits are
   * those of this server. With `auth`, a handler or a server of another kind has to be `{ mount, public }`.
   */
  readonly mounts?: Readonly<Record<string, HTTPMount>> | undefined
  /** @internal Further paths of the API itself: whoever calls them went through the same guard. */
  readonly routes?: ((context: HTTPContext) => Routes) | undefined
  /** @internal Files for everybody: nobody is asked who they are, only where they come from. */
  readonly files?: PublicFiles | undefined
  /** @internal Whether all is there that requests need; `/readyz` says so. */
  readonly isReady?: (() => boolean) | undefined
  readonly logger?: Logger | undefined
  readonly clock?: Clock | undefined
}

/** Files that hold nothing of anybody's. */
export interface PublicFiles {
  /** Whether a path, base path included, is one of theirs. */
  has(path: string): boolean
  /** Never throws or rejects. */
  answer(incoming: HTTPIncoming): HTTPAnswer | Promise<HTTPAnswer>
}

/** Streams of server-sent events. */
export interface SSEOptions {
  /** Milliseconds of silence before a comment is sent; 15,000. */
  readonly heartbeatMs?: number | undefined
  /** Streams of one identity at the same time; 20. */
  readonly maxStreams?: number | undefined
  /** Events are joined up to this much before the connection has to take them; 64 KiB. */
  readonly maxBufferBytes?: number | undefined
}

const SSE_OPTIONS: OptionsSchema<SSEOptions> = {
  heartbeatMs: "count",
  maxStreams: "count",
  maxBufferBytes: "count",
}

const MOUNTED: readonly OptionRule[] = [
  "function",
  { methods: ["fetch"], expected: "a server with fetch() and node()" },
]

/** What answers in place of the API. */
export const MOUNT_OPTION: OptionRule = {
  either: [
    ...MOUNTED,
    {
      members: {
        mount: { required: { either: MOUNTED } },
        public: { required: "boolean" },
      } satisfies OptionsSchema<MountOptions>,
    },
  ],
}

export const HTTP_OPTIONS: OptionsSchema<HTTPServerOptions> = {
  title: "string",
  version: "string",
  description: "string",
  basePath: "string",
  gateway: "boolean",
  rest: {
    either: [
      "boolean",
      { members: { path: { required: "string" } } satisfies OptionsSchema<RestOptions> },
    ],
  },
  expose: { members: EXPOSE_OPTIONS },
  auth: { members: AUTH_OPTIONS },
  authenticate: "function",
  authenticateTimeout: "duration",
  trustedProxies: { list: "text" },
  ...UPGRADE_RULES,
  cors: { members: CORS_OPTIONS },
  maxBodyBytes: "count",
  maxBatch: "count",
  maxDepth: "count",
  rateLimit: { members: RATE_LIMIT_OPTIONS },
  maxConcurrency: "count",
  sse: { members: SSE_OPTIONS },
  timeout: "duration",
  drainMs: { min: 0 },
  mounts: { record: MOUNT_OPTION },
  routes: "function",
  files: { methods: ["has", "answer"], expected: "files with has() and answer()" },
  isReady: "function",
  ...ERROR_REPORTING,
  logger: "logger",
  clock: "clock",
}

/** Fills in what was left out; throws a `TypeError` for a path that cannot be served. */
export function resolveHTTPOptions(options: HTTPServerOptions): ResolvedHTTPOptions {
  const { gateway = true, rest = true, sse = {}, auth, authenticate, timeout } = options
  const restPath = typeof rest === "object" ? rest.path : "/api"
  return {
    title: options.title ?? "Operations",
    version: options.version ?? "1.0.0",
    description: options.description,
    basePath: normalizePath("basePath", options.basePath ?? ""),
    gateway,
    rest: rest === false ? undefined : { path: normalizePath("rest.path", restPath) },
    isExposed: exposure(options.expose ?? {}),
    isFiltered: options.expose !== undefined,
    auth,
    authenticate,
    allowedHosts: options.allowedHosts,
    allowedOrigins: options.allowedOrigins,
    cors: options.cors,
    maxBodyBytes: options.maxBodyBytes ?? 1024 * 1024,
    maxBatch: options.maxBatch ?? 100,
    maxDepth: options.maxDepth ?? 64,
    rateLimit: options.rateLimit,
    maxConcurrency: options.maxConcurrency ?? 100,
    sse: {
      heartbeatMs: sse.heartbeatMs ?? 15_000,
      maxStreams: sse.maxStreams ?? 20,
      maxBufferBytes: sse.maxBufferBytes ?? 64 * 1024,
    },
    timeout,
    reporting: { errors: options.errors, onError: options.onError },
  }
}
