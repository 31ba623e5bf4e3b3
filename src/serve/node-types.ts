import type { NodeBodyLike } from "./read-body.ts"
import type { UpgradeRequestLike } from "./upgrade.ts"

// Types of the used part of Node's HTTP server.

export type Listener = (chunk: Uint8Array) => void

/** A request of Node; `http.IncomingMessage` is one. */
export interface NodeRequestLike extends UpgradeRequestLike, NodeBodyLike {
  readonly method?: string | undefined
  pause?(): unknown
  off(type: string, listener: Listener): unknown
  resume(): unknown
}

/** A response of Node; `http.ServerResponse` is one. */
export interface NodeResponseLike {
  readonly writableFinished: boolean
  readonly destroyed: boolean
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown
  flushHeaders(): void
  write(chunk: Uint8Array): boolean
  end(text?: string): unknown
  on(type: string, listener: Listener): unknown
  once(type: string, listener: Listener): unknown
  off(type: string, listener: Listener): unknown
}

/** A request of Node; `http.IncomingMessage` and `http2.Http2ServerRequest` are some. */
export interface HTTPRequestLike extends NodeRequestLike {
  /** The complete URL, if a framework has removed the mount path. */
  readonly originalUrl?: string | undefined
}

/** A response of Node; `http.ServerResponse` and `http2.Http2ServerResponse` are some. */
export interface HTTPResponseLike {
  readonly writableFinished: boolean
  readonly writableNeedDrain: boolean
  readonly destroyed: boolean
  /** `headers` is a flat list of names and values, which the types of HTTP/2 responses lack. */
  writeHead(status: number, headers: never): unknown
  flushHeaders?(): void
  write(chunk: string | Uint8Array): boolean
  end(chunk?: string | Uint8Array): unknown
  destroy(error?: Error): unknown
  on(type: string, listener: Listener): unknown
  once(type: string, listener: Listener): unknown
  off(type: string, listener: Listener): unknown
}
