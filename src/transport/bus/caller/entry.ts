import { encodeCallEvent } from "../../../core/event-codec.ts"
import type { CallRequestedEvent } from "../../../core/events.ts"
import type { DeadlineEntry } from "../../../internal/deadlines.ts"
import type { CallFate } from "../../../protocol/transport.ts"
import type { MessageText } from "../wire/frame-builder.ts"
import type { KnownWorker } from "./known-worker.ts"
import type { Offer } from "./offers.ts"
import type { MarkedGroup } from "./request-batch.ts"
import { StreamOrder } from "./stream-order.ts"
import { callText, quoted, requestText, shortInput } from "../wire/short-messages.ts"

/** What is done when its time has come. */
export type Step = "dispatch" | "repeat" | "search"

/** What an entry needs to know of those around it. */
export interface EntryHost {
  /** Its time has come. */
  due(entry: CallEntry): void
}

/** A request that waits for its answer. */
export class CallEntry implements DeadlineEntry {
  readonly requestId: string
  readonly operationId: string
  readonly event: CallRequestedEvent
  readonly offer: Offer
  /** The version that its caller imported, if any. */
  readonly version: string | undefined
  /** By this end's clock. */
  readonly deadline: number
  isStream: boolean
  isOver = false
  /**
   * `held` until the broker is reached; `seeking` while there is nobody to give it to, or for a while;
   * `sent` until a worker accepts it; `granted` until that one answers.
   */
  state: "held" | "seeking" | "sent" | "granted" = "seeking"
  /** While it is seeking: what comes next. */
  step: Step = "dispatch"
  /** The number of the request that was sent last. */
  attempt = 0
  /** How often it was given to a worker once more, apart from what was nobody's fault. */
  repeats = 0
  /** How often a worker sent it elsewhere without being full. */
  moves = 0
  /** How often nobody was there to take it, one after another. */
  rounds = 0
  seekingSince = 0
  sentAt = 0
  firstSentAt = 0
  /** With which others its request left, and the mark that the broker names when nobody listened. */
  group: MarkedGroup | undefined
  /** Who it is for, signed. */
  ticket: string | undefined
  isSigning = false
  /** The one that it was sent to or granted; `undefined` where the broker chose. */
  worker: KnownWorker | undefined
  /** The one that it is not given to again, unless there is no other. */
  avoid: KnownWorker | undefined
  /** What the worker accepted it with that it was granted to. */
  key: string | undefined
  /** Some worker may have run it. What was once possible stays so. */
  mayHaveExecuted = false
  /** The same before the latest attempt, for when that turns out not to have begun. */
  mayHaveExecutedBefore = false
  isIdempotent: boolean | undefined
  /** It went to a worker of the broker's choice that may have run it at once. */
  isOpenToAny = false
  /** Workers that may run it, or have, although it is not granted to them: whoever answers first counts. */
  openTo: Set<string> | undefined
  /** When it is next asked about, and how often it was. */
  nextCheck = 0
  /** Streams: what came, whether something did lately, and the credit. */
  order: StreamOrder | undefined
  hasMoved = false
  /** Streams: after which item something was found missing, and asked for. */
  gapAt = -1
  credit: number | undefined
  /** Its id, quoted. */
  readonly idText: string
  readonly #host: EntryHost
  readonly #isSigned: boolean
  /** Its input as JSON, where it says little else. */
  #input: string | undefined
  /** Otherwise its event as JSON, without the closing brace and without its time. */
  #body: string | undefined

  // `Deadlines` keeps these.
  dueAt = 0
  bucket: DeadlineEntry["bucket"] = undefined
  dueBefore: DeadlineEntry | undefined = undefined
  dueAfter: DeadlineEntry | undefined = undefined

  constructor(
    host: EntryHost,
    event: CallRequestedEvent,
    offer: Offer,
    isSigned: boolean,
    now: number,
  ) {
    this.#host = host
    this.#isSigned = isSigned
    this.event = event
    this.requestId = event.requestId
    this.idText = quoted(event.requestId)
    this.operationId = event.operationId
    this.offer = offer
    this.version = event.version
    this.isStream = event.kind === "stream" || event.window !== undefined
    this.deadline = event.timeout === undefined ? Number.POSITIVE_INFINITY : now + event.timeout
  }

  due(): number {
    return this.dueAt
  }

  expire(): void {
    this.#host.due(this)
  }

  /** Milliseconds that are left of its time, in a form that JSON has. */
  left(now: number): number {
    return Math.min(Math.max(0, this.deadline - now), Number.MAX_SAFE_INTEGER)
  }

  /** Makes its text, once. Throws a `CallError` where its input has no JSON form. */
  encode(): void {
    if (this.#input !== undefined || this.#body !== undefined) return
    const told = unclaimed(this.event, this.#isSigned)
    this.#input = shortInput(told)
    if (this.#input === undefined) this.#body = bodyOf(told)
  }

  /** The message that asks for it. */
  requestText(isNow: boolean, now: number): MessageText {
    this.encode()
    const { attempt, ticket } = this
    const left = this.deadline === Number.POSITIVE_INFINITY ? undefined : this.left(now)
    const sent = { attempt, isNow, ticket }
    const { idText: id, operationId } = this
    const input = this.#input
    return input === undefined
      ? { text: requestText(timedText(this.#body as string, left), sent) }
      : callText({ id, operationId, input }, left, sent)
  }

  /** The latest attempt did not begin anywhere. */
  undoAttempt(): void {
    this.mayHaveExecuted = this.mayHaveExecutedBefore
    if (this.mayHaveExecuted) return
    this.isOpenToAny = false
    this.openTo = undefined
  }

  /** Streams: the number of the last item that was handed on. */
  get lastSeq(): number {
    return this.order?.last ?? 0
  }

  /** It is a stream, if only because items came. */
  asStream(): StreamOrder {
    this.isStream = true
    this.order ??= new StreamOrder(this.event.window)
    return this.order
  }

  /** Answers of this worker count. */
  isOpenTo(worker: KnownWorker): boolean {
    if (this.state === "granted" && this.worker === worker) return true
    return this.isOpenToAny || this.openTo?.has(worker.address) === true
  }

  openFor(worker: KnownWorker): void {
    this.openTo ??= new Set()
    this.openTo.add(worker.address)
  }

  /** What may have become of it. */
  fate(): CallFate {
    const { mayHaveExecuted } = this
    return { mayHaveExecuted, retryable: this.isIdempotent === true || !mayHaveExecuted }
  }
}

/** An event without what a ticket says. */
export function unclaimed(event: CallRequestedEvent, isSigned: boolean): CallRequestedEvent {
  return isSigned ? { ...event, identity: undefined } : event
}

/** An event as JSON, without the closing brace and without its time, which differs from attempt to attempt. */
export function bodyOf(event: CallRequestedEvent): string {
  return encodeCallEvent({ ...event, timeout: undefined }).slice(0, -1)
}

/** The event whose body that is, with the milliseconds that are left of its time. */
export function timedText(body: string, left: number | undefined): string {
  return left === undefined ? `${body}}` : `${body},"timeout":${left}}`
}
