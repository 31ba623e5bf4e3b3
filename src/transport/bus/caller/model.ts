// One idea: calls, the workers that they are given to and what those offer, which refer to each other.

import { QueueTrust } from "./queue-trust.ts"
import { compareVersions, isCompatible } from "../wire/versions.ts"
import type { CallerMessage } from "../wire/messages.ts"
import type { Outbox } from "../wire/outbox.ts"
import type { WorkerStats } from "../stats.ts"

import { doneText } from "../wire/short-messages.ts"
import { messageText } from "../wire/wire.ts"
import { encodeCallEvent } from "../../../core/event-codec.ts"
import type { CallRequestedEvent } from "../../../core/events.ts"
import type { DeadlineEntry } from "../../../internal/deadlines.ts"
import type { CallFate } from "../../../protocol/transport.ts"
import type { MessageText } from "../wire/frame-builder.ts"

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

/** Entries whose requests left together: the broker names them together when nobody listened. */
export interface MarkedGroup {
  readonly mark: string
  readonly entries: readonly CallEntry[]
  /** How many of them still go by this mark. */
  open: number
  /** Called when none of them does. */
  readonly over: () => void
}

/** Results that arrived are confirmed with whatever is sent next, or when there are as many as these. */
const MOST_DONE = 256

/** A worker, as a caller sees it. */
export class KnownWorker {
  readonly address: string
  /** What it serves, and what it says of that. */
  readonly offers: Map<Offer, Offered> = new Map()
  /** Calls that it was given or granted. */
  readonly entries: Set<CallEntry> = new Set()
  /** It has said what it serves, and nothing has changed since. */
  isDescribed = false
  /** It was asked what it serves. */
  isAsked = false
  isLeaving = false
  /** It was waited for in vain when all were asked what they have. */
  wasMissed = false
  /** It said nothing for so long that its calls were given up. */
  isLost = false
  /** Until then it is given nothing, because it did not want something just now. */
  declinesUntil: number = Number.NEGATIVE_INFINITY
  heardAt: number
  /** When it said its last pong, by its own clock. */
  pongAt: number | undefined
  /** What is asked about once more as soon as it answers: what was lost is certain then. */
  askAgain: "all" | "gaps" | undefined
  pingedAt: number = Number.NEGATIVE_INFINITY
  /** When it was last given something. */
  usedAt: number = Number.NEGATIVE_INFINITY
  /** Since when it is pinged; `undefined` while it is not. */
  watchedFrom: number | undefined
  /** Since when nobody listens at its address. */
  goneSince: number | undefined
  readonly #outbox: Outbox
  /** Quoted. */
  #done: string[] = []
  /** Streams that nobody here reads: it was told to stop them, and need not be told with each item. */
  readonly #strays = new Set<string>()

  constructor(address: string, outbox: Outbox, now: number) {
    this.address = address
    this.heardAt = now
    this.#outbox = outbox
  }

  /** Says something, together with all else that it is told in this turn. */
  tell(message: CallerMessage): void {
    this.say(messageText(message))
  }

  /** The same with a message that is text already, or an item of a list that begins with `head`. */
  say(text: string, head?: string): void {
    this.confirm()
    this.#outbox.add(text, head)
  }

  /** Asks whether it is there, what became of calls, and for what is missing of streams. */
  ping(ids: readonly string[], streams: readonly (readonly [string, number])[]): void {
    const heard = this.pongAt
    this.tell({ type: "ping", ids, streams: Object.fromEntries(streams), heard })
  }

  /** An answer arrived: the worker need not keep it. */
  finished(requestId: string): void {
    if (this.#done.push(quoted(requestId)) >= MOST_DONE) this.confirm()
  }

  /** Says which answers arrived. */
  confirm(): void {
    if (this.#done.length === 0) return
    const ids = this.#done
    this.#done = []
    this.#outbox.add(doneText(ids))
  }

  /** Items came of a stream that nobody reads. */
  stray(requestId: string): void {
    if (this.#strays.has(requestId)) return
    this.#strays.add(requestId)
    this.tell({ type: "event", event: { type: "call.aborted", requestId } })
  }

  /** May be told of strays again. */
  forgetStrays(): void {
    this.#strays.clear()
  }

  /** Sends what waits now. */
  flush(): void {
    this.confirm()
    this.#outbox.flush()
  }

  heard(now: number): void {
    this.heardAt = now
    this.goneSince = undefined
    this.isLost = false
  }

  /** Milliseconds for which it was pinged and said nothing. */
  silentFor(now: number): number {
    if (this.watchedFrom === undefined) return 0
    return Math.max(0, now - Math.max(this.heardAt, this.watchedFrom))
  }

  /** It is there for all the broker knows, and says nothing. */
  isSilent(now: number, suspectMs: number): boolean {
    return this.goneSince === undefined && (this.isLost || this.silentFor(now) >= suspectMs)
  }

  /** It can be given something. */
  isLive(now: number, suspectMs: number): boolean {
    if (this.isLeaving || this.isLost || this.goneSince !== undefined) return false
    return now >= this.declinesUntil && this.silentFor(now) < suspectMs
  }

  stats(now: number, suspectMs: number): WorkerStats {
    const { address } = this
    const state = this.#state(now, suspectMs)
    return { address, calls: this.entries.size, silentFor: now - this.heardAt, state }
  }

  #state(now: number, suspectMs: number): WorkerStats["state"] {
    if (this.goneSince !== undefined) return "gone"
    if (this.isLost || this.silentFor(now) >= suspectMs) return "silent"
    return this.isLeaving ? "leaving" : "alive"
  }
}

/** What a worker says of an operation that it serves. */
export interface Offered {
  /** It may be run twice without a second effect. */
  readonly isIdempotent: boolean
  /** `undefined` while it is not known. */
  readonly version: string | undefined
}

/** Who serves an operation. */
export class Offer {
  readonly mark: string
  readonly workers: KnownWorker[] = []
  readonly queue: QueueTrust = new QueueTrust()
  /** Somebody serves it, or once did. */
  wasServed = false
  /** How many of the workers say that it must not be run twice. */
  #unsafe = 0
  /** The versions that are served, and by how many workers. */
  readonly #versions = new Map<string, number>()

  constructor(mark: string) {
    this.mark = mark
  }

  /** It may be run twice without a second effect, whoever runs it; `undefined` while nobody is known to. */
  get isIdempotent(): boolean | undefined {
    return this.workers.length === 0 ? undefined : this.#unsafe === 0
  }

  /** What is served fits those who imported this version, whoever runs it; so far as it is known. */
  isAll(imported: string | undefined): boolean {
    if (imported === undefined || this.#versions.size === 0) return true
    const [version = imported, ...others] = this.#versions.keys()
    return others.length === 0 && isCompatible(version, imported)
  }

  /** The versions that these of its workers serve, the highest last. */
  versions(isMeant: (worker: KnownWorker) => boolean): string[] {
    const served = this.workers.filter(isMeant).map((worker) => worker.offers.get(this)?.version)
    return [...new Set(served.filter((version) => version !== undefined))].toSorted(compareVersions)
  }

  add(worker: KnownWorker, offered: Offered): void {
    this.remove(worker)
    worker.offers.set(this, offered)
    this.workers.push(worker)
    this.wasServed = true
    if (!offered.isIdempotent) this.#unsafe++
    this.#count(offered.version, 1)
  }

  remove(worker: KnownWorker): void {
    const offered = worker.offers.get(this)
    if (offered === undefined) return
    worker.offers.delete(this)
    this.workers.splice(this.workers.indexOf(worker), 1)
    if (!offered.isIdempotent) this.#unsafe--
    this.#count(offered.version, -1)
  }

  #count(version: string | undefined, change: 1 | -1): void {
    if (version === undefined) return
    const count = (this.#versions.get(version) ?? 0) + change
    if (count > 0) this.#versions.set(version, count)
    else this.#versions.delete(version)
  }
}
