// The entry `@alkdev/operations/websocket`: calls over WebSockets, from either end.

export { createWebSocketTransport } from "./transport/websocket.ts"
export type { WebSocketTransportOptions } from "./transport/websocket.ts"
export type {
  ReconnectDelays,
  WebSocketState,
  WebSocketTransport,
} from "./transport/socket-transport.ts"
export type { PerConnection } from "./transport/dial.ts"
export type { SocketLimitOptions } from "./transport/limits.ts"
export type { WebSocketConstructor, WebSocketLike } from "./transport/ws.ts"
export { readBearerToken } from "./serve/upgrade.ts"
export type { UpgradeRequestLike, UpgradeRules } from "./serve/upgrade.ts"
export type { Authenticate } from "./serve/gate.ts"
export { serveWebSocket } from "./serve/websocket.ts"
export type { ServedWebSocket } from "./serve/websocket.ts"
export type {
  ServeWebSocketOptions,
  UpgradeListener,
  UpgradeServerLike,
  WebSocketConnection,
} from "./serve/websocket-options.ts"
