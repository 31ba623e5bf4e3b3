import { systemClock } from "../../internal/clock.ts"
import { HEADERS, type HeadersLike } from "../../internal/headers.ts"
import { hasMethods, validateOptions, type OptionsSchema } from "../../internal/options.ts"
import { egressBlocked } from "../../http-client/egress.ts"
import { isUnencrypted } from "../../internal/unencrypted.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Clock } from "../../internal/platform.ts"
import { awaitSocket, dialer, type PerConnection } from "./dial.ts"
import { resolveLimits, SOCKET_LIMITS, type SocketLimitOptions } from "./limits.ts"
import { pageLifecycle } from "../page-lifecycle.ts"
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
   * The bearer token of this client. It is sent in the `Authorization` header, or in browsers, which cannot set
   * headers, as a subprotocol; `readBearerToken` finds either.
   */
  readonly token?: PerConnection<string> | undefined
  /** Headers of the upgrade. Only with the package `ws`. */
  readonly headers?: PerConnection<HeadersLike> | undefined
  /** Subprotocols to offer. */
  readonly protocols?: PerConnection<readonly string[]> | undefined
  /** The constructor of sockets: `ws` if it is installed, else the platform's. */
  readonly WebSocket?: WebSocketConstructor | undefined
  /** Whether, and after which delays, the transport reconnects to a URL: yes, after 100 to 5,000 ms. */
  readonly reconnect?: boolean | Partial<ReconnectDelays> | undefined
  /** Milliseconds in which a stream may be resumed, if its handler reads `context.metadata.lastEventId`: 60,000. */
  readonly resumeMs?: number | undefined
  /** The timeout for connecting, in milliseconds: 10,000. */
  readonly connectTimeout?: number | undefined
  /**
   * Refuse private, loopback and link-local addresses, also those that a public name resolves to. The
   * latter needs the package `ws`.
   */
  readonly blockPrivate?: boolean | undefined
  /** Allows sending the token and the headers to another machine over `ws:`, where others can read them. */
  readonly insecure?: boolean | undefined
  /**
   * Parses the JSON of frames: `JSON.parse`. If it returns a promise, such as of a large frame that it reads between other
   * work, later frames wait for it.
   */
  readonly parse?: ((json: string) => unknown) | undefined
  /** Accept identities that the server claims for its calls. */
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
  reconnect: { either: ["boolean", { members: { minDelay: { min: 0 }, maxDelay: { min: 0 } } }] },
  resumeMs: { min: 0 },
  connectTimeout: "duration",
  blockPrivate: "boolean",
  insecure: "boolean",
  parse: "function",
  isTrusted: "boolean",
  clock: "clock",
  logger: "logger",
}

// Larger than a server's: a client itself decides how much it requests at once.
const CLIENT_BUFFER = 16 * 1024 * 1024

/**
 * Creates a transport over a WebSocket to a server, such as that of `serveWebSocket`.
 *
 * Connects on first use, and reconnects whenever the connection breaks, until it is closed. Takes
 * a URL (`ws:`, `wss:`, `http:`, `https:`; in browsers also a path) or a socket that you created, which
 * is used once and closed with the transport.
 *
 * In a web page the connection is closed when the page is hidden for good, frozen, or put into the
 * back/forward cache, and opened again when the page comes back. Pending requests fail as with any lost
 * connection.
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
  const limits = resolveLimits(options, CLIENT_BUFFER)
  const { maxFrameBytes } = limits
  const dial = { ...options, maxFrameBytes, connectTimeout, clock }
  const lifecycle = pageLifecycle()
  const { isTrusted, parse } = options
  const shared = { limits, clock, isTrusted, parse, lifecycle, announces: true }
  if (isSocket(target)) {
    const connect = awaitSocket(target, dial)
    return new SocketTransport({ ...shared, connect, peer: "the server" })
  }
  const { location } = globalThis as {
    readonly location?: { readonly href: string; readonly host: string }
  }
  const url = validateUrl(target, location?.href)
  // A page that was loaded over plain HTTP may use plain connections to its own server.
  const isOpen = isUnencrypted(url) && url.host !== location?.host
  if (isOpen && !options.insecure && (dial.token ?? dial.headers) !== undefined) {
    throw egressBlocked(url.host, 'has no TLS, and "insecure" is not set')
  }
  const peer = url.origin + url.pathname
  return new SocketTransport({
    ...shared,
    connect: dialer(url.href, dial),
    peer,
    reconnect: resolveDelays(options.reconnect),
    resumeMs: options.resumeMs ?? 60_000,
    onState(state, error) {
      if (error === undefined) logger.debug("WebSocket transport", { peer, state })
      else logger.info("WebSocket connection lost", { peer, state, reason: error.message })
    },
  })
}

function isSocket(target: unknown): target is WebSocketLike {
  return hasMethods(target, ["send", "addEventListener"])
}

function validateUrl(target: string | URL, base: string | undefined): URL {
  const url = URL.canParse(target, base) ? new URL(target, base) : undefined
  const protocol = url?.protocol.replace(/^http/, "ws") ?? ""
  if (url === undefined || !/^wss?:$/.test(protocol)) {
    // The text is not quoted: an invalid URL may still contain a token.
    throw new TypeError(
      `createWebSocketTransport(url): url must be one such as "wss://example.com/calls".`,
    )
  }
  url.protocol = protocol
  url.hash = ""
  return url
}

function resolveDelays(
  reconnect: boolean | Partial<ReconnectDelays> | undefined,
): SocketTransportSettings["reconnect"] {
  if (reconnect === false) return undefined
  const delays = typeof reconnect === "object" ? reconnect : {}
  const { minDelay = 100, maxDelay = 5000 } = delays
  // Unless you set `minDelay`, the first attempts are spread, so that not all clients of a restarted server reconnect at once.
  const spread = delays.minDelay === undefined ? Math.min(SPREAD, maxDelay) : 0
  if (maxDelay >= minDelay) return { minDelay, maxDelay, spread }
  throw new TypeError(
    "createWebSocketTransport(url, { reconnect }): minDelay must be at most maxDelay.",
  )
}
