// How a person is asked to approve a call, and what becomes of their answer.
import type { ApprovalDecision } from "../core/approvals.ts"
import { refusal, type CallError } from "../core/errors.ts"
import type { MiddlewareCall } from "../core/middleware.ts"
import type { Identity, InputResponse } from "../core/types.ts"
import { wallTimeOf } from "../internal/clock.ts"
import { jsonKey } from "../internal/json-key.ts"
import type { Clock } from "../internal/platform.ts"
import { sha256Hex } from "../internal/sha256.ts"
import { withTimeout } from "../internal/wait.ts"
import { questionFor, shownInput } from "./question.ts"
import type { StandingApprovals } from "./standing.ts"
import {
  APPROVAL_MS,
  Tickets,
  type ApprovalAnswer,
  type Ticket,
  type WaitingApproval,
} from "./tickets.ts"

/** There was no answer in time. */
const LATE = Symbol("late")

/** The calls that a person was asked about. */
export class ApprovalRequests {
  readonly #clock: Clock
  readonly #tickets: Tickets
  readonly #addressOf: (id: string) => string | undefined

  readonly #standing: () => StandingApprovals | undefined

  constructor(
    clock: Clock,
    addressOf: (id: string) => string | undefined,
    standing: () => StandingApprovals | undefined,
  ) {
    this.#clock = clock
    this.#tickets = new Tickets(clock)
    this.#addressOf = addressOf
    this.#standing = standing
  }

  get waiting(): readonly WaitingApproval[] {
    return this.#tickets.waiting
  }

  answer(id: string, answer: ApprovalAnswer): boolean {
    return this.#tickets.answer(id, answer)
  }

  /** Returns when a person has approved a call; throws if it does not run. */
  async ask(call: MiddlewareCall, decision: ApprovalDecision): Promise<void> {
    const { operationId, identity } = call
    const via = call.program ?? call.via
    const caller = callerOf(identity)
    const grant =
      this.#tickets.grantFor(caller, operationId) ??
      (await this.#standing()?.find(caller, operationId))
    if (grant !== undefined) return this.#approve(call, decision, grant.by)
    const binding = bindingOf(call)
    const earlier = this.#tickets.find(binding)
    if (earlier?.state === "approved" && this.#tickets.close(earlier)) {
      return this.#approve(call, decision, earlier.answeredBy)
    }
    if (earlier?.state === "declined") throw declined(call, decision)
    const { rule, reason } = decision
    const ticket =
      earlier ??
      this.#tickets.open(binding, {
        ...{ operationId, caller, via, rule, reason },
        input: shownInput(call.input),
      })
    const answer = await this.#answerOf(call, decision, ticket)
    if (answer === undefined) throw this.#required(call, decision, ticket, binding !== undefined)
    const isOpen = this.#tickets.close(ticket) && answer !== LATE
    if (answer !== LATE && answer.action !== "accept") throw declined(call, decision)
    if (!isOpen || (binding !== undefined && bindingOf(call) !== binding)) {
      throw refusal(
        "APPROVAL_REQUIRED",
        `"${operationId}" was not called: its approval came too late, was used before, or is for another input. Make the call again.`,
        { operationId },
      )
    }
    this.#approve(call, decision, "caller")
  }

  /** Asks the caller; `undefined` if it cannot be asked. */
  async #answerOf(
    call: MiddlewareCall,
    decision: ApprovalDecision,
    ticket: Ticket,
  ): Promise<InputResponse | typeof LATE | undefined> {
    const before = ticket.state
    ticket.state = "asking"
    const question = questionFor(call, decision, `approval-${ticket.secret}`)
    try {
      return await withTimeout(call.requestInput(question), APPROVAL_MS, () => LATE, {
        clock: this.#clock,
        keepsAlive: false,
      })
    } catch (error) {
      // A caller that has left may come back with the answer: so do MCP clients of the new era.
      ticket.state = call.signal.aborted ? "asked" : before
      if (call.signal.aborted) throw error
      return undefined
    }
  }

  #approve(call: MiddlewareCall, decision: ApprovalDecision, approvedBy: string | undefined): void {
    call.noteApproval?.({ ...decision, approvedBy, approvedAt: wallTimeOf(this.#clock) })
  }

  #required(
    { operationId }: MiddlewareCall,
    { rule, reason }: ApprovalDecision,
    ticket: Ticket,
    isBound: boolean,
  ): CallError {
    const about = `"${operationId}" was not called: a person has to approve it first${reason === undefined ? "" : ` (${reason})`}.`
    if (!isBound) {
      this.#tickets.close(ticket)
      return refusal(
        "APPROVAL_REQUIRED",
        `${about} Its input is not JSON data: call it from a client that can be asked.`,
        { operationId, details: { rule, reason } },
      )
    }
    ticket.state = "waiting"
    const { id, expiresAt } = ticket
    const address = this.#addressOf(id)
    const where = address === undefined ? "" : ` at ${address}`
    const until = new Date(expiresAt).toISOString()
    return refusal(
      "APPROVAL_REQUIRED",
      `${about} Ask them to approve it${where} (approval ${id}, until ${until}), then make the same call again, with the same input.`,
      { operationId, details: { approvalId: id, address, expiresAt, rule, reason } },
    )
  }
}

function callerOf(identity: Identity | undefined): string | undefined {
  return typeof identity?.id === "string" ? identity.id : undefined
}

/** The caller, operation and exact input of a call; `undefined` if the input is not JSON data. */
function bindingOf({ identity, operationId, input }: MiddlewareCall): string | undefined {
  const key = jsonKey(input)
  if (key === undefined) return undefined
  return sha256Hex(JSON.stringify([callerOf(identity) ?? null, operationId, key]))
}

function declined({ operationId }: MiddlewareCall, { rule }: ApprovalDecision): CallError {
  return refusal(
    "DECLINED",
    `"${operationId}" was not called: the person who was asked did not approve it. Do not call it again unless they ask for it.`,
    { operationId, details: { rule } },
  )
}
