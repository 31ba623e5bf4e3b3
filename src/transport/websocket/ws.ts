import { importPeer } from "../../internal/import-peer.ts"

/** A WebSocket: the platform's, or one of the package `ws`. */
export interface WebSocketLike {
  readonly readyState: number
  readonly bufferedAmount: number
  send(data: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: string, listener: (event: unknown) => void): void
  removeEventListener(type: string, listener: (event: unknown) => void): void
}

/** What a socket of the package `ws` has besides. */
export interface NodeWebSocketLike extends WebSocketLike {
  send(data: string, sent?: (error?: Error | null) => void): void
  on(type: string, listener: (...args: never[]) => void): unknown
  off(type: string, listener: (...args: never[]) => void): unknown
  ping(): void
  terminate(): void
}

/** Makes a WebSocket, as the platform's `WebSocket` does. */
export type WebSocketConstructor = new (url: string, protocols?: string[]) => WebSocketLike

/** What `ws` takes when it connects. */
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

/** Loads `ws`. Described by the shapes here, so that the core needs no types of Node. */
export function loadWs(user: string): Promise<WsModule> {
  return importPeer(user, "ws", importWs)
}

// Bundlers leave alone what handles its failure, or says so: projects for browsers have no `ws`.
function importWs(): Promise<WsModule> {
  const module: Promise<unknown> = import(/* webpackIgnore: true */ "ws").catch(
    (error: unknown) => {
      throw error
    },
  )
  return module as Promise<WsModule>
}

/** The socket as one of `ws`, if it is one or works like one. */
export function asNodeSocket(socket: WebSocketLike): NodeWebSocketLike | undefined {
  const node = socket as Partial<NodeWebSocketLike>
  return typeof node.on === "function" &&
    typeof node.ping === "function" &&
    typeof node.terminate === "function"
    ? (node as NodeWebSocketLike)
    : undefined
}

/** Ends a socket without a handshake, where that is possible. */
export function endSocket(socket: WebSocketLike): void {
  const node = asNodeSocket(socket)
  if (node === undefined) closeSocket(socket, 1001)
  else node.terminate()
}

/** Starts to close a socket. Browsers take no codes of the protocol, only codes of applications. */
export function closeSocket(socket: WebSocketLike, code: number, reason?: string): void {
  try {
    const isTaken = code === 1000 || asNodeSocket(socket) !== undefined
    socket.close(isTaken ? code : code + APPLICATION_CODES, reason)
  } catch {
    socket.close()
  }
}

/** The code of the protocol for one that `closeSocket` sent from a browser. */
export function protocolCode(code: number): number {
  return code >= 4001 && code <= 4015 ? code - APPLICATION_CODES : code
}

const APPLICATION_CODES = 3000

/**
 * How much the operating system has not yet taken of what is being written.
 *
 * `bufferedAmount` tells of a large frame only when all of it is gone, which on a slow line is long
 * after its first bytes. Node itself looks here before it gives up on a socket.
 */
export function writeQueueSize(socket: WebSocketLike): number {
  const { _socket } = socket as { readonly _socket?: { readonly _handle?: unknown } | null }
  const handle = _socket?._handle as { readonly writeQueueSize?: unknown } | null | undefined
  return typeof handle?.writeQueueSize === "number" ? handle.writeQueueSize : 0
}
