import type { Clock } from "../../../../src/index.ts"
import type { World } from "../../../protocol/sim/clock.ts"
import type { Random } from "../../../protocol/sim/random.ts"

// Any date: what counts is that it is not zero and the same in every run.
const EPOCH = 1_000_000_000_000

/** A timer of a process, as Node gives one: it holds its process, or not. */
class Timer {
  isOff = false
  isHolding = true
  readonly run: () => void

  constructor(run: () => void) {
    this.run = run
  }

  ref(): void {
    this.isHolding = true
  }

  unref(): void {
    this.isHolding = false
  }
}

/**
 * The clock of one process, and all that ever happens in it: it may be wrong, it dies with the process, and
 * while the process is frozen nothing happens until it thaws. Then everything does.
 */
export class ProcessClock implements Clock {
  isDead = false
  isFrozen = false
  readonly #world: World
  /** The date is wrong by so much. */
  #skew: number
  readonly #timers = new Set<Timer>()
  #lateTimers: (() => void)[] = []
  #lateMessages: (() => void)[] = []

  constructor(world: World, skew: number) {
    this.#world = world
    this.#skew = skew
  }

  now(): number {
    return EPOCH + this.#world.time
  }

  wallTime(): number {
    return EPOCH + this.#world.time + this.#skew
  }

  /** Somebody sets the date. */
  stepDate(milliseconds: number): void {
    this.#skew += milliseconds
  }

  setTimeout(callback: () => void, delay: number): Timer {
    const timer = new Timer(callback)
    this.#timers.add(timer)
    this.#world.after(delay, () => this.#due(timer))
    return timer
  }

  clearTimeout(timer: unknown): void {
    if (!(timer instanceof Timer)) return
    timer.isOff = true
    this.#timers.delete(timer)
  }

  /** Timers that wait, and those of them that keep the process from ending. */
  get timers(): { readonly all: number; readonly holding: number } {
    let holding = 0
    for (const { isHolding } of this.#timers) if (isHolding) holding++
    return { all: this.#timers.size, holding }
  }

  /** Something from outside reaches the process: at once, when it thaws, or never. */
  reach(run: () => void): void {
    if (this.isDead) return
    if (this.isFrozen) this.#lateMessages.push(run)
    else run()
  }

  /** A handler waits, or throws why it is no longer worth it. Not one of the library's timers. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const gone = (): void => reject(signal?.reason as Error)
      if (signal?.aborted === true) {
        gone()
        return
      }
      signal?.addEventListener("abort", gone, { once: true })
      this.#world.after(milliseconds, () =>
        this.#wake(() => {
          signal?.removeEventListener("abort", gone)
          resolve()
        }),
      )
    })
  }

  freeze(): void {
    this.isFrozen = true
  }

  /** Goes on: what was due happens now, timers before messages or after them. */
  thaw(random: Random): void {
    if (!this.isFrozen) return
    this.isFrozen = false
    const [timers, messages] = [this.#lateTimers, this.#lateMessages]
    this.#lateTimers = []
    this.#lateMessages = []
    const late = random.chance(0.5) ? [...timers, ...messages] : [...messages, ...timers]
    for (const run of late) this.#world.after(0, () => this.#wake(run))
  }

  #wake(run: () => void): void {
    if (this.isDead) return
    if (this.isFrozen) this.#lateTimers.push(run)
    else run()
  }

  #due(timer: Timer): void {
    if (timer.isOff) return
    this.#wake(() => {
      if (timer.isOff) return
      this.#timers.delete(timer)
      timer.run()
    })
  }
}
