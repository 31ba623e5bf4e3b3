// One idea: what becomes of a call until a worker has accepted it. Finding workers, sending and grants are in files
// of their own.
import type { CallErrorEvent } from "../../../core/events.ts"
import { isCallError } from "../../../core/errors.ts"
import type { CallError } from "../../../core/errors.ts"
import type { CallerCore } from "./state.ts"
import type { CallEntry, Step } from "./model.ts"
import { notSent, notSigned, say, tooLarge, unsafeTicket } from "./failures.ts"
import type { KnownWorker } from "./model.ts"
import { bytesBeyond } from "../wire/outbox.ts"
import { RequestBatch } from "./request-batch.ts"
import { isCompatible, isVersion } from "../wire/versions.ts"
import { WorkerSearch } from "./worker-search.ts"

/** Calls that were held back go out within so many milliseconds, so that not all callers do at once. */
const SPREAD = 300
/** What passes before another worker is asked instead of a full one; more with every attempt. */
const FULL_DELAY = 20
const FULL_SPREAD = 50
/** A worker that declined is left alone for a moment. */
const DECLINED = 1000
/** So often a call goes elsewhere at once; from then on as from a full worker. */
const MOST_MOVES = 10
/** Times of many calls are rounded up to these, so that they share one. */
const ROUND = 16
/** So many times longer than a worker may be silent, something without a deadline waits for a repeat. */
const HOPELESS = 10
/** For so long holds the ticket of a call without a deadline. */
const LONG = 3_600_000

/** Gives calls to workers: the first time, and again when that came to nothing. */
export class Dispatcher {
  readonly search: WorkerSearch
  readonly #core: CallerCore
  readonly #batch: RequestBatch

  constructor(core: CallerCore) {
    this.#core = core
    this.#batch = new RequestBatch(core, (entry, thrown) => {
      this.#unsend(entry)
      this.#fail(entry, notSent(entry.operationId, thrown))
    })
    this.search = new WorkerSearch(core, (entry, worker) =>
      this.#attempt(entry, (now) => this.#post(entry, worker, now)),
    )
  }

  /** A new call. Throws a `CallError` when it cannot be sent at all. */
  begin(entry: CallEntry, now: number): void {
    entry.encode()
    const { identity } = entry.event
    const { signer } = this.#core
    if (signer === undefined || identity === undefined) {
      this.#dispatch(entry, now)
      return
    }
    const { operationId, requestId } = entry
    const timeout = Math.min(entry.left(now), LONG)
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

  /** Gives a call to a worker, or ends it when it cannot be sent. */
  dispatch(entry: CallEntry): void {
    this.#attempt(entry, (now) => this.#dispatch(entry, now))
  }

  /** Keeps a call until the broker is reached. */
  hold(entry: CallEntry): void {
    const core = this.#core
    core.disarm(entry)
    core.forgetMark(entry)
    core.assign(entry, undefined, 0)
    this.search.stop(entry)
    entry.state = "held"
    entry.rounds = 0
    entry.avoid = undefined
  }

  /** The broker is reached: what was held goes out, after an outage each in its own time. */
  resume(entry: CallEntry, isSpread: boolean): void {
    if (entry.isSigning) return
    this.hold(entry)
    if (isSpread) this.#later(entry, "dispatch", this.#core.random() * SPREAD)
    else this.dispatch(entry)
  }

  /** The time of an entry has come. */
  due(entry: CallEntry): void {
    if (entry.isOver || entry.state === "granted" || entry.state === "held") return
    if (!this.#core.bus.isConnected) this.hold(entry)
    else if (entry.state === "sent") this.#notAccepted(entry)
    else if (entry.step === "repeat") this.repeat(entry)
    else if (entry.step === "search") this.search.decide(entry)
    else this.dispatch(entry)
  }

  /** Nobody listened where a request went: it did not begin. */
  unheard(entry: CallEntry): void {
    const { worker } = entry
    this.#unsend(entry)
    if (worker === undefined) {
      this.search.start(entry)
      return
    }
    entry.openTo?.delete(worker.address)
    worker.goneSince ??= this.#core.now()
    this.dispatch(entry)
  }

  /**
   * The broker did not let a request through.
   *
   * Where the broker finds workers, that of a request to one worker means only that this one is not to be had:
   * permission to call is permission to call any.
   */
  denied(entry: CallEntry, error: CallError): void {
    const { worker, offer } = entry
    this.#unsend(entry)
    if (worker === undefined || !this.#core.bus.hasQueues) {
      this.#fail(entry, error)
      return
    }
    entry.openTo?.delete(worker.address)
    entry.avoid = worker
    const isOffered = worker.offers.has(offer)
    offer.remove(worker)
    if (isOffered && entry.moves++ < MOST_MOVES) this.dispatch(entry)
    else this.#core.fail(entry, "UNAVAILABLE", say.nobody(entry), { worker })
  }

  /** A worker does not take it, has not begun it, and another one may. */
  elsewhere(entry: CallEntry, worker: KnownWorker, error: CallErrorEvent): void {
    const core = this.#core
    this.#unsend(entry)
    entry.openTo?.delete(worker.address)
    entry.key = undefined
    entry.avoid = worker
    const served = otherVersion(entry, error)
    if (served !== undefined) {
      core.book.learnVersion(worker, entry.offer, served)
      this.dispatch(entry)
      return
    }
    if (error.code !== "OVERLOADED" && entry.moves < MOST_MOVES) {
      entry.moves++
      if (worker.offers.has(entry.offer)) worker.declinesUntil = core.now() + DECLINED
      this.dispatch(entry)
      return
    }
    if (entry.repeats + 1 >= core.settings.maxAttempts) {
      const { retryAfterMs } = error
      core.fail(entry, "OVERLOADED", say.full(entry), { retryAfterMs, worker })
      return
    }
    entry.repeats++
    core.counts.repeats++
    this.#later(entry, "dispatch", FULL_DELAY + core.random() * FULL_SPREAD * entry.attempt)
  }

  /** Gives a call to a worker once more, as soon as that is paid for. */
  repeat(entry: CallEntry): void {
    if (!this.#pay(entry)) {
      if (!this.#isHopeless(entry))
        this.#later(entry, "repeat", this.#core.latency.patience(entry.repeats))
      return
    }
    entry.repeats++
    this.#core.counts.repeats++
    this.dispatch(entry)
  }

  /** Sends nothing any more. */
  close(): void {
    this.#batch.close()
  }

  /** Throws a `CallError` when it cannot be sent. */
  #dispatch(entry: CallEntry, now: number): void {
    const core = this.#core
    const { bus, breaker } = core
    if (!bus.isConnected) {
      this.hold(entry)
      return
    }
    const rest = breaker.restOf(entry.offer.mark, now)
    if (rest > 0) {
      core.fail(entry, "UNAVAILABLE", say.resting(entry), { retryAfterMs: rest })
      return
    }
    const worker = this.#workerFor(entry, now)
    if (worker === undefined && !core.mayGoToAny(entry)) this.search.start(entry)
    else this.#post(entry, worker, now)
  }

  /** `undefined` where the broker is to choose, or nobody is known. */
  #workerFor(entry: CallEntry, now: number): KnownWorker | undefined {
    const { book } = this.#core
    const { offer, version, avoid } = entry
    if (this.#core.mayGoToAny(entry)) {
      const isFirst = entry.repeats === 0 && avoid === undefined
      const isToAny = isFirst && !book.hasSilent(offer, now) && offer.queue.takes(entry, now)
      return isToAny ? undefined : book.pick(offer, now, version, avoid)
    }
    return book.pick(offer, now, version, avoid) ?? book.pickSilent(offer, now, version)
  }

  /** Sends a request. Throws a `CallError` when it cannot leave. */
  #post(entry: CallEntry, worker: KnownWorker | undefined, now: number): void {
    const core = this.#core
    if (entry.deadline <= now) {
      core.fail(entry, "TIMEOUT", say.timeout(entry))
      return
    }
    const risk = entry.ticket === undefined ? undefined : core.bus.ticketRisk?.()
    if (risk !== undefined) throw unsafeTicket(entry.operationId, risk)
    const isNow = this.#mayRunNow(entry)
    this.#sending(entry, worker, isNow, now)
    const message = entry.requestText(isNow, now)
    try {
      const { address, maxPayload } = core.bus
      const bytes = bytesBeyond(maxPayload, address, message)
      if (bytes !== undefined) throw tooLarge(entry, bytes, maxPayload)
      this.#batch.send(entry, worker, message)
    } catch (thrown) {
      this.#unsend(entry)
      throw thrown
    }
    if (worker !== undefined) core.counts.directed++
  }

  /** Whoever serves it says that a second run does no harm, so that no grant is needed. */
  #mayRunNow({ offer, isStream, isIdempotent }: CallEntry): boolean {
    return !isStream && isIdempotent !== false && offer.isIdempotent === true
  }

  #sending(entry: CallEntry, worker: KnownWorker | undefined, isNow: boolean, now: number): void {
    const core = this.#core
    core.forgetMark(entry)
    core.assign(entry, worker, now)
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
    core.arm(entry, roundUp(now + core.latency.patience(entry.repeats)))
  }

  /** What was sent last has not begun anywhere, and never will. */
  #unsend(entry: CallEntry): void {
    const core = this.#core
    core.forgetMark(entry)
    core.disarm(entry)
    core.assign(entry, undefined, 0)
    entry.undoAttempt()
    entry.state = "seeking"
  }

  #notAccepted(entry: CallEntry): void {
    const core = this.#core
    const now = core.now()
    const { pingMs, maxAttempts } = core.settings
    const waitOn = (): void => core.arm(entry, roundUp(now + core.latency.patience(entry.repeats)))
    // This process stood still, and has not looked at what came meanwhile.
    if (now - entry.dueAt > pingMs) {
      waitOn()
      return
    }
    if (entry.worker === undefined) entry.offer.queue.unanswered(entry, now)
    // One of them says nothing: by pinging all it is found out which.
    for (const worker of entry.offer.workers) core.book.use(worker, now)
    if (entry.repeats + 1 >= maxAttempts) {
      core.fail(entry, "UNAVAILABLE", say.notAccepted(entry))
    } else if (this.#pay(entry)) {
      entry.avoid = entry.worker
      entry.repeats++
      core.counts.repeats++
      this.dispatch(entry)
    } else if (!this.#isHopeless(entry)) waitOn()
  }

  /** Ends what has no deadline and would wait for ever, because no repeat of it is paid for. */
  #isHopeless(entry: CallEntry): boolean {
    const core = this.#core
    if (entry.deadline !== Number.POSITIVE_INFINITY) return false
    if (core.now() - entry.firstSentAt < HOPELESS * core.settings.silentMs) return false
    core.fail(entry, "UNAVAILABLE", say.notAccepted(entry))
    return true
  }

  #pay({ operationId }: CallEntry): boolean {
    const { budget, warnings } = this.#core
    if (budget.take()) return true
    warnings.warn("Calls are not repeated for now, because too many were", { operationId })
    return false
  }

  #later(entry: CallEntry, step: Step, delay: number): void {
    const core = this.#core
    entry.state = "seeking"
    entry.step = step
    core.arm(entry, core.now() + delay)
  }

  #attempt(entry: CallEntry, send: (now: number) => void): void {
    if (entry.isOver) return
    try {
      send(this.#core.now())
    } catch (thrown) {
      this.#fail(entry, notSent(entry.operationId, thrown))
    }
  }

  #fail(entry: CallEntry, error: CallError): void {
    const core = this.#core
    // Out of reach after all: it is sent when that is over.
    if (isCallError(error, "UNAVAILABLE") && !core.bus.isConnected && !entry.isOver) {
      this.hold(entry)
      return
    }
    const { code, message, retryAfterMs, details } = error
    const retryable = error.retryable && entry.fate().retryable
    core.fail(entry, code, message, { retryable, retryAfterMs, details })
  }
}

/** The version that a worker serves instead of the one that was asked for, if that is why it refused. */
function otherVersion({ version }: CallEntry, { details }: CallErrorEvent): string | undefined {
  if (version === undefined || typeof details !== "object" || details === null) return undefined
  const { version: served } = details as { readonly version?: unknown }
  return isVersion(served) && !isCompatible(served, version) ? served : undefined
}

function roundUp(time: number): number {
  return Math.ceil(time / ROUND) * ROUND
}
