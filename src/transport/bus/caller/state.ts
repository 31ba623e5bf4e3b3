import type { CallErrorEvent, CallEvent } from "../../../core/events.ts"
import { Deadlines } from "../../../internal/deadlines.ts"
import type { Logger } from "../../../internal/logger.ts"
import type { Clock } from "../../../internal/platform.ts"
import type { TransportReceiver } from "../../../protocol/transport.ts"
import { AcceptLatency } from "./accept-latency.ts"
import { Breaker } from "./breaker.ts"
import type { CallEntry } from "./model.ts"
import type { KnownWorker } from "./model.ts"
import type { GuardSettings } from "../options.ts"
import type { MarkedGroup } from "./model.ts"
import { RetryBudget } from "./retry-budget.ts"
import type { TicketSigner } from "../tickets/model.ts"
import type { Bus } from "../types.ts"
import { Warnings } from "../warnings.ts"
import { frameText, messageText } from "../wire/wire.ts"
import { WorkerBook } from "./worker-book.ts"
import type { WorkerBookParts } from "./worker-book.ts"

/** What a guarded caller goes by besides its bus. */
export interface CallerParts {
  readonly clock: Clock
  readonly logger: Logger
  readonly signer?: TicketSigner | undefined
  /** From 0 to 1, for choices and delays; `Math.random` when left out. */
  readonly random?: (() => number) | undefined
}

/** What an error says besides its code and message. */
export interface FailureOptions {
  readonly retryable?: boolean | undefined
  readonly retryAfterMs?: number | undefined
  readonly worker?: KnownWorker | undefined
  readonly details?: unknown
}

/** What is told of workers. */
export type CallerListener = Pick<WorkerBookParts, "onChange" | "onWatch">

/** So many questions to all may be on their way before the oldest is forgotten. */
const MOST_ASKS = 32
/** Nobody asks more often than so many milliseconds apart. */
const ASK_GAP = 20
/** For so long after a reconnect nobody is accused: others have to find back too. */
const GRACE = 3000
const WHO = messageText({ type: "who" })

/** What the parts of a caller share: who waits, who is known, and how something ends. */
export class CallerCore {
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
  /** What was sent last of entries that no worker has accepted, by its mark. */
  readonly groups: Map<string, MarkedGroup> = new Map()
  readonly counts = {
    repeats: 0,
    directed: 0,
    workersLost: 0,
    lateAnswers: 0,
    stalls: 0,
    dropped: 0,
  }
  receiver: TransportReceiver | undefined
  /** Until then nobody is accused. */
  graceUntil: number = Number.NEGATIVE_INFINITY
  /** When it was last asked who is there, and nobody was. */
  nobodyAt: number = Number.NEGATIVE_INFINITY
  /** When all workers were asked what they serve, by what the broker names when nobody listened. */
  readonly #asks = new Map<string, number>()
  #askedAt = Number.NEGATIVE_INFINITY
  #marks = 0

  constructor(bus: Bus, settings: GuardSettings, parts: CallerParts, told: CallerListener) {
    const { clock, logger, signer, random = Math.random } = parts
    this.bus = bus
    this.settings = settings
    this.clock = clock
    this.random = random
    this.signer = signer
    this.warnings = new Warnings(logger, clock)
    this.budget = new RetryBudget(settings.retryBudget)
    this.latency = new AcceptLatency(settings.acceptMs)
    this.book = new WorkerBook({ bus, clock, settings, random, ...told })
    this.deadlines = new Deadlines(clock)
  }

  now(): number {
    return this.clock.now()
  }

  get isInGrace(): boolean {
    return this.clock.now() < this.graceUntil
  }

  /** The broker is back. */
  startGrace(): void {
    this.graceUntil = this.clock.now() + GRACE
  }

  /** The broker may choose who gets it: it finds workers, and all that are known serve what fits. */
  mayGoToAny({ offer, version }: CallEntry): boolean {
    return this.bus.hasQueues && offer.isAll(version)
  }

  /** Those whose requests left under a mark, and are still where they were then. */
  marked(mark: string): readonly CallEntry[] {
    const group = this.groups.get(mark)
    return group?.entries.filter((entry) => entry.group === group) ?? []
  }

  /** A mark that nothing else has: `kind` and digits. */
  newMark(kind: "r" | "g" | "q"): string {
    return kind + (this.#marks++).toString(36)
  }

  /** A message as a frame of its own. */
  frame(text: string): string {
    return frameText(this.bus.address, [text])
  }

  /** Asks all workers what they serve, unless that was just done. */
  ask(): void {
    const now = this.clock.now()
    if (!this.bus.isConnected || now - this.#askedAt < ASK_GAP) return
    this.#askedAt = now
    const mark = this.newMark("q")
    const [oldest] = this.#asks.keys()
    if (oldest !== undefined && this.#asks.size >= MOST_ASKS) this.#asks.delete(oldest)
    this.#asks.set(mark, now)
    try {
      this.bus.ask(this.frame(WHO), mark)
    } catch {
      // It is asked again when somebody is needed.
    }
  }

  /** Nobody listened: if that was a question to all workers, those that are known are gone, but for later ones. */
  unasked(mark: string): boolean {
    const askedAt = this.#asks.get(mark)
    if (askedAt === undefined) return false
    this.nobodyAt = Math.max(this.nobodyAt, askedAt)
    for (const worker of [...this.book.all()]) {
      if (worker.heardAt > askedAt) continue
      worker.goneSince ??= this.clock.now()
      if (worker.entries.size === 0) this.book.forget(worker)
    }
    return true
  }

  /** Calls an entry back at a time, and at no other. */
  arm(entry: CallEntry, at: number): void {
    this.deadlines.remove(entry)
    entry.dueAt = at
    this.deadlines.add(entry)
  }

  disarm(entry: CallEntry): void {
    if (entry.bucket !== undefined) this.deadlines.remove(entry)
  }

  /** Gives an entry to a worker, or to nobody that is known. */
  assign(entry: CallEntry, worker: KnownWorker | undefined, now: number): void {
    if (entry.worker !== worker) {
      entry.worker?.entries.delete(entry)
      entry.worker = worker
    }
    if (worker === undefined) return
    worker.entries.add(entry)
    this.book.use(worker, now)
  }

  forgetMark(entry: CallEntry): void {
    const { group } = entry
    if (group === undefined) return
    entry.group = undefined
    if (--group.open > 0) return
    this.groups.delete(group.mark)
    group.over()
  }

  /** Takes an entry out of everything; workers that may be at it for nothing are told. */
  finish(entry: CallEntry, answered?: KnownWorker, reason?: string): void {
    const { requestId, worker } = entry
    entry.isOver = true
    this.pending.delete(requestId)
    entry.offer.queue.over(entry)
    this.forgetMark(entry)
    this.disarm(entry)
    worker?.entries.delete(entry)
    const granted = entry.state === "granted" ? worker : undefined
    if (entry.openTo === undefined && (granted === undefined || granted === answered)) return
    const others = new Set(entry.openTo)
    if (granted !== undefined) others.add(granted.address)
    if (answered !== undefined) others.delete(answered.address)
    for (const address of others) {
      const event: CallEvent = { type: "call.aborted", requestId, reason }
      this.book.get(address)?.tell({ type: "event", event })
    }
  }

  /** Ends an entry with an error that this end found. */
  fail(entry: CallEntry, code: string, message: string, options: FailureOptions = {}): void {
    if (entry.isOver) return
    const { requestId, attempt } = entry
    const { mayHaveExecuted, retryable } = entry.fate()
    const { retryAfterMs, worker = entry.worker } = options
    this.finish(entry)
    this.deliver({
      ...{ type: "call.error", requestId, code, message, mayHaveExecuted },
      retryable: options.retryable ?? retryable,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      details: {
        ...(isObject(options.details) && options.details),
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
    // What waits for the end of this turn does not leave any more.
    for (const entry of this.pending.values()) entry.isOver = true
    this.pending.clear()
    this.groups.clear()
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
