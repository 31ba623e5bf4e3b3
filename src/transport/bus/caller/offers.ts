import { markOf } from "../wire/wire.ts"
import { Offer } from "./model.ts"

/** What every part of an address may hold, and nothing that could break out of one. */
const SAFE = /^[A-Za-z0-9_][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)+$/
const LONGEST = 256
/** Ids come from whoever calls: beyond so many, those that nobody serves are forgotten. */
const MOST_IDS = 10_000
const MOST_MARKS = 100_000

/** Operations, and who serves them. */
export class Offers {
  readonly #byMark = new Map<string, Offer>()
  readonly #byId = new Map<string, Offer>()

  /** Who serves an operation; `undefined` for an id that could be none. */
  of(operationId: string): Offer | undefined {
    const known = this.#byId.get(operationId)
    if (known !== undefined) return known
    if (operationId.length > LONGEST || !SAFE.test(operationId)) return undefined
    if (this.#byId.size >= MOST_IDS) this.#byId.clear()
    const offer = this.marked(markOf(operationId))
    this.#byId.set(operationId, offer)
    return offer
  }

  /** The same by its mark. */
  marked(mark: string): Offer {
    let offer = this.#byMark.get(mark)
    if (offer === undefined) {
      if (this.#byMark.size >= MOST_MARKS) this.#forgetUnserved()
      offer = new Offer(mark)
      this.#byMark.set(mark, offer)
    }
    return offer
  }

  #forgetUnserved(): void {
    this.#byId.clear()
    for (const [mark, { workers }] of this.#byMark) {
      if (workers.length === 0) this.#byMark.delete(mark)
    }
  }
}
