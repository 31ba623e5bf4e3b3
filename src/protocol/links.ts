import type { CallEvent } from "../core/events.ts"
import { hasMethods } from "../internal/options.ts"
import type { Transport, TransportReceiver } from "./transport.ts"

/** Receives events that are known to be valid. */
export interface Deliverer extends TransportReceiver {
  deliver(event: CallEvent): void
}

/** A link from a map to itself: it receives what it sends. */
export class LoopbackLink implements Transport {
  readonly isLocal = true
  readonly carriesQuestions = true
  #receiver: Deliverer | undefined

  open(receiver: TransportReceiver): void {
    this.#receiver = receiver as Deliverer
  }

  // Events of our own need no validation.
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
  "call.asked": true,
  "call.answered": true,
  "call.credit": true,
} satisfies Record<CallEvent["type"], true>)

/** A link over DOM events on a target, which others may use as well. */
export function eventTargetLink(target: EventTarget): Transport {
  let receiver: TransportReceiver | undefined
  const listener = (event: Event): void =>
    receiver?.event((event as Partial<CustomEvent<unknown>>).detail)
  const each = (change: "addEventListener" | "removeEventListener"): void => {
    for (const type of TYPES) target[change](type, listener)
  }
  return {
    isLocal: true,
    carriesQuestions: true,
    open(opened) {
      receiver = opened
      each("addEventListener")
    },
    send(event) {
      target.dispatchEvent(new CustomEvent(event.type, { detail: event }))
    },
    async close() {
      receiver = undefined
      each("removeEventListener")
    },
  }
}

/** Whether something is an event target rather than a transport. */
export function isEventTarget(link: unknown): link is EventTarget {
  return hasMethods(link, ["dispatchEvent", "addEventListener", "removeEventListener"])
}
