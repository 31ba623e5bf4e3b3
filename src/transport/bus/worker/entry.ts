import type { CallRequestedEvent } from "../../../core/events.ts"
import type { TransportPeer } from "../../../protocol/transport.ts"
import type { CallerPeer } from "./callers.ts"
import type { KeptText } from "./kept-results.ts"
import type { CallerMessage } from "../wire/messages.ts"
import type { SentItems } from "./sent-items.ts"
import { quoted } from "../wire/short-messages.ts"

/** What a worker has of a request, and how it was asked. */
export interface WorkerEntryParts {
  readonly caller: CallerPeer
  readonly message: CallerMessage & { readonly type: "request" }
  readonly key: string
  readonly isIdempotent: boolean
  /** When it arrived. */
  readonly now: number
  /** What it takes until it is run. */
  readonly bytes: number
}

/** A request that a worker has. */
export class WorkerEntry {
  readonly id: string
  /** Its id, quoted. */
  readonly idText: string
  readonly operationId: string
  readonly caller: CallerPeer
  /** What a grant has to name: an entry that was forgotten and came again has another one. */
  readonly key: string
  readonly isIdempotent: boolean
  readonly isStream: boolean
  readonly window: number | undefined
  readonly bytes: number
  /** That says who asks. */
  readonly ticket: string | undefined
  attempt: number
  /** The caller lets it run at once, if it is idempotent. */
  mayRunNow: boolean
  /** By this worker's clock, from when it arrived. */
  expires: number
  /** `checking` while it is found out who asks. */
  state: "checking" | "waiting" | "running" | "done" = "checking"
  /** When it is said again that it is here, and how long after that once more. */
  sayAgainAt: number = Number.POSITIVE_INFINITY
  sayAgainAfter = 0
  /** Until it is run. */
  event: CallRequestedEvent | undefined
  peer: TransportPeer = {}
  /** The answer, or the end of a stream. */
  result: KeptText<WorkerEntry> | undefined
  /** Streams: the items that were sent. */
  items: SentItems<WorkerEntry> | undefined

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
    this.event = event
  }

  /** It runs without a grant: both sides say that a second run would do no harm. */
  get runsNow(): boolean {
    return this.mayRunNow && this.isIdempotent && !this.isStream
  }

  /** What its handler is given: the time that is left, where there is a limit. */
  granted(event: CallRequestedEvent, left: number): CallRequestedEvent {
    // It was made from what came, for this entry alone: nobody else sees it change.
    if (event.timeout !== undefined) (event as { timeout?: number }).timeout = left
    return event
  }
}
