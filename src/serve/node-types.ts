import type { UpgradeRequestLike } from "./upgrade.ts"

// Types of the used part of Node's HTTP server.

type Listener = (chunk: Uint8Array) => void

/** A request of Node; `http.IncomingMessage` and `http2.Http2ServerRequest` are some. */
export interface NodeRequestLike extends UpgradeRequestLike {
  readonly method?: string | undefined
  /** The complete URL, if a framework has removed the mount path. */
  readonly originalUrl?: string | undefined
  /** The body, as parsed by a body parser. */
  readonly body?: unknown
  readonly readableEnded?: boolean | undefined
  readonly readableDidRead?: boolean | undefined
  readonly destroyed?: boolean | undefined
  on(type: string, listener: Listener): unknown
  off(type: string, listener: Listener): unknown
  pause?(): unknown
  resume(): unknown
}

/** A response of Node; `http.ServerResponse` and `http2.Http2ServerResponse` are some. */
export interface NodeResponseLike {
  readonly writableFinished: boolean
  readonly writableNeedDrain: boolean
  readonly destroyed: boolean
  /** `headers` is a flat list of names and values, which the types of HTTP/2 responses lack. */
  writeHead(status: number, headers: never): unknown
  getHeader?(name: string): unknown
  setHeader?(name: string, value: string[]): unknown
  flushHeaders?(): void
  write(chunk: string | Uint8Array): boolean
  end(chunk?: string | Uint8Array): unknown
  destroy(error?: Error): unknown
  on(type: string, listener: Listener): unknown
  once(type: string, listener: Listener): unknown
  off(type: string, listener: Listener): unknown
}

/** The same for `toHTTP`. */
export type HTTPRequestLike = NodeRequestLike

/** The same for `toHTTP`. */
export type HTTPResponseLike = NodeResponseLike
