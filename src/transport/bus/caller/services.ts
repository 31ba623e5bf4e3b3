import type { CallEvent, CallRequestedEvent } from "../../../core/events.ts"
import type { CallError } from "../../../core/errors.ts"
import type { CallFate } from "../../../protocol/transport.ts"
import type { CallerCore } from "./state.ts"
import { ChangeStreams } from "./change-streams.ts"
import { Gather } from "./gather.ts"
import type { KnownWorker } from "./model.ts"
import type { WorkerMessage } from "../wire/messages.ts"

/** What can be asked about all workers together: `services.list`, `services.schema`, `services.changes`. */
export class CallerServices {
  readonly #core: CallerCore
  readonly #gathers = new Map<string, Gather>()
  readonly #changes: ChangeStreams

  constructor(core: CallerCore) {
    this.#core = core
    this.#changes = new ChangeStreams(core)
  }

  get size(): number {
    return this.#gathers.size + this.#changes.size
  }

  /** Questions that wait for the broker. */
  get held(): number {
    let held = 0
    for (const { isHeld } of this.#gathers.values()) if (isHeld) held++
    return held
  }

  /** Whether it is answered here. What is asked for in the wrong way is for a registry to refuse. */
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
    if (event.operationId === "services.changes") {
      this.#changes.begin(event)
      return
    }
    const { requestId } = event
    const gather = new Gather(this.#core, event, () => this.#gathers.delete(requestId))
    this.#gathers.set(requestId, gather)
    try {
      gather.begin()
    } catch (thrown) {
      this.leave(requestId)
      throw thrown
    }
  }

  fateOf(requestId: string): CallFate | undefined {
    if (this.#changes.has(requestId)) return { mayHaveExecuted: false, retryable: true }
    return this.#gathers.get(requestId)?.fate()
  }

  leave(requestId: string): void {
    this.#gathers.get(requestId)?.leave()
    this.#gathers.delete(requestId)
    this.#changes.leave(requestId)
  }

  credit(requestId: string, credit: number): void {
    this.#changes.credit(requestId, credit)
  }

  /** Whether it concerned something that is asked here; so for the next two. */
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

  unheard(mark: string): void {
    for (const gather of [...this.#gathers.values()]) if (gather.mark === mark) gather.unheard()
  }

  denied(mark: string, error: CallError): void {
    for (const gather of [...this.#gathers.values()]) if (gather.mark === mark) gather.fail(error)
  }

  connected(isAgain: boolean): void {
    for (const gather of [...this.#gathers.values()]) gather.askAgain()
    // What was announced meanwhile was not heard.
    if (isAgain) this.changed()
  }

  disconnected(): void {
    for (const gather of this.#gathers.values()) gather.hold()
  }

  /** Workers came, went or serve something else. */
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
