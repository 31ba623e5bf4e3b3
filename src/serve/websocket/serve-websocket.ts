import { Closable } from "../../internal/closable.ts"
import { closePort, createPortServer, openPort, portUrl, type PortServerLike } from "../port.ts"
import { serveCalls, type CallServer } from "../../protocol/server/serve.ts"
import type { ResolveIdentity } from "../../protocol/server/server.ts"
import { loggerOf } from "../../engine/failures.ts"
import type { AnyRegistry } from "../../engine/registry.ts"
import { requireRegistry } from "../../engine/served-registry.ts"
import type { CallError } from "../../core/errors.ts"
import { systemClock } from "../../internal/clock.ts"
import { Deadlines } from "../../internal/deadlines.ts"
import { validateOptions } from "../../internal/options.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Clock } from "../../internal/platform.ts"
import { limitsFor, resolveLimits, type SocketLimits } from "../../transport/websocket/limits.ts"
import { SocketTransport } from "../../transport/websocket/socket-transport.ts"
import { checkWs, loadWs } from "../../transport/websocket/ws-package.ts"
import type { NodeWebSocketLike, WsServerLike } from "../../transport/websocket/ws.ts"
import type { Identity } from "../../core/types.ts"
import { Accounts } from "../accounts.ts"
import { parseExact } from "../../http-client/exact-json.ts"
import { whenEnded } from "../expiry.ts"
import { Gate, chooseProtocol } from "../gate.ts"
import { pathOf, type UpgradeRequestLike } from "../upgrade.ts"
import { isLoopback } from "../../internal/unencrypted.ts"
import { SERVE_WEBSOCKET_OPTIONS } from "./options.ts"
import type { ServeWebSocketOptions, UpgradeListener } from "./options.ts"
import { isolatedLogger, notify } from "../../internal/notify.ts"

/** A registry served over WebSockets. */
export interface ServedWebSocket extends AsyncDisposable {
  /** URL, if it listens on its own port. */
  readonly url: string | undefined
  /** Number of connected clients. */
  readonly connections: number
  /** Handles an upgrade, if you route upgrades yourself. Checks everything except the path. */
  readonly handleUpgrade: UpgradeListener
  /**
   * Refuses new connections and calls, ends streams, and closes each connection with 1001 as soon as its calls are
   * over. Calls that outlive `drainMs` end with `UNAVAILABLE`.
   */
  close(): Promise<void>
}

/**
 * Serves a registry to WebSocket clients, such as `createWebSocketTransport`.
 *
 * Pass `server` to share an HTTP server, `port` to listen alone, or neither and call `handleUpgrade`.
 * Web pages may connect if they come from the same host, or from one of
 * `allowedOrigins`; on a loopback address `Host` has to be a loopback name or one of `allowedHosts`.
 */
export async function serveWebSocket(
  registry: AnyRegistry,
  options: ServeWebSocketOptions = {},
): Promise<ServedWebSocket> {
  requireRegistry("serveWebSocket", registry)
  validateOptions("serveWebSocket", options, SERVE_WEBSOCKET_OPTIONS)
  const { server, port, host = "127.0.0.1", authenticate } = options
  if (server !== undefined && port !== undefined) {
    throw new TypeError("serveWebSocket(registry, options): give either server or port, not both.")
  }
  if (port !== undefined && authenticate === undefined && !isLoopback(host)) {
    throw new TypeError(
      `serveWebSocket(registry, options): host "${host}" can be reached from other machines. Give authenticate; ` +
        "() => null lets everyone in, anonymously.",
    )
  }
  const served = new Served(registry, options, resolveLimits(options))
  await checkWs(USER)
  if (port === undefined) server?.on("upgrade", served.onUpgrade)
  else await served.listen(host, port)
  return served
}

const USER = "serve/websocket"

// An application-defined close code that resembles 401.
const EXPIRED = 4401

/** No further limit: `maxInFlight`, `maxQueued` and `maxStreams` limit callers that only use WebSockets. */
const UNLIMITED = { maxConcurrency: Number.POSITIVE_INFINITY }

/** The connection of an upgrade. */
interface RawSocket {
  on(type: "error", listener: () => void): unknown
  off(type: "error", listener: () => void): unknown
  destroy(): unknown
}

class Served extends Closable implements ServedWebSocket {
  readonly gate: Gate
  readonly #registry: AnyRegistry
  readonly #options: ServeWebSocketOptions
  readonly #limits: SocketLimits
  readonly #clock: Clock
  readonly #logger: Logger
  /** One timer for all connections. */
  readonly #pings: Deadlines
  readonly #connections = new Set<CallServer>()
  readonly #accounts: Accounts
  /** The server of its own port. */
  #port: PortServerLike | undefined
  #sockets: WsServerLike | undefined
  /** Loaded with the first upgrade. */
  #loading: Promise<WsServerLike> | undefined
  url: string | undefined

  constructor(registry: AnyRegistry, options: ServeWebSocketOptions, limits: SocketLimits) {
    super()
    const { clock = systemClock } = options
    const logger = isolatedLogger(options.logger ?? loggerOf(registry))
    this.#registry = registry
    this.#options = options
    this.#limits = limits
    this.#clock = clock
    this.#logger = logger
    this.#pings = new Deadlines(clock)
    this.#accounts = options.accounts ?? new Accounts(UNLIMITED, clock)
    this.gate = new Gate(options, clock, logger, () => this.#connections.size, this.#accounts)
  }

  get connections(): number {
    return this.#connections.size
  }

  readonly handleUpgrade: UpgradeListener = (request, socket, head) => {
    const take = (sockets: WsServerLike): void =>
      sockets.handleUpgrade(request, socket, head, (opened) => this.#connect(opened, request))
    if (this.#sockets !== undefined) return take(this.#sockets)
    const raw = socket as RawSocket
    const drop = (): void => {
      raw.destroy()
    }
    raw.on("error", drop)
    this.#loading ??= this.#load()
    this.#loading.then(
      (sockets) => {
        raw.off("error", drop)
        take(sockets)
      },
      (error: unknown) => {
        this.#logger.error("WebSocket clients cannot connect", { error })
        drop()
      },
    )
  }

  async #load(): Promise<WsServerLike> {
    const { WebSocketServer } = await loadWs(USER)
    this.#sockets = new WebSocketServer({
      noServer: true,
      maxPayload: this.#limits.maxFrameBytes,
      perMessageDeflate: false,
      clientTracking: false,
      verifyClient: this.gate.verify,
      handleProtocols: chooseProtocol,
    })
    return this.#sockets
  }

  /** Waits until the port is open. */
  async listen(host: string, port: number): Promise<void> {
    const { path } = this.#options
    const server = await createPortServer("serveWebSocket()", {})
    this.gate.onlyPath = path
    server.on("upgrade", this.handleUpgrade)
    server.on("request", (_request, response) => {
      response.writeHead(426, ["content-type", "text/plain", "content-length", "16"] as never)
      response.end("Upgrade Required")
    })
    await openPort(server, port, host)
    this.#port = server
    this.url = `${portUrl(server, host, "ws")}${path ?? "/"}`
  }

  protected async end(): Promise<void> {
    this.gate.isClosed = true
    this.#options.server?.off("upgrade", this.onUpgrade)
    // Pending upgrades are answered: the server is closing.
    const sockets = this.#sockets ?? (await this.#loading?.catch(() => undefined))
    const closed = new Promise<void>((resolve) => {
      if (sockets === undefined) resolve()
      else sockets.close(resolve)
    })
    const limits = { grace: this.#options.drainMs ?? 5000, endStreams: true }
    await Promise.all([...this.#connections].map((connection) => connection.drain(limits)))
    await closed
    if (this.#port !== undefined) await closePort(this.#port)
  }

  /** Handles upgrades of an HTTP server. */
  readonly onUpgrade: UpgradeListener = (request, socket, head) => {
    const { path } = this.#options
    if (path === undefined || pathOf(request) === path) this.handleUpgrade(request, socket, head)
  }

  #connect(socket: NodeWebSocketLike, request: UpgradeRequestLike): void {
    const { isTrusted, onConnection, errors, onError } = this.#options
    const { maxInFlight = 100, maxQueued = 1000, maxStreams = 100 } = this.#options
    const { identity, expiresAt } = this.gate.callerOf(request) ?? {}
    const account = this.#accounts.of(identity, request)
    account.sockets++
    let isCounted = true
    let calls: CallServer | undefined
    const onRevoked = (listener: () => void): (() => void) => account.onRevoked(listener)
    const stop = whenEnded({ expiresAt, onRevoked }, this.#clock, (error) => {
      const [reason] = error.message.split(" Come back")
      transport.closeFrame = { code: EXPIRED, reason: reason ?? "" }
      // Never rejects.
      void calls?.close(error)
    })
    const transport = new SocketTransport({
      connect: (opened) => {
        opened(socket)
        return () => {}
      },
      peer: "the client",
      limits: limitsFor(request.url, this.#limits, this.#options),
      parse: parseExact,
      clock: this.#clock,
      pings: this.#pings,
      closeCode: 1001,
      identity,
      isTrusted,
      client: new URLSearchParams(request.url?.split("?")[1]).get("client") ?? undefined,
      onState: (state, error) => {
        if (state !== "closed") return
        stop()
        if (isCounted) account.sockets--
        isCounted = false
        this.#disconnect(calls, error)
      },
    })
    calls = serveCalls(this.#registry, {
      transport: transport,
      resolveIdentity: this.#resolver(request),
      accountOf: (caller) => (caller === identity ? account : this.#accounts.of(caller, request)),
      maxInFlight,
      maxQueued,
      maxStreams,
      errors,
      onError,
      logger: this.#logger,
      clock: this.#clock,
    })
    if (transport.state === "closed") return
    this.#connections.add(calls)
    notify(this.#logger, "onConnection threw", () =>
      onConnection?.({ callMap: calls.callMap, identity, request }),
    )
  }

  /** Resolves the caller of each call and charges it; `undefined` when the connection decides alone. */
  #resolver(request: UpgradeRequestLike): ResolveIdentity | undefined {
    const { resolveIdentity, charge, isTrusted } = this.#options
    if (charge === undefined) return resolveIdentity
    const pay = (identity: Identity | undefined): Identity | undefined => {
      const unpaid = charge(identity, request)
      if (unpaid !== undefined) throw unpaid
      return identity
    }
    return (event, peer) => {
      if (resolveIdentity === undefined) {
        return pay((isTrusted === true ? event.identity : undefined) ?? peer.identity)
      }
      const identity = resolveIdentity(event, peer)
      return identity instanceof Promise ? identity.then(pay) : pay(identity)
    }
  }

  #disconnect(calls: CallServer | undefined, error: CallError | undefined): void {
    if (error !== undefined) {
      const { closeCode } = error.details as { readonly closeCode: number }
      // Normal disconnects are not logged as warnings.
      const isUsual = [1000, 1001, 1005].includes(closeCode) || error.cause === undefined
      this.#logger[isUsual ? "debug" : "warn"]("A WebSocket connection ended", {
        closeCode,
        reason: error.message,
      })
    }
    if (calls === undefined || !this.#connections.delete(calls)) return
    // Never rejects: the connection is over, and this only frees its resources.
    void calls.close()
  }
}
