import type { CallRequestedEvent } from "../../../core/events.ts"
import type { TransportPeer } from "../../../protocol/transport.ts"
import type { CallerPeer } from "./callers.ts"
import type { KeptText } from "./kept-results.ts"
import type { CallerMessage } from "../wire/messages.ts"
import type { SentItems } from "./sent-items.ts"
import { quoted } from "../wire/short-messages.ts"

/** The parts of a new `WorkerEntry`. */
export interface WorkerEntryParts {
  readonly caller: CallerPeer
  readonly message: CallerMessage & { readonly type: "request" }
  readonly key: string
  readonly isIdempotent: boolean
  /** When it arrived. */
  readonly now: number
  /** Its size in bytes. */
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
  result: KeptText<WorkerEntry> | undefined
  /** Streams: the items that were sent. */
  items: SentItems<WorkerEntry> | undefined
  /** Questions without an answer, by number. */
  questions: Map<number, KeptText<WorkerEntry>> | undefined

  constructor({ caller, message, key, isIdempotent, now, bytes }: WorkerEntryParts) {
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

  /** The event for the handler, with the remaining timeout. */
  granted(event: CallRequestedEvent, left: number): CallRequestedEvent {
    // The event was decoded for this entry alone, so that changing it is safe.
    if (event.timeout !== undefined) (event as { timeout?: number }).timeout = left
    return event
  }
}
