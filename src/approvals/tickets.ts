import type { Clock } from "../internal/platform.ts"
import { wallTimeOf } from "../internal/clock.ts"
import type { ApprovalDecision } from "../core/approvals.ts"
import type { CallWay } from "../core/types.ts"

/** Milliseconds in which a question must be answered, and an approval be used. */
export const APPROVAL_MS = 300_000

/** Milliseconds for which a caller may repeat an operation that was approved for the session. */
const SESSION_MS = 3_600_000

/** Calls that wait at the same time, of each caller and of all; the oldest of the caller makes room. */
const MAX_OF_CALLER = 100
const MAX_TICKETS = 1000

/** A call that waits for a person. */
export interface WaitingApproval extends Pick<ApprovalDecision, "rule" | "reason"> {
  readonly id: string
  readonly operationId: string
  /** The id of the caller; `undefined` for anonymous ones. */
  readonly caller: string | undefined
  readonly via: CallWay
  /** The input as people are shown it: without secrets, and cut. */
  readonly input: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** When it can no longer be approved; once approved, when the approval can no longer be used. */
  readonly expiresAt: number
}

/** How a person answers. */
export interface ApprovalAnswer {
  readonly approve: boolean
  /** The id of the person. */
  readonly by?: string | undefined
  /** Approves further calls of the operation by this caller, whatever their input, for an hour at most. */
  readonly session?: boolean | undefined
}

export interface Ticket extends WaitingApproval {
  /** The caller, operation and input that it is for. */
  readonly binding: string
  /** `asked`: its caller was asked, and calls again with the answer. */
  state: "asking" | "asked" | "waiting" | "approved" | "declined"
  expiresAt: number
  answeredBy?: string | undefined
  /** Names the question to the caller; unlike the id, only the question contains it. */
  readonly secret: string
  /** By the clock, for durations. */
  due: number
}

/** A grant for a caller and an operation. */
interface Grant {
  readonly by: string | undefined
  readonly due: number
}

/** What was asked, by caller, operation and input. In memory: after a restart people are asked again. */
export class Tickets {
  readonly #clock: Clock
  readonly #tickets = new Map<string, Ticket>()
  readonly #grants = new Map<string, Grant>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get waiting(): readonly WaitingApproval[] {
    this.#removeExpired()
    return [...this.#tickets.values()]
      .filter(({ state }) => state === "waiting")
      .map(
        ({ binding: _, state: _state, due: _due, answeredBy: _by, secret: _secret, ...shown }) =>
          shown,
      )
  }

  /** The ticket of a call that was made before, unless someone is being asked about it right now. */
  find(binding: string | undefined): Ticket | undefined {
    if (binding === undefined) return undefined
    this.#removeExpired()
    for (const ticket of this.#tickets.values()) {
      if (ticket.binding === binding && ticket.state !== "asking") return ticket
    }
    return undefined
  }

  open(
    binding: string | undefined,
    about: Omit<WaitingApproval, "id" | "at" | "expiresAt">,
  ): Ticket {
    this.#makeRoom(about.caller)
    const id = crypto.randomUUID()
    const at = wallTimeOf(this.#clock)
    const ticket: Ticket = {
      ...about,
      id,
      // Without a binding it is for the call that opens it alone.
      binding: binding ?? id,
      secret: crypto.randomUUID(),
      state: "asking",
      at,
      expiresAt: at + APPROVAL_MS,
      due: this.#clock.now() + APPROVAL_MS,
    }
    this.#tickets.set(id, ticket)
    return ticket
  }

  /** Removes a ticket; `false` if it has expired or was used before. */
  close(ticket: Ticket): boolean {
    this.#removeExpired()
    return this.#tickets.delete(ticket.id)
  }

  /** Answers for a call that waits; `false` if it no longer does. */
  answer(id: string, { approve, by, session }: ApprovalAnswer): boolean {
    this.#removeExpired()
    const ticket = this.#tickets.get(id)
    if (ticket?.state !== "waiting") return false
    ticket.state = approve ? "approved" : "declined"
    ticket.answeredBy = by
    ticket.due = this.#clock.now() + APPROVAL_MS
    ticket.expiresAt = wallTimeOf(this.#clock) + APPROVAL_MS
    if (approve && session === true) {
      const due = this.#clock.now() + SESSION_MS
      const key = grantKey(ticket.caller, ticket.operationId)
      this.#grants.set(key, { by, due })
      // These run when their caller makes them again.
      for (const other of this.#tickets.values()) {
        const isSame = grantKey(other.caller, other.operationId) === key
        if (isSame && other.state === "waiting") this.#tickets.delete(other.id)
      }
    }
    return true
  }

  /** The approval of all calls of an operation by a caller. */
  grantFor(caller: string | undefined, operationId: string): Grant | undefined {
    const key = grantKey(caller, operationId)
    const grant = this.#grants.get(key)
    if (grant === undefined || grant.due > this.#clock.now()) return grant
    this.#grants.delete(key)
    return undefined
  }

  #makeRoom(caller: string | undefined): void {
    this.#removeExpired()
    const own = [...this.#tickets.values()].filter((ticket) => ticket.caller === caller)
    const oldest = own.length >= MAX_OF_CALLER ? own[0] : undefined
    if (oldest !== undefined) this.#tickets.delete(oldest.id)
    else if (this.#tickets.size >= MAX_TICKETS) {
      const [first = ""] = this.#tickets.keys()
      this.#tickets.delete(first)
    }
  }

  /** All have the same time to live, but an answer begins another one. */
  #removeExpired(): void {
    const now = this.#clock.now()
    for (const [id, { due }] of this.#tickets) if (due <= now) this.#tickets.delete(id)
  }
}

function grantKey(caller: string | undefined, operationId: string): string {
  return JSON.stringify([caller ?? null, operationId])
}
