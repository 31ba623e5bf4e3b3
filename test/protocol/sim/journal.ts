import type { CallEvent } from "../../../src/core/events.ts"
import type { NodeClock } from "./clock.ts"

/** A handler that ran, from beginning to end. */
export interface Execution {
  readonly key: string
  readonly operation: string
  readonly startedAt: number
  /** When its handler was through. */
  endedAt: number | undefined
  /** When its signal fired. */
  abortedAt: number | undefined
  /** Items that a stream gave. */
  produced: number
  readonly requestId: string
  readonly depth: number
  readonly node: NodeClock
}

/** How a plan came out. */
export interface Outcome {
  /** How often it ended: once, if all is well. */
  ends: number
  endedAt: number
  startedAt: number
  result: "ok" | "left" | "error" | undefined
  data: unknown
  items: number[]
  error: unknown
  /** Its process died before it knew. */
  callerDiedAt: number | undefined
  /** The request, once it is known. */
  requestId: string
}

/** A time during which a link was cut. */
export interface Cut {
  readonly link: number
  readonly from: number
  to: number
}

/** What a fault did to a request. */
export type Harm = "dropped" | "abort dropped" | "overtaken"

/** Everything that happened in a history, as seen from outside. */
export class Journal {
  readonly executions: Execution[] = []
  readonly outcomes = new Map<string, Outcome>()
  /** The plan that a request belongs to. */
  readonly keys = new Map<string, string>()
  readonly cuts: Cut[] = []
  readonly harms = new Map<string, Set<Harm>>()
  /** Items that a request's server was allowed to send. */
  readonly granted = new Map<string, number>()
  /** Items that reached the caller's side of a request. */
  readonly arrived = new Map<string, Set<number>>()
  /** What was seen while it ran that should never be. */
  readonly faults: string[] = []
  /** A line for each event, to compare runs. */
  readonly lines: string[] = []

  /** An event leaves: whose it is becomes known with the request. */
  sent(event: CallEvent): void {
    if (event.type !== "call.requested") return
    const { key } = event.input as { readonly key: string }
    this.keys.set(event.requestId, key)
  }

  /** An event is about to be handed to a receiver. */
  delivered(event: CallEvent, time: number): void {
    const { requestId, type } = event
    this.lines.push(`${time} ${type} ${this.keys.get(requestId) ?? "?"}`)
    const granted = this.granted.get(requestId) ?? 0
    if (type === "call.requested") {
      // Said twice is granted once.
      const { window } = event
      if (!this.granted.has(requestId) && window !== undefined) this.granted.set(requestId, window)
    } else if (type === "call.credit") this.granted.set(requestId, Math.max(granted, event.credit))
    else if (type === "call.responded" && event.seq !== undefined)
      this.#arrived(requestId, event.seq)
  }

  harm(event: CallEvent, what: Harm): void {
    const key = this.keys.get(event.requestId) ?? "?"
    const harms = this.harms.get(key) ?? new Set()
    this.harms.set(key, harms.add(what))
  }

  #arrived(requestId: string, seq: number): void {
    const arrived = this.arrived.get(requestId) ?? new Set()
    this.arrived.set(requestId, arrived.add(seq))
  }
}
