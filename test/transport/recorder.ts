import type { CallEvent, CallRequestedEvent } from "../../src/core/events.ts"
import type { CallError } from "../../src/core/errors.ts"
import type { TransportReceiver } from "../../src/protocol/transport.ts"

/** Records what a transport reports, and waits for it. */
export class Recorder implements TransportReceiver {
  readonly events: unknown[] = []
  readonly failed: { readonly event: CallEvent; readonly error: CallError }[] = []
  readonly losses: CallError[] = []
  /** Everything in the order in which it was reported. */
  readonly story: string[] = []
  restorations = 0
  onEvent: ((event: unknown) => void) | undefined
  #changed: (() => void)[] = []

  event(event: unknown): void {
    this.events.push(event)
    this.#record("event")
    this.onEvent?.(event)
  }

  undelivered(event: CallEvent, error: CallError): void {
    this.failed.push({ event, error })
    this.#record("undelivered")
  }

  lost(error: CallError): void {
    this.losses.push(error)
    this.#record("lost")
  }

  restored(): void {
    this.restorations++
    this.#record("restored")
  }

  get ids(): unknown[] {
    return this.events.map((event) => (event as Partial<CallEvent> | null)?.requestId)
  }

  /** Resolves when something holds; the test's own time limit ends a wait in vain. */
  async until(holds: (recorder: this) => boolean): Promise<void> {
    while (!holds(this)) await new Promise<void>((resolve) => this.#changed.push(resolve))
  }

  #record(what: string): void {
    this.story.push(what)
    for (const resolve of this.#changed.splice(0)) resolve()
  }
}

/** A request for an operation that echoes. */
export function request(requestId: string, input: unknown = null): CallRequestedEvent {
  return { type: "call.requested", requestId, operationId: "demo.echo", input }
}

/** Resolves after what has been deferred in this turn has run. */
export async function nextTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve)
  })
}
