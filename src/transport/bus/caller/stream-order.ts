import type { CallEvent, CallRespondedEvent } from "../../../core/events.ts"

/** The number of early items that are kept when the stream has no window. */
const MAX_AHEAD = 256

/** Puts the items of a stream in order, followed by its end. */
export class StreamOrder {
  readonly #max: number
  /** The number of the last item that was delivered. */
  last = 0
  /** Early items, by number. */
  readonly #ahead = new Map<number, CallRespondedEvent>()
  #end: { readonly event: CallEvent; readonly after: number } | undefined

  constructor(window: number = MAX_AHEAD) {
    this.#max = window
  }

  /** Whether items are known to be missing. */
  get hasGap(): boolean {
    return this.#ahead.size > 0 || this.#end !== undefined
  }

  /** Adds an item; returns whether it is the next one. Duplicates are ignored. */
  take(event: CallRespondedEvent, seq: number): boolean {
    if (seq === this.last + 1) {
      this.last = seq
      this.#ahead.delete(seq)
      return true
    }
    if (seq > this.last && this.#ahead.size < this.#max) this.#ahead.set(seq, event)
    return false
  }

  /** The next early item, or the end, if it arrived early. */
  next(): CallEvent | undefined {
    const seq = this.last + 1
    const event = this.#ahead.get(seq)
    if (event !== undefined) {
      this.#ahead.delete(seq)
      this.last = seq
      return event
    }
    if (this.#end === undefined || this.#end.after > this.last) return undefined
    const { event: end } = this.#end
    this.#end = undefined
    return end
  }

  /** Adds the end, which follows `after` items; returns whether all of them were delivered. */
  end(event: CallEvent, after: number): boolean {
    if (after <= this.last) return true
    this.#end = { event, after }
    return false
  }
}
