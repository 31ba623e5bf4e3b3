import { setRef } from "../../internal/defer.ts"

/** Changes within this time are announced once, in milliseconds. */
const QUIET_MS = 20

/** Notifies listeners that lists have changed, once for changes in quick succession. */
export class ChangeNotices {
  readonly #listeners = new Set<() => void>()
  #timer: ReturnType<typeof setTimeout> | undefined

  /** Returns a function that unsubscribes. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly changed = (): void => {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      for (const listener of this.#listeners) listener()
    }, QUIET_MS)
    setRef(this.#timer, false)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#listeners.clear()
  }
}
