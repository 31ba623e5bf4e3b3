import { systemClock } from "../../internal/clock.ts"
import { HEADERS } from "../../internal/headers.ts"
import type { HeadersLike } from "../../internal/headers.ts"
import { validateOptions } from "../../internal/options.ts"
import { egressBlocked } from "../../http-client/public-lookup.ts"
import { isUnencrypted } from "../../internal/readable.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Clock } from "../../internal/platform.ts"
import { awaitSocket, dialer } from "./dial.ts"
import type { PerConnection } from "./dial.ts"
import { settleLimits, SOCKET_LIMITS } from "./limits.ts"
import type { SocketLimitOptions } from "./limits.ts"
import { pageLifecycle } from "./page-lifecycle.ts"
import { SocketTransport } from "./socket-transport.ts"
import type {
  SocketTransportSettings,
  ReconnectDelays,
  WebSocketTransport,
} from "./socket-transport.ts"
import type { WebSocketConstructor, WebSocketLike } from "./ws.ts"
import { isolatedLogger } from "../../internal/notify.ts"

/** Milliseconds over which the first attempts of many clients are spread. */
const SPREAD = 1500

/** Options of `createWebSocketTransport`. */
export interface WebSocketTransportOptions extends SocketLimitOptions {
  /**
   * Who this client is, as a bearer token. Goes into the `Authorization` header where headers can be
   * set, and into a subprotocol in browsers, where they cannot; `readBearerToken` finds either.
   */
  readonly token?: PerConnection<string> | undefined
  /** Headers of the upgrade. Only with the package `ws`. */
  readonly headers?: PerConnection<HeadersLike> | undefined
  /** Subprotocols to offer. */
  readonly protocols?: PerConnection<readonly string[]> | undefined
  /** Makes the sockets: `ws` where it is installed, else the platform's. */
  readonly WebSocket?: WebSocketConstructor | undefined
  /** Whether, and after which delays, a URL is connected to again: yes, after 100 to 5,000 ms. */
  readonly reconnect?: boolean | Partial<ReconnectDelays> | undefined
  /** Milliseconds that connecting may take: 10,000. */
  readonly connectTimeout?: number | undefined
  /**
   * Refuse private, loopback and link-local addresses, also those that a public name resolves to. The
   * latter needs the package `ws`.
   */
  readonly blockPrivate?: boolean | undefined
  /** The token and the headers may go to another machine over `ws:`, where anyone on the way can read them. */
  readonly insecure?: boolean | undefined
  /** Identities that the server claims, when it calls, count. */
  readonly isTrusted?: boolean | undefined
  readonly clock?: Clock | undefined
  readonly logger?: Logger | undefined
}

export const WEBSOCKET_OPTIONS: OptionsSchema<WebSocketTransportOptions> = {
  ...SOCKET_LIMITS,
  token: { secret: { either: ["text", "function"] } },
  headers: { either: ["function", HEADERS] },
  protocols: { either: [{ list: "text" }, "function"] },
  WebSocket: "function",
  reconnect: {
    either: ["boolean", { members: { minDelay: { min: 0 }, maxDelay: { min: 0 } } }],
  },
  connectTimeout: "duration",
  blockPrivate: "boolean",
  insecure: "boolean",
  isTrusted: "boolean",
  clock: "clock",
  logger: "logger",
}

// A client decides itself how much it asks for at once.
const CLIENT_BUFFER = 16 * 1024 * 1024

/**
 * A transport over a WebSocket to a server, such as that of `serveWebSocket`.
 *
 * Connects when it is first used, and again whenever the connection breaks, until it is closed. Takes
 * a URL (`ws:`, `wss:`, `http:`, `https:`; in browsers also a path) or a socket that you made, which
 * is then used once and closed with the transport.
 *
 * In a web page the connection is closed when the page is hidden for good, frozen, or put into the
 * back/forward cache, and opened again when the page comes back. What was pending fails as it does with
 * any lost connection.
 *
 * Throws `EGRESS_BLOCKED` for a token or headers that would go to another machine than that of the page over `ws:`,
 * unless `insecure` is set.
 */
export function createWebSocketTransport(
  target: string | URL | WebSocketLike,
  options: WebSocketTransportOptions = {},
): WebSocketTransport {
  validateOptions("createWebSocketTransport", options, WEBSOCKET_OPTIONS)
  const { clock = systemClock, connectTimeout = 10_000 } = options
  const logger = isolatedLogger(options.logger)
  const limits = settleLimits(options, CLIENT_BUFFER)
  const dial = {
    headers: options.headers,
    protocols: options.protocols,
    token: options.token,
    WebSocket: options.WebSocket,
    maxFrameBytes: limits.maxFrameBytes,
    connectTimeout,
    blockPrivate: options.blockPrivate === true,
    clock,
  }
  const lifecycle = pageLifecycle()
  const shared = { limits, clock, isTrusted: options.isTrusted, lifecycle, announces: true }
  if (isSocket(target)) {
    return new SocketTransport({
      ...shared,
      connect: awaitSocket(target, dial),
      peer: "the server",
    })
  }
  const { location } = globalThis as {
    readonly location?: { readonly href: string; readonly host: string }
  }
  const url = settleUrl(target, location?.href)
  // A page that came over plain HTTP speaks to its own server as it was served.
  const isOpen = isUnencrypted(url) && url.host !== location?.host
  if (isOpen && !options.insecure && (dial.token ?? dial.headers) !== undefined) {
    throw egressBlocked(url.host, 'has no TLS, and "insecure" is not set')
  }
  const peer = url.origin + url.pathname
  return new SocketTransport({
    ...shared,
    connect: dialer(url.href, dial),
    peer,
    reconnect: settleDelays(options.reconnect),
    onState(state, error) {
      if (error === undefined) logger.debug("WebSocket transport", { peer, state })
      else logger.info("WebSocket connection lost", { peer, state, reason: error.message })
    },
  })
}

function isSocket(target: unknown): target is WebSocketLike {
  const { send, addEventListener } = target as Partial<WebSocketLike>
  return typeof send === "function" && typeof addEventListener === "function"
}

function settleUrl(target: string | URL, base: string | undefined): URL {
  const url = URL.canParse(target, base) ? new URL(target, base) : undefined
  const protocol = url?.protocol.replace(/^http/, "ws") ?? ""
  if (url === undefined || !/^wss?:$/.test(protocol)) {
    // The text is not repeated: what is no URL may still hold a token.
    throw new TypeError(
      `createWebSocketTransport(url): url must be one such as "wss://example.com/calls".`,
    )
  }
  url.protocol = protocol
  url.hash = ""
  return url
}

function settleDelays(
  reconnect: boolean | Partial<ReconnectDelays> | undefined,
): SocketTransportSettings["reconnect"] {
  if (reconnect === false) return undefined
  const given = typeof reconnect === "object" ? reconnect : {}
  const { minDelay = 100, maxDelay = 5000 } = given
  // Whoever says how soon gets it; otherwise many clients of a server that restarts do not come back all at once.
  const spread = given.minDelay === undefined ? Math.min(SPREAD, maxDelay) : 0
  if (maxDelay >= minDelay) return { minDelay, maxDelay, spread }
  throw new TypeError(
    "createWebSocketTransport(url, { reconnect }): minDelay must be at most maxDelay.",
  )
}
