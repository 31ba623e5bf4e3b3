// The interface between servers, which know sockets, and an API, which knows a registry.

import type { CallError } from "../core/errors.ts"
import type { OwnResponse } from "../core/http-response.ts"
import type { Identity } from "../core/types.ts"
import type { Authenticated } from "./authenticate.ts"
import type { RequestSlot } from "./read-body.ts"
import type { UpgradeRequestLike } from "./upgrade.ts"

/** Headers by their lower-case names. */
export type HTTPHeaders = Readonly<Record<string, string>>

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
  /** The request as the framework has it, for the option `context`; default: `like`. */
  readonly raw?: object | undefined
  /** What the handler of the call sets on the response; created on first use. */
  response?: OwnResponse | undefined
  /** @internal The error for how the server was called, which is the answer to the request. */
  readonly mistake?: CallError | undefined
  /** Slot of an admitted request: `readBody` frees it until the body has arrived. */
  slot?: RequestSlot | undefined
  /** Reads the whole body as text; `undefined` when it is too long. */
  readBody(maxBytes: number): Promise<string | undefined>
  /** Opens the body as a stream instead, for files. Throws a `CallError` when other code has read it. */
  openBody?(): ReadableStream<Uint8Array>
  /** Notifies once when the client disconnects before it has its response. Returns a function that unsubscribes. */
  onGone(listener: () => void): () => void
}

/** The caller of a request, as resolved by the guard. */
export interface HTTPCaller {
  readonly identity: Identity | undefined
  /** Expiry of the identity in epoch milliseconds: streams end then. */
  readonly expiresAt: number | undefined
  /** Charges for calls beyond the request itself; returns an error when they are over the limit. */
  charge(calls?: number): CallError | undefined
  /** Key of the account that is charged: an identity or an address. */
  readonly account: string
  /** Calls back when the credential is taken away: streams end then. Returns a function that unsubscribes. */
  onRevoked(listener: () => void): () => void
  /** Takes slots for further concurrent calls; returns how many were free. */
  takeSlots(most: number): number
  /** Counts the request as a stream; returns an error when there are too many. */
  openStream(): CallError | undefined
}

/** A response. */
export interface HTTPAnswer {
  readonly status: number
  /** Lower-case names; cookies of `set-cookie` are separated by a line feed. */
  readonly headers: HTTPHeaders
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
  readonly headers: HTTPHeaders
}

export function isStream(body: HTTPAnswer["body"]): body is HTTPStream {
  return typeof body === "object" && "run" in body
}

/** Placeholder for an answer that other code has sent. */
export const ALREADY_SENT: HTTPAnswer = { status: 0, headers: {} }

/** Sink of a stream without a reader: it is gone from the start. */
export const NULL_SINK: HTTPSink = {
  isGone: true,
  write: () => false,
  drained: () => Promise.resolve(),
  onGone(listener) {
    listener()
    return () => {}
  },
}

/** Notifies listeners once when a client has disconnected. */
export class Leaving {
  isGone = false
  #listeners: (() => void)[] = []

  /** Adds a listener, which is called at once if the client is gone. Returns a function that removes it. */
  listen(listener: () => void): () => void {
    if (this.isGone) {
      listener()
      return () => {}
    }
    this.#listeners.push(listener)
    return () => {
      const at = this.#listeners.indexOf(listener)
      if (at !== -1) this.#listeners.splice(at, 1)
    }
  }

  leave(): void {
    if (this.isGone) return
    this.isGone = true
    for (const listener of this.#listeners.splice(0)) listener()
  }
}

/**
 * The id of a request: the client's, if it is valid, or a new one.
 *
 * New ids are random: a counter would reveal the load of the server.
 */
export function requestIdFor(requestId: string | undefined): string {
  return requestId !== undefined && SANE_ID.test(requestId) ? requestId : crypto.randomUUID()
}

const SANE_ID = /^[\w.:-]{1,128}$/
