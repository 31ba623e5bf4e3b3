import { ERROR_REPORTING, type ErrorReporting } from "../../engine/failures.ts"
import type { OptionRule, OptionsSchema } from "../../internal/options.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Clock } from "../../internal/platform.ts"
import { EXPOSE_OPTIONS, exposure, type ExposeOptions } from "../../tools/expose.ts"
import { UPGRADE_RULES } from "../upgrade.ts"
import { AUTH_OPTIONS } from "./auth/options.ts"
import { CORS_OPTIONS } from "./allowed-origins.ts"
import { RATE_LIMIT_OPTIONS } from "../accounts.ts"
import type { HTTPAnswer, HTTPIncoming } from "../exchange.ts"
import type { GuardOptions } from "./guard.ts"
import type { HTTPMount, MountOptions } from "./mounts.ts"
import type { RestOptions, Routes, ResolvedHTTPOptions } from "./context.ts"
import type { HTTPContext } from "./http-context.ts"
import { normalizePath } from "./mount-path.ts"
import type { ProvideHTTPContext } from "./request-view.ts"

/** Options of `toHTTP`. */
export interface HTTPServerOptions extends ErrorReporting, Omit<GuardOptions, "maxStreams"> {
  /** Title and version in the OpenAPI document; default: "Operations", "1.0.0". */
  readonly title?: string | undefined
  readonly version?: string | undefined
  readonly description?: string | undefined
  /** Prefix of every path, such as `/v1`; a framework that mounts the API may have removed it. */
  readonly basePath?: string | undefined
  /** Serves `/operations` and `/batch`; default: true. */
  readonly gateway?: boolean | undefined
  /** Serves a path for each operation, `/api/{namespace}/{name}`; default: true. */
  readonly rest?: boolean | RestOptions | undefined
  /** Which operations are served; default: all except internal ones. */
  readonly expose?: Pick<ExposeOptions, "include" | "exclude" | "namespaces"> | undefined
  /**
   * Provides context values for each call from its HTTP request: `(request) => tenant.provide(…)`, a list of such
   * values, or a promise. Runs after authentication, with the time limit of that.
   */
  readonly context?: ProvideHTTPContext | undefined
  /** Maximum size of a body; default: 1 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** Maximum size of a body with files; default: `maxBodyBytes`. Files beyond `maxBodyBytes` are streams. */
  readonly maxUploadBytes?: number | undefined
  /** Maximum number of calls in one batch; default: 100. */
  readonly maxBatch?: number | undefined
  /** Maximum depth of JSON; default: 64. */
  readonly maxDepth?: number | undefined
  readonly sse?: SSEOptions | undefined
  /** Maximum duration of a call in milliseconds; clients may ask for less with `x-timeout-ms`. */
  readonly timeout?: number | undefined
  /** Milliseconds that `close` waits for running calls; default: 5,000. */
  readonly drainMs?: number | undefined
  /**
   * Other servers and handlers under a path, such as an MCP server: hosts, origins, authentication and limits are
   * those of this server. With `auth`, anything other than an MCP server has to be `{ mount, public }`.
   */
  readonly mounts?: Readonly<Record<string, HTTPMount>> | undefined
  /**
   * Serves the console to browsers that open the base URL, or the console in another folder. Other clients get the
   * list of endpoints there, as without it. Needs a file system. Default: false.
   */
  readonly console?: boolean | string | undefined
  /** @internal Further routes of the API itself, behind the same guard. */
  readonly routes?: ((context: HTTPContext) => Routes) | undefined
  /** @internal Public files: without authentication, but with checks of host and origin. */
  readonly files?: PublicFiles | undefined
  /** @internal Called when the server begins to close. */
  readonly onClose?: (() => void) | undefined
  /** @internal Whether the server is ready; reported by `/readyz`. */
  readonly isReady?: (() => boolean) | undefined
  readonly logger?: Logger | undefined
  readonly clock?: Clock | undefined
}

/** Public files. */
export interface PublicFiles {
  /** Whether a path, base path included, is one of the files for this request. */
  has(path: string, incoming: HTTPIncoming): boolean
  /** Never throws or rejects. */
  answer(incoming: HTTPIncoming): HTTPAnswer | Promise<HTTPAnswer>
  /** The answer to a request for something that does not exist; `undefined` for the usual problem. */
  missing?(incoming: HTTPIncoming): HTTPAnswer | undefined
}

/** Options of server-sent events. */
export interface SSEOptions {
  /** Milliseconds without an event before a heartbeat comment is sent; default: 15,000. */
  readonly heartbeatMs?: number | undefined
  /** Concurrent streams of each caller; default: 20. */
  readonly maxStreams?: number | undefined
  /** Maximum size of events that are joined into one write; default: 64 KiB. */
  readonly maxBufferBytes?: number | undefined
}

const SSE_OPTIONS: OptionsSchema<SSEOptions> = {
  heartbeatMs: "count",
  maxStreams: "count",
  maxBufferBytes: "count",
}

const MOUNTED: readonly OptionRule[] = [
  "function",
  { methods: ["fetch"], expected: "a server such as toMCP(registry)" },
]

/** Rule of the option `mounts`. */
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
  context: "function",
  maxBodyBytes: "count",
  maxUploadBytes: "count",
  maxBatch: "count",
  maxDepth: "count",
  rateLimit: { members: RATE_LIMIT_OPTIONS },
  maxConcurrency: "count",
  sse: { members: SSE_OPTIONS },
  timeout: "duration",
  drainMs: { min: 0 },
  mounts: { record: MOUNT_OPTION },
  console: { either: ["boolean", "text"] },
  routes: "function",
  files: { methods: ["has", "answer"], expected: "files with has() and answer()" },
  onClose: "function",
  isReady: "function",
  ...ERROR_REPORTING,
  logger: "logger",
  clock: "clock",
}

/** Fills in defaults; throws a `TypeError` for an invalid path. */
export function resolveHTTPOptions(
  options: HTTPServerOptions,
  logger?: Logger,
): ResolvedHTTPOptions {
  const { title = "Operations", version = "1.0.0", basePath = "", gateway = true } = options
  const { rest = true, sse = {}, maxBatch = 100, maxDepth = 64 } = options
  const { maxBodyBytes = 1024 * 1024, maxUploadBytes = maxBodyBytes } = options
  const restPath = typeof rest === "object" ? rest.path : "/api"
  return {
    ...options,
    ...{ title, version, gateway, maxBodyBytes, maxUploadBytes, maxBatch, maxDepth },
    basePath: normalizePath("basePath", basePath),
    rest: rest === false ? undefined : { path: normalizePath("rest.path", restPath) },
    isExposed: exposure(options.expose ?? {}, logger),
    isFiltered: options.expose !== undefined,
    sse: {
      heartbeatMs: sse.heartbeatMs ?? 15_000,
      maxBufferBytes: sse.maxBufferBytes ?? 64 * 1024,
    },
  }
}
