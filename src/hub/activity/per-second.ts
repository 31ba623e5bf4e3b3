/** Length of the history, in seconds. */
export const SECONDS = 60

/** Counts events in each of the last `SECONDS` seconds. */
export class PerSecond {
  readonly #counts = Array.from({ length: SECONDS }, () => 0)
  /** The second of the newest count. */
  #last: number

  constructor(now: number) {
    this.#last = secondOf(now)
  }

  add(at: number): void {
    this.#moveTo(secondOf(at))
    const slot = slotOf(this.#last)
    this.#counts[slot] = (this.#counts[slot] ?? 0) + 1
  }

  /** The count of each second, oldest first; the last one is the current second. */
  until(now: number): number[] {
    this.#moveTo(secondOf(now))
    return Array.from(
      this.#counts,
      (_, index) => this.#counts[slotOf(this.#last + 1 + index)] as number,
    )
  }

  /** Moves to a second and clears the seconds in between. Small steps back in time are ignored. */
  #moveTo(second: number): void {
    const ahead = second - this.#last
    if (ahead <= 0 && ahead > -SECONDS) return
    const empty = ahead < 0 ? SECONDS : Math.min(ahead, SECONDS)
    for (let index = 0; index < empty; index++) this.#counts[slotOf(second - index)] = 0
    this.#last = second
  }
}

function secondOf(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}

function slotOf(second: number): number {
  return ((second % SECONDS) + SECONDS) % SECONDS
}
