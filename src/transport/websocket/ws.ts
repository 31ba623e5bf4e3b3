import { hasMethods } from "../../internal/options.ts"

/** A WebSocket: the platform's, or one of the package `ws`. */
export interface WebSocketLike {
  readonly readyState: number
  readonly bufferedAmount: number
  send(data: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: string, listener: (event: unknown) => void): void
  removeEventListener(type: string, listener: (event: unknown) => void): void
}

/** A socket of the package `ws`, with its own methods. */
export interface NodeWebSocketLike extends WebSocketLike {
  send(data: string, sent?: (error?: Error | null) => void): void
  on(type: string, listener: (...args: never[]) => void): unknown
  off(type: string, listener: (...args: never[]) => void): unknown
  ping(): void
  terminate(): void
}

/** The constructor of a WebSocket, like the platform's `WebSocket`. */
export type WebSocketConstructor = new (url: string, protocols?: string[]) => WebSocketLike

/** Connection options of `ws`. */
export interface WsConnectOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly maxPayload: number
  readonly perMessageDeflate: false
}

/** A server of the package `ws`. */
export interface WsServerLike {
  handleUpgrade(
    request: unknown,
    socket: unknown,
    head: unknown,
    upgraded: (socket: NodeWebSocketLike) => void,
  ): void
  address(): unknown
  close(closed?: () => void): void
  on(type: string, listener: (...args: never[]) => void): unknown
  off(type: string, listener: (...args: never[]) => void): unknown
}

/** The part of the package `ws` that is used. */
export interface WsModule {
  readonly WebSocket: new (
    url: string,
    protocols: readonly string[],
    options: WsConnectOptions,
  ) => NodeWebSocketLike
  readonly WebSocketServer: new (options: Readonly<Record<string, unknown>>) => WsServerLike
}

/** `readyState` of a socket that is open. */
export const OPEN = 1

/** The socket as a socket of `ws`, if it is one or works like one. */
export function asNodeSocket(socket: WebSocketLike): NodeWebSocketLike | undefined {
  const isOne = hasMethods(socket, ["on", "ping", "terminate"])
  return isOne ? (socket as NodeWebSocketLike) : undefined
}

/** Closes a socket without a handshake, if that is possible. */
export function endSocket(socket: WebSocketLike): void {
  const node = asNodeSocket(socket)
  if (node === undefined) closeSocket(socket, 1001)
  else node.terminate()
}

/** Starts closing a socket. Browsers accept only application codes, no protocol codes. */
export function closeSocket(socket: WebSocketLike, code: number, reason?: string): void {
  try {
    const isTaken = code === 1000 || asNodeSocket(socket) !== undefined
    socket.close(isTaken ? code : code + APPLICATION_CODES, reason)
  } catch {
    socket.close()
  }
}

/** Converts a close code that `closeSocket` sent from a browser back to the protocol code. */
export function protocolCode(code: number): number {
  return code >= 4001 && code <= 4015 ? code - APPLICATION_CODES : code
}

const APPLICATION_CODES = 3000

/**
 * The number of bytes that the operating system has not yet accepted.
 *
 * `bufferedAmount` changes only when all of a large frame is gone, which on a slow line is long after its first bytes.
 * Node itself checks this number before it times out a socket.
 */
export function writeQueueSize(socket: WebSocketLike): number {
  const { _socket } = socket as { readonly _socket?: { readonly _handle?: unknown } | null }
  const handle = _socket?._handle as { readonly writeQueueSize?: unknown } | null | undefined
  return typeof handle?.writeQueueSize === "number" ? handle.writeQueueSize : 0
}
