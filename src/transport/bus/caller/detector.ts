import type { CallerState } from "./state.ts"
import type { CallEntry, KnownWorker } from "./model.ts"
import { nextCheck, type CallerGrants } from "./grants.ts"
import { Ticker } from "../ticker.ts"

/** How long a worker is pinged after its last call, in milliseconds. */
const WATCH_MS = 30_000
/** A silent worker is pinged at this interval from then on, at most for `MAX_SILENT_MS`. */
const SILENT_PING_MS = 2000
const MAX_SILENT_MS = 3_600_000
/** Characters after which stream items are confirmed; few in relation to what a worker may send ahead. */
const CONFIRM_AFTER = 256 * 1024
/** The number of ids in one ping, so that it fits any bus. */
const PING_IDS = 500

/**
 * Detects lost workers: it pings each worker that has calls, and any message of a worker counts as a sign of life.
 *
 * Time in which this process itself stood still is not counted as silence.
 */
export class Detector {
  readonly #state: CallerState
  readonly #grants: CallerGrants
  /** Runs while workers are pinged. `check` it before a message is handled, to notice that this process had stood still. */
  readonly ticker: Ticker

  constructor(state: CallerState, grants: CallerGrants) {
    this.#state = state
    this.#grants = grants
    this.ticker = new Ticker(state.clock, state.settings.pingMs, (late) => this.#tick(late))
  }

  /** Handles a reconnect: workers could not be received meanwhile, and messages may have been lost. */
  reconnected(): void {
    const now = this.#state.now()
    for (const worker of this.#state.book.all()) this.#resetSilence(worker, now)
    for (const worker of this.#state.book.watched) {
      worker.askAgain = "all"
      this.#ping(worker, now, true)
    }
  }

  onPong(worker: KnownWorker, at: number | undefined): void {
    if (at !== undefined) worker.pongAt = Math.max(worker.pongAt ?? at, at)
    const { askAgain } = worker
    worker.askAgain = undefined
    if (askAgain === "all") this.#ping(worker, this.#state.now(), true)
    else if (askAgain === "gaps") this.#pingAbout(worker, ({ order }) => order?.hasGap === true)
  }

  /** Counts what a worker sent, and confirms stream items: it sends only so much ahead. */
  received(worker: KnownWorker, length: number): void {
    worker.unconfirmed += length
    if (worker.unconfirmed < CONFIRM_AFTER) return
    worker.unconfirmed = 0
    this.#pingAbout(worker, ({ lastSeq, confirmedSeq }) => lastSeq > confirmedSeq)
  }

  /** Handles "no responders" at a worker's address. */
  noResponders(worker: KnownWorker): void {
    const now = this.#state.now()
    worker.goneSince ??= now
    if (worker.entries.size === 0) this.#state.book.forget(worker)
    else this.#checkWorker(worker, now)
  }

  #tick(lateBy: number): void {
    const state = this.#state
    const now = state.now()
    if (lateBy > 0) {
      state.counts.stalls++
      for (const worker of state.book.all()) this.#resetSilence(worker, now)
    }
    if (!state.bus.isConnected) return
    for (const worker of [...state.book.watched]) {
      this.#checkWorker(worker, now)
      const isDone = worker.entries.size === 0 && now - worker.usedAt > WATCH_MS
      if (isDone) this.#unwatch(worker, now)
      else this.#ping(worker, now, false)
    }
    if (state.book.watched.size === 0) this.ticker.stop()
  }

  #resetSilence(worker: KnownWorker, now: number): void {
    worker.lastSeenAt = now
    worker.goneSince = undefined
  }

  /** Gives up a worker that is gone, or silent for too long. */
  #checkWorker(worker: KnownWorker, now: number): void {
    const state = this.#state
    const { goneMs, silentMs, suspectMs } = state.settings
    const silentFor = worker.silentFor(now)
    const { address } = worker
    if (silentFor >= suspectMs && !worker.isLost && worker.goneSince === undefined) {
      const fields = { address, silentFor, calls: worker.entries.size }
      state.warnings.warn("A worker does not respond", fields)
    }
    if (state.isInGrace || worker.isLost) return
    if (worker.goneSince !== undefined && now - worker.goneSince >= goneMs) {
      this.#lose(worker, "is gone", now)
      state.book.forget(worker)
    } else if (silentFor >= silentMs) {
      worker.isLost = true
      this.#lose(worker, `has not responded for ${silentFor} ms`, now)
    }
  }

  #lose(worker: KnownWorker, why: string, now: number): void {
    const state = this.#state
    const { address } = worker
    const entries = [...worker.entries]
    if (entries.length === 0) return
    state.counts.workersLost++
    const fields = { address, why, calls: entries.length }
    state.warnings.warn("A worker was lost, with the calls that it had", fields)
    if (worker.goneSince !== undefined) this.#strike(entries, now)
    for (const entry of entries) this.#grants.lost(entry, why)
  }

  /** Counts a lost worker for each operation that it ran: one of them may have crashed it. */
  #strike(entries: readonly CallEntry[], now: number): void {
    const { breaker, warnings } = this.#state
    const granted = entries.filter(({ state }) => state === "granted")
    const byHash = new Map(granted.map((entry) => [entry.offer.operationHash, entry.operationId]))
    for (const [operationHash, operationId] of byHash) {
      if (!breaker.strike(operationHash, now)) continue
      warnings.warn("An operation is suspended for now: workers crashed while they ran it", {
        operationId,
      })
    }
  }

  #unwatch(worker: KnownWorker, now: number): void {
    const { book, bus } = this.#state
    // The broker may still choose a frozen worker: if we forgot it, we would send calls to it again.
    const isDangerous = bus.hasQueues && worker.goneSince === undefined && worker.isSilent(now)
    if (isDangerous && now - worker.lastSeenAt < MAX_SILENT_MS) {
      if (now - worker.lastPingAt >= SILENT_PING_MS) this.#ping(worker, now, false)
      return
    }
    if (worker.isLive(now)) book.unwatch(worker)
    else book.forget(worker)
    worker.confirm()
  }

  /** Pings a worker, and asks about its long-running calls. */
  #ping(worker: KnownWorker, now: number, isAll: boolean): void {
    worker.lastPingAt = now
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
    if (!worker.isDescribed && !worker.isLeaving) worker.send({ type: "who" })
    // They may be stopped again.
    worker.strays.clear()
    do {
      worker.ping(ids.splice(0, PING_IDS), streams.splice(0, PING_IDS))
    } while (ids.length > 0 || streams.length > 0)
  }

  /** Confirms the items of some streams, and requests missing ones. */
  #pingAbout(worker: KnownWorker, isMeant: (entry: CallEntry) => boolean): void {
    const streams = [...worker.entries].filter(isMeant).map((entry) => {
      entry.confirmedSeq = entry.lastSeq
      return [entry.requestId, entry.lastSeq] as const
    })
    while (streams.length > 0) worker.ping([], streams.splice(0, PING_IDS))
  }

  /** Asks about a stream without recent items: items may be lost, or the credit for them. */
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
      worker.send({ type: "event", event: { type: "call.credit", requestId, credit } })
    }
    streams.push([requestId, lastSeq])
  }
}
