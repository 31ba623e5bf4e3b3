import type { CallRequestedEvent } from "../../../core/events.ts"
import type { TransportPeer } from "../../../protocol/transport.ts"
import type { CallerPeer } from "./callers.ts"
import { acceptedText, quoted, type CallerMessage } from "../wire/messages.ts"
import type { MessageText } from "../wire/frames.ts"

type Request = CallerMessage & { readonly type: "request" }

/** When a request arrived, and its size in bytes. */
export interface Arrival {
  readonly now: number
  readonly bytes: number
}

/** A request that a worker has. */
export class WorkerEntry {
  readonly id: string
  /** Its id as JSON. */
  readonly idText: string
  readonly operationId: string
  readonly caller: CallerPeer
  /** Has to match the key of the grant: a request that was forgotten and arrived again has another one. */
  readonly key: string
  readonly isIdempotent: boolean
  readonly isStream: boolean
  readonly window: number | undefined
  readonly bytes: number
  /** The signed identity of the caller. */
  readonly ticket: string | undefined
  attempt: number
  /** The caller allows it to run at once, if it is idempotent. */
  mayRunNow: boolean
  /** A time of this worker's clock, counted from its arrival. */
  expires: number
  /** `checking` while the caller is being identified. */
  state: "checking" | "waiting" | "running" | "done" = "checking"
  /** When `accepted` is sent again, and the interval after that. */
  remindAt: number = Number.POSITIVE_INFINITY
  remindAfter = 0
  /** Streams: when an item was sent, or the caller asked about it, as it does in each ping while no items arrive. */
  usedAt: number
  /** Set until it runs. */
  event: CallRequestedEvent | undefined
  peer: TransportPeer = {}
  /** The answer, or the end of a stream. */
  result: KeptText | undefined
  /** Streams: the number of items that were sent, and those that its caller may not have received, in order. */
  sent = 0
  items: KeptText[] | undefined
  /** Questions without an answer, by number. */
  questions: Map<number, KeptText> | undefined

  constructor(
    caller: CallerPeer,
    message: Request,
    key: string,
    isIdempotent: boolean,
    { now, bytes }: Arrival,
  ) {
    const { event, attempt } = message
    this.id = event.requestId
    this.idText = quoted(event.requestId)
    this.operationId = event.operationId
    this.caller = caller
    this.key = key
    this.isIdempotent = isIdempotent
    this.isStream = event.kind === "stream"
    this.window = event.window
    this.bytes = bytes
    this.ticket = message.ticket
    this.attempt = attempt
    this.mayRunNow = message.now === true
    this.expires = now + (event.timeout ?? Number.POSITIVE_INFINITY)
    this.usedAt = now
    this.event = event
  }

  /** Whether it runs without a grant: both sides say that it is idempotent. */
  get runsNow(): boolean {
    return this.mayRunNow && this.isIdempotent && !this.isStream
  }

  /** Sends `accepted` for it, and whether it runs. */
  sendAccepted(): void {
    const { attempt, key, isIdempotent, state } = this
    const runs = state === "running"
    const { text, head } = acceptedText(this.idText, { attempt, key, isIdempotent, runs })
    this.caller.outbox.add(text, head)
  }
}

/** A message that may have to be sent again: a result, a stream item, or a question. */
export class KeptText {
  readonly owner: WorkerEntry
  readonly text: string
  /** The beginning of the list that it is an item of. */
  readonly head: string | undefined
  /** When it was last sent. */
  sentAt: number
  isKept = false
  older: KeptText | undefined
  newer: KeptText | undefined

  constructor(owner: WorkerEntry, { text, head }: MessageText, sentAt: number) {
    this.owner = owner
    this.text = text
    this.head = head
    this.sentAt = sentAt
  }
}

/**
 * Messages that may have to be sent again, up to a total size; the oldest are evicted first.
 *
 * A linked list rather than a set, because finding the oldest entry of a set gets slower with each deletion.
 */
export class KeptResults {
  readonly #maxBytes: number
  readonly #onEvicted: (kept: KeptText) => void
  #oldest: KeptText | undefined
  #newest: KeptText | undefined
  count = 0
  bytes = 0

  /** `onEvicted` is called for each evicted message. */
  constructor(maxBytes: number, onEvicted: (kept: KeptText) => void) {
    this.#maxBytes = maxBytes
    this.#onEvicted = onEvicted
  }

  /** Keeps a message, which may evict others, or itself if it is larger than the limit. */
  add(kept: KeptText): void {
    kept.isKept = true
    kept.older = this.#newest
    if (this.#newest === undefined) this.#oldest = kept
    else this.#newest.newer = kept
    this.#newest = kept
    this.count++
    this.bytes += kept.text.length
    while (this.bytes > this.#maxBytes && this.#oldest !== undefined) {
      const oldest = this.#oldest
      this.drop(oldest)
      this.#onEvicted(oldest)
    }
  }

  /** Drops a message. Dropping twice is fine. */
  drop(kept: KeptText): void {
    if (!kept.isKept) return
    kept.isKept = false
    const { older, newer } = kept
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    kept.older = undefined
    kept.newer = undefined
    this.count--
    this.bytes -= kept.text.length
  }
}
