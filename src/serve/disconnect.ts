import type { HTTPResponseLike } from "./node-types.ts"

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

/** Resolves when a response has room again, or its client is gone. */
export function drained(
  response: Pick<HTTPResponseLike, "once" | "off">,
  leaving: Leaving,
): Promise<void> {
  if (leaving.isGone) return Promise.resolve()
  return new Promise<void>((resolve) => {
    const go = (): void => {
      response.off("drain", go)
      stop()
      resolve()
    }
    response.once("drain", go)
    const stop = leaving.listen(go)
  })
}
