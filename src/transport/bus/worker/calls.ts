import type { CallError } from "../../../core/errors.ts"
import { errorEvent } from "../../../core/error-marks.ts"
import type { TransportReceiver } from "../../../protocol/transport.ts"
import type { CallerMessage } from "../wire/messages.ts"
import type { CallerPeer } from "./callers.ts"
import type { MessageText } from "../wire/frames.ts"
import { KeptResults, KeptText, type WorkerEntry } from "./entry.ts"
import { MAX_ASKED_MS } from "../../../internal/asked-time.ts"

type Ping = CallerMessage & { readonly type: "ping" }

/** The number of ids in one pong, so that it fits any bus. */
const PONG_IDS = 500

/** The requests that a worker has, and the results that it keeps and sends again when callers may have missed them. */
export class WorkerCalls {
  readonly counts = { refused: 0, notGranted: 0, callersLost: 0, stalls: 0, dropped: 0, resent: 0 }
  /** Runs the requests. */
  receiver: TransportReceiver | undefined
  /** What was sent before may have been lost. */
  connectedAt: number = Number.NEGATIVE_INFINITY
  readonly #entries = new Map<string, WorkerEntry>()
  readonly kept: KeptResults
  /** Bytes of requests that have not begun. */
  waitingBytes = 0

  constructor(maxKeptBytes: number) {
    this.kept = new KeptResults(maxKeptBytes, (kept) => {
      // Without its answer a call is useless; a stream continues without some of its items.
      if (kept.owner.result === kept) this.forget(kept.owner)
    })
  }

  get(id: string): WorkerEntry | undefined {
    return this.#entries.get(id)
  }

  /** The entry of a caller; callers cannot touch each other's. */
  of(caller: CallerPeer, id: string): WorkerEntry | undefined {
    const entry = this.#entries.get(id)
    return entry?.caller === caller ? entry : undefined
  }

  /** A copy of all entries, or of those of one caller. */
  all(caller?: CallerPeer): WorkerEntry[] {
    const entries = [...this.#entries.values()]
    return caller === undefined ? entries : entries.filter((entry) => entry.caller === caller)
  }

  count(state: WorkerEntry["state"]): number {
    return this.all().filter((entry) => entry.state === state).length
  }

  add(entry: WorkerEntry): void {
    this.#entries.set(entry.id, entry)
    this.waitingBytes += entry.bytes
  }

  /** Marks an entry as running, and releases its input. */
  begin(entry: WorkerEntry): void {
    if (entry.event !== undefined) this.waitingBytes -= entry.bytes
    entry.event = undefined
    entry.state = "running"
  }

  /** Marks an entry as done, and keeps its answer. */
  end(entry: WorkerEntry, message: MessageText, now: number): void {
    entry.state = "done"
    entry.result = new KeptText(entry, message, now)
    this.kept.add(entry.result)
  }

  /** Keeps a stream item until the caller confirms it. */
  item(entry: WorkerEntry, message: MessageText, now: number): void {
    const item = new KeptText(entry, message, now)
    entry.sent++
    entry.items ??= []
    entry.items.push(item)
    entry.caller.items.used += item.text.length
    this.kept.add(item)
  }

  /** Keeps a question until it is answered. The clock of the call stops meanwhile, so that it may run longer. */
  ask(entry: WorkerEntry, question: number, message: MessageText, now: number): void {
    entry.expires += MAX_ASKED_MS
    entry.questions ??= new Map()
    entry.questions.set(question, new KeptText(entry, message, now))
  }

  /** Sends a kept message again. */
  resend(kept: KeptText | undefined, now: number): void {
    if (kept === undefined) return
    this.counts.resent++
    kept.sentAt = now
    kept.owner.caller.outbox.add(kept.text, kept.head)
  }

  /** Drops stream items that the caller has received. */
  received(entry: WorkerEntry, seq: number): void {
    const { items = [], sent } = entry
    for (const item of items.splice(0, seq - (sent - items.length))) {
      this.kept.drop(item)
      entry.caller.items.free(item.text.length)
    }
  }

  /** Forgets an entry. That is safe at any time: a later grant with its key runs nothing. */
  forget(entry: WorkerEntry): void {
    if (this.#entries.get(entry.id) === entry) this.#entries.delete(entry.id)
    if (entry.event !== undefined) this.waitingBytes -= entry.bytes
    entry.event = undefined
    if (entry.result !== undefined) this.kept.drop(entry.result)
    this.received(entry, Number.POSITIVE_INFINITY)
  }

  /** Refuses a request after it was accepted: it has not begun, and another worker may take it. */
  refuse(entry: WorkerEntry, why: CallError): void {
    const { id, attempt, key, caller } = entry
    this.forget(entry)
    this.counts.refused++
    const error = errorEvent(id, why)
    caller.send({ type: "refused", id, attempt, key, elsewhere: true, error })
  }

  /** Gives up a request, and stops its handler. */
  giveUp(entry: WorkerEntry, reason: string | undefined): void {
    const { state, id: requestId, peer } = entry
    this.forget(entry)
    if (state === "waiting" || state === "checking") this.counts.notGranted++
    if (state === "running") this.receiver?.event({ type: "call.aborted", requestId, reason }, peer)
  }

  /** Handles a ping, with calls that the caller asks about. */
  onPing({ ids, streams, heard }: Ping, caller: CallerPeer, now: number): void {
    const before = this.#onTheWaySince(heard, now)
    const unknown: string[] = []
    const lost: string[] = []
    for (const [id, seq] of Object.entries(streams)) {
      const entry = this.of(caller, id)
      if (entry !== undefined) entry.usedAt = now
      if (entry === undefined) unknown.push(id)
      else if (!this.#resendAfter(entry, seq, before, now)) lost.push(id)
    }
    for (const id of ids) {
      if (Object.hasOwn(streams, id)) continue
      const entry = this.of(caller, id)
      if (entry === undefined) unknown.push(id)
      else this.#repeat(entry, before, now)
    }
    do {
      const [some, gone] = [unknown.splice(0, PONG_IDS), lost.splice(0, PONG_IDS)]
      caller.send({ type: "pong", unknown: some, lost: gone, at: now })
    } while (unknown.length > 0 || lost.length > 0)
  }

  /** Resends the items after `seq`, and the end; `false` when some of them are no longer kept. */
  #resendAfter(entry: WorkerEntry, seq: number, before: number, now: number): boolean {
    this.received(entry, seq)
    const { items = [] } = entry
    if (!items.every(({ isKept }) => isKept)) return false
    for (const item of items) {
      // This one and all later ones are still in flight.
      if (item.sentAt > before) return true
      this.resend(item, now)
    }
    this.#repeat(entry, before, now)
    return true
  }

  /** Resends the last message about a request, or its questions. */
  #repeat(entry: WorkerEntry, before: number, now: number): void {
    const { state, result, questions } = entry
    if (state === "waiting") entry.sendAccepted()
    const sent = state === "done" ? [result] : (questions?.values() ?? [])
    for (const kept of sent) {
      if (kept !== undefined && kept.sentAt <= before) this.resend(kept, now)
    }
  }

  /**
   * The time after which sent messages count as in flight, unless the connection was lost since.
   *
   * Messages arrive in order: what was sent before a received pong, and was not received itself, is lost for certain.
   * Before the first pong nothing is known to be lost: it may wait behind other data, which resending would delay further.
   */
  #onTheWaySince(heard: number | undefined, now: number): number {
    // What was sent in the same millisecond may have been sent after it.
    return Math.max(Math.min(heard ?? Number.NEGATIVE_INFINITY, now) - 1, this.connectedAt)
  }
}
