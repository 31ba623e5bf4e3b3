// A hub on a port: its servers, their options, and their end.
import { Closable } from "../internal/closable.ts"
import { SERVER_OPTIONS } from "../config/config-shapes.ts"
import { CallError, isCallError } from "../core/errors.ts"
import type { ResolvedSource, ServerConfig } from "../config/model.ts"
import { ERROR_REPORTING, type ErrorListener } from "../engine/failures.ts"
import { validateOptions, type OptionsSchema } from "../internal/options.ts"
import { MissingPackage } from "../internal/import-peer.ts"
import { withoutUndefined } from "../internal/own.ts"
import type { Logger } from "../internal/logger.ts"
import { serveHTTP, type ServedHTTP } from "../node/serve-http.ts"
import { toHTTP, type HTTPServer } from "../serve/http/to-http.ts"
import { loadJose } from "../internal/jose.ts"
import { normalizePath } from "../serve/http/mount-path.ts"
import { API_KEY } from "../serve/http/auth/options.ts"
import type { MCPServer } from "../serve/mcp/to-mcp.ts"
import { reasonOf } from "../internal/message-text.ts"
import { checkWs } from "../transport/websocket/ws-package.ts"
import { Activity } from "./activity.ts"
import { ConsoleFiles } from "./console-files.ts"
import { internalsOf } from "./create-hub.ts"
import { createHubRoutes } from "./hub-routes.ts"
import type { Hub } from "./model.ts"
import { HUB_SOURCES } from "./sources/index.ts"
import { prepareSearch } from "./prepare-search.ts"
import { authOf, Credentials, exposureOf, rateLimitOf } from "./server-options.ts"

/** Options of `serveHub`; they override the server settings of the configuration. */
export interface ServeHubOptions extends Omit<ServerConfig, "console"> {
  /** Whether the console is served, or the folder of another console. */
  readonly console?: boolean | string | undefined
  /** Milliseconds that `close` waits for running calls; default: 5,000. */
  readonly drainMs?: number | undefined
  /** Receives the errors of operations called through this server. */
  readonly onError?: ErrorListener | undefined
}

export const SERVE_HUB_OPTIONS: OptionsSchema<ServeHubOptions> = {
  ...SERVER_OPTIONS,
  title: "string",
  description: "string",
  basePath: "string",
  apiKeys: { list: { members: API_KEY } },
  console: { either: ["boolean", "text"] },
  drainMs: { min: 0 },
  ...ERROR_REPORTING,
}

/** A hub that listens on a port. Closing it leaves the hub itself open. */
export interface ServedHub extends AsyncDisposable {
  /** Base URL: `http://127.0.0.1:3000`. */
  readonly url: string
  /** URL of the console; `undefined` when it is off. */
  readonly consoleUrl: string | undefined
  /** URL for MCP clients; `undefined` when MCP is not served. */
  readonly mcpUrl: string | undefined
  /** URL for `remote` sources and WebSocket clients; `undefined` when WebSockets are not served. */
  readonly wsUrl: string | undefined
  /** Refuses new calls, waits for running ones, closes the port. Calling it twice is fine. */
  close(): Promise<void>
}

/** Serves a hub on a port: HTTP, WebSocket, MCP and the console, for callers that its configuration admits. */
export async function serveHub(hub: Hub, overrides: ServeHubOptions = {}): Promise<ServedHub> {
  validateOptions("serveHub", overrides, SERVE_HUB_OPTIONS)
  const { clock, sourceOf, logReaders } = internalsOf(hub)
  const config = { ...hub.config.server, ...withoutUndefined(overrides) }
  const activity = new Activity(hub, clock, { sourceOf, logReaders, record: config.record })
  try {
    return await open(hub, config, activity, overrides)
  } catch (error) {
    activity.close()
    throw error
  }
}

async function open(
  hub: Hub,
  config: ServeHubOptions,
  activity: Activity,
  overrides: ServeHubOptions,
): Promise<ServedHub> {
  const { port = 3000, host = "127.0.0.1", limits = {} } = config
  const { logger, clock, approvals } = internalsOf(hub)
  const hasSockets = await canServeSockets(config.websocket, logger)
  const websocket = hasSockets && {
    maxInFlight: limits.calls,
    maxStreams: limits.streams,
    maxConnectionsPerCaller: limits.sockets,
  }
  const servers = await makeServers(hub, config, activity, hasSockets)
  let served: ServedHTTP
  try {
    served = await serveHTTP(servers.api, { port, host, websocket, logger, clock })
  } catch (error) {
    await Promise.all([servers.api.close(), servers.mcp?.close()])
    throw explain(error, host, port)
  }
  const stops = [prepareSearch(hub, logger), followKeys(hub, overrides, servers)]
  const base = `${served.url}${normalizePath("server.basePath", config.basePath ?? "")}`
  const page = config.console === false ? "hub" : "#"
  approvals.setAddress((id) => `${base}/${page}/approvals/${id}`)
  const { mcp } = servers
  const has = {
    console: config.console !== false,
    mcp: mcp !== undefined,
    websocket: hasSockets,
  }
  return new Served(served, has, async () => {
    for (const stop of stops) stop()
    // Closes the port last: answers to MCP clients go through it.
    const closing = served.close()
    // The activity streams of consoles do not end by themselves.
    activity.close()
    await mcp?.close()
    await closing
  })
}

/** Applies the API keys of another configuration, unless the options of `serveHub` have some. */
function followKeys(
  hub: Hub,
  overrides: ServeHubOptions,
  { api, credentials }: Servers,
): () => void {
  if (credentials === undefined || overrides.apiKeys !== undefined) return () => undefined
  return internalsOf(hub).onApply(async ({ apiKeys }, resolve) => {
    const auth = await authOf({ apiKeys, jwt: undefined }, resolve)
    const use = credentials.prepare(auth?.apiKeys)
    return () => {
      for (const id of use()) api.inner.guard.accounts.revoke(id)
    }
  })
}

interface Servers {
  readonly credentials: Credentials | undefined
  readonly api: HTTPServer
  readonly mcp: MCPServer | undefined
}

async function makeServers(
  hub: Hub,
  config: ServeHubOptions,
  activity: Activity,
  websocket: boolean,
): Promise<Servers> {
  const { logger, clock, resolve } = internalsOf(hub)
  const { allowedHosts, allowedOrigins, trustedProxies, cors, maxUploadBytes } = config
  const { drainMs, title, description, limits = {} } = config
  const basePath = normalizePath("server.basePath", config.basePath ?? "")
  const auth = await authOf(config, resolve)
  const credentials = auth && new Credentials(auth, clock)
  const reporting = { errors: exposureOf(config, auth), onError: config.onError }
  if (auth?.jwt !== undefined) await loadJose("server.jwt")
  const mcp =
    config.mcp === false
      ? undefined
      : (await import("../serve/mcp/to-mcp.ts")).toMCP(hub.registry, {
          ...reporting,
          title,
          drainMs,
          logger,
        })
  const api = toHTTP(hub.registry, {
    ...reporting,
    allowedHosts,
    allowedOrigins,
    title,
    description,
    basePath,
    authenticate: credentials?.authenticate,
    trustedProxies,
    cors,
    maxUploadBytes,
    rateLimit: rateLimitOf(config),
    maxConcurrency: limits.calls,
    sse: { maxStreams: limits.sseStreams },
    drainMs,
    logger,
    clock,
    isReady: () => hasNeededSources(hub),
    routes: createHubRoutes(hub, activity, internalsOf(hub), {
      mcp: mcp !== undefined,
      websocket,
      metrics: true,
      traceLink: () => hub.config.telemetry?.link,
    }),
    ...(config.console !== false && {
      files: new ConsoleFiles({
        basePath,
        folder: typeof config.console === "string" ? config.console : undefined,
        title,
      }),
    }),
    ...(mcp !== undefined && { mounts: { [`${basePath}/mcp`]: mcp } }),
  })
  return { api, mcp, credentials }
}

/** Whether WebSockets can be served: their package is installed, unless the options decide. */
async function canServeSockets(wanted: boolean | undefined, logger: Logger): Promise<boolean> {
  if (wanted === false) return false
  try {
    await checkWs("server.websocket")
    return true
  } catch (error) {
    if (wanted === true || !(error instanceof MissingPackage)) throw error
    logger.warn(`WebSocket clients cannot connect: ${error.message}`)
    return false
  }
}

function explain(error: unknown, host: string, port: number): unknown {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } }
  const shown = `${host}:${port}`
  switch (cause?.code) {
    case "EADDRINUSE":
      return unavailable(
        `Port ${port} of ${host} is taken. Stop what listens there, or choose another: --port ${port + 1}, or --port 0 for any.`,
        error,
      )
    case "EACCES":
      return unavailable(`This user may not listen on ${shown}. Choose a port above 1023.`, error)
    case "EADDRNOTAVAIL":
      return unavailable(`This machine has no address "${host}". Use 127.0.0.1 or 0.0.0.0.`, error)
    default:
      break
  }
  if (isCallError(error) || !(error instanceof TypeError)) return error
  if (!reasonOf(error).includes("other machines")) return error
  return new CallError(
    "VALIDATION_ERROR",
    `"${host}" can be reached from other machines. Give "server.apiKeys" or "server.jwt" in the configuration, or listen on 127.0.0.1.`,
    { cause: error, retryable: false },
  )
}

function unavailable(message: string, cause: unknown): CallError {
  return new CallError("UNAVAILABLE", message, { cause, retryable: false })
}

class Served extends Closable implements ServedHub {
  readonly url: string
  readonly consoleUrl: string | undefined
  readonly mcpUrl: string | undefined
  readonly wsUrl: string | undefined
  readonly #end: () => Promise<void>

  constructor(
    { url }: ServedHTTP,
    has: Record<"console" | "mcp" | "websocket", boolean>,
    end: () => Promise<void>,
  ) {
    super()
    this.url = url
    this.consoleUrl = has.console ? `${url}/` : undefined
    this.mcpUrl = has.mcp ? `${url}/mcp` : undefined
    this.wsUrl = has.websocket ? `${url.replace(/^http/, "ws")}/ws` : undefined
    this.#end = end
  }

  protected end(): Promise<void> {
    return this.#end()
  }
}

/** Whether every source that a hub needs to answer requests is ready. */
export function hasNeededSources(hub: Hub): boolean {
  const needed = new Set(hub.config.sources.filter(isNeeded).map(({ name }) => name))
  if (needed.size === 0) return true
  return hub.sources.every(({ name, kind, state, operations }) => {
    if (!needed.has(name) || state === "ready" || state === "disabled") return true
    // Only calls show that an API is back: a hub that received none would never be ready again.
    if (state === "lost" && HUB_SOURCES[kind].isFoundByCalls === true) return true
    // A source that is being reopened still serves its operations.
    return state === "loading" && operations > 0
  })
}

function isNeeded({ kind, config }: ResolvedSource): boolean {
  return config.required ?? HUB_SOURCES[kind].isRequired?.(config) ?? false
}
