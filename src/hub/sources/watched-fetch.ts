import { classifyFailure } from "../../http-client/connection-failure.ts"
import { resolveFetch } from "../../http-client/public-fetch.ts"
import { Listeners } from "../../internal/listeners.ts"

/** A `fetch` that reports when a server cannot be reached, and when it answers again. */
export class WatchedFetch {
  readonly #listeners = new Listeners<string | undefined>()
  readonly #blockPrivate: boolean | undefined
  #isLost = false

  constructor(blockPrivate: boolean | undefined) {
    this.#blockPrivate = blockPrivate
  }

  readonly fetch: typeof globalThis.fetch = async (input, init) => {
    try {
      const response = await resolveFetch({ blockPrivate: this.#blockPrivate })(input, init)
      if (this.#isLost) this.#notify(undefined)
      return response
    } catch (error) {
      const { phase, why } = classifyFailure(error)
      // A request that was under way may have failed for a reason of its own.
      if (phase === "before" && init?.signal?.aborted !== true) {
        const { origin } = new URL(input instanceof Request ? input.url : input)
        this.#notify(`${origin} cannot be reached: ${why} The next call tries it again.`)
      }
      throw error
    }
  }

  /** Notifies with the reason, and with `undefined` when it is back. */
  onHealth(listener: (reason: string | undefined) => void): () => void {
    return this.#listeners.add(listener)
  }

  #notify(reason: string | undefined): void {
    this.#isLost = reason !== undefined
    this.#listeners.notify(reason)
  }
}
