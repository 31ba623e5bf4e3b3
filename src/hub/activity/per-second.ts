/** How many seconds are looked back. */
export const SECONDS = 60

/** Counts what happened in each of the last seconds. */
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

  /** A number for each second, the oldest first; the last is the one that it is now. */
  until(now: number): number[] {
    this.#moveTo(secondOf(now))
    return Array.from(
      this.#counts,
      (_, index) => this.#counts[slotOf(this.#last + 1 + index)] as number,
    )
  }

  /** A clock that is set back a little stands still here; one that leaps leaves nothing behind. */
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
