import { Closable } from "../internal/closable.ts"
import { closePort, createPortServer, openPort, PORT_OPTIONS, portUrl } from "../serve/port.ts"
import type { PortOptions } from "../serve/port.ts"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { MissingPackage } from "../internal/import-peer.ts"
import { TIMER, validateOptions, type OptionsSchema } from "../internal/options.ts"
import type { AnyRegistry } from "../engine/registry.ts"
import { checkListenAddress } from "../serve/http/guard.ts"
import type { HTTPMount } from "../serve/http/mounts.ts"
import { HTTP_OPTIONS, MOUNT_OPTION, type HTTPServerOptions } from "../serve/http/options.ts"
import { normalizePath } from "../serve/http/mount-path.ts"
import { toHTTP, type HTTPServer } from "../serve/http/to-http.ts"
import { pathOf } from "../serve/upgrade.ts"
import { serveWebSocket, type ServedWebSocket } from "../serve/websocket/serve-websocket.ts"
import { CONNECTION_OPTIONS } from "../serve/websocket/options.ts"
import type { ServeWebSocketOptions, WebSocketEntrance } from "../serve/websocket/options.ts"
import { isolatedLogger } from "../internal/notify.ts"

/** Options of WebSocket clients under `/ws`. Authentication and exposed operations are those of requests. */
export type HTTPWebSocketOptions = Omit<ServeWebSocketOptions, WebSocketEntrance>

/** Options of `serveHTTP`; those of `toHTTP` only if you pass a registry. */
export interface ServeHTTPOptions extends HTTPServerOptions, PortOptions {
  /** Default: 127.0.0.1. Any address other than a loopback needs `auth` or `authenticate`. */
  readonly host?: string | undefined
  /** Your own server instead of a port: start and close it yourself. */
  readonly server?: Server | undefined
  /**
   * WebSocket clients under `/ws`, which needs the package `ws`. By default on if that is installed, with a
   * warning if it is not.
   */
  readonly websocket?: boolean | HTTPWebSocketOptions | undefined
  /** Answers under `/mcp`, after the base path, for the callers that this server authenticates. Close it yourself. */
  readonly mcp?: HTTPMount | undefined
  /** Signals that drain and close the server, such as `["SIGTERM", "SIGINT"]`; `true` for these. */
  readonly signals?: boolean | readonly NodeJS.Signals[] | undefined
  /** Maximum size of all headers of a request, in bytes; default: 16 KiB. */
  readonly maxHeaderBytes?: number | undefined
  /** Milliseconds that an idle connection is kept; default: 5,000. */
  readonly keepAliveTimeout?: number | undefined
}

/** Options that also apply to an API created with `toHTTP`. */
const LISTEN_OPTIONS: OptionsSchema<
  Omit<ServeHTTPOptions, Exclude<keyof HTTPServerOptions, "logger" | "clock">>
> = {
  ...PORT_OPTIONS,
  server: { methods: ["on", "off"], expected: "a server of node:http" },
  websocket: { either: ["boolean", { members: CONNECTION_OPTIONS }] },
  mcp: MOUNT_OPTION,
  signals: {
    either: [
      "boolean",
      { list: { pattern: /^SIG[A-Z0-9]+$/, expected: 'a signal such as "SIGTERM"' } },
    ],
  },
  maxHeaderBytes: { min: 1, max: TIMER.max, whole: true },
  keepAliveTimeout: TIMER,
  logger: "logger",
  clock: "clock",
}

export const SERVE_HTTP_OPTIONS: OptionsSchema<ServeHTTPOptions> = {
  ...HTTP_OPTIONS,
  ...LISTEN_OPTIONS,
}

/** A listening HTTP API. */
export interface ServedHTTP extends AsyncDisposable {
  /** URL with the base path; with your own server, available once that listens. */
  readonly url: string
  /** Refuses new requests, waits for running ones, closes connections. Calling it twice is fine. */
  close(): Promise<void>
}

/** Serves a registry, or an API created with `toHTTP`, on a port. */
export async function serveHTTP(
  source: AnyRegistry | HTTPServer,
  options: ServeHTTPOptions = {},
): Promise<ServedHTTP> {
  validateOptions("serveHTTP", options, SERVE_HTTP_OPTIONS)
  const api = apiOf(source, options)
  const { server, host = "127.0.0.1" } = options
  if (server === undefined) checkListenAddress(host, api.inner.guard)
  await api.inner.guard.packagesLoaded
  const sockets = await openSockets(api, options)
  if (sockets !== undefined) {
    const { basePath, endpoints } = api.inner
    endpoints.add({ path: `${basePath}/ws`, protocol: "websocket" })
  }
  const own = server ?? ((await createPortServer("serveHTTP()", options)) as Server)
  const served = new Served(api, sockets, own, options)
  try {
    await served.open()
  } catch (error) {
    await served.close()
    throw error
  }
  return served
}

function apiOf(source: AnyRegistry | HTTPServer, options: ServeHTTPOptions): HTTPServer {
  const names = Object.keys(LISTEN_OPTIONS)
  const definedOptions = Object.entries(options).filter(([, value]) => value !== undefined)
  const { mcp } = options
  if ("inner" in source) {
    const [late] = definedOptions.find(([name]) => name === "mcp" || !names.includes(name)) ?? []
    if (late === undefined) return source
    const place = late === "mcp" ? `toHTTP, as mounts: { "/mcp": server }` : "toHTTP"
    throw new TypeError(`serveHTTP(api, options): give ${late} to ${place}.`)
  }
  const { logger, clock } = options
  const own: HTTPServerOptions = Object.fromEntries(
    definedOptions.filter(([name]) => !names.includes(name)),
  )
  const path = `${normalizePath("basePath", own.basePath ?? "")}/mcp`
  const mounts = mcp === undefined ? own.mounts : { [path]: mcp, ...own.mounts }
  return toHTTP(source, { ...own, mounts, logger, clock })
}

async function openSockets(
  { inner }: HTTPServer,
  { websocket, logger, clock }: ServeHTTPOptions,
): Promise<ServedWebSocket | undefined> {
  if (websocket === false) return undefined
  const { registry, guard, options } = inner
  try {
    return await serveWebSocket(registry, {
      logger: logger ?? options.logger,
      clock: clock ?? options.clock,
      authenticateTimeout: options.authenticateTimeout,
      errors: options.errors,
      onError: options.onError,
      ...(typeof websocket === "object" ? websocket : undefined),
      ...guard.rules,
      authenticate: guard.authenticate,
      accounts: guard.accounts,
      drainMs: options.drainMs,
    })
  } catch (error) {
    // Without `ws` the API is still served, unless WebSockets were requested.
    if (websocket !== undefined || !(error instanceof MissingPackage)) throw error
    const used = isolatedLogger(logger ?? options.logger)
    used.warn(`WebSocket clients cannot connect: ${error.message}, or set websocket: false.`)
    return undefined
  }
}

class Served extends Closable implements ServedHTTP {
  readonly #api: HTTPServer
  readonly #sockets: ServedWebSocket | undefined
  readonly #server: Server
  readonly #options: ServeHTTPOptions
  readonly #signals: readonly NodeJS.Signals[]

  constructor(
    api: HTTPServer,
    sockets: ServedWebSocket | undefined,
    server: Server,
    options: ServeHTTPOptions,
  ) {
    super()
    const { signals = false } = options
    this.#api = api
    this.#sockets = sockets
    this.#server = server
    this.#options = options
    this.#signals = typeof signals === "object" ? signals : signals ? ["SIGTERM", "SIGINT"] : []
  }

  get url(): string {
    return `${portUrl(this.#server, this.#options.host)}${this.#api.inner.basePath}`
  }

  async open(): Promise<void> {
    this.#server.on("request", this.#onRequest)
    this.#server.on("upgrade", this.#onUpgrade)
    const { server, port = 3000, host = "127.0.0.1" } = this.#options
    if (server === undefined) await openPort(this.#server, port, host)
    for (const signal of this.#signals) process.once(signal, this.#onSignal)
  }

  readonly #onRequest = (request: IncomingMessage, response: ServerResponse): void =>
    this.#api.node(request, response)

  readonly #onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (this.#sockets !== undefined && pathOf(request) === `${this.#api.inner.basePath}/ws`) {
      this.#sockets.handleUpgrade(request, socket, head)
      return
    }
    // On your own server another listener may take the upgrade.
    if (this.#options.server !== undefined) return
    socket.on("error", () => socket.destroy())
    socket.end("HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
  }

  readonly #onSignal = (): void => {
    const logger = isolatedLogger(this.#options.logger)
    this.close().catch((error: unknown) => logger.error("Closing failed", { error }))
  }

  /** Closes the port last: until all requests are answered, `/readyz` reports "not ready". */
  protected async end(): Promise<void> {
    for (const signal of this.#signals) process.off(signal, this.#onSignal)
    const server = this.#server
    await Promise.all([this.#api.close(), this.#sockets?.close()])
    server.off("request", this.#onRequest)
    server.off("upgrade", this.#onUpgrade)
    if (this.#options.server === undefined) await closePort(server)
  }
}
