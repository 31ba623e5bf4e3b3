import type {
  CallAbortedEvent,
  CallAnsweredEvent,
  CallCompletedEvent,
  CallErrorEvent,
  CallProgressEvent,
  CallRespondedEvent,
} from "../../core/events.ts"
import type { CallError, CallErrorOptions } from "../../core/errors.ts"
import type { CallOptions } from "../../core/types.ts"
import { requestNumber } from "../../engine/ids.ts"

const MIN_PLACES = 64

/**
 * Pending requests by their ids.
 *
 * The ids are generated here and contain a counter, whose low bits are the place of an entry. An old entry whose place
 * is needed moves to an overflow map. One `Map` for all would cost several times as much: each time it grows, it keeps
 * its old contents alive for longer.
 */
export class PendingTable {
  #places: (Pending | undefined)[] = new Array<Pending | undefined>(MIN_PLACES)
  readonly #beside = new Map<number, Pending>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(entry: Pending): void {
    if (++this.#size > this.#places.length / 2) this.#grow()
    this.#put(entry)
  }

  remove(entry: Pending): void {
    const place = entry.number & (this.#places.length - 1)
    if (this.#places[place] === entry) this.#places[place] = undefined
    else if (!this.#beside.delete(entry.number)) return
    this.#size--
  }

  get(requestId: string): Pending | undefined {
    const number = requestNumber(requestId)
    const near = this.#places[number & (this.#places.length - 1)]
    const found = near?.number === number ? near : this.#beside.get(number)
    return found?.requestId === requestId ? found : undefined
  }

  /** A copy of all entries, oldest first. */
  all(): Pending[] {
    const near = this.#places.filter((entry) => entry !== undefined)
    return [...near, ...this.#beside.values()].sort((one, other) => one.number - other.number)
  }

  #put(entry: Pending): void {
    const place = entry.number & (this.#places.length - 1)
    const before = this.#places[place]
    if (before !== undefined) this.#beside.set(before.number, before)
    this.#places[place] = entry
  }

  #grow(): void {
    const entries = this.all()
    this.#beside.clear()
    this.#places = new Array<Pending | undefined>(this.#places.length * 2)
    for (const entry of entries) this.#put(entry)
  }
}

/** A call or a stream that this side waits for. */
export interface Pending {
  /** The counter in its request id. */
  readonly number: number
  readonly requestId: string
  readonly operationId: string
  readonly options: Pick<CallOptions, "requestInput"> | undefined
  readonly isOver: boolean
  /** The served request, when this side itself handles it. */
  served: Served | undefined
  responded(event: CallRespondedEvent): void
  completed(event: CallCompletedEvent): void
  failed(event: CallErrorEvent): void
  progressed(event: CallProgressEvent): void
  abortedByPeer(event: CallAbortedEvent): void
  /** An error about it; `what` follows its operation. */
  error(code: string, what: string, options?: CallErrorOptions): CallError
  /** Moves its deadline. */
  postpone(milliseconds: number): void
  /** Ends it here, without notifying the peer. */
  fail(error: CallError): void
  /** Ends it here and at the peer. */
  abort(reason?: string): void
}

/** A call or a stream that this side serves. */
export interface Served {
  /** Items up to this number may be sent. */
  credit(last: number): void
  answered(answer: CallAnsweredEvent): void
  /** Stops the handler, without an answer. */
  abort(reason: string): void
}
