import { isRecord } from "../../../internal/guards.ts"
import type { CallErrorEvent, CallEvent, CallRequestedEvent } from "../../../core/events.ts"
import { errorEvent } from "../../../core/error-marks.ts"
import type { CallError } from "../../../core/errors.ts"
import { DeadlineTimer } from "../../../internal/deadline-timer.ts"
import type { ResponseEnvelope } from "../../../core/envelope.ts"
import type { DeliveryStatus } from "../../../protocol/transport.ts"
import { listOf } from "../../../schema/json.ts"
import type { CallerState } from "./state.ts"
import { bodyOf, timedText, withoutIdentity, type KnownWorker } from "./model.ts"
import { noAnswer, notSent, notSigned, unsafeTicket } from "./failures.ts"
import { quoted, requestText, type WorkerMessage } from "../wire/messages.ts"
import { compareVersions } from "../wire/versions.ts"

/** Minimum wait for workers we have not heard of yet, in milliseconds. */
const MIN_DISCOVERY_MS = 150
/** Maximum wait for known workers that have not answered, in milliseconds. */
const MAX_DISCOVERY_MS = 1000
/** The delay before asking again when there were no workers: one may be starting. */
const RETRY_MS = 200
/** How often all workers are asked when none answers. */
const MAX_ROUNDS = 3
/** The lifetime of the ticket of a request without a deadline, in milliseconds. */
const MAX_TICKET_MS = 3_600_000

/** A request to all workers, whose answers are merged into one. */
export class Gather {
  readonly event: CallRequestedEvent
  /** Identifies the request when the broker reports that it has no receiver. */
  readonly correlationId: string
  isHeld = false
  readonly #state: CallerState
  readonly #onEnd: () => void
  readonly #body: string
  readonly #isSigned: boolean
  readonly #answers = new Map<string, ResponseEnvelope>()
  readonly #errors = new Map<string, CallErrorEvent>()
  readonly #deadline: number
  readonly #timer: DeadlineTimer
  #isOver = false
  #ticket: string | undefined
  #rounds = 0
  #askedAt = 0
  #hasNoWorkers = false

  /** Throws a `CallError` when the request has no JSON form. */
  constructor(state: CallerState, event: CallRequestedEvent, onEnd: () => void) {
    this.#state = state
    this.event = event
    this.correlationId = state.newCorrelationId("g")
    this.#onEnd = onEnd
    this.#isSigned = state.signer !== undefined && event.identity !== undefined
    this.#body = bodyOf(withoutIdentity(event, this.#isSigned))
    this.#timer = new DeadlineTimer(state.deadlines, () => this.#expire())
    this.#deadline = state.now() + (event.timeout ?? Number.POSITIVE_INFINITY)
  }

  /** Signs and sends the request. Throws a `CallError` when it cannot be sent at all. */
  begin(): void {
    const { signer } = this.#state
    const { identity, operationId, requestId, timeout = MAX_TICKET_MS, input } = this.event
    if (signer === undefined || identity === undefined) return this.#ask()
    signer.sign(identity, { operationId, requestId, timeout, input }).then(
      (ticket) => {
        this.#ticket = ticket
        this.askAgain()
      },
      (thrown: unknown) => this.fail(notSigned(operationId, thrown)),
    )
  }

  /** Sends it again, or for the first time after the broker was unreachable. */
  askAgain(): void {
    if (this.#isOver || (this.#isSigned && this.#ticket === undefined)) return
    try {
      this.#ask()
    } catch (thrown) {
      this.fail(notSent(this.event.operationId, thrown))
    }
  }

  /** Holds it while the broker is unreachable: it may not have arrived. */
  hold(): void {
    this.isHeld = true
    this.#rounds = 0
    this.#timer.stop()
  }

  #expire(): void {
    const now = this.#state.now()
    if (this.#hasNoWorkers) this.askAgain()
    else if (now < this.#askedAt + MAX_DISCOVERY_MS && !this.#isComplete(now))
      this.#timer.start(this.#askedAt + MAX_DISCOVERY_MS)
    else if (this.#answers.size + this.#errors.size > 0) this.#conclude()
    else if (this.#rounds < MAX_ROUNDS) this.askAgain()
    else this.fail(noAnswer(this.event.operationId))
  }

  answered(worker: KnownWorker, event: CallEvent): void {
    if (event.type === "call.responded") this.#answers.set(worker.address, event.output)
    else if (event.type === "call.error") this.#errors.set(worker.address, event)
    else return
    worker.finished(event.requestId)
    worker.confirm()
    this.#onAnswer()
  }

  /** Grants it to a worker that did not run it at once. */
  accepted(worker: KnownWorker, { key, runs }: WorkerMessage & { type: "accepted" }): void {
    if (runs === true) return
    const left = Math.min(this.#deadline - this.#state.now(), MAX_TICKET_MS)
    if (left > 0) worker.go(quoted(this.event.requestId), key, left)
  }

  refused(worker: KnownWorker, { error }: WorkerMessage & { type: "refused" }): void {
    this.#errors.set(worker.address, error)
    this.#onAnswer()
  }

  /** Handles "no responders": retries once, because a worker may be starting. */
  noResponders(): void {
    const state = this.#state
    if (this.#isOver || this.isHeld) return
    if (this.#hasNoWorkers && this.#rounds > 1 && !state.isInGrace) return this.#conclude()
    this.#hasNoWorkers = true
    this.#timer.start(state.now() + RETRY_MS)
  }

  fail(error: CallError): void {
    if (this.#isOver) return
    this.#end({ ...errorEvent(this.event.requestId, error), mayHaveExecuted: false })
  }

  /** Drops it: its caller left. */
  leave(): void {
    this.#isOver = true
    this.#timer.stop()
  }

  /** Listing has no effect, so that it may always be retried. */
  deliveryStatus(): DeliveryStatus {
    return { mayHaveExecuted: this.#rounds > 0, retryable: true }
  }

  #ask(): void {
    const state = this.#state
    this.isHeld = !state.bus.isConnected
    if (this.isHeld) return
    const now = state.now()
    const left = this.#deadline === Number.POSITIVE_INFINITY ? undefined : this.#deadline - now
    if (left !== undefined && left <= 0) return
    const risk = this.#ticket === undefined ? undefined : state.bus.ticketRisk?.()
    if (risk !== undefined) throw unsafeTicket(this.event.operationId, risk)
    this.#rounds++
    this.#askedAt = now
    const sent = { attempt: this.#rounds, isNow: true, ticket: this.#ticket }
    const text = requestText(timedText(this.#body, left), sent)
    this.#timer.start(now + MIN_DISCOVERY_MS)
    state.bus.toAll(this.event.operationId, state.frame(text), this.correlationId)
  }

  #onAnswer(): void {
    this.#hasNoWorkers = false
    const now = this.#state.now()
    if (now >= this.#askedAt + MIN_DISCOVERY_MS && this.#isComplete(now)) this.#conclude()
  }

  /** Whether every known live worker has answered. */
  #isComplete(now: number): boolean {
    if (this.#answers.size + this.#errors.size === 0) return false
    return this.#missing(now).length === 0
  }

  #missing(now: number): KnownWorker[] {
    return this.#state.book
      .live(now)
      .filter(({ address }) => !this.#answers.has(address) && !this.#errors.has(address))
  }

  #conclude(): void {
    const state = this.#state
    const now = state.now()
    const [error] = [...this.#errors.values()].toSorted((a, b) => rank(a) - rank(b))
    if (this.#answers.size === 0 && error !== undefined) return this.#end(error)
    // Their operations are missing from the answer, so that their next message counts as a change.
    for (const worker of this.#missing(now)) worker.wasMissed = true
    const { event } = this
    const { operationId, requestId } = event
    const answers = [...this.#answers.values()]
    const meta = answers[0]?.meta ?? { source: "local", operationId, timestamp: now }
    const found = answers.map((answer) => answer.data)
    const data = mergeAnswers(event, found)
    this.#end({ type: "call.responded", requestId, output: { data, meta } })
  }

  #end(event: CallEvent): void {
    this.leave()
    this.#onEnd()
    this.#state.deliver(event)
  }
}

/** Errors about the request itself come before errors about a worker's own state. */
function rank({ code }: CallErrorEvent): number {
  return code === "UNAVAILABLE" || code === "OVERLOADED" ? 1 : 0
}

/** The default page size of `services.list`. */
const PAGE = 500

type Fields = Readonly<Record<string, unknown>>

/** Merges the answers of many workers into one. Invalid parts are left out. */
export function mergeAnswers(request: CallRequestedEvent, answers: readonly unknown[]): Fields {
  const input = isRecord(request.input) ? request.input : {}
  const sound = answers.filter(isRecord)
  return request.operationId === "services.list"
    ? mergeLists(input, sound)
    : mergeSchemas(input, sound)
}

/**
 * Merges lists: every version of every operation, sorted by id and version.
 *
 * A page ends where the first incomplete answer ends, because operations may be missing beyond it. All versions of one
 * id are on one page, because the next page begins after an id.
 */
function mergeLists(input: Fields, answers: readonly Fields[]): Fields {
  const limit = typeof input["limit"] === "number" ? input["limit"] : PAGE
  const entries = new Map<string, Fields>()
  let end: string | undefined
  for (const { operations, hasMore } of answers) {
    const listed = listOf(operations).filter(hasId)
    for (const entry of listed) entries.set(`${entry.id} ${String(entry["version"])}`, entry)
    const last = listed.at(-1)?.id
    if (hasMore === true && last !== undefined && (end === undefined || last < end)) end = last
  }
  const all = [...entries.values()].filter(hasId).toSorted(byIdAndVersion)
  const complete = end === undefined ? all : all.filter(({ id }) => id <= end)
  const operations = complete.slice(0, cutAt(complete, limit))
  return { operations, hasMore: end !== undefined || operations.length < all.length }
}

/** The length of a page: it does not split the versions of one id, unless it contains nothing else. */
function cutAt(entries: readonly { readonly id: string }[], limit: number): number {
  if (entries.length <= limit) return entries.length
  const next = entries[limit]?.id
  const first = entries.findIndex(({ id }) => id === next)
  if (first > 0) return first
  const after = entries.findIndex(({ id }) => id !== next)
  return after === -1 ? entries.length : after
}

/** Merges specs: the highest version of every operation. Specs that one worker had no room for are requested again. */
function mergeSchemas(input: Fields, answers: readonly Fields[]): Fields {
  const unread = new Set(answers.flatMap(({ rest }) => listOf(rest)))
  const rest = listOf(input["ids"]).filter((id) => unread.has(id))
  const specs = new Map<string, Fields>()
  for (const answer of answers) {
    for (const spec of listOf(answer["specs"]).filter(isRecord)) {
      const id = `${String(spec["namespace"])}.${String(spec["name"])}`
      const existing = specs.get(id)
      if (unread.has(id)) continue
      if (existing === undefined || isBetter(spec, existing)) specs.set(id, spec)
    }
  }
  return { specs: [...specs.values()], rest }
}

/** Whether a spec is a newer version, or the same that came through fewer registries. */
function isBetter(spec: Fields, existing: Fields): boolean {
  const order = compareVersions(spec["version"], existing["version"])
  return order === 0 ? listOf(spec["via"]).length < listOf(existing["via"]).length : order > 0
}

function byIdAndVersion(left: Fields & { id: string }, right: Fields & { id: string }): number {
  if (left.id !== right.id) return left.id < right.id ? -1 : 1
  return compareVersions(left["version"], right["version"])
}

function hasId(value: unknown): value is Fields & { readonly id: string } {
  return isRecord(value) && typeof value["id"] === "string"
}
