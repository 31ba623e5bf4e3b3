import { setRef } from "../../internal/defer.ts"

/** Quick changes within this time are told once. */
const QUIET_MS = 20

/** Tells everyone who listens that lists have changed: once for changes in quick succession. */
export class ChangeNotices {
  readonly #listeners = new Set<() => void>()
  #timer: ReturnType<typeof setTimeout> | undefined

  /** Gives what ends it. */
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
