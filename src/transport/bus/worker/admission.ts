import type { CallError } from "../../../core/errors.ts"
import type { Identity } from "../../../core/types.ts"
import type { CallerPeer } from "./callers.ts"
import { errorEvent } from "../../../core/error-event.ts"
import type { CallerMessage } from "../wire/messages.ts"
import type { BusCaller } from "../types.ts"
import { RecentRefusals } from "./recent-refusals.ts"
import { UsedTickets } from "../tickets/used-tickets.ts"
import { disown, sayAccepted } from "./state.ts"
import type { WorkerDesk } from "./state.ts"
import { WorkerEntry } from "./entry.ts"
import { identityOf, withoutClaim } from "./identity.ts"
import * as refusals from "./refusals.ts"

type Request = CallerMessage & { readonly type: "request" }
type Go = CallerMessage & { readonly type: "go" }

// Keys have one length, so that the size of a message does not depend on chance.
const KEY_DIGITS = 11

/** When a request came, and what it takes until it is run. */
export interface Arrival {
  readonly now: number
  readonly bytes: number
}

/** The way of a request from its arrival until it runs: who asks, whether there is room, and the grant. */
export class WorkerAdmission {
  readonly #desk: WorkerDesk
  readonly #keyStart: string
  #keys = 0
  readonly #refused = new RecentRefusals()
  readonly #used: UsedTickets
  /** Began without a grant; their callers hear of it unless the answer is as fast. */
  #unsaid: WorkerEntry[] = []

  constructor(desk: WorkerDesk) {
    const { random = platformRandom } = desk.parts
    this.#desk = desk
    this.#used = new UsedTickets(desk.parts.clock)
    // Nobody but the caller that was told can use a key: it has to be new, and not to be secret.
    this.#keyStart = Math.floor(random() * 2 ** 52)
      .toString(36)
      .padStart(KEY_DIGITS, "0")
  }

  /** A request came. */
  requested(message: Request, caller: CallerPeer, from: BusCaller, arrival: Arrival): void {
    const { offer, callers, calls } = this.#desk
    const { operationId, requestId } = message.event
    const known = calls.get(requestId)
    if (known !== undefined && known.caller !== caller) {
      this.refuse(caller, message, refusals.idTaken(operationId, requestId), false)
      return
    }
    if (known !== undefined) {
      this.#again(known, message, arrival.now)
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

  /** Does not take a request. */
  refuse(caller: CallerPeer, message: Request, why: CallError, elsewhere: boolean): void {
    const { attempt, event } = message
    this.#desk.counts.refused++
    if (message.now === true) this.#refused.add(event.requestId)
    const error = errorEvent(event.requestId, why)
    caller.say({ type: "refused", id: event.requestId, attempt, elsewhere, error })
  }

  /** A request may begin, if this grant is for it. */
  granted({ id, key, left }: Go, caller: CallerPeer): void {
    const { calls, offer } = this.#desk
    const entry = calls.of(caller, id)
    // Nothing is said to a grant that fits nothing: what it meant may have run, and be forgotten.
    if (entry?.state !== "waiting" || entry.key !== key) return
    const why = offer.refuse(entry.operationId, entry.event?.version)
    if (why === undefined) this.#run(entry, left)
    else disown(this.#desk, entry, why)
  }

  /** A request will not be granted. */
  notGranted(id: string, key: string, caller: CallerPeer): void {
    const { calls, counts } = this.#desk
    const entry = calls.of(caller, id)
    if (entry?.state !== "waiting" || entry.key !== key) return
    counts.notGranted++
    calls.forget(entry)
  }

  /** Gives everything to others that has not begun. */
  handBack(why: (operationId: string) => CallError): void {
    for (const entry of this.#desk.calls.all()) {
      if (entry.state === "waiting") disown(this.#desk, entry, why(entry.operationId))
    }
  }

  /**
   * What waits for a grant may do so because its caller never heard of it, or because the grant was lost: it is
   * said again, less and less often.
   */
  remind(entry: WorkerEntry): void {
    const now = this.#desk.parts.clock.now()
    if (entry.state !== "waiting" || now < entry.sayAgainAt) return
    sayAgainLater(entry, entry.sayAgainAfter * 2, now)
    sayAccepted(entry)
  }

  #tooMuch(operationId: string): CallError | undefined {
    const { waitingBytes } = this.#desk.calls
    if (waitingBytes <= this.#desk.settings.maxKeptBytes) return undefined
    return refusals.tooMuchWaits(operationId, Math.round(waitingBytes))
  }

  /** A request that is here already: it is said again what has become of it. */
  #again(entry: WorkerEntry, message: Request, now: number): void {
    entry.attempt = Math.max(entry.attempt, message.attempt)
    entry.mayRunNow ||= this.#mayRunNow(message)
    if (entry.state === "done") this.#desk.calls.resend(entry.result, now)
    else if (entry.state === "running") sayAccepted(entry)
    else if (entry.state === "waiting") this.#accept(entry)
  }

  /** One that was refused before may be the same message once more: it needs a grant, which nobody gives it then. */
  #mayRunNow({ now, event }: Request): boolean {
    return now === true && !this.#refused.has(event.requestId)
  }

  #identify(entry: WorkerEntry, message: Request, now: number): void {
    const failed = (thrown: unknown): void => this.#notIdentified(entry, message, thrown)
    try {
      const { id, ticket, isIdempotent, operationId } = entry
      if (ticket !== undefined && !isIdempotent && this.#used.has(id)) {
        throw refusals.usedTicket(operationId)
      }
      const found = identityOf(message, entry.caller.user, this.#desk.parts)
      if (found instanceof Promise) {
        const { clock } = this.#desk.parts
        found
          .then((identity) => this.#identified(entry, message, identity, clock.now()))
          .catch(failed)
        return
      }
      this.#identified(entry, message, found, now)
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
    const { calls, offer } = this.#desk
    // Its caller left meanwhile.
    if (calls.get(entry.id) !== entry) return
    entry.peer = { identity, user: entry.caller.user }
    entry.event = withoutClaim(message)
    entry.state = "waiting"
    sayAgainLater(entry, 2 * this.#desk.settings.pingMs, now)
    if (offer.isOpen) this.#accept(entry)
    else disown(this.#desk, entry, refusals.notServing(entry.operationId))
  }

  #notIdentified(entry: WorkerEntry, message: Request, error: unknown): void {
    const { calls, parts } = this.#desk
    if (calls.get(entry.id) !== entry) return
    calls.forget(entry)
    const { operationId, id: requestId, caller } = entry
    const fields = { user: caller.user, operationId, requestId, error }
    parts.logger.warn("A caller could not be identified; its request was refused", fields)
    this.refuse(caller, message, refusals.notIdentified(operationId, error), false)
  }

  /** It may begin: at once where both sides say so, otherwise when its caller grants it. */
  #accept(entry: WorkerEntry): void {
    if (!entry.runsNow) {
      sayAccepted(entry)
      return
    }
    this.#run(entry, Number.POSITIVE_INFINITY)
    if (entry.state !== "running" || this.#unsaid.push(entry) > 1) return
    const { clock } = this.#desk.parts
    if (clock.defer === undefined) clock.setTimeout(this.#sayAccepted, 0)
    else clock.defer(this.#sayAccepted)
  }

  readonly #sayAccepted = (): void => {
    const entries = this.#unsaid
    this.#unsaid = []
    for (const entry of entries) if (entry.state === "running") sayAccepted(entry)
  }

  #run(entry: WorkerEntry, granted: number): void {
    const { calls, counts, parts, receiver } = this.#desk
    const { event } = entry
    if (event === undefined) return
    const left = Math.min(granted, entry.expires - parts.clock.now())
    if (left <= 0) {
      counts.notGranted++
      calls.forget(entry)
      return
    }
    calls.begin(entry)
    const { id, ticket, isIdempotent } = entry
    if (ticket !== undefined && !isIdempotent) this.#used.add(id, ticket)
    receiver()?.event(entry.granted(event, left), entry.peer)
  }
}

function sayAgainLater(entry: WorkerEntry, after: number, now: number): void {
  entry.sayAgainAfter = after
  entry.sayAgainAt = now + after
}

/** A number from 0 to 1 that nobody can guess. */
function platformRandom(): number {
  const [high = 0, low = 0] = globalThis.crypto.getRandomValues(new Uint32Array(2))
  return (high * 2 ** 20 + (low >>> 12)) / 2 ** 52
}
