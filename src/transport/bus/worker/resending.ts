import type { CallerPeer } from "./callers.ts"
import type { CallerMessage } from "../wire/messages.ts"
import { sayAccepted } from "./state.ts"
import type { WorkerDesk } from "./state.ts"
import type { WorkerEntry } from "./entry.ts"

type Ping = CallerMessage & { readonly type: "ping" }

/** Ids of one pong, so that it fits any bus. */
const PONG_IDS = 500

/** Answers to callers that wait for long: what they may have missed is sent again. */
export class WorkerResending {
  readonly #desk: WorkerDesk
  #connectedAt = Number.NEGATIVE_INFINITY

  constructor(desk: WorkerDesk) {
    this.#desk = desk
  }

  /** What was sent before may have been lost on the way. */
  connected(): void {
    this.#connectedAt = this.#desk.parts.clock.now()
  }

  /** A caller asks whether this worker is there, and what has become of these. */
  pinged({ ids, streams, heard }: Ping, caller: CallerPeer): void {
    const { calls, parts } = this.#desk
    const before = this.#onTheWaySince(heard)
    const at = parts.clock.now()
    const unknown: string[] = []
    const lost: string[] = []
    for (const [id, seq] of Object.entries(streams)) {
      const entry = calls.of(caller, id)
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
      caller.say({ type: "pong", unknown: some, lost: gone, at })
    } while (unknown.length > 0 || lost.length > 0)
  }

  /** Sends what followed an item, and the end; `false` when some of that is not there any more. */
  #resendAfter(entry: WorkerEntry, seq: number, before: number): boolean {
    const { calls, parts } = this.#desk
    calls.received(entry, seq)
    const items = entry.items === undefined ? [] : entry.items.missing()
    if (items === undefined) return false
    for (const item of items) {
      // This one and all that follow are on their way.
      if (item.sentAt > before) return true
      calls.resend(item, parts.clock.now())
    }
    this.#repeat(entry, before)
    return true
  }

  /** Says again what was last said of a request. */
  #repeat(entry: WorkerEntry, before: number): void {
    const { state, result } = entry
    if (state === "waiting") sayAccepted(entry)
    if (state !== "done" || result === undefined) return
    if (result.sentAt > before) return
    this.#desk.calls.resend(result, this.#desk.parts.clock.now())
  }

  /**
   * What was sent after this need not be sent again yet, unless the way was cut since.
   *
   * Messages arrive in order: what was sent before a pong that came, and did not come itself, is lost for certain.
   * Before the first pong it is only likely.
   */
  #onTheWaySince(heard: number | undefined): number {
    const { parts, settings } = this.#desk
    const now = parts.clock.now()
    // What was said in the same millisecond may have been said after it.
    const since = heard === undefined ? now - settings.pingMs / 2 : Math.min(heard, now) - 1
    return Math.max(since, this.#connectedAt)
  }
}
