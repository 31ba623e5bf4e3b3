import type { CallErrorEvent, CallEvent, CallRequestedEvent } from "../../../core/events.ts"
import { refusal } from "../../../core/errors.ts"
import type { CallError } from "../../../core/errors.ts"
import type { DeadlineEntry } from "../../../internal/deadlines.ts"
import type { ResponseEnvelope } from "../../../core/envelope.ts"
import type { CallFate } from "../../../protocol/transport.ts"
import type { CallerCore } from "./state.ts"
import { bodyOf, timedText, unclaimed } from "./model.ts"
import { notSent, notSigned, unsafeTicket } from "./failures.ts"
import { mergeAnswers } from "./gather-merge.ts"
import type { KnownWorker } from "./model.ts"
import type { WorkerMessage } from "../wire/messages.ts"
import { requestText } from "../wire/short-messages.ts"

/** For so long others are waited for that nobody knows. */
const LEAST_MS = 150
const MOST_MS = 1000
/** Somebody who is just starting has so many milliseconds. */
const AGAIN_MS = 200
/** So often all are asked when nobody answers. */
const ROUNDS = 3
/** For so long holds the ticket of a question without a deadline. */
const LONG = 3_600_000

/** A question to all workers, whose answers become one. */
export class Gather implements DeadlineEntry {
  readonly requestId: string
  readonly event: CallRequestedEvent
  /** What the broker names when nobody listened. */
  readonly mark: string
  isOver = false
  isHeld = false
  readonly #core: CallerCore
  readonly #onEnd: (gather: Gather) => void
  readonly #body: string
  readonly #isSigned: boolean
  readonly #answers = new Map<string, ResponseEnvelope>()
  readonly #errors = new Map<string, CallErrorEvent>()
  readonly #deadline: number
  #ticket: string | undefined
  #rounds = 0
  #askedAt = 0
  #isNobodyThere = false

  // `Deadlines` keeps these.
  #dueAt = 0
  bucket: DeadlineEntry["bucket"] = undefined
  dueBefore: DeadlineEntry | undefined = undefined
  dueAfter: DeadlineEntry | undefined = undefined

  /** Throws a `CallError` when the question has no JSON form. */
  constructor(core: CallerCore, event: CallRequestedEvent, onEnd: (gather: Gather) => void) {
    this.#core = core
    this.event = event
    this.requestId = event.requestId
    this.mark = core.newMark("g")
    this.#onEnd = onEnd
    this.#isSigned = core.signer !== undefined && event.identity !== undefined
    this.#body = bodyOf(unclaimed(event, this.#isSigned))
    this.#deadline = core.now() + (event.timeout ?? Number.POSITIVE_INFINITY)
  }

  /** Asks, as soon as the question is signed. Throws a `CallError` when it cannot be sent at all. */
  begin(): void {
    const { signer } = this.#core
    const { identity, operationId, requestId, timeout = LONG, input } = this.event
    if (signer === undefined || identity === undefined) {
      this.#ask()
      return
    }
    signer.sign(identity, { operationId, requestId, timeout, input }).then(
      (ticket) => {
        this.#ticket = ticket
        this.askAgain()
      },
      (thrown: unknown) => this.fail(notSigned(operationId, thrown)),
    )
  }

  /** Asks once more, or for the first time after the broker was out of reach. */
  askAgain(): void {
    if (this.isOver || (this.#isSigned && this.#ticket === undefined)) return
    try {
      this.#ask()
    } catch (thrown) {
      this.fail(notSent(this.event.operationId, thrown))
    }
  }

  /** The broker is out of reach: what was asked may not have arrived. */
  hold(): void {
    this.isHeld = true
    this.#rounds = 0
    this.#core.deadlines.remove(this)
  }

  due(): number {
    return this.#dueAt
  }

  expire(): void {
    const now = this.#core.now()
    if (this.#isNobodyThere) this.askAgain()
    else if (now < this.#askedAt + MOST_MS && !this.#isComplete(now))
      this.#arm(this.#askedAt + MOST_MS)
    else if (this.#answers.size + this.#errors.size > 0) this.#conclude()
    else if (this.#rounds < ROUNDS) this.askAgain()
    else this.fail(this.#unanswered())
  }

  /** A worker answered. */
  answered(worker: KnownWorker, event: CallEvent): void {
    if (event.type === "call.responded") this.#answers.set(worker.address, event.output)
    else if (event.type === "call.error") this.#errors.set(worker.address, event)
    else return
    worker.finished(this.requestId)
    worker.confirm()
    this.#heard()
  }

  /** A worker did not want to run it at once: it may. */
  accepted(worker: KnownWorker, { key, runs }: WorkerMessage & { type: "accepted" }): void {
    if (runs === true) return
    const left = Math.min(this.#deadline - this.#core.now(), LONG)
    if (left > 0) worker.tell({ type: "go", id: this.requestId, key, left })
  }

  refused(worker: KnownWorker, { error }: WorkerMessage & { type: "refused" }): void {
    this.#errors.set(worker.address, error)
    this.#heard()
  }

  /** No worker is there at all: one may be just starting. */
  unheard(): void {
    const core = this.#core
    if (this.isOver || this.isHeld) return
    if (this.#isNobodyThere && this.#rounds > 1 && !core.isInGrace) {
      this.#conclude()
      return
    }
    this.#isNobodyThere = true
    this.#arm(core.now() + AGAIN_MS)
  }

  fail(error: CallError): void {
    if (this.isOver) return
    const { code, message, retryAfterMs, details, retryable } = error
    const { requestId } = this
    this.#end({
      ...{ type: "call.error", requestId, code, message, retryable, mayHaveExecuted: false },
      ...(details !== undefined && { details }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    })
  }

  /** Nobody waits for it any more. */
  leave(): void {
    this.isOver = true
    this.#core.deadlines.remove(this)
  }

  /** Asking has no effect, so that it may always be done again. */
  fate(): CallFate {
    return { mayHaveExecuted: this.#rounds > 0, retryable: true }
  }

  #unanswered(): CallError {
    const { operationId } = this.event
    return refusal(
      "UNAVAILABLE",
      `"${operationId}" got no answer: workers are there and say nothing. Look at their load, or try again later.`,
      { operationId },
    )
  }

  #ask(): void {
    const core = this.#core
    this.isHeld = !core.bus.isConnected
    if (this.isHeld) return
    const now = core.now()
    const left = this.#deadline === Number.POSITIVE_INFINITY ? undefined : this.#deadline - now
    if (left !== undefined && left <= 0) return
    const risk = this.#ticket === undefined ? undefined : core.bus.ticketRisk?.()
    if (risk !== undefined) throw unsafeTicket(this.event.operationId, risk)
    this.#rounds++
    this.#askedAt = now
    const sent = { attempt: this.#rounds, isNow: true, ticket: this.#ticket }
    const text = requestText(timedText(this.#body, left), sent)
    this.#arm(now + LEAST_MS)
    core.bus.toAll(this.event.operationId, core.frame(text), this.mark)
  }

  #heard(): void {
    this.#isNobodyThere = false
    const now = this.#core.now()
    if (now >= this.#askedAt + LEAST_MS && this.#isComplete(now)) this.#conclude()
  }

  /** Every worker that is known to be there has answered. */
  #isComplete(now: number): boolean {
    if (this.#answers.size + this.#errors.size === 0) return false
    return this.#missing(now).length === 0
  }

  #missing(now: number): KnownWorker[] {
    return this.#core.book
      .live(now)
      .filter(({ address }) => !this.#answers.has(address) && !this.#errors.has(address))
  }

  #conclude(): void {
    const core = this.#core
    const now = core.now()
    const [error] = [...this.#errors.values()].toSorted((a, b) => rank(a) - rank(b))
    if (this.#answers.size === 0 && error !== undefined) {
      this.#end(error)
      return
    }
    // Whatever these serve is not in the answer: it is news when they are heard again.
    for (const worker of this.#missing(now)) worker.wasMissed = true
    const { requestId, event } = this
    const { operationId } = event
    const [first] = this.#answers.values()
    const meta = first?.meta ?? { source: "local", operationId, timestamp: now }
    const data = mergeAnswers(
      event,
      [...this.#answers.values()].map((answer) => answer.data),
    )
    this.#end({ type: "call.responded", requestId, output: { data, meta } })
  }

  #end(event: CallEvent): void {
    this.leave()
    this.#onEnd(this)
    this.#core.deliver(event)
  }

  #arm(at: number): void {
    this.#core.deadlines.remove(this)
    this.#dueAt = at
    this.#core.deadlines.add(this)
  }
}

/** What a worker says of the question counts before what it says of itself. */
function rank({ code }: CallErrorEvent): number {
  return code === "UNAVAILABLE" || code === "OVERLOADED" ? 1 : 0
}
