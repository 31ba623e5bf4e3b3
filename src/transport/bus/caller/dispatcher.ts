// The life of a call until a worker has accepted it. Finding workers, sending and grants are in other files.
import type { CallErrorEvent } from "../../../core/events.ts"
import { isCallError, type CallError } from "../../../core/errors.ts"
import type { CallerState } from "./state.ts"
import type { CallEntry, Step, KnownWorker } from "./model.ts"
import { notSent, notSigned, messages, tooLarge, unsafeTicket } from "./failures.ts"
import { bytesBeyond } from "../wire/frames.ts"
import { RequestBatch } from "./request-batch.ts"
import { isCompatible, isVersion } from "../wire/versions.ts"
import { WorkerSearch } from "./worker-search.ts"

/** After an outage, held calls are sent spread over this time, so that not all callers send at once. */
const SPREAD_MS = 300
/** The delay before another worker is tried instead of a busy one; the random part grows with every attempt. */
const BUSY_DELAY_MS = 20
const BUSY_SPREAD_MS = 50
/** How long a worker that declined a call gets no other, in milliseconds. */
const DECLINED_MS = 1000
/** How often a refused call is redirected at once; from then on it waits as for a busy worker. */
const MAX_MOVES = 10
/** Deadlines are rounded up to multiples of this, so that many calls share a timer. */
const ROUND_MS = 16
/** A call without a deadline waits for a retry for this many times `silentMs` at most. */
const MAX_SILENT_PERIODS = 10
/** The lifetime of the ticket of a call without a deadline, in milliseconds. */
const MAX_TICKET_MS = 3_600_000

/** Sends calls to workers, and retries until one accepts. */
export class Dispatcher {
  readonly search: WorkerSearch
  readonly #state: CallerState
  readonly #batch: RequestBatch

  constructor(state: CallerState) {
    this.#state = state
    this.#batch = new RequestBatch(state, (entry, thrown) => {
      this.#markUnsent(entry)
      this.#fail(entry, notSent(entry.operationId, thrown))
    })
    this.search = new WorkerSearch(state, (entry, worker) =>
      this.#attempt(entry, (now) => this.#sendRequest(entry, worker, now)),
    )
  }

  /** Sends a new call. Throws a `CallError` when it cannot be sent at all. */
  begin(entry: CallEntry, now: number): void {
    entry.encode()
    const { identity } = entry.event
    const { signer } = this.#state
    if (signer === undefined || identity === undefined) return this.#dispatch(entry, now)
    const { operationId, requestId } = entry
    const timeout = Math.min(entry.left(now), MAX_TICKET_MS)
    entry.isSigning = true
    const { input } = entry.event
    signer.sign(identity, { operationId, requestId, timeout, input }).then(
      (ticket) => {
        entry.ticket = ticket
        entry.isSigning = false
        this.dispatch(entry)
      },
      (thrown: unknown) => this.#fail(entry, notSigned(operationId, thrown)),
    )
  }

  /** Sends a call to a worker, or fails it when it cannot be sent. */
  dispatch(entry: CallEntry): void {
    this.#attempt(entry, (now) => this.#dispatch(entry, now))
  }

  /** Holds a call until the broker is connected. */
  hold(entry: CallEntry): void {
    const state = this.#state
    state.disarm(entry)
    state.leaveGroup(entry)
    state.assign(entry, undefined, 0)
    this.search.stop(entry)
    entry.state = "held"
    entry.rounds = 0
    entry.avoid = undefined
  }

  /** Sends a held call when the broker is connected; after an outage with a random delay. */
  resume(entry: CallEntry, isSpread: boolean): void {
    if (entry.isSigning) return
    this.hold(entry)
    if (isSpread) this.#later(entry, "dispatch", this.#state.random() * SPREAD_MS)
    else this.dispatch(entry)
  }

  due(entry: CallEntry): void {
    if (entry.isOver || entry.state === "granted" || entry.state === "held") return
    if (!this.#state.bus.isConnected) this.hold(entry)
    else if (entry.state === "sent") this.#notAccepted(entry)
    else if (entry.step === "repeat") this.repeat(entry)
    else if (entry.step === "search") this.search.decide(entry)
    else this.dispatch(entry)
  }

  /** Handles "no responders" for a request: it has not begun. */
  noResponders(entry: CallEntry): void {
    const { worker } = entry
    this.#markUnsent(entry)
    if (worker === undefined) return this.search.start(entry)
    entry.openTo?.delete(worker.address)
    worker.goneSince ??= this.#state.now()
    this.dispatch(entry)
  }

  /**
   * Handles a request that the broker did not permit.
   *
   * Where the broker has queues, a denied request to one worker only rules out that worker: the permission to call an
   * operation is the permission to send to its queue.
   */
  denied(entry: CallEntry, error: CallError): void {
    const { worker, offer } = entry
    this.#markUnsent(entry)
    if (worker === undefined || !this.#state.bus.hasQueues) return this.#fail(entry, error)
    entry.openTo?.delete(worker.address)
    entry.avoid = worker
    const isOffered = worker.offers.has(offer)
    offer.remove(worker)
    if (isOffered && entry.moves++ < MAX_MOVES) this.dispatch(entry)
    else this.#state.fail(entry, "UNAVAILABLE", messages.noWorker(entry), { worker })
  }

  /** Sends a call to another worker, because this one refused it before it began. */
  redirect(entry: CallEntry, worker: KnownWorker, error: CallErrorEvent): void {
    const state = this.#state
    this.#markUnsent(entry)
    entry.openTo?.delete(worker.address)
    entry.key = undefined
    entry.avoid = worker
    const served = otherVersion(entry, error)
    if (served !== undefined) {
      state.book.learnVersion(worker, entry.offer, served)
      return this.dispatch(entry)
    }
    if (error.code !== "OVERLOADED" && entry.moves < MAX_MOVES) {
      entry.moves++
      if (worker.offers.has(entry.offer)) worker.declinesUntil = state.now() + DECLINED_MS
      return this.dispatch(entry)
    }
    if (entry.repeats + 1 >= state.settings.maxAttempts) {
      const { retryAfterMs } = error
      return state.fail(entry, "OVERLOADED", messages.allWorkersBusy(entry), {
        retryAfterMs,
        worker,
      })
    }
    entry.repeats++
    state.counts.repeats++
    this.#later(entry, "dispatch", BUSY_DELAY_MS + state.random() * BUSY_SPREAD_MS * entry.attempt)
  }

  /** Retries a call as soon as the retry budget allows it. */
  repeat(entry: CallEntry): void {
    if (!this.#takeRetry(entry)) {
      if (!this.#failIfStuck(entry))
        this.#later(entry, "repeat", this.#state.latency.acceptTimeout(entry.repeats))
      return
    }
    entry.repeats++
    this.#state.counts.repeats++
    this.dispatch(entry)
  }

  close(): void {
    this.#batch.close()
  }

  /** Throws a `CallError` when it cannot be sent. */
  #dispatch(entry: CallEntry, now: number): void {
    const state = this.#state
    const { bus, breaker } = state
    if (!bus.isConnected) return this.hold(entry)
    const rest = breaker.restOf(entry.offer.operationHash, now)
    if (rest > 0) {
      return state.fail(entry, "UNAVAILABLE", messages.breakerOpen(entry), { retryAfterMs: rest })
    }
    const worker = this.#workerFor(entry, now)
    if (worker === undefined && !state.mayGoToAny(entry)) this.search.start(entry)
    else this.#sendRequest(entry, worker, now)
  }

  /** Picks a worker; `undefined` when the broker should choose, or none is known. */
  #workerFor(entry: CallEntry, now: number): KnownWorker | undefined {
    const { book } = this.#state
    const { offer, version, avoid } = entry
    if (this.#state.mayGoToAny(entry)) {
      const isFirst = entry.repeats === 0 && avoid === undefined
      const isToAny = isFirst && !book.hasSilent(offer, now) && offer.queue.takes(entry, now)
      return isToAny ? undefined : book.pick(offer, now, version, avoid)
    }
    return book.pick(offer, now, version, avoid) ?? book.pickSilent(offer, now, version)
  }

  /** Sends a request. Throws a `CallError` when it cannot be sent. */
  #sendRequest(entry: CallEntry, worker: KnownWorker | undefined, now: number): void {
    const state = this.#state
    if (entry.deadline <= now) return state.fail(entry, "TIMEOUT", messages.timeout(entry))
    const risk = entry.ticket === undefined ? undefined : state.bus.ticketRisk?.()
    if (risk !== undefined) throw unsafeTicket(entry.operationId, risk)
    const { offer, isStream, isIdempotent } = entry
    // It may run without a grant if all of its workers say that it is idempotent.
    const isNow = !isStream && isIdempotent !== false && offer.isIdempotent === true
    this.#markSent(entry, worker, isNow, now)
    const message = entry.requestText(isNow, now)
    try {
      const { address, maxPayload } = state.bus
      const bytes = bytesBeyond(maxPayload, address, message)
      if (bytes !== undefined) throw tooLarge(entry, bytes, maxPayload)
      this.#batch.send(entry, worker, message)
    } catch (thrown) {
      this.#markUnsent(entry)
      throw thrown
    }
    if (worker !== undefined) state.counts.directed++
  }

  #markSent(entry: CallEntry, worker: KnownWorker | undefined, isNow: boolean, now: number): void {
    const state = this.#state
    state.leaveGroup(entry)
    state.assign(entry, worker, now)
    entry.state = "sent"
    entry.attempt++
    entry.key = undefined
    entry.sentAt = now
    if (entry.attempt === 1) entry.firstSentAt = now
    entry.mayHaveExecutedBefore = entry.mayHaveExecuted
    if (isNow) {
      entry.mayHaveExecuted = true
      entry.isIdempotent = true
      if (worker === undefined) entry.isOpenToAny = true
      else entry.openFor(worker)
    }
    state.arm(entry, roundUp(now + state.latency.acceptTimeout(entry.repeats)))
  }

  /** Undoes the last attempt: it has not begun anywhere, and never will. */
  #markUnsent(entry: CallEntry): void {
    const state = this.#state
    state.leaveGroup(entry)
    state.disarm(entry)
    state.assign(entry, undefined, 0)
    entry.undoAttempt()
    entry.state = "seeking"
  }

  #notAccepted(entry: CallEntry): void {
    const state = this.#state
    const now = state.now()
    const { pingMs, maxAttempts } = state.settings
    const waitOn = (): void =>
      state.arm(entry, roundUp(now + state.latency.acceptTimeout(entry.repeats)))
    // This process stood still, and has not read what arrived meanwhile.
    if (now - entry.dueAt > pingMs) return waitOn()
    if (entry.worker === undefined) entry.offer.queue.unanswered(entry, now)
    // One of the workers is silent: pinging all finds out which.
    for (const worker of entry.offer.workers) state.book.use(worker, now)
    if (entry.repeats + 1 >= maxAttempts) {
      state.fail(entry, "UNAVAILABLE", messages.notAccepted(entry))
    } else if (this.#takeRetry(entry)) {
      entry.avoid = entry.worker
      entry.repeats++
      state.counts.repeats++
      this.dispatch(entry)
    } else if (!this.#failIfStuck(entry)) waitOn()
  }

  /** Fails a call without a deadline that would wait forever, because the retry budget is used up. */
  #failIfStuck(entry: CallEntry): boolean {
    const state = this.#state
    if (entry.deadline !== Number.POSITIVE_INFINITY) return false
    if (state.now() - entry.firstSentAt < MAX_SILENT_PERIODS * state.settings.silentMs) return false
    state.fail(entry, "UNAVAILABLE", messages.notAccepted(entry))
    return true
  }

  #takeRetry({ operationId }: CallEntry): boolean {
    const { budget, warnings } = this.#state
    if (budget.take(this.#state.now())) return true
    warnings.warn("Retries are limited for now: the retry budget is used up", { operationId })
    return false
  }

  #later(entry: CallEntry, step: Step, delay: number): void {
    const state = this.#state
    entry.state = "seeking"
    entry.step = step
    state.arm(entry, state.now() + delay)
  }

  #attempt(entry: CallEntry, send: (now: number) => void): void {
    if (entry.isOver) return
    try {
      send(this.#state.now())
    } catch (thrown) {
      this.#fail(entry, notSent(entry.operationId, thrown))
    }
  }

  #fail(entry: CallEntry, error: CallError): void {
    const state = this.#state
    // The broker was lost meanwhile: it is sent after the reconnect.
    if (isCallError(error, "UNAVAILABLE") && !state.bus.isConnected && !entry.isOver) {
      return this.hold(entry)
    }
    const { code, message, retryAfterMs, details } = error
    const retryable = error.retryable && entry.deliveryStatus().retryable
    state.fail(entry, code, message, { retryable, retryAfterMs, details })
  }
}

/** The version that a worker serves instead, if it refused a call because of its version. */
function otherVersion({ version }: CallEntry, { details }: CallErrorEvent): string | undefined {
  if (version === undefined || typeof details !== "object" || details === null) return undefined
  const { version: served } = details as { readonly version?: unknown }
  return isVersion(served) && !isCompatible(served, version) ? served : undefined
}

function roundUp(time: number): number {
  return Math.ceil(time / ROUND_MS) * ROUND_MS
}
