import { deferred, type Deferred } from "../../internal/wait.ts"

/** Back pressure: counts what is on its way; beyond a limit senders wait until half of it has arrived. */
export class Room {
  readonly #limit: number
  #waiting: Deferred | undefined
  /** What is on its way. */
  used = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Notes that so much has arrived, or was lost. */
  free(size: number): void {
    this.used -= size
    if (this.used > this.#limit / 2) return
    this.#waiting?.resolve()
    this.#waiting = undefined
  }

  /** A promise while senders have to wait. */
  ready(): Promise<void> | undefined {
    if (this.used > this.#limit) this.#waiting ??= deferred()
    return this.#waiting?.promise
  }
}
