import { deferOn } from "../../../internal/clock.ts"
import type { CallError } from "../../../core/errors.ts"
import type { Identity } from "../../../core/types.ts"
import type { CallerPeer, CallerPeers } from "./callers.ts"
import type { BusContext } from "../options.ts"
import { errorEvent } from "../../../core/error-marks.ts"
import type { CallerMessage } from "../wire/messages.ts"
import type { MessageOrigin } from "../types.ts"
import { RecentIds } from "../../../internal/recent-ids.ts"
import { UsedTickets } from "../tickets/claims.ts"
import type { WorkerCalls } from "./calls.ts"
import type { WorkerOffer } from "./offer.ts"
import { WorkerEntry, type Arrival } from "./entry.ts"
import { overloaded, unauthenticated } from "../../../core/not-called.ts"
import * as refusals from "./refusals.ts"

type Request = CallerMessage & { readonly type: "request" }
type Go = CallerMessage & { readonly type: "go" }

/** The parts of a worker. */
export interface WorkerState extends BusContext {
  readonly offer: WorkerOffer
  readonly callers: CallerPeers
  readonly calls: WorkerCalls
}

// Keys have one length, so that the size of a message does not depend on chance.
const KEY_DIGITS = 11

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
  readonly #unreported: WorkerEntry[] = []

  constructor(state: WorkerState) {
    const { random = platformRandom, clock } = state
    this.#state = state
    this.#usedTickets = new UsedTickets(clock)
    // Only the caller that received a key can use it: it has to be unique, not secret.
    this.#keyStart = Math.floor(random() * 2 ** 52)
      .toString(36)
      .padStart(KEY_DIGITS, "0")
  }

  requested(message: Request, caller: CallerPeer, from: MessageOrigin, arrival: Arrival): void {
    const { offer, callers, calls } = this.#state
    const { operationId, requestId } = message.event
    const existing = calls.get(requestId)
    if (existing !== undefined && existing.caller !== caller) {
      return this.refuse(caller, message, refusals.idTaken(operationId, requestId), false)
    }
    if (existing !== undefined) return this.#onRepeated(existing, message, arrival.now)
    const why = offer.refuse(operationId, message.event.version) ?? this.#tooMuch(operationId)
    if (why !== undefined) return this.refuse(caller, message, why, true)
    callers.keep(from, caller)
    const isIdempotent = offer.isIdempotent(operationId)
    const key = this.#keyStart + (this.#keys++).toString(36)
    const entry = new WorkerEntry(caller, message, key, isIdempotent, arrival)
    entry.mayRunNow = this.#mayRunNow(message)
    calls.add(entry)
    this.#identify(entry, message, arrival.now)
  }

  refuse(
    caller: CallerPeer,
    message: CallerMessage & { readonly type: "request" | "invalid" },
    why: CallError,
    elsewhere: boolean,
  ): void {
    const { attempt, event } = message
    this.#state.calls.counts.refused++
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
    else calls.refuse(entry, why)
  }

  /** Forgets a request that will not be granted. */
  notGranted(id: string, key: string, caller: CallerPeer): void {
    const { calls } = this.#state
    const entry = calls.of(caller, id)
    if (entry?.state !== "waiting" || entry.key !== key) return
    calls.counts.notGranted++
    calls.forget(entry)
  }

  /** Refuses all requests that have not begun, so that other workers get them. */
  handBack(why: (operationId: string) => CallError): void {
    const { calls } = this.#state
    for (const entry of calls.all()) {
      if (entry.state === "waiting") calls.refuse(entry, why(entry.operationId))
    }
  }

  /**
   * Sends `accepted` again for a request that still waits for its grant, at increasing intervals: either message may
   * have been lost.
   */
  remind(entry: WorkerEntry): void {
    const now = this.#state.clock.now()
    if (entry.state !== "waiting" || now < entry.remindAt) return
    scheduleReminder(entry, entry.remindAfter * 2, now)
    entry.sendAccepted()
  }

  #tooMuch(operationId: string): CallError | undefined {
    const { waitingBytes } = this.#state.calls
    if (waitingBytes <= this.#state.settings.maxKeptBytes) return undefined
    return overloaded(
      operationId,
      `requests of ${Math.round(waitingBytes)} bytes wait here already`,
    )
  }

  /** Handles a repeated request: reports its current state again. */
  #onRepeated(entry: WorkerEntry, message: Request, now: number): void {
    entry.attempt = Math.max(entry.attempt, message.attempt)
    entry.mayRunNow ||= this.#mayRunNow(message)
    if (entry.state === "done") this.#state.calls.resend(entry.result, now)
    else if (entry.state === "running") entry.sendAccepted()
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
      const identified = identityOf(message, entry.caller.user, this.#state)
      if (identified instanceof Promise) {
        const { clock } = this.#state
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
    else calls.refuse(entry, refusals.notServing(entry.operationId))
  }

  #notIdentified(entry: WorkerEntry, message: Request, error: unknown): void {
    const { calls, logger } = this.#state
    if (calls.get(entry.id) !== entry) return
    calls.forget(entry)
    const { operationId, id: requestId, caller } = entry
    const fields = { user: caller.user, operationId, requestId, error }
    logger.warn("A caller could not be identified; its request was refused", fields)
    this.refuse(caller, message, unauthenticated(operationId, error), false)
  }

  /** Accepts a request: runs it at once if both sides allow that, otherwise waits for the grant. */
  #accept(entry: WorkerEntry): void {
    if (!entry.runsNow) return entry.sendAccepted()
    this.#run(entry, Number.POSITIVE_INFINITY)
    if (entry.state !== "running" || this.#unreported.push(entry) > 1) return
    deferOn(this.#state.clock, this.#reportAccepted)
  }

  readonly #reportAccepted = (): void => {
    for (const entry of this.#unreported.splice(0)) {
      if (entry.state === "running") entry.sendAccepted()
    }
  }

  #run(entry: WorkerEntry, granted: number): void {
    const { calls, clock } = this.#state
    const { event } = entry
    if (event === undefined) return
    const left = Math.min(granted, entry.expires - clock.now())
    if (left <= 0) {
      calls.counts.notGranted++
      return calls.forget(entry)
    }
    calls.begin(entry)
    const { id, ticket, isIdempotent } = entry
    if (ticket !== undefined && !isIdempotent) this.#usedTickets.add(id, ticket)
    // The event was decoded for this entry alone, so that changing it is safe.
    if (event.timeout !== undefined) (event as { timeout?: number }).timeout = left
    calls.receiver?.event(event, entry.peer)
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

/**
 * Identifies the caller: by its ticket, else by its user; otherwise it is anonymous.
 *
 * Throws or rejects for an invalid ticket, which never falls back to another identity.
 */
function identityOf(
  { event, ticket }: Request,
  user: string,
  { identify, verifier, bus }: BusContext,
): Identity | undefined | Promise<Identity | undefined> {
  if (ticket === undefined) return identify?.(user)
  const { operationId, requestId, input } = event
  if (verifier === undefined) throw refusals.noVerifier(operationId)
  const risk = bus.ticketRisk?.()
  if (risk !== undefined) throw refusals.unsafeTicket(operationId, risk)
  return verifier.verify(ticket, { operationId, requestId, user, input })
}

/** The event without a claimed identity, if a ticket proves the identity. */
function withoutClaim({ event, ticket }: Request): Request["event"] {
  if (ticket === undefined || event.identity === undefined) return event
  const { identity: _, ...rest } = event
  return rest
}
