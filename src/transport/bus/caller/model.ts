// Calls, workers and offered operations, which refer to each other.

import { QueueTrust } from "./queue-trust.ts"
import { compareVersions, isCompatible } from "../wire/versions.ts"
import type { Outbox, MessageText } from "../wire/frames.ts"
import { doneText, callText, goText, messageText, quoted } from "../wire/messages.ts"
import { requestText, shortInput, type WholeMessage } from "../wire/messages.ts"
import type { WorkerStats } from "../stats.ts"
import { encodeCallEvent } from "../../../core/event-codec.ts"
import type { CallRequestedEvent } from "../../../core/events.ts"
import type { DeadlineEntry } from "../../../internal/deadlines.ts"
import type { DeliveryStatus } from "../../../protocol/transport.ts"
import type { CallQuestions } from "./questions.ts"
import { StreamOrder } from "./stream-order.ts"

/** What a seeking call does when its timer fires. */
export type Step = "dispatch" | "repeat" | "search"

/** A pending call on the bus. */
export class CallEntry implements DeadlineEntry {
  readonly requestId: string
  readonly operationId: string
  readonly event: CallRequestedEvent
  readonly offer: Offer
  /** The version that its caller imported, if any. */
  readonly version: string | undefined
  /** A time of this end's clock. */
  readonly deadline: number
  isStream: boolean
  isOver = false
  /**
   * `held` until the broker is connected; `seeking` while no worker is found, or before a retry;
   * `sent` until a worker accepts it; `granted` until that worker answers.
   */
  state: "held" | "seeking" | "sent" | "granted" = "seeking"
  /** While it is seeking: the next step. */
  step: Step = "dispatch"
  /** The number of the last attempt. */
  attempt = 0
  /** Retries, not counting those that no worker was responsible for. */
  repeats = 0
  /** How often a worker redirected it without being busy. */
  moves = 0
  /** Consecutive searches that found no worker. */
  rounds = 0
  seekingSince = 0
  sentAt = 0
  firstSentAt = 0
  /** The requests that were sent in the same frame. */
  group: SentGroup | undefined
  /** The signed identity of its caller. */
  ticket: string | undefined
  isSigning = false
  /** The worker that it was sent or granted to; `undefined` when the broker chose. */
  worker: KnownWorker | undefined
  /** A worker to avoid, unless there is no other. */
  avoid: KnownWorker | undefined
  /** The key with which the worker accepted it. */
  key: string | undefined
  /** Some worker may have run it. Never becomes `false` again, except by `undoAttempt`. */
  mayHaveExecuted = false
  /** The value before the latest attempt, in case that attempt did not begin. */
  mayHaveExecutedBefore = false
  isIdempotent: boolean | undefined
  /** The broker chose the worker, which may have run it at once: any worker may answer. */
  isOpenToAny = false
  /** Workers that may have run it without a grant: the first answer counts. */
  openTo: Set<string> | undefined
  /** When a ping next asks about it. */
  nextCheck = 0
  /** Streams: the received items, whether one arrived since the last ping, and the credit. */
  order: StreamOrder | undefined
  hasMoved = false
  /** Streams: the last item that the worker was told of. */
  confirmedSeq = 0
  /** Streams: the item after which missing ones were last requested. */
  gapAt = -1
  credit: number | undefined
  /** What its handler has asked. */
  questions: CallQuestions | undefined
  /** Its id as JSON. */
  readonly idText: string
  readonly #onDue: (entry: CallEntry) => void
  readonly #isSigned: boolean
  /** Its input as JSON, if the short form of a request is enough. */
  #input: string | undefined
  /** Otherwise its event as JSON, without the closing brace and the timeout. */
  #body: string | undefined

  // `Deadlines` keeps these.
  dueAt = 0
  listedIn: DeadlineEntry["listedIn"] = undefined
  dueBefore: DeadlineEntry | undefined = undefined
  dueAfter: DeadlineEntry | undefined = undefined

  /** `onDue` is called when its timer fires. */
  constructor(
    onDue: (entry: CallEntry) => void,
    event: CallRequestedEvent,
    offer: Offer,
    isSigned: boolean,
    now: number,
  ) {
    this.#onDue = onDue
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
    this.#onDue(this)
  }

  /** Milliseconds until the deadline, as a number that JSON can represent. */
  left(now: number): number {
    return Math.min(Math.max(0, this.deadline - now), Number.MAX_SAFE_INTEGER)
  }

  /** Encodes it, once. Throws a `CallError` when its input has no JSON form. */
  encode(): void {
    if (this.#input !== undefined || this.#body !== undefined) return
    const event = withoutIdentity(this.event, this.#isSigned)
    this.#input = shortInput(event)
    if (this.#input === undefined) this.#body = bodyOf(event)
  }

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

  /** Undoes the latest attempt, which did not begin anywhere. */
  undoAttempt(): void {
    this.mayHaveExecuted = this.mayHaveExecutedBefore
    if (this.mayHaveExecuted) return
    this.isOpenToAny = false
    this.openTo = undefined
  }

  /** Streams: the number of the last item that was delivered. */
  get lastSeq(): number {
    return this.order?.last ?? 0
  }

  /** Treats it as a stream; items may reveal that it is one. */
  asStream(): StreamOrder {
    this.isStream = true
    this.order ??= new StreamOrder(this.event.window)
    return this.order
  }

  /** Whether answers of this worker are accepted. */
  isOpenTo(worker: KnownWorker): boolean {
    if (this.state === "granted" && this.worker === worker) return true
    return this.isOpenToAny || this.openTo?.has(worker.address) === true
  }

  openFor(worker: KnownWorker): void {
    this.openTo ??= new Set()
    this.openTo.add(worker.address)
  }

  /** What is known about its execution, for its error. */
  deliveryStatus(): DeliveryStatus {
    const { mayHaveExecuted } = this
    return { mayHaveExecuted, retryable: this.isIdempotent === true || !mayHaveExecuted }
  }
}

/** The event without its identity, if a ticket contains it. */
export function withoutIdentity(event: CallRequestedEvent, isSigned: boolean): CallRequestedEvent {
  return isSigned ? { ...event, identity: undefined } : event
}

/** An event as JSON, without the closing brace and without the timeout, which differs between attempts. */
export function bodyOf(event: CallRequestedEvent): string {
  return encodeCallEvent({ ...event, timeout: undefined }).slice(0, -1)
}

/** Completes a body with the remaining timeout, in milliseconds. */
export function timedText(body: string, left: number | undefined): string {
  return left === undefined ? `${body}}` : `${body},"timeout":${left}}`
}

/** Calls whose requests were sent in one frame, under one correlation id. */
export interface SentGroup {
  readonly correlationId: string
  readonly entries: readonly CallEntry[]
  /** How many of them still belong to the group. */
  open: number
  /** Called when the last one left the group. */
  readonly over: () => void
}

/** Received results are confirmed with the next message, or when there are this many. */
const MAX_UNCONFIRMED = 256

/** A worker, as the caller knows it. */
export class KnownWorker {
  readonly address: string
  /** The operations that it offers. */
  readonly offers: Map<Offer, Offered> = new Map()
  /** Calls that were sent or granted to it. */
  readonly entries: Set<CallEntry> = new Set()
  /** Its list of operations is known and current. */
  isDescribed = false
  /** It was asked for its operations. */
  isAsked = false
  isLeaving = false
  /** It did not answer the last request to all workers. */
  wasMissed = false
  /** It was silent for so long that its calls were given up. */
  isLost = false
  /** It gets no calls until then, because it just declined one. */
  declinesUntil: number = Number.NEGATIVE_INFINITY
  lastSeenAt: number
  /** When it sent its last pong, by its own clock. */
  pongAt: number | undefined
  /** What to ask about again with the next pong: by then it is certain what was lost. */
  askAgain: "all" | "gaps" | undefined
  lastPingAt: number = Number.NEGATIVE_INFINITY
  /** Characters received from it since it was last told which stream items arrived. */
  unconfirmed = 0
  /** When it last got a call. */
  usedAt: number = Number.NEGATIVE_INFINITY
  /** When pinging started; `undefined` while it is not pinged. */
  watchedFrom: number | undefined
  /** Since when there is no responder at its address. */
  goneSince: number | undefined
  readonly #outbox: Outbox
  readonly #suspectMs: number
  /** Ids of received results, as JSON. */
  readonly #done: string[] = []
  /** Streams without a reader: the worker was asked to stop them, which is not repeated for each item. */
  readonly strays: Set<string> = new Set()

  /** After `suspectMs` of silence it gets no calls. */
  constructor(address: string, outbox: Outbox, suspectMs: number, now: number) {
    this.address = address
    this.#suspectMs = suspectMs
    this.lastSeenAt = now
    this.#outbox = outbox
  }

  /** Sends a message, in one frame with the others of this turn. */
  send(message: WholeMessage): void {
    this.sendText(messageText(message))
  }

  /** Sends an encoded message, or an item of a list that begins with `head`. */
  sendText(text: string, head?: string): void {
    this.confirm()
    this.#outbox.add(text, head)
  }

  /** Grants a call. `id` is quoted. */
  go(id: string, key: string, left: number): void {
    const { text, head } = goText(id, key, left)
    this.sendText(text, head)
  }

  /** Pings it, asks about calls, and requests missing stream items. */
  ping(ids: readonly string[], streams: readonly (readonly [string, number])[]): void {
    const heard = this.pongAt
    this.send({ type: "ping", ids, streams: Object.fromEntries(streams), heard })
  }

  /** Notes that an answer arrived, so that the worker can drop it. */
  finished(requestId: string): void {
    if (this.#done.push(quoted(requestId)) >= MAX_UNCONFIRMED) this.confirm()
  }

  confirm(): void {
    if (this.#done.length > 0) this.#outbox.add(doneText(this.#done.splice(0)))
  }

  /** Stops a stream without a reader. */
  stopStray(requestId: string): void {
    if (this.strays.has(requestId)) return
    this.strays.add(requestId)
    this.send({ type: "event", event: { type: "call.aborted", requestId } })
  }

  flush(): void {
    this.confirm()
    this.#outbox.flush()
  }

  /** Milliseconds for which it was pinged and did not respond. */
  silentFor(now: number): number {
    if (this.watchedFrom === undefined) return 0
    return Math.max(0, now - Math.max(this.lastSeenAt, this.watchedFrom))
  }

  /** It does not respond. */
  isSilent(now: number): boolean {
    return this.isLost || this.silentFor(now) >= this.#suspectMs
  }

  /** It can get calls. */
  isLive(now: number): boolean {
    if (this.isLeaving || this.goneSince !== undefined) return false
    return now >= this.declinesUntil && !this.isSilent(now)
  }

  stats(now: number): WorkerStats {
    const { address } = this
    const state = this.#state(now)
    return { address, calls: this.entries.size, silentFor: now - this.lastSeenAt, state }
  }

  #state(now: number): WorkerStats["state"] {
    if (this.goneSince !== undefined) return "gone"
    if (this.isSilent(now)) return "silent"
    return this.isLeaving ? "leaving" : "alive"
  }
}

/** How a worker offers an operation. */
export interface Offered {
  /** Running it twice has no second effect. */
  readonly isIdempotent: boolean
  /** `undefined` while it is unknown. */
  readonly version: string | undefined
}

/** An operation and its workers. */
export class Offer {
  readonly operationHash: string
  readonly workers: KnownWorker[] = []
  readonly queue: QueueTrust = new QueueTrust()
  /** It has, or once had, a worker. */
  wasServed = false
  /** The number of workers at which it is not idempotent. */
  #unsafe = 0
  /** The number of workers by version. */
  readonly #versions = new Map<string, number>()

  constructor(mark: string) {
    this.operationHash = mark
  }

  /** Whether it is idempotent at all of its workers; `undefined` while it has none. */
  get isIdempotent(): boolean | undefined {
    return this.workers.length === 0 ? undefined : this.#unsafe === 0
  }

  /** Whether all known workers serve a version that is compatible with the imported one. */
  isAll(imported: string | undefined): boolean {
    if (imported === undefined || this.#versions.size === 0) return true
    const [version = imported, ...others] = this.#versions.keys()
    return others.length === 0 && isCompatible(version, imported)
  }

  /** The versions that matching workers serve, highest last. */
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
