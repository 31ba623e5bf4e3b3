import type { DeadlineEntry, Deadlines } from "./deadlines.ts"

/** A restartable timer on deadlines that many share. */
export class DeadlineTimer implements DeadlineEntry {
  readonly isOver = false
  listedIn: DeadlineEntry["listedIn"] = undefined
  dueBefore: DeadlineEntry | undefined = undefined
  dueAfter: DeadlineEntry | undefined = undefined
  readonly expire: () => void
  readonly #deadlines: Deadlines
  #due = 0

  constructor(deadlines: Deadlines, expire: () => void) {
    this.#deadlines = deadlines
    this.expire = expire
  }

  /** (Re)starts the timer. `Infinity` never expires. */
  start(due: number): void {
    this.stop()
    if (due === Number.POSITIVE_INFINITY) return
    this.#due = due
    this.#deadlines.add(this)
  }

  stop(): void {
    this.#deadlines.remove(this)
  }

  due(): number {
    return this.#due
  }
}
