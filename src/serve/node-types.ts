import type { NodeBodyLike } from "./read-body.ts"
import type { UpgradeRequestLike } from "./upgrade.ts"

// As much of the HTTP server of Node as answering takes.

export type Listener = (chunk: Uint8Array) => void

/** A request of Node; `http.IncomingMessage` is one. */
export interface NodeRequestLike extends UpgradeRequestLike, NodeBodyLike {
  readonly method?: string | undefined
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
  end(): unknown
  on(type: string, listener: Listener): unknown
  once(type: string, listener: Listener): unknown
  off(type: string, listener: Listener): unknown
}
