import { setRef } from "../../internal/defer.ts"
import { Listeners } from "../../internal/listeners.ts"

/** Changes within this time are announced once, in milliseconds. */
const QUIET_MS = 20

/** Notifies listeners that lists have changed, once for changes in quick succession. */
export class ChangeNotices {
  readonly #listeners = new Listeners()
  #timer: ReturnType<typeof setTimeout> | undefined

  /** Returns a function that unsubscribes. */
  listen(listener: () => void): () => void {
    return this.#listeners.add(listener)
  }

  readonly changed = (): void => {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#listeners.notify()
    }, QUIET_MS)
    setRef(this.#timer, false)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#listeners.clear()
  }
}
