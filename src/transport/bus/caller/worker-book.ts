import type { Clock } from "../../../internal/platform.ts"
import { KnownWorker } from "./model.ts"
import { Offers } from "./offers.ts"
import type { Offer, Offered } from "./model.ts"
import type { WorkerMessage } from "../wire/messages.ts"
import type { GuardSettings } from "../options.ts"
import { Outbox } from "../wire/outbox.ts"
import { isCompatible } from "../wire/versions.ts"
import type { WorkerStats } from "../stats.ts"
import type { Bus } from "../types.ts"

/** How often it is looked, at most, whether a worker has become silent. */
const LOOK_MS = 100
/** Whoever invents more is none of us. */
const MOST_WORKERS = 10_000

type Here = Omit<WorkerMessage & { readonly type: "here" }, "type">

/** What a book of workers goes by. */
export interface WorkerBookParts {
  readonly bus: Bus
  readonly clock: Clock
  readonly settings: GuardSettings
  readonly random: () => number
  /** Workers came, went or serve something else. */
  readonly onChange: () => void
  /** A worker is to be pinged from now on. */
  readonly onWatch: () => void
}

/** The workers that a caller knows, what they serve, and which of them to take. */
export class WorkerBook {
  readonly offers: Offers = new Offers()
  /** Those that are pinged. */
  readonly watched: Set<KnownWorker> = new Set()
  readonly #parts: WorkerBookParts
  readonly #workers = new Map<string, KnownWorker>()
  #hasSilent = false
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(parts: WorkerBookParts) {
    this.#parts = parts
  }

  get(address: string): KnownWorker | undefined {
    return this.#workers.get(address)
  }

  all(): IterableIterator<KnownWorker> {
    return this.#workers.values()
  }

  /** A worker said something. It is known from now on. */
  heard(address: string, now: number): KnownWorker | undefined {
    const known = this.#workers.get(address)
    if (known !== undefined) {
      known.heard(now)
      if (known.wasMissed) this.#parts.onChange()
      known.wasMissed = false
      return known
    }
    if (this.#workers.size >= MOST_WORKERS) return undefined
    const worker = new KnownWorker(address, this.#outboxTo(address), now)
    this.#workers.set(address, worker)
    return worker
  }

  /** A worker says what it serves. */
  describe(worker: KnownWorker, { operations, version, versions = {} }: Here): void {
    const own = new Map(Object.entries(versions))
    const said = new Map(
      Object.entries(operations).map(([mark, it]) => [
        mark,
        { isIdempotent: it === 1, version: own.get(mark) ?? version },
      ]),
    )
    let isNew = worker.isLeaving
    for (const offer of [...worker.offers.keys()]) {
      if (said.has(offer.mark)) continue
      offer.remove(worker)
      isNew = true
    }
    for (const [mark, offered] of said) {
      const offer = this.offers.marked(mark)
      if (isSame(worker.offers.get(offer), offered)) continue
      offer.add(worker, offered)
      isNew = true
    }
    worker.isDescribed = true
    worker.isLeaving = false
    if (isNew) this.#parts.onChange()
  }

  /** A worker turns out to serve something, unless it has said that it does not. */
  learn(worker: KnownWorker, offer: Offer, isIdempotent: boolean): void {
    const known = worker.offers.get(offer)
    if (worker.isLeaving || known?.isIdempotent === isIdempotent) return
    if (worker.isDescribed && known === undefined) return
    offer.add(worker, { isIdempotent, version: known?.version })
    this.#parts.onChange()
  }

  /** A worker says that it serves another version than was asked for. */
  learnVersion(worker: KnownWorker, offer: Offer, version: string): void {
    if (worker.isLeaving) return
    const { isIdempotent = false } = worker.offers.get(offer) ?? {}
    offer.add(worker, { isIdempotent, version })
  }

  /** What a worker serves has changed. */
  changed(worker: KnownWorker): void {
    worker.isDescribed = false
    worker.isAsked = false
    this.#parts.onChange()
  }

  /** A worker takes no further requests. */
  leave(worker: KnownWorker): void {
    const isNew = !worker.isLeaving
    worker.isLeaving = true
    worker.isDescribed = true
    for (const offer of [...worker.offers.keys()]) offer.remove(worker)
    if (worker.entries.size === 0) this.forget(worker)
    else if (isNew) this.#parts.onChange()
  }

  forget(worker: KnownWorker): void {
    if (!this.#workers.delete(worker.address)) return
    this.watched.delete(worker)
    worker.watchedFrom = undefined
    for (const offer of [...worker.offers.keys()]) offer.remove(worker)
    worker.flush()
    this.#parts.onChange()
  }

  /** Pings a worker from now on, because it was given something. */
  use(worker: KnownWorker, now: number): void {
    worker.usedAt = now
    if (worker.watchedFrom !== undefined) return
    worker.watchedFrom = now
    this.watched.add(worker)
    this.#parts.onWatch()
  }

  /** A worker need not be pinged: it was not used for long. */
  unwatch(worker: KnownWorker): void {
    worker.watchedFrom = undefined
    this.watched.delete(worker)
  }

  /** Somebody who serves an operation says nothing, and might be the one that a broker chooses. */
  hasSilent(offer: Offer, now: number): boolean {
    if (now - this.#lookedAt >= LOOK_MS) this.#look(now)
    if (!this.#hasSilent) return false
    const { suspectMs } = this.#parts.settings
    return offer.workers.some((worker) => worker.isLost || worker.silentFor(now) >= suspectMs)
  }

  /**
   * Of two workers by chance that serve an operation in a version that fits what was imported, the one with fewer
   * calls; `avoid` only when there is no other.
   */
  pick(
    offer: Offer,
    now: number,
    imported: string | undefined,
    avoid?: KnownWorker,
  ): KnownWorker | undefined {
    const { suspectMs } = this.#parts.settings
    const isLive = (worker: KnownWorker): boolean => worker.isLive(now, suspectMs)
    const isFit = imported === undefined ? isLive : servingFor(imported, offer, isLive)
    const isBest = (worker: KnownWorker): boolean => worker !== avoid && isFit(worker)
    return this.#oneOfTwo(offer.workers, isBest) ?? this.#oneOfTwo(offer.workers, isFit)
  }

  /** One that serves an operation and says nothing just now. */
  pickSilent(offer: Offer, now: number, imported: string | undefined): KnownWorker | undefined {
    const isThere = ({ goneSince, declinesUntil }: KnownWorker): boolean =>
      goneSince === undefined && now >= declinesUntil
    const isFit = imported === undefined ? isThere : servingFor(imported, offer, isThere)
    return this.#oneOfTwo(offer.workers, isFit)
  }

  /** Any worker that is there, whatever it serves. */
  pickAny(now: number): KnownWorker | undefined {
    return this.#oneOfTwo(this.live(now), () => true)
  }

  /** The workers that are there. */
  live(now: number): KnownWorker[] {
    const { suspectMs } = this.#parts.settings
    return [...this.#workers.values()].filter((worker) => worker.isLive(now, suspectMs))
  }

  stats(now: number): WorkerStats[] {
    const { suspectMs } = this.#parts.settings
    return [...this.#workers.values()].map((worker) => worker.stats(now, suspectMs))
  }

  /** Sends what waits, and knows nobody any more. */
  close(): void {
    for (const worker of this.#workers.values()) worker.flush()
    this.#workers.clear()
    this.watched.clear()
  }

  #look(now: number): void {
    this.#lookedAt = now
    const { suspectMs } = this.#parts.settings
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

  /** The first that fits from anywhere on. */
  #nextTo(
    workers: readonly KnownWorker[],
    isFit: (worker: KnownWorker) => boolean,
  ): KnownWorker | undefined {
    const start = Math.floor(this.#parts.random() * workers.length)
    for (let step = 0; step < workers.length; step++) {
      const worker = workers[(start + step) % workers.length]
      if (worker !== undefined && isFit(worker)) return worker
    }
    return undefined
  }

  #outboxTo(address: string): Outbox {
    const { bus, clock } = this.#parts
    const mark = workerMark(address)
    const send = (text: string): void => {
      try {
        bus.control(address, text, mark)
      } catch {
        // Whatever was in it is asked for with the next ping.
      }
    }
    return new Outbox(bus.address, () => bus.maxPayload, clock, send)
  }
}

function isSame(left: Offered | undefined, right: Offered): boolean {
  return left?.isIdempotent === right.isIdempotent && left.version === right.version
}

/**
 * Those of some workers that serve the version that was imported; where none does, the highest that is compatible with it.
 * One that has not said what it serves may have it.
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

/** What stands for a worker where nobody listened. */
function workerMark(address: string): string {
  return WORKER + address
}

/** The worker that a mark stands for; `undefined` for marks of other things. */
export function workerOfMark(mark: string): string | undefined {
  return mark.startsWith(WORKER) ? mark.slice(WORKER.length) : undefined
}
