import { deferOn } from "../../../internal/clock.ts"
import type { CallError } from "../../../core/errors.ts"
import type { Identity } from "../../../core/types.ts"
import type { CallerPeer } from "./callers.ts"
import { errorEvent } from "../../../core/error-marks.ts"
import type { CallerMessage } from "../wire/messages.ts"
import type { MessageOrigin } from "../types.ts"
import { RecentIds } from "../../../internal/recent-ids.ts"
import { UsedTickets } from "../tickets/used-tickets.ts"
import { refuseAccepted, sendAccepted } from "./state.ts"
import type { WorkerState } from "./state.ts"
import { WorkerEntry } from "./entry.ts"
import { identityOf, withoutClaim } from "./identity.ts"
import * as refusals from "./refusals.ts"

type Request = CallerMessage & { readonly type: "request" }
type Go = CallerMessage & { readonly type: "go" }

// Keys have one length, so that the size of a message does not depend on chance.
const KEY_DIGITS = 11

/** When a request arrived, and its size in bytes. */
export interface Arrival {
  readonly now: number
  readonly bytes: number
}

/** Admits requests: identifies the caller, checks for room, and waits for the grant before running. */
export class WorkerAdmission {
  readonly #state: WorkerState
  readonly #keyStart: string
  #keys = 0
  /**
   * Refused requests that might have run without a grant. They must not run when they arrive a second time: their callers
   * were already informed that they did not.
   */
  readonly #refused = new RecentIds()
  readonly #usedTickets: UsedTickets
  /** Calls that began without a grant; reported as accepted unless their answer comes first. */
  #unreported: WorkerEntry[] = []

  constructor(state: WorkerState) {
    const { random = platformRandom } = state.dependencies
    this.#state = state
    this.#usedTickets = new UsedTickets(state.dependencies.clock)
    // Only the caller that received a key can use it: it has to be unique, not secret.
    this.#keyStart = Math.floor(random() * 2 ** 52)
      .toString(36)
      .padStart(KEY_DIGITS, "0")
  }

  /** Handles a request. */
  requested(message: Request, caller: CallerPeer, from: MessageOrigin, arrival: Arrival): void {
    const { offer, callers, calls } = this.#state
    const { operationId, requestId } = message.event
    const existing = calls.get(requestId)
    if (existing !== undefined && existing.caller !== caller) {
      this.refuse(caller, message, refusals.idTaken(operationId, requestId), false)
      return
    }
    if (existing !== undefined) {
      this.#onRepeated(existing, message, arrival.now)
      return
    }
    const why = offer.refuse(operationId, message.event.version) ?? this.#tooMuch(operationId)
    if (why !== undefined) {
      this.refuse(caller, message, why, true)
      return
    }
    callers.keep(from, caller)
    const isIdempotent = offer.isIdempotent(operationId)
    const { now, bytes } = arrival
    const key = this.#keyStart + (this.#keys++).toString(36)
    const entry = new WorkerEntry({ caller, message, key, isIdempotent, now, bytes })
    entry.mayRunNow = this.#mayRunNow(message)
    calls.add(entry)
    this.#identify(entry, message, now)
  }

  /** Refuses a request. */
  refuse(caller: CallerPeer, message: Request, why: CallError, elsewhere: boolean): void {
    const { attempt, event } = message
    this.#state.counts.refused++
    if (message.now === true) this.#refused.remember(event.requestId)
    const error = errorEvent(event.requestId, why)
    caller.send({ type: "refused", id: event.requestId, attempt, elsewhere, error })
  }

  /** Handles a grant: runs the request if the key matches. */
  granted({ id, key, left }: Go, caller: CallerPeer): void {
    const { calls, offer } = this.#state
    const entry = calls.of(caller, id)
    // A grant that matches nothing is ignored: its request may have run, and be forgotten.
    if (entry?.state !== "waiting" || entry.key !== key) return
    const why = offer.refuse(entry.operationId, entry.event?.version)
    if (why === undefined) this.#run(entry, left)
    else refuseAccepted(this.#state, entry, why)
  }

  /** Forgets a request that will not be granted. */
  notGranted(id: string, key: string, caller: CallerPeer): void {
    const { calls, counts } = this.#state
    const entry = calls.of(caller, id)
    if (entry?.state !== "waiting" || entry.key !== key) return
    counts.notGranted++
    calls.forget(entry)
  }

  /** Refuses all requests that have not begun, so that other workers get them. */
  handBack(why: (operationId: string) => CallError): void {
    for (const entry of this.#state.calls.all()) {
      if (entry.state === "waiting") refuseAccepted(this.#state, entry, why(entry.operationId))
    }
  }

  /**
   * Sends `accepted` again for a request that still waits for its grant, at increasing intervals: either message may
   * have been lost.
   */
  remind(entry: WorkerEntry): void {
    const now = this.#state.dependencies.clock.now()
    if (entry.state !== "waiting" || now < entry.remindAt) return
    scheduleReminder(entry, entry.remindAfter * 2, now)
    sendAccepted(entry)
  }

  #tooMuch(operationId: string): CallError | undefined {
    const { waitingBytes } = this.#state.calls
    if (waitingBytes <= this.#state.settings.maxKeptBytes) return undefined
    return refusals.tooMuchWaits(operationId, Math.round(waitingBytes))
  }

  /** Handles a repeated request: reports its current state again. */
  #onRepeated(entry: WorkerEntry, message: Request, now: number): void {
    entry.attempt = Math.max(entry.attempt, message.attempt)
    entry.mayRunNow ||= this.#mayRunNow(message)
    if (entry.state === "done") this.#state.calls.resend(entry.result, now)
    else if (entry.state === "running") sendAccepted(entry)
    else if (entry.state === "waiting") this.#accept(entry)
  }

  /** Whether it may run without a grant. A request that was refused before may be a duplicate, which gets no grant. */
  #mayRunNow({ now, event }: Request): boolean {
    return now === true && !this.#refused.has(event.requestId)
  }

  #identify(entry: WorkerEntry, message: Request, now: number): void {
    const failed = (thrown: unknown): void => this.#notIdentified(entry, message, thrown)
    try {
      const { id, ticket, isIdempotent, operationId } = entry
      if (ticket !== undefined && !isIdempotent && this.#usedTickets.has(id)) {
        throw refusals.usedTicket(operationId)
      }
      const identified = identityOf(message, entry.caller.user, this.#state.dependencies)
      if (identified instanceof Promise) {
        const { clock } = this.#state.dependencies
        identified
          .then((identity) => this.#identified(entry, message, identity, clock.now()))
          .catch(failed)
        return
      }
      this.#identified(entry, message, identified, now)
    } catch (thrown) {
      failed(thrown)
    }
  }

  #identified(
    entry: WorkerEntry,
    message: Request,
    identity: Identity | undefined,
    now: number,
  ): void {
    const { calls, offer } = this.#state
    // Its caller left meanwhile.
    if (calls.get(entry.id) !== entry) return
    entry.peer = { identity, user: entry.caller.user }
    entry.event = withoutClaim(message)
    entry.state = "waiting"
    scheduleReminder(entry, 2 * this.#state.settings.pingMs, now)
    if (offer.isOpen) this.#accept(entry)
    else refuseAccepted(this.#state, entry, refusals.notServing(entry.operationId))
  }

  #notIdentified(entry: WorkerEntry, message: Request, error: unknown): void {
    const { calls, dependencies } = this.#state
    if (calls.get(entry.id) !== entry) return
    calls.forget(entry)
    const { operationId, id: requestId, caller } = entry
    const fields = { user: caller.user, operationId, requestId, error }
    dependencies.logger.warn("A caller could not be identified; its request was refused", fields)
    this.refuse(caller, message, refusals.notIdentified(operationId, error), false)
  }

  /** Accepts a request: runs it at once if both sides allow that, otherwise waits for the grant. */
  #accept(entry: WorkerEntry): void {
    if (!entry.runsNow) {
      sendAccepted(entry)
      return
    }
    this.#run(entry, Number.POSITIVE_INFINITY)
    if (entry.state !== "running" || this.#unreported.push(entry) > 1) return
    const { clock } = this.#state.dependencies
    deferOn(clock, this.#reportAccepted)
  }

  readonly #reportAccepted = (): void => {
    const entries = this.#unreported
    this.#unreported = []
    for (const entry of entries) if (entry.state === "running") sendAccepted(entry)
  }

  #run(entry: WorkerEntry, granted: number): void {
    const { calls, counts, dependencies, receiver } = this.#state
    const { event } = entry
    if (event === undefined) return
    const left = Math.min(granted, entry.expires - dependencies.clock.now())
    if (left <= 0) {
      counts.notGranted++
      calls.forget(entry)
      return
    }
    calls.begin(entry)
    const { id, ticket, isIdempotent } = entry
    if (ticket !== undefined && !isIdempotent) this.#usedTickets.add(id, ticket)
    receiver()?.event(entry.granted(event, left), entry.peer)
  }
}

function scheduleReminder(entry: WorkerEntry, after: number, now: number): void {
  entry.remindAfter = after
  entry.remindAt = now + after
}

/** An unpredictable number from 0 to 1. */
function platformRandom(): number {
  const [high = 0, low = 0] = globalThis.crypto.getRandomValues(new Uint32Array(2))
  return (high * 2 ** 20 + (low >>> 12)) / 2 ** 52
}
