import type { CallerPeer } from "./callers.ts"
import type { CallerMessage } from "../wire/messages.ts"
import type { WorkerState } from "./state.ts"
import type { WorkerEntry } from "./entry.ts"

type Ping = CallerMessage & { readonly type: "ping" }

/** The number of ids in one pong, so that it fits any bus. */
const PONG_IDS = 500

/** Answers pings, and resends what callers may have missed. */
export class WorkerResending {
  readonly #state: WorkerState
  #connectedAt = Number.NEGATIVE_INFINITY

  constructor(state: WorkerState) {
    this.#state = state
  }

  /** Handles a reconnect: what was sent before may have been lost. */
  connected(): void {
    this.#connectedAt = this.#state.dependencies.clock.now()
  }

  /** Handles a ping, with calls that the caller asks about. */
  pinged({ ids, streams, heard }: Ping, caller: CallerPeer): void {
    const { calls, dependencies } = this.#state
    const before = this.#onTheWaySince(heard)
    const at = dependencies.clock.now()
    const unknown: string[] = []
    const lost: string[] = []
    for (const [id, seq] of Object.entries(streams)) {
      const entry = calls.of(caller, id)
      if (entry !== undefined) entry.usedAt = at
      if (entry === undefined) unknown.push(id)
      else if (!this.#resendAfter(entry, seq, before)) lost.push(id)
    }
    for (const id of ids) {
      if (Object.hasOwn(streams, id)) continue
      const entry = calls.of(caller, id)
      if (entry === undefined) unknown.push(id)
      else this.#repeat(entry, before)
    }
    do {
      const [some, gone] = [unknown.splice(0, PONG_IDS), lost.splice(0, PONG_IDS)]
      caller.send({ type: "pong", unknown: some, lost: gone, at })
    } while (unknown.length > 0 || lost.length > 0)
  }

  /** Resends the items after `seq`, and the end; `false` when some of them are no longer kept. */
  #resendAfter(entry: WorkerEntry, seq: number, before: number): boolean {
    const { calls, dependencies } = this.#state
    calls.received(entry, seq)
    const items = entry.items === undefined ? [] : entry.items.missing()
    if (items === undefined) return false
    for (const item of items) {
      // This one and all later ones are still in flight.
      if (item.sentAt > before) return true
      calls.resend(item, dependencies.clock.now())
    }
    this.#repeat(entry, before)
    return true
  }

  /** Resends the last message about a request, or its questions. */
  #repeat(entry: WorkerEntry, before: number): void {
    const { state, result, questions } = entry
    const { calls, dependencies } = this.#state
    if (state === "waiting") entry.sendAccepted()
    const sent = state === "done" ? [result] : (questions?.values() ?? [])
    for (const kept of sent) {
      if (kept !== undefined && kept.sentAt <= before) calls.resend(kept, dependencies.clock.now())
    }
  }

  /**
   * The time after which sent messages count as in flight, unless the connection was lost since.
   *
   * Messages arrive in order: what was sent before a received pong, and was not received itself, is lost for certain.
   * Before the first pong nothing is known to be lost: it may wait behind other data, which resending would delay further.
   */
  #onTheWaySince(heard = Number.NEGATIVE_INFINITY): number {
    // What was sent in the same millisecond may have been sent after it.
    return Math.max(Math.min(heard, this.#state.dependencies.clock.now()) - 1, this.#connectedAt)
  }
}
