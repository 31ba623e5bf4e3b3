import type { RequestTimeout } from "./request-timeout.ts"

/** A semaphore: limits concurrent requests; the others wait in order, until their timeout. */
export class Semaphore {
  readonly #limit: number
  readonly #waiting = new Set<() => void>()
  #inside = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Waits for a slot; returns a function that releases it. */
  async acquire(timeout: RequestTimeout): Promise<() => void> {
    if (timeout.isOver) throw timeout.error(false)
    if (this.#inside < this.#limit) this.#inside++
    else await this.#queue(timeout)
    let isInside = true
    return () => {
      if (!isInside) return
      isInside = false
      this.#leave()
    }
  }

  async #queue(timeout: RequestTimeout): Promise<void> {
    let admit: (() => void) | undefined
    const admitted = new Promise<void>((resolve) => {
      admit = resolve
      this.#waiting.add(resolve)
    })
    try {
      await timeout.race(admitted, false)
    } catch (error) {
      // Admitted at the moment it gave up: pass the slot to the next one.
      if (admit !== undefined && !this.#waiting.delete(admit)) this.#leave()
      throw error
    }
  }

  /** Passes the slot to the next waiter instead of freeing it, so that no request overtakes another. */
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
