import type { Patience } from "./patience.ts"

/** Lets in so many at a time; the others wait in the order they came, as long as they have patience. */
export class Gate {
  readonly #limit: number
  readonly #waiting = new Set<() => void>()
  #inside = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Gives what lets the next one in. */
  async enter(patience: Patience): Promise<() => void> {
    if (patience.isOver) throw patience.error(false)
    if (this.#inside < this.#limit) this.#inside++
    else await this.#queue(patience)
    let isInside = true
    return () => {
      if (!isInside) return
      isInside = false
      this.#leave()
    }
  }

  async #queue(patience: Patience): Promise<void> {
    let admit: (() => void) | undefined
    const admitted = new Promise<void>((resolve) => {
      admit = resolve
      this.#waiting.add(resolve)
    })
    try {
      await patience.race(admitted, false)
    } catch (error) {
      // Let in at the very moment that it gave up: the place goes to the next one.
      if (admit !== undefined && !this.#waiting.delete(admit)) this.#leave()
      throw error
    }
  }

  /** The place is handed over rather than freed, so that nobody overtakes. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#inside--
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
