import type { PendingRequestMap } from "../../protocol/pending/request-map.ts"
import type { ResolveIdentity, ServeLimits } from "../../protocol/server/server.ts"
import { ERROR_REPORTING, type ErrorReporting } from "../../engine/failures.ts"
import type { CallError } from "../../core/errors.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Clock } from "../../internal/platform.ts"
import { SERVE_LIMITS } from "../../protocol/server/server.ts"
import { SOCKET_LIMITS, type SocketLimitOptions } from "../../transport/websocket/limits.ts"
import type { Identity } from "../../core/types.ts"
import type { Accounts } from "../accounts.ts"
import type { Authenticate } from "../authenticate.ts"
import { UPGRADE_RULES, type UpgradeRequestLike, type UpgradeRules } from "../upgrade.ts"

/** An HTTP server that upgrades connections, such as Node's `http.Server` and `https.Server`. */
export interface UpgradeServerLike {
  on(type: "upgrade", listener: UpgradeListener): unknown
  off(type: "upgrade", listener: UpgradeListener): unknown
}

/** Listener of upgrade requests. */
export type UpgradeListener = (request: UpgradeRequestLike, socket: unknown, head: unknown) => void

/** A connected client. */
export interface WebSocketConnection {
  /** Calls operations that the client serves. */
  readonly callMap: PendingRequestMap
  readonly identity: Identity | undefined
  readonly request: UpgradeRequestLike
}

/** Charges for a call; returns an error when the caller is over its limit. */
export type Charge = (
  identity: Identity | undefined,
  request: UpgradeRequestLike,
) => CallError | undefined

/** Options of `serveWebSocket`. */
export interface ServeWebSocketOptions
  extends ServeLimits, SocketLimitOptions, UpgradeRules, ErrorReporting {
  /** Your HTTP server, whose upgrades are handled. Start and close it yourself. */
  readonly server?: UpgradeServerLike | undefined
  /** A port to listen on instead; 0 for any free port. */
  readonly port?: number | undefined
  /** The address for `port`; default: 127.0.0.1. Any address other than a loopback needs `authenticate`. */
  readonly host?: string | undefined
  /** The only path that accepts upgrades. Other paths are left to other listeners. */
  readonly path?: string | undefined
  readonly authenticate?: Authenticate | undefined
  /** Milliseconds that `authenticate` may take; default: 10,000. */
  readonly authenticateTimeout?: number | undefined
  /** Resolves the identity of each call; default: the identity of the connection. */
  readonly resolveIdentity?: ResolveIdentity | undefined
  /**
   * Called once for each call, before it runs. The client receives the error that it returns:
   * `RATE_LIMITED` for a caller over its limit.
   */
  readonly charge?: Charge | undefined
  /** Accepts the identities that clients claim for their calls. Only for clients that you trust. */
  readonly isTrusted?: boolean | undefined
  /** Milliseconds that `close` waits for running calls; default: 5,000. */
  readonly drainMs?: number | undefined
  /** Maximum concurrent connections; default: 10,000. */
  readonly maxConnections?: number | undefined
  /** Concurrent connections per caller; default: 50. `maxInFlight`, `maxQueued` and `maxStreams` apply to all of them together. */
  readonly maxConnectionsPerCaller?: number | undefined
  /** @internal Accounts of the HTTP server for the same callers. */
  readonly accounts?: Accounts | undefined
  /** Called for each client that connects. */
  readonly onConnection?: ((connection: WebSocketConnection) => void) | undefined
  readonly clock?: Clock | undefined
  readonly logger?: Logger | undefined
}

/** Options about connections and authentication, which an HTTP server sets itself. */
export type WebSocketEntrance =
  | "server"
  | "port"
  | "host"
  | "path"
  | "authenticate"
  | "charge"
  | "accounts"
  | "drainMs"
  | "allowedHosts"
  | "allowedOrigins"

export const CONNECTION_OPTIONS: OptionsSchema<Omit<ServeWebSocketOptions, WebSocketEntrance>> = {
  ...SERVE_LIMITS,
  ...SOCKET_LIMITS,
  ...ERROR_REPORTING,
  authenticateTimeout: "duration",
  resolveIdentity: "function",
  isTrusted: "boolean",
  maxConnections: { min: 0 },
  maxConnectionsPerCaller: { min: 0 },
  onConnection: "function",
  clock: "clock",
  logger: "logger",
}

export const SERVE_WEBSOCKET_OPTIONS: OptionsSchema<ServeWebSocketOptions> = {
  ...CONNECTION_OPTIONS,
  ...UPGRADE_RULES,
  server: { methods: ["on", "off"], expected: "an HTTP server" },
  port: "port",
  host: "text",
  path: { pattern: /^\//, expected: 'a path such as "/ws"' },
  authenticate: "function",
  charge: "function",
  accounts: { methods: ["of"], expected: "accounts" },
  drainMs: { min: 0 },
}
