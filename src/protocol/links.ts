import type { CallEvent } from "../core/events.ts"
import type { Transport, TransportReceiver } from "./transport.ts"

/** What takes events that are known to be sound. */
export interface Deliverer extends TransportReceiver {
  deliver(event: CallEvent): void
}

/** A map that is its own peer: what it sends it receives. */
export class LoopbackLink implements Transport {
  readonly isLocal = true
  #receiver: Deliverer | undefined

  open(receiver: TransportReceiver): void {
    this.#receiver = receiver as Deliverer
  }

  // The library's own events: there is nothing to check.
  send(event: CallEvent): void {
    this.#receiver?.deliver(event)
  }

  async close(): Promise<void> {
    this.#receiver = undefined
  }
}

// Written out, so that a page that only calls does not load the schemas.
const TYPES = Object.keys({
  "call.requested": true,
  "call.responded": true,
  "call.completed": true,
  "call.aborted": true,
  "call.error": true,
  "call.progress": true,
  "call.credit": true,
} satisfies Record<CallEvent["type"], true>)

/** Events of the platform on a target that others may use as well. */
export class EventTargetLink implements Transport {
  readonly isLocal = true
  readonly #target: EventTarget
  #receiver: TransportReceiver | undefined

  constructor(target: EventTarget) {
    this.#target = target
  }

  open(receiver: TransportReceiver): void {
    this.#receiver = receiver
    for (const type of TYPES) this.#target.addEventListener(type, this)
  }

  send(event: CallEvent): void {
    this.#target.dispatchEvent(new CustomEvent(event.type, { detail: event }))
  }

  async close(): Promise<void> {
    this.#receiver = undefined
    for (const type of TYPES) this.#target.removeEventListener(type, this)
  }

  handleEvent(event: Event): void {
    this.#receiver?.event((event as Partial<CustomEvent<unknown>>).detail)
  }
}

/** Whether something is an event target rather than a transport. */
export function isEventTarget(link: unknown): link is EventTarget {
  const { dispatchEvent, addEventListener, removeEventListener } = link as Partial<EventTarget>
  return [dispatchEvent, addEventListener, removeEventListener].every(
    (method) => typeof method === "function",
  )
}
