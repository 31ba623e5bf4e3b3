import type { Clock } from "../../../internal/platform.ts"
import { KnownWorker, type Offer, type Offered } from "./model.ts"
import { Offers } from "./offers.ts"
import type { WorkerMessage } from "../wire/messages.ts"
import type { GuardSettings } from "../options.ts"
import { Outbox } from "../wire/frames.ts"
import { isCompatible } from "../wire/versions.ts"
import type { WorkerStats } from "../stats.ts"
import type { Bus } from "../types.ts"

/** The minimum interval between checks for silent workers, in milliseconds. */
const CHECK_MS = 100
/** A bound against forged addresses. */
const MAX_WORKERS = 10_000

type Here = Omit<WorkerMessage & { readonly type: "here" }, "type">

/** Dependencies of a `WorkerBook`. */
export interface WorkerBookDependencies {
  readonly bus: Bus
  readonly clock: Clock
  readonly settings: GuardSettings
  readonly random: () => number
  /** Workers came, left, or serve other operations. */
  readonly onChange: () => void
  /** A worker has to be pinged from now on. */
  readonly onWatch: () => void
}

/** The workers that a caller knows, their operations, and the choice among them. */
export class WorkerBook {
  readonly offers: Offers = new Offers()
  /** Workers that are pinged. */
  readonly watched: Set<KnownWorker> = new Set()
  readonly #dependencies: WorkerBookDependencies
  readonly #workers = new Map<string, KnownWorker>()
  #hasSilent = false
  #checkedAt = Number.NEGATIVE_INFINITY

  constructor(dependencies: WorkerBookDependencies) {
    this.#dependencies = dependencies
  }

  get(address: string): KnownWorker | undefined {
    return this.#workers.get(address)
  }

  all(): IterableIterator<KnownWorker> {
    return this.#workers.values()
  }

  /** Notes that a worker sent something. It is known from now on. */
  receivedFrom(address: string, now: number): KnownWorker | undefined {
    const existing = this.#workers.get(address)
    if (existing !== undefined) {
      existing.markAlive(now)
      if (existing.wasMissed) this.#dependencies.onChange()
      existing.wasMissed = false
      return existing
    }
    if (this.#workers.size >= MAX_WORKERS) return undefined
    const worker = new KnownWorker(address, this.#outboxTo(address), now)
    this.#workers.set(address, worker)
    return worker
  }

  /** Updates the operations of a worker from its announcement. */
  describe(worker: KnownWorker, { operations, version, versions = {} }: Here): void {
    const own = new Map(Object.entries(versions))
    const announced = new Map(
      Object.entries(operations).map(([operationHash, it]) => [
        operationHash,
        { isIdempotent: it === 1, version: own.get(operationHash) ?? version },
      ]),
    )
    let isNew = worker.isLeaving
    for (const offer of [...worker.offers.keys()]) {
      if (announced.has(offer.operationHash)) continue
      offer.remove(worker)
      isNew = true
    }
    for (const [operationHash, offered] of announced) {
      const offer = this.offers.byHash(operationHash)
      if (isSame(worker.offers.get(offer), offered)) continue
      offer.add(worker, offered)
      isNew = true
    }
    worker.isDescribed = true
    worker.isLeaving = false
    if (isNew) this.#dependencies.onChange()
  }

  /** Adds an operation that a worker turned out to serve, unless its announcement excludes it. */
  learn(worker: KnownWorker, offer: Offer, isIdempotent: boolean): void {
    const offered = worker.offers.get(offer)
    if (worker.isLeaving || offered?.isIdempotent === isIdempotent) return
    if (worker.isDescribed && offered === undefined) return
    offer.add(worker, { isIdempotent, version: offered?.version })
    this.#dependencies.onChange()
  }

  /** Notes that a worker serves another version than the requested one. */
  learnVersion(worker: KnownWorker, offer: Offer, version: string): void {
    if (worker.isLeaving) return
    const { isIdempotent = false } = worker.offers.get(offer) ?? {}
    offer.add(worker, { isIdempotent, version })
  }

  changed(worker: KnownWorker): void {
    worker.isDescribed = false
    worker.isAsked = false
    this.#dependencies.onChange()
  }

  /** Notes that a worker accepts no further requests. */
  leave(worker: KnownWorker): void {
    const isNew = !worker.isLeaving
    worker.isLeaving = true
    worker.isDescribed = true
    for (const offer of [...worker.offers.keys()]) offer.remove(worker)
    if (worker.entries.size === 0) this.forget(worker)
    else if (isNew) this.#dependencies.onChange()
  }

  forget(worker: KnownWorker): void {
    if (!this.#workers.delete(worker.address)) return
    this.watched.delete(worker)
    worker.watchedFrom = undefined
    for (const offer of [...worker.offers.keys()]) offer.remove(worker)
    worker.flush()
    this.#dependencies.onChange()
  }

  /** Starts pinging a worker, because it got a call. */
  use(worker: KnownWorker, now: number): void {
    worker.usedAt = now
    if (worker.watchedFrom !== undefined) return
    worker.watchedFrom = now
    this.watched.add(worker)
    this.#dependencies.onWatch()
  }

  /** Stops pinging a worker that was not used for long. */
  unwatch(worker: KnownWorker): void {
    worker.watchedFrom = undefined
    this.watched.delete(worker)
  }

  /** Whether an operation has a silent worker, which the broker might choose. */
  hasSilent(offer: Offer, now: number): boolean {
    if (now - this.#checkedAt >= CHECK_MS) this.#findSilent(now)
    if (!this.#hasSilent) return false
    const { suspectMs } = this.#dependencies.settings
    return offer.workers.some((worker) => worker.isLost || worker.silentFor(now) >= suspectMs)
  }

  /**
   * Picks two random workers that serve a compatible version of an operation, and returns the one with fewer calls;
   * `avoid` only when there is no other.
   */
  pick(
    offer: Offer,
    now: number,
    imported: string | undefined,
    avoid?: KnownWorker,
  ): KnownWorker | undefined {
    const { suspectMs } = this.#dependencies.settings
    const isLive = (worker: KnownWorker): boolean => worker.isLive(now, suspectMs)
    const isFit = imported === undefined ? isLive : servingFor(imported, offer, isLive)
    const isBest = (worker: KnownWorker): boolean => worker !== avoid && isFit(worker)
    return this.#oneOfTwo(offer.workers, isBest) ?? this.#oneOfTwo(offer.workers, isFit)
  }

  /** Picks a worker that serves an operation, even a silent one. */
  pickSilent(offer: Offer, now: number, imported: string | undefined): KnownWorker | undefined {
    const isThere = ({ goneSince, declinesUntil }: KnownWorker): boolean =>
      goneSince === undefined && now >= declinesUntil
    const isFit = imported === undefined ? isThere : servingFor(imported, offer, isThere)
    return this.#oneOfTwo(offer.workers, isFit)
  }

  pickAny(now: number): KnownWorker | undefined {
    return this.#oneOfTwo(this.live(now), () => true)
  }

  live(now: number): KnownWorker[] {
    const { suspectMs } = this.#dependencies.settings
    return [...this.#workers.values()].filter((worker) => worker.isLive(now, suspectMs))
  }

  stats(now: number): WorkerStats[] {
    const { suspectMs } = this.#dependencies.settings
    return [...this.#workers.values()].map((worker) => worker.stats(now, suspectMs))
  }

  /** Sends queued messages, and forgets all workers. */
  close(): void {
    for (const worker of this.#workers.values()) worker.flush()
    this.#workers.clear()
    this.watched.clear()
  }

  #findSilent(now: number): void {
    this.#checkedAt = now
    const { suspectMs } = this.#dependencies.settings
    this.#hasSilent = false
    for (const worker of this.watched) {
      if (worker.isLost || worker.silentFor(now) >= suspectMs) this.#hasSilent = true
    }
  }

  #oneOfTwo(
    workers: readonly KnownWorker[],
    isFit: (worker: KnownWorker) => boolean,
  ): KnownWorker | undefined {
    const one = this.#nextTo(workers, isFit)
    if (one === undefined || workers.length === 1) return one
    const other = this.#nextTo(workers, isFit) ?? one
    return other.entries.size < one.entries.size ? other : one
  }

  /** The first match, starting at a random position. */
  #nextTo(
    workers: readonly KnownWorker[],
    isFit: (worker: KnownWorker) => boolean,
  ): KnownWorker | undefined {
    const start = Math.floor(this.#dependencies.random() * workers.length)
    for (let step = 0; step < workers.length; step++) {
      const worker = workers[(start + step) % workers.length]
      if (worker !== undefined && isFit(worker)) return worker
    }
    return undefined
  }

  #outboxTo(address: string): Outbox {
    const { bus, clock } = this.#dependencies
    const operationHash = workerCorrelationId(address)
    const send = (text: string): void => {
      try {
        bus.control(address, text, operationHash)
      } catch {
        // The next ping makes up for what was lost.
      }
    }
    return new Outbox(bus.address, () => bus.maxPayload, clock, send)
  }
}

function isSame(left: Offered | undefined, right: Offered): boolean {
  return left?.isIdempotent === right.isIdempotent && left.version === right.version
}

/**
 * Matches workers that serve the imported version; if none does, those with the highest compatible version.
 * A worker whose version is unknown matches, too.
 */
function servingFor(
  imported: string,
  offer: Offer,
  isMeant: (worker: KnownWorker) => boolean,
): (worker: KnownWorker) => boolean {
  const served = offer.versions(isMeant)
  const wanted = served.includes(imported)
    ? imported
    : served.findLast((version) => isCompatible(version, imported))
  return (worker) => {
    const version = worker.offers.get(offer)?.version
    return (version === undefined || version === wanted) && isMeant(worker)
  }
}

const WORKER = "w"

/** The correlation id of messages to a worker. */
function workerCorrelationId(address: string): string {
  return WORKER + address
}

/** The worker that a correlation id belongs to; `undefined` for those of requests. */
export function workerOfCorrelationId(correlationId: string): string | undefined {
  return correlationId.startsWith(WORKER) ? correlationId.slice(WORKER.length) : undefined
}
