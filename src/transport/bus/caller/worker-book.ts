import { KnownWorker, Offer, type Offered } from "./model.ts"
import type { WorkerMessage } from "../wire/messages.ts"
import type { BusContext } from "../options.ts"
import { Outbox } from "../wire/frames.ts"
import { isCompatible } from "../wire/versions.ts"
import { hashOperationId } from "../wire/wire.ts"
import type { WorkerStats } from "../stats.ts"

/** The minimum interval between checks for silent workers, in milliseconds. */
const CHECK_MS = 100
/** The beginning of the correlation ids of messages to a worker, before its address. */
const WORKER = "w"
/** A bound against forged addresses. */
const MAX_WORKERS = 10_000

type Here = Omit<WorkerMessage & { readonly type: "here" }, "type">

/** The workers that a caller knows, their operations, and the choice among them. */
export class WorkerBook {
  readonly offers: Offers = new Offers()
  /** Workers that are pinged. */
  readonly watched: Set<KnownWorker> = new Set()
  /** Called when workers came, left, or serve other operations. */
  onChange: (() => void) | undefined
  /** Called when a worker has to be pinged from now on. */
  onWatch: (() => void) | undefined
  readonly #context: BusContext
  readonly #workers = new Map<string, KnownWorker>()
  #hasSilent = false
  #checkedAt = Number.NEGATIVE_INFINITY

  constructor(context: BusContext) {
    this.#context = context
  }

  get(address: string): KnownWorker | undefined {
    return this.#workers.get(address)
  }

  /** The worker that messages with a correlation id went to; `undefined` for those of requests. */
  ofCorrelationId(correlationId: string): KnownWorker | undefined {
    if (!correlationId.startsWith(WORKER)) return undefined
    return this.#workers.get(correlationId.slice(WORKER.length))
  }

  all(): IterableIterator<KnownWorker> {
    return this.#workers.values()
  }

  /** Notes that a worker sent something. It is known from now on. */
  receivedFrom(address: string, now: number): KnownWorker | undefined {
    const existing = this.#workers.get(address)
    if (existing !== undefined) {
      existing.lastSeenAt = now
      existing.goneSince = undefined
      existing.isLost = false
      if (existing.wasMissed) this.onChange?.()
      existing.wasMissed = false
      return existing
    }
    if (this.#workers.size >= MAX_WORKERS) return undefined
    const { suspectMs } = this.#context.settings
    const worker = new KnownWorker(address, this.#outboxTo(address), suspectMs, now)
    this.#workers.set(address, worker)
    return worker
  }

  /** Updates the operations of a worker from its announcement. */
  describe(worker: KnownWorker, { operations, version, versions = {} }: Here): void {
    let isNew = worker.isLeaving
    for (const offer of [...worker.offers.keys()]) {
      if (Object.hasOwn(operations, offer.operationHash)) continue
      offer.remove(worker)
      isNew = true
    }
    for (const [operationHash, it] of Object.entries(operations)) {
      const own = Object.hasOwn(versions, operationHash) ? versions[operationHash] : undefined
      const offered = { isIdempotent: it === 1, version: own ?? version }
      const offer = this.offers.byHash(operationHash)
      if (isSame(worker.offers.get(offer), offered)) continue
      offer.add(worker, offered)
      isNew = true
    }
    worker.isDescribed = true
    worker.isLeaving = false
    if (isNew) this.onChange?.()
  }

  /** Adds an operation that a worker turned out to serve, unless its announcement excludes it. */
  learn(worker: KnownWorker, offer: Offer, isIdempotent: boolean): void {
    const offered = worker.offers.get(offer)
    if (worker.isLeaving || offered?.isIdempotent === isIdempotent) return
    if (worker.isDescribed && offered === undefined) return
    offer.add(worker, { isIdempotent, version: offered?.version })
    this.onChange?.()
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
    this.onChange?.()
  }

  /** Notes that a worker accepts no further requests. */
  leave(worker: KnownWorker): void {
    const isNew = !worker.isLeaving
    worker.isLeaving = true
    worker.isDescribed = true
    for (const offer of [...worker.offers.keys()]) offer.remove(worker)
    if (worker.entries.size === 0) this.forget(worker)
    else if (isNew) this.onChange?.()
  }

  forget(worker: KnownWorker): void {
    if (!this.#workers.delete(worker.address)) return
    this.watched.delete(worker)
    worker.watchedFrom = undefined
    for (const offer of [...worker.offers.keys()]) offer.remove(worker)
    worker.flush()
    this.onChange?.()
  }

  /** Starts pinging a worker, because it got a call. */
  use(worker: KnownWorker, now: number): void {
    worker.usedAt = now
    if (worker.watchedFrom !== undefined) return
    worker.watchedFrom = now
    this.watched.add(worker)
    this.onWatch?.()
  }

  /** Stops pinging a worker that was not used for long. */
  unwatch(worker: KnownWorker): void {
    worker.watchedFrom = undefined
    this.watched.delete(worker)
  }

  /** Whether an operation has a silent worker, which the broker might choose. */
  hasSilent(offer: Offer, now: number): boolean {
    if (now - this.#checkedAt >= CHECK_MS) {
      this.#checkedAt = now
      this.#hasSilent = [...this.watched].some((worker) => worker.isSilent(now))
    }
    return this.#hasSilent && offer.workers.some((worker) => worker.isSilent(now))
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
    const isLive = (worker: KnownWorker): boolean => worker.isLive(now)
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
    return [...this.#workers.values()].filter((worker) => worker.isLive(now))
  }

  stats(now: number): WorkerStats[] {
    return [...this.#workers.values()].map((worker) => worker.stats(now))
  }

  /** Sends queued messages, and forgets all workers. */
  close(): void {
    for (const worker of this.#workers.values()) worker.flush()
    this.#workers.clear()
    this.watched.clear()
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
    const { random = Math.random } = this.#context
    const start = Math.floor(random() * workers.length)
    for (let step = 0; step < workers.length; step++) {
      const worker = workers[(start + step) % workers.length]
      if (worker !== undefined && isFit(worker)) return worker
    }
    return undefined
  }

  #outboxTo(address: string): Outbox {
    const { bus, clock } = this.#context
    const send = (text: string): void => {
      try {
        bus.control(address, text, WORKER + address)
      } catch {
        // The next ping makes up for what was lost.
      }
    }
    return new Outbox(bus, clock, send)
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

/** Ids that are safe as part of an address. */
const SAFE = /^[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)+$/
const MAX_ID_LENGTH = 256
/** Bounds for ids, which callers choose: beyond them, operations without workers are forgotten. */
const MAX_IDS = 10_000
const MAX_HASHES = 100_000

/** Operations and their workers, by id and by hash. */
export class Offers {
  readonly #byHash = new Map<string, Offer>()
  readonly #byId = new Map<string, Offer>()

  /** The offer of an operation; `undefined` for an invalid id. */
  of(operationId: string): Offer | undefined {
    const cached = this.#byId.get(operationId)
    if (cached !== undefined) return cached
    if (operationId.length > MAX_ID_LENGTH || !SAFE.test(operationId)) return undefined
    if (this.#byId.size >= MAX_IDS) this.#byId.clear()
    const offer = this.byHash(hashOperationId(operationId))
    this.#byId.set(operationId, offer)
    return offer
  }

  byHash(operationHash: string): Offer {
    let offer = this.#byHash.get(operationHash)
    if (offer === undefined) {
      if (this.#byHash.size >= MAX_HASHES) this.#forgetUnserved()
      offer = new Offer(operationHash)
      this.#byHash.set(operationHash, offer)
    }
    return offer
  }

  #forgetUnserved(): void {
    this.#byId.clear()
    for (const [operationHash, { workers }] of this.#byHash) {
      if (workers.length === 0) this.#byHash.delete(operationHash)
    }
  }
}
