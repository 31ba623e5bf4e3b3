import type { CallEvent, CallRequestedEvent } from "../../../core/events.ts"
import type { CallError } from "../../../core/errors.ts"
import type { CallFate } from "../../../protocol/transport.ts"
import type { CallerState } from "./state.ts"
import { ChangeStreams } from "./change-streams.ts"
import { Gather } from "./gather.ts"
import type { KnownWorker } from "./model.ts"
import type { WorkerMessage } from "../wire/messages.ts"

/** Answers `services.list`, `services.schema` and `services.changes` for all workers together. */
export class CallerServices {
  readonly #state: CallerState
  readonly #gathers = new Map<string, Gather>()
  readonly #changes: ChangeStreams

  constructor(state: CallerState) {
    this.#state = state
    this.#changes = new ChangeStreams(state)
  }

  get size(): number {
    return this.#gathers.size + this.#changes.size
  }

  /** Requests that wait for the broker. */
  get held(): number {
    let held = 0
    for (const { isHeld } of this.#gathers.values()) if (isHeld) held++
    return held
  }

  /** Whether a request is answered here. A wrong kind of request goes to a worker, whose registry refuses it. */
  takes({ operationId, kind }: CallRequestedEvent): boolean {
    if (!operationId.startsWith("services.")) return false
    if (operationId === "services.changes") return kind !== "call"
    return (
      kind !== "stream" && (operationId === "services.list" || operationId === "services.schema")
    )
  }

  has(requestId: string): boolean {
    return this.#gathers.has(requestId) || this.#changes.has(requestId)
  }

  /** Throws a `CallError` when it cannot be sent. */
  begin(event: CallRequestedEvent): void {
    if (event.operationId === "services.changes") return this.#changes.begin(event)
    const { requestId } = event
    const gather = new Gather(this.#state, event, () => this.#gathers.delete(requestId))
    this.#gathers.set(requestId, gather)
    try {
      gather.begin()
    } catch (thrown) {
      this.leave(requestId)
      throw thrown
    }
  }

  deliveryStatus(requestId: string): CallFate | undefined {
    if (this.#changes.has(requestId)) return { mayHaveExecuted: false, retryable: true }
    return this.#gathers.get(requestId)?.deliveryStatus()
  }

  leave(requestId: string): void {
    this.#gathers.get(requestId)?.leave()
    this.#gathers.delete(requestId)
    this.#changes.leave(requestId)
  }

  credit(requestId: string, credit: number): void {
    this.#changes.credit(requestId, credit)
  }

  /** Handles a message; returns whether it belongs to a request here. So do the next two. */
  accepted(worker: KnownWorker, message: WorkerMessage & { type: "accepted" }): boolean {
    const gather = this.#gatherOf(message.id)
    gather?.accepted(worker, message)
    return gather !== undefined
  }

  refused(worker: KnownWorker, message: WorkerMessage & { type: "refused" }): boolean {
    const gather = this.#gatherOf(message.id)
    gather?.refused(worker, message)
    return gather !== undefined
  }

  event(worker: KnownWorker, event: CallEvent): boolean {
    const gather = this.#gatherOf(event.requestId)
    gather?.answered(worker, event)
    return gather !== undefined
  }

  noResponders(correlationId: string): void {
    for (const gather of [...this.#gathers.values()])
      if (gather.correlationId === correlationId) gather.noResponders()
  }

  denied(correlationId: string, error: CallError): void {
    for (const gather of [...this.#gathers.values()])
      if (gather.correlationId === correlationId) gather.fail(error)
  }

  connected(isAgain: boolean): void {
    for (const gather of [...this.#gathers.values()]) gather.askAgain()
    // Announcements were missed meanwhile.
    if (isAgain) this.changed()
  }

  disconnected(): void {
    for (const gather of this.#gathers.values()) gather.hold()
  }

  /** Reports that workers came, left, or serve other operations. */
  changed(): void {
    this.#changes.changed()
  }

  close(): void {
    for (const gather of this.#gathers.values()) gather.leave()
    this.#gathers.clear()
    this.#changes.close()
  }

  #gatherOf(requestId: string): Gather | undefined {
    return this.#gathers.size === 0 ? undefined : this.#gathers.get(requestId)
  }
}
