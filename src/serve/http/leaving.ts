/** Tells whoever wants to know that a client has left, once. */
export class Leaving {
  isGone = false
  #listeners: (() => void)[] = []

  /** Tells at once when it has happened already. Gives what ends it. */
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
