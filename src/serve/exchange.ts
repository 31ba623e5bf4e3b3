import type { CallError } from "../core/errors.ts"
// The seam between servers, which know sockets, and an API, which knows a registry.

import type { Authenticated } from "./authenticated.ts"
import type { RequestSlot } from "./read-body.ts"
import type { UpgradeRequestLike } from "./upgrade.ts"

/** A request, of whatever server it came to. */
export interface HTTPIncoming {
  /** In capitals. */
  readonly method: string
  /** As it was sent: percent-encoded, with a slash in front, without its query. */
  readonly path: string
  /** What a framework has removed in front of `path`; `undefined` where that is not known. */
  readonly mountPath?: string | undefined
  /** What follows the `?`, or nothing. */
  readonly query: string
  /** By its name in small letters; several of one name are joined with `, `. */
  header(name: string): string | undefined
  /** For those who decide who calls, and from where. */
  readonly like: UpgradeRequestLike
  /** By which it is known in logs: as its client says, or a new one. Answers carry it. */
  readonly requestId: string
  /** Who calls, where whoever embeds the API knows; then nobody is asked. */
  readonly identity: Authenticated | null | undefined
  /** What the request holds once it is let in: `readBody` frees it until the body is there. */
  slot?: RequestSlot | undefined
  /** The whole body as text; `undefined` when it is longer than allowed. */
  readBody(maxBytes: number): Promise<string | undefined>
  /** Tells once when the client leaves before it has its answer. Gives what ends that. */
  onGone(listener: () => void): () => void
}

export type { RequestSlot } from "./read-body.ts"

/** What is answered. */
export interface HTTPAnswer {
  readonly status: number
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | HTTPStream | undefined
}

/** A body that comes bit by bit. */
export interface HTTPStream {
  /** Writes until it is over or the sink is gone; never rejects. */
  run(sink: HTTPSink): Promise<void>
}

/** Where a body goes. */
export interface HTTPSink {
  /** The client left, or the server is closing. */
  readonly isGone: boolean
  /** Takes text; `false` when it should be given time: `await drained()`. */
  write(text: string): boolean
  /** Settles when there is room again, or nobody is there any more. */
  drained(): Promise<void>
  /** Tells once when the client leaves. Gives what ends that. */
  onGone(listener: () => void): () => void
}

/** Answers requests; never rejects and never throws. */
export type HTTPHandler = (incoming: HTTPIncoming) => HTTPAnswer | Promise<HTTPAnswer>

/** A request that is turned away. */
export interface Refused {
  readonly kind: "refused"
  readonly status: number
  readonly error: CallError
  readonly headers: Readonly<Record<string, string>>
}
