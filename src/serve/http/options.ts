import type { Logger } from "../../logger.ts"
import type { Clock } from "../../platform.ts"
import type { Authenticate } from "../gate.ts"
import { exposure } from "../mcp/options.ts"
import type { ExposeOptions } from "../mcp/options.ts"
import type { AuthOptions } from "./auth/options.ts"
import type { CorsOptions } from "./cors.ts"
import type { RateLimitOptions } from "./limits.ts"
import type { HTTPAnswer, HTTPIncoming } from "./model.ts"
import type { HTTPMount } from "./mounts.ts"
import type { HTTPContext, RestOptions, Routes, SettledHTTPOptions } from "./spine.ts"

/** Options of `toHTTP`. */
export interface HTTPServerOptions {
  /** What the OpenAPI document calls the API: "Operations", "1.0.0". */
  readonly title?: string | undefined
  readonly version?: string | undefined
  readonly description?: string | undefined
  /** In front of every path, such as `/v1`. */
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

/** Fills in what was left out; throws a `TypeError` for what makes no sense. */
export function settleHTTPOptions(options: HTTPServerOptions): SettledHTTPOptions {
  const { gateway = true, rest = true, sse = {}, auth, authenticate, timeout } = options
  if (timeout !== undefined && !(timeout > 0)) {
    throw new TypeError("toHTTP(): timeout must be a number of milliseconds above 0.")
  }
  const restPath = typeof rest === "object" ? rest.path : "/api"
  return {
    title: options.title ?? "Operations",
    version: options.version ?? "1.0.0",
    description: options.description,
    basePath: settlePath("basePath", options.basePath ?? ""),
    gateway,
    rest: rest === false ? undefined : { path: settlePath("rest.path", restPath) },
    isExposed: exposure(options.expose ?? {}, "toHTTP"),
    isFiltered: options.expose !== undefined,
    auth,
    authenticate,
    allowedHosts: options.allowedHosts,
    allowedOrigins: options.allowedOrigins,
    cors: options.cors,
    maxBodyBytes: whole("maxBodyBytes", options.maxBodyBytes, 1024 * 1024),
    maxBatch: whole("maxBatch", options.maxBatch, 100),
    maxDepth: whole("maxDepth", options.maxDepth, 64),
    rateLimit: options.rateLimit,
    maxConcurrency: whole("maxConcurrency", options.maxConcurrency, 100),
    sse: {
      heartbeatMs: whole("sse.heartbeatMs", sse.heartbeatMs, 15_000),
      maxStreams: whole("sse.maxStreams", sse.maxStreams, 20),
      maxBufferBytes: whole("sse.maxBufferBytes", sse.maxBufferBytes, 64 * 1024),
    },
    timeout,
  }
}

/** A path as it is compared: a slash in front, none at the end; the root is nothing at all. */
export function settlePath(option: string, path: string): string {
  const text = path === "/" ? "" : path
  if (text === "" || (/^(?:\/[\w.~-]+)+$/.test(text) && !/\/\.\.?(?:\/|$)/.test(text))) return text
  throw new TypeError(
    `toHTTP(): ${option} must be a path of plain letters, such as "/v1", without a slash at its end.`,
  )
}

/** A whole number of at least 1, or as many as one likes. */
function whole(option: string, value: number | undefined, fallback: number): number {
  if (value === undefined) return fallback
  if (value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && value >= 1)) return value
  throw new TypeError(`toHTTP(): ${option} must be a whole number, at least 1.`)
}
