import type { CallerCore } from "./state.ts"
import type { CallEntry } from "./model.ts"
import { nextCheck } from "./grants.ts"
import type { CallerGrants } from "./grants.ts"
import type { KnownWorker } from "./model.ts"
import { Ticker } from "../ticker.ts"

/** A worker is pinged for so long after it was last given something. */
const WATCH_MS = 30_000
/** One that says nothing is pinged so often from then on, until it answers or is gone; at most for so long. */
const SILENT_PING_MS = 2000
const REMEMBERED_MS = 3_600_000
/** Ids of one ping, so that it fits any bus. */
const PING_IDS = 500

/**
 * Finds out which workers are no more: one ping for each that has calls, and anything it says is a sign of life.
 *
 * It accuses nobody for what this process itself has missed.
 */
export class Detector {
  readonly #core: CallerCore
  readonly #grants: CallerGrants
  readonly #ticker: Ticker

  constructor(core: CallerCore, grants: CallerGrants) {
    this.#core = core
    this.#grants = grants
    this.#ticker = new Ticker(core.clock, core.settings.pingMs, (late) => this.#tick(late))
  }

  /** There is somebody to ping. */
  start(): void {
    this.#ticker.start()
  }

  stop(): void {
    this.#ticker.stop()
  }

  /** Something comes in: a standstill of this process is noticed before it is looked at. */
  check(): void {
    this.#ticker.check()
  }

  /** The broker is back: nobody could be heard meanwhile, and what was said may have been lost. */
  reconnected(): void {
    const now = this.#core.now()
    for (const worker of this.#core.book.all()) this.#excuse(worker, now)
    for (const worker of this.#core.book.watched) {
      worker.askAgain = "all"
      this.#ping(worker, now, true)
    }
  }

  /** A worker answered a ping. */
  ponged(worker: KnownWorker, at: number | undefined): void {
    if (at !== undefined) worker.pongAt = Math.max(worker.pongAt ?? at, at)
    const { askAgain } = worker
    worker.askAgain = undefined
    if (askAgain === "all") this.#ping(worker, this.#core.now(), true)
    else if (askAgain === "gaps") this.#pingForGaps(worker)
  }

  /** Nobody listens at a worker's address. */
  unheard(worker: KnownWorker): void {
    const now = this.#core.now()
    worker.goneSince ??= now
    if (worker.entries.size === 0) this.#core.book.forget(worker)
    else this.#judge(worker, now)
  }

  #tick(lateBy: number): void {
    const core = this.#core
    const now = core.now()
    if (lateBy > 0) {
      core.counts.stalls++
      for (const worker of core.book.all()) this.#excuse(worker, now)
    }
    if (!core.bus.isConnected) return
    for (const worker of [...core.book.watched]) {
      this.#judge(worker, now)
      if (this.#isDone(worker, now)) this.#leaveAlone(worker, now)
      else this.#ping(worker, now, false)
    }
    if (core.book.watched.size === 0) this.#ticker.stop()
  }

  #excuse(worker: KnownWorker, now: number): void {
    worker.heardAt = now
    worker.goneSince = undefined
  }

  /** Gives a worker up that is gone, or silent for too long. */
  #judge(worker: KnownWorker, now: number): void {
    const core = this.#core
    const { goneMs, silentMs, suspectMs } = core.settings
    const silentFor = worker.silentFor(now)
    const { address } = worker
    if (silentFor >= suspectMs && !worker.isLost && worker.goneSince === undefined) {
      core.warnings.warn("A worker says nothing", {
        address,
        silentFor,
        calls: worker.entries.size,
      })
    }
    if (core.isInGrace || worker.isLost) return
    if (worker.goneSince !== undefined && now - worker.goneSince >= goneMs) {
      this.#lose(worker, "is gone", now)
      core.book.forget(worker)
    } else if (silentFor >= silentMs) {
      worker.isLost = true
      this.#lose(worker, `has said nothing for ${silentFor} ms`, now)
    }
  }

  #lose(worker: KnownWorker, why: string, now: number): void {
    const core = this.#core
    const { address } = worker
    const entries = [...worker.entries]
    if (entries.length === 0) return
    core.counts.workersLost++
    core.warnings.warn("A worker was given up with the calls that it had", {
      ...{ address, why, calls: entries.length },
    })
    if (worker.goneSince !== undefined) this.#strike(entries, now)
    for (const entry of entries) this.#grants.lost(entry, why)
  }

  /** Whatever a worker ran may be what brought it down. */
  #strike(entries: readonly CallEntry[], now: number): void {
    const { breaker, warnings } = this.#core
    const granted = entries.filter(({ state }) => state === "granted")
    const byMark = new Map(granted.map((entry) => [entry.offer.mark, entry.operationId]))
    for (const [mark, operationId] of byMark) {
      if (!breaker.strike(mark, now)) continue
      warnings.warn("An operation is not called for now: workers went down while they ran it", {
        operationId,
      })
    }
  }

  #isDone(worker: KnownWorker, now: number): boolean {
    return worker.entries.size === 0 && now - worker.usedAt > WATCH_MS
  }

  #leaveAlone(worker: KnownWorker, now: number): void {
    const { book, bus, settings } = this.#core
    // The broker may still choose one that is frozen: whoever forgot it would send calls there again.
    const isDangerous = bus.hasQueues && worker.isSilent(now, settings.suspectMs)
    if (isDangerous && now - worker.heardAt < REMEMBERED_MS) {
      if (now - worker.pingedAt >= SILENT_PING_MS) this.#ping(worker, now, false)
      return
    }
    if (worker.isLive(now, settings.suspectMs)) book.unwatch(worker)
    else book.forget(worker)
    worker.confirm()
  }

  /** Asks whether it is there, and what became of calls that take long. */
  #ping(worker: KnownWorker, now: number, isAll: boolean): void {
    worker.pingedAt = now
    const ids: string[] = []
    const streams: [string, number][] = []
    for (const entry of worker.entries) {
      if (entry.state !== "granted") continue
      if (entry.isStream) this.#checkStream(entry, worker, streams, isAll)
      else if (isAll || now >= entry.nextCheck) {
        entry.nextCheck = isAll ? now : nextCheck(entry, now)
        ids.push(entry.requestId)
      }
    }
    if (!worker.isDescribed && !worker.isLeaving) worker.tell({ type: "who" })
    worker.forgetStrays()
    do {
      worker.ping(ids.splice(0, PING_IDS), streams.splice(0, PING_IDS))
    } while (ids.length > 0 || streams.length > 0)
  }

  /** Asks for what is known to be missing of streams. */
  #pingForGaps(worker: KnownWorker): void {
    const streams = [...worker.entries]
      .filter(({ order }) => order?.hasGap === true)
      .map((entry) => [entry.requestId, entry.lastSeq] as const)
    if (streams.length > 0) worker.ping([], streams)
  }

  /** A stream of which nothing came for a while: items may be lost, or the credit for them. */
  #checkStream(
    entry: CallEntry,
    worker: KnownWorker,
    streams: [string, number][],
    isAll: boolean,
  ): void {
    const { requestId, lastSeq, credit, hasMoved } = entry
    entry.hasMoved = false
    entry.gapAt = -1
    if (hasMoved && !isAll) return
    if (credit !== undefined) {
      worker.tell({ type: "event", event: { type: "call.credit", requestId, credit } })
    }
    streams.push([requestId, lastSeq])
  }
}
