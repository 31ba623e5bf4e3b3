/** Notifies listeners once when a client has disconnected. */
export class Leaving {
  isGone = false
  #listeners: (() => void)[] = []

  /** Adds a listener, which is called at once if the client is gone. Returns a function that removes it. */
  listen(listener: () => void): () => void {
    if (this.isGone) {
      listener()
      return () => {}
    }
    this.#listeners.push(listener)
    return () => {
      const at = this.#listeners.indexOf(listener)
      if (at !== -1) this.#listeners.splice(at, 1)
    }
  }

  leave(): void {
    if (this.isGone) return
    this.isGone = true
    for (const listener of this.#listeners.splice(0)) listener()
  }
}
