import type { CallEvent, CallRespondedEvent } from "../../../core/events.ts"

/** Items that came too early are kept, as many as these where no window says how many may come. */
const MOST_AHEAD = 256

/** Puts the items of a stream in order, and its end after them. */
export class StreamOrder {
  readonly #most: number
  /** The number of the last item that was handed on. */
  last = 0
  /** What came before its time, by number. */
  readonly #ahead = new Map<number, CallRespondedEvent>()
  #end: { readonly event: CallEvent; readonly after: number } | undefined

  constructor(window: number = MOST_AHEAD) {
    this.#most = window
  }

  /** Something is known to be missing. */
  get hasGap(): boolean {
    return this.#ahead.size > 0 || this.#end !== undefined
  }

  /** Takes an item in; `false` when it is not the next one. Twice is fine. */
  take(event: CallRespondedEvent, seq: number): boolean {
    if (seq === this.last + 1) {
      this.last = seq
      this.#ahead.delete(seq)
      return true
    }
    if (seq > this.last && this.#ahead.size < this.#most) this.#ahead.set(seq, event)
    return false
  }

  /** The next item or the end, if that had come before its time. */
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

  /** Takes the end in, which comes after so many items; `false` when some are missing. */
  end(event: CallEvent, after: number): boolean {
    if (after <= this.last) return true
    this.#end = { event, after }
    return false
  }
}
