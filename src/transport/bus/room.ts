/** Back pressure: counts what is on its way, and makes senders wait from a limit on until half of it has arrived. */
export class Room {
  readonly #limit: number
  #used = 0
  #waiting: { readonly promise: Promise<void>; readonly open: () => void } | undefined

  constructor(limit: number) {
    this.#limit = limit
  }

  /** What is on its way. */
  get used(): number {
    return this.#used
  }

  take(size: number): void {
    this.#used += size
  }

  /** Notes that so much has arrived, or was lost. */
  free(size: number): void {
    this.#used -= size
    if (this.#used > this.#limit / 2) return
    this.#waiting?.open()
    this.#waiting = undefined
  }

  /** A promise while senders have to wait. */
  ready(): Promise<void> | undefined {
    if (this.#waiting === undefined && this.#used > this.#limit) {
      let open = (): void => {}
      const promise = new Promise<void>((resolve) => {
        open = resolve
      })
      this.#waiting = { promise, open }
    }
    return this.#waiting?.promise
  }
}
