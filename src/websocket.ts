// The entry `@alkdev/operations/websocket`: calls over WebSockets, from either end.

export { createWebSocketTransport } from "./transport/websocket/websocket.ts"
export type { WebSocketTransportOptions } from "./transport/websocket/websocket.ts"
export type {
  ReconnectDelays,
  WebSocketState,
  WebSocketTransport,
} from "./transport/websocket/socket-transport.ts"
export type { PerConnection } from "./transport/websocket/dial.ts"
export type { SocketLimitOptions } from "./transport/websocket/limits.ts"
export type { WebSocketConstructor, WebSocketLike } from "./transport/websocket/ws.ts"
export { readBearerToken } from "./serve/upgrade.ts"
export type { UpgradeRequestLike, UpgradeRules } from "./serve/upgrade.ts"
export type { Authenticate } from "./serve/authenticate.ts"
export { serveWebSocket } from "./serve/websocket/serve-websocket.ts"
export type { ServedWebSocket } from "./serve/websocket/serve-websocket.ts"
export type {
  ServeWebSocketOptions,
  UpgradeListener,
  UpgradeServerLike,
  WebSocketConnection,
} from "./serve/websocket/options.ts"
