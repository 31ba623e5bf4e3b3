import type {
  CallAbortedEvent,
  CallCompletedEvent,
  CallErrorEvent,
  CallProgressEvent,
  CallRespondedEvent,
} from "../../core/events.ts"
import type { CallError } from "../../core/errors.ts"
import { requestNumber } from "../../engine/ids.ts"

const SMALLEST = 64

/**
 * What is waited for, by the ids of its requests.
 *
 * Those ids were minted here and hold a number that counts up, so that an entry's place is the end of its number.
 * An entry that waits long and has its place taken over lies in a map beside. A map for all would cost several
 * times as much: each time it makes room it keeps what it held alive for longer.
 */
export class PendingTable {
  #places: (Pending | undefined)[] = new Array<Pending | undefined>(SMALLEST)
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

  /** All of them, as they are now, in the order in which they began. */
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
  /** The number that its request's id was made of. */
  readonly number: number
  readonly requestId: string
  readonly operationId: string
  /** Who works on it, when that is this very side. */
  served: Served | undefined
  responded(event: CallRespondedEvent): void
  completed(event: CallCompletedEvent): void
  failed(event: CallErrorEvent): void
  progressed(event: CallProgressEvent): void
  abortedByPeer(event: CallAbortedEvent): void
  /** Ends it here, without a word to the peer. */
  fail(error: CallError): void
  /** Ends it here and there. */
  abort(reason?: string): void
}

/** A call or a stream that this side works on. */
export interface Served {
  /** Items up to this number may be sent. */
  credit(last: number): void
  /** Stops the work; nothing more is said about it. */
  abort(reason: string): void
}
