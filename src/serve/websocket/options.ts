import type { PendingRequestMap, ResolveIdentity, ServeLimits } from "../../protocol/index.ts"
import { ERROR_REPORTING } from "../../engine/failures.ts"
import type { ErrorReporting } from "../../engine/failures.ts"
import type { CallError } from "../../core/errors.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import type { Logger } from "../../internal/logger.ts"
import type { Clock } from "../../internal/platform.ts"
import { SERVE_LIMITS } from "../../protocol/server/server.ts"
import type { AnyRegistry } from "../../engine/registry.ts"
import { SOCKET_LIMITS } from "../../transport/websocket/limits.ts"
import type { SocketLimitOptions } from "../../transport/websocket/limits.ts"
import type { Identity } from "../../core/types.ts"
import type { Accounts } from "../accounts.ts"
import type { Authenticate } from "../gate.ts"
import { UPGRADE_RULES } from "../upgrade.ts"
import type { UpgradeRequestLike, UpgradeRules } from "../upgrade.ts"

/** An HTTP server that upgrades connections; `http.Server` and `https.Server` of Node are such. */
export interface UpgradeServerLike {
  on(type: "upgrade", listener: UpgradeListener): unknown
  off(type: "upgrade", listener: UpgradeListener): unknown
}

/** What an HTTP server calls with a request to upgrade. */
export type UpgradeListener = (request: UpgradeRequestLike, socket: unknown, head: unknown) => void

/** A client that is connected. */
export interface WebSocketConnection {
  /** Calls what the client serves. */
  readonly callMap: PendingRequestMap
  readonly identity: Identity | undefined
  readonly request: UpgradeRequestLike
}

/** Pays for a call, or gives why it cannot be paid for. */
export type Charge = (
  identity: Identity | undefined,
  request: UpgradeRequestLike,
) => CallError | undefined

/** Options of `serveWebSocket`. */
export interface ServeWebSocketOptions
  extends ServeLimits, SocketLimitOptions, UpgradeRules, ErrorReporting {
  readonly registry: AnyRegistry
  /** An HTTP server to listen to. It stays yours: start and close it yourself. */
  readonly server?: UpgradeServerLike | undefined
  /** A port to listen on instead, 0 for any. */
  readonly port?: number | undefined
  /** The address for `port`: 127.0.0.1. Any other than a loopback needs `authenticate`. */
  readonly host?: string | undefined
  /** The only path that is answered. Upgrades of other paths are left to other listeners. */
  readonly path?: string | undefined
  readonly authenticate?: Authenticate | undefined
  /** Milliseconds that `authenticate` may take: 10,000. */
  readonly authenticateTimeout?: number | undefined
  /** Decides per call who is calling; without it that is who `authenticate` found. */
  readonly resolveIdentity?: ResolveIdentity | undefined
  /**
   * Asked once for each call, before it is run. The error that it gives is what the client gets:
   * `RATE_LIMITED`, where a caller has had its share.
   */
  readonly charge?: Charge | undefined
  /** Identities that clients claim for their calls count. Only for clients that are trusted so far. */
  readonly isTrusted?: boolean | undefined
  /** Connections at the same time; 10,000. */
  readonly maxConnections?: number | undefined
  /** Connections of one caller at the same time; 50. `maxInFlight`, `maxQueued` and `maxStreams` are for all of them together. */
  readonly maxConnectionsPerCaller?: number | undefined
  /** @internal Accounts of a server that the same callers send requests to. */
  readonly accounts?: Accounts | undefined
  /** Called with each client that connects. */
  readonly onConnection?: ((connection: WebSocketConnection) => void) | undefined
  readonly clock?: Clock | undefined
  readonly logger?: Logger | undefined
}

/** Where connections come from, and who may make them: an HTTP server that has these says so itself. */
export type WebSocketEntrance =
  | "registry"
  | "server"
  | "port"
  | "host"
  | "path"
  | "authenticate"
  | "charge"
  | "accounts"
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
  registry: { required: "registry" },
  server: { methods: ["on", "off"], expected: "an HTTP server" },
  port: "port",
  host: "text",
  path: { pattern: /^\//, expected: 'a path such as "/ws"' },
  authenticate: "function",
  charge: "function",
  accounts: { methods: ["of"], expected: "accounts" },
}
