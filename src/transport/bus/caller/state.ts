import type { CallErrorEvent, CallEvent } from "../../../core/events.ts"
import { Deadlines } from "../../../internal/deadlines.ts"
import type { Clock } from "../../../internal/platform.ts"
import { isRecord } from "../../../internal/guards.ts"
import type { TransportReceiver } from "../../../protocol/transport.ts"
import { backOff } from "../../../internal/back-off.ts"
import { Breaker } from "./breaker.ts"
import type { CallEntry, KnownWorker, SentGroup } from "./model.ts"
import type { BusContext, GuardSettings } from "../options.ts"
import { RetryBudget } from "../../../internal/retry-budget.ts"
import type { TicketSigner } from "../tickets/model.ts"
import type { Bus } from "../types.ts"
import { Warnings } from "../warnings.ts"
import { frameOf } from "../wire/frames.ts"
import { messageText } from "../wire/messages.ts"
import { WorkerBook } from "./worker-book.ts"

/** Optional fields of an error. */
export interface FailureOptions {
  readonly retryable?: boolean | undefined
  readonly retryAfterMs?: number | undefined
  readonly worker?: KnownWorker | undefined
  readonly details?: unknown
}

/** Discovery requests that are remembered; beyond it the oldest is forgotten. */
const MAX_ASKS = 32
/** The minimum interval between discovery requests, in milliseconds. */
const MIN_ASK_INTERVAL = 20
/** How long after a reconnect no worker is given up, in milliseconds: workers have to reconnect, too. */
const GRACE = 3000
const WHO = messageText({ type: "who" })

/** The state that the parts of a caller share: pending calls, known workers, and how calls end. */
export class CallerState {
  readonly bus: Bus
  readonly settings: GuardSettings
  readonly clock: Clock
  readonly random: () => number
  readonly signer: TicketSigner | undefined
  readonly warnings: Warnings
  readonly budget: RetryBudget
  readonly latency: AcceptLatency
  readonly breaker: Breaker = new Breaker()
  readonly book: WorkerBook
  readonly deadlines: Deadlines
  readonly pending: Map<string, CallEntry> = new Map()
  /** Groups of requests that no worker has accepted yet, by correlation id. */
  readonly groups: Map<string, SentGroup> = new Map()
  readonly counts = {
    repeats: 0,
    directed: 0,
    workersLost: 0,
    lateAnswers: 0,
    stalls: 0,
    dropped: 0,
  }
  receiver: TransportReceiver | undefined
  /** Until then no worker is given up. */
  graceUntil: number = Number.NEGATIVE_INFINITY
  /** When the last discovery request without any responder was sent. */
  noWorkersAt: number = Number.NEGATIVE_INFINITY
  /** When discovery requests were sent, by correlation id. */
  readonly #asks = new Map<string, number>()
  #askedAt = Number.NEGATIVE_INFINITY
  #correlationIds = 0

  constructor(context: BusContext) {
    const { bus, settings, clock, logger, signer, random = Math.random } = context
    this.bus = bus
    this.settings = settings
    this.clock = clock
    this.random = random
    this.signer = signer
    this.warnings = new Warnings(logger, clock)
    this.budget = new RetryBudget(settings.retryBudget, { tricklesWhenEmpty: true })
    this.latency = new AcceptLatency(settings.acceptMs)
    this.book = new WorkerBook(context)
    this.deadlines = new Deadlines(clock)
  }

  now(): number {
    return this.clock.now()
  }

  get isInGrace(): boolean {
    return this.clock.now() < this.graceUntil
  }

  startGrace(): void {
    this.graceUntil = this.clock.now() + GRACE
  }

  /** Whether the broker may choose the worker: it has queues, and all known workers serve a compatible version. */
  mayGoToAny({ offer, version }: CallEntry): boolean {
    return this.bus.hasQueues && offer.isAll(version)
  }

  /** The calls that were sent under a correlation id, and have not moved on since. */
  entriesOf(correlationId: string): readonly CallEntry[] {
    const group = this.groups.get(correlationId)
    return group?.entries.filter((entry) => entry.group === group) ?? []
  }

  /** A unique correlation id: `kind` and digits. */
  newCorrelationId(kind: "r" | "g" | "q"): string {
    return kind + (this.#correlationIds++).toString(36)
  }

  frame(text: string): string {
    return frameOf(this.bus.address, text)
  }

  /** Discovers workers: asks all of them what they serve, unless that was just done. */
  ask(): void {
    const now = this.clock.now()
    if (!this.bus.isConnected || now - this.#askedAt < MIN_ASK_INTERVAL) return
    this.#askedAt = now
    const correlationId = this.newCorrelationId("q")
    const [oldest] = this.#asks.keys()
    if (oldest !== undefined && this.#asks.size >= MAX_ASKS) this.#asks.delete(oldest)
    this.#asks.set(correlationId, now)
    try {
      this.bus.ask(this.frame(WHO), correlationId)
    } catch {
      // The next search asks again.
    }
  }

  /** Handles "no responders" for a discovery request: forgets workers not heard from since it was sent. */
  noResponders(correlationId: string): boolean {
    const askedAt = this.#asks.get(correlationId)
    if (askedAt === undefined) return false
    this.noWorkersAt = Math.max(this.noWorkersAt, askedAt)
    for (const worker of [...this.book.all()]) {
      if (worker.lastSeenAt > askedAt) continue
      worker.goneSince ??= this.clock.now()
      if (worker.entries.size === 0) this.book.forget(worker)
    }
    return true
  }

  arm(entry: CallEntry, at: number): void {
    this.deadlines.remove(entry)
    entry.dueAt = at
    this.deadlines.add(entry)
  }

  disarm(entry: CallEntry): void {
    if (entry.listedIn !== undefined) this.deadlines.remove(entry)
  }

  /** Assigns an entry to a worker, or to none. */
  assign(entry: CallEntry, worker: KnownWorker | undefined, now: number): void {
    if (entry.worker !== worker) {
      entry.worker?.entries.delete(entry)
      entry.worker = worker
    }
    if (worker === undefined) return
    worker.entries.add(entry)
    this.book.use(worker, now)
  }

  leaveGroup(entry: CallEntry): void {
    const { group } = entry
    if (group === undefined) return
    entry.group = undefined
    if (--group.open > 0) return
    this.groups.delete(group.correlationId)
    group.over()
  }

  /** Removes an entry, and aborts it at workers that may still run it. */
  finish(entry: CallEntry, answered?: KnownWorker, reason?: string): void {
    const { requestId, worker } = entry
    entry.isOver = true
    this.pending.delete(requestId)
    entry.offer.queue.over(entry)
    this.leaveGroup(entry)
    this.disarm(entry)
    worker?.entries.delete(entry)
    const granted = entry.state === "granted" ? worker : undefined
    if (entry.openTo === undefined && (granted === undefined || granted === answered)) return
    const others = new Set(entry.openTo)
    if (granted !== undefined) others.add(granted.address)
    if (answered !== undefined) others.delete(answered.address)
    for (const address of others) {
      const event: CallEvent = { type: "call.aborted", requestId, reason }
      this.book.get(address)?.send({ type: "event", event })
    }
  }

  /** Fails an entry with an error of this end. */
  fail(entry: CallEntry, code: string, message: string, options: FailureOptions = {}): void {
    if (entry.isOver) return
    const { requestId, attempt } = entry
    const { mayHaveExecuted, retryable } = entry.deliveryStatus()
    const { retryAfterMs, worker = entry.worker } = options
    this.finish(entry)
    this.deliver({
      ...{ type: "call.error", requestId, code, message, mayHaveExecuted },
      retryable: options.retryable ?? retryable,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      details: {
        ...(isRecord(options.details) && options.details),
        attempt,
        ...(worker !== undefined && { worker: worker.address }),
      },
    } satisfies CallErrorEvent)
  }

  deliver(event: CallEvent): void {
    this.receiver?.event(event)
  }

  close(): void {
    this.deadlines.close(() => undefined)
    this.book.close()
    // Requests that wait for the end of this turn are not sent any more.
    for (const entry of this.pending.values()) entry.isOver = true
    this.pending.clear()
    this.groups.clear()
  }
}

/** Weight of a new latency in the average: it rises quickly and falls slowly. */
const RISE = 0.25
const FALL = 0.05
const FACTOR = 4

/** Tracks how long workers take to accept calls, and derives the timeout for it. */
export class AcceptLatency {
  readonly #minimum: number
  #smoothed = 0

  constructor(minimum: number) {
    this.#minimum = minimum
  }

  observe(milliseconds: number): void {
    const change = milliseconds - this.#smoothed
    this.#smoothed += change * (change > 0 ? RISE : FALL)
  }

  /** Milliseconds to wait for a worker to accept; doubles with each repeat after the first. */
  acceptTimeout(repeats: number): number {
    const base = Math.max(this.#minimum, FACTOR * this.#smoothed)
    return repeats <= 1 ? base : backOff(repeats, base, Infinity)
  }
}
