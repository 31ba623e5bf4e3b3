/** Closes once: closing again waits for the same end. */
export abstract class Closable implements AsyncDisposable {
  #closing: Promise<void> | undefined

  /** Whether closing has begun. */
  protected get isClosing(): boolean {
    return this.#closing !== undefined
  }

  close(): Promise<void> {
    return (this.#closing ??= this.end())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Called once, by the first `close`. */
  protected abstract end(): Promise<void>
}
