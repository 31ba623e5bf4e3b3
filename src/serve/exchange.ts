import type { CallError } from "../core/errors.ts"
// The interface between servers, which know sockets, and an API, which knows a registry.

import type { Authenticated } from "./authenticated.ts"
import type { RequestSlot } from "./read-body.ts"
import type { UpgradeRequestLike } from "./upgrade.ts"

/** A request, independent of the server that received it. */
export interface HTTPIncoming {
  /** Upper-case. */
  readonly method: string
  /** As sent: percent-encoded, with a leading slash, without the query. */
  readonly path: string
  /** The prefix that a framework removed from `path`; `undefined` when unknown. */
  readonly mountPath?: string | undefined
  /** The text after the `?`, or "". */
  readonly query: string
  /** A header by its lower-case name; repeated headers are joined with `, `. */
  header(name: string): string | undefined
  /** The request for authentication and origin checks. */
  readonly like: UpgradeRequestLike
  /** Id in logs and in the response: the client's, or a new one. */
  readonly requestId: string
  /** The caller, when the embedding application knows it; then authentication is skipped. */
  readonly identity: Authenticated | null | undefined
  /** Slot of an admitted request: `readBody` frees it until the body has arrived. */
  slot?: RequestSlot | undefined
  /** Reads the whole body as text; `undefined` when it is too long. */
  readBody(maxBytes: number): Promise<string | undefined>
  /** Opens the body as a stream instead, for files. Throws a `CallError` when other code has read it. */
  openBody?(): ReadableStream<Uint8Array>
  /** Notifies once when the client disconnects before it has its response. Returns a function that unsubscribes. */
  onGone(listener: () => void): () => void
}

export type { RequestSlot } from "./read-body.ts"

/** A response. */
export interface HTTPAnswer {
  readonly status: number
  /** Lower-case names; cookies of `set-cookie` are separated by a line feed. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | HTTPStream | undefined
}

/** A streamed body. */
export interface HTTPStream {
  /** Writes until the stream ends or the sink is gone; never rejects. */
  run(sink: HTTPSink): Promise<void>
}

/** Destination of a streamed body. */
export interface HTTPSink {
  /** The client disconnected, or the server is closing. */
  readonly isGone: boolean
  /** Writes text or bytes; on `false`, wait for `drained()` before writing more. */
  write(chunk: string | Uint8Array): boolean
  /** Ends the connection, so that the client sees that something is missing. */
  cut?(): void
  /** Resolves when there is room again, or the client is gone. */
  drained(): Promise<void>
  /** Notifies once when the client disconnects. Returns a function that unsubscribes. */
  onGone(listener: () => void): () => void
}

/** Answers requests; never throws or rejects. */
export type HTTPHandler = (incoming: HTTPIncoming) => HTTPAnswer | Promise<HTTPAnswer>

/** A refused request. */
export interface Refused {
  readonly kind: "refused"
  readonly status: number
  readonly error: CallError
  readonly headers: Readonly<Record<string, string>>
}
