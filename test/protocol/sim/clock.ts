import type { Clock } from "../../../src/index.ts"

interface Timer {
  readonly at: number
  readonly order: number
  readonly owner: NodeClock | undefined
  readonly run: () => void
  isOff: boolean
}

// Any date: what counts is that it is not zero and the same in every run.
const EPOCH = 1_000_000_000_000

/** Virtual time: nothing waits for real, and a run with the same seed is the same run. */
export class World {
  time = 0
  #order = 0
  readonly #heap: Timer[] = []
  readonly #turns: number

  /** More turns of the event loop after each event, where its consequences take some. */
  constructor(turns = 1) {
    this.#turns = turns
  }

  /** Runs something later. What belongs to a node ends with it. */
  after(delay: number, run: () => void, owner?: NodeClock): Timer {
    const at = this.time + Math.max(0, delay)
    const timer: Timer = { at, order: this.#order++, owner, run, isOff: false }
    this.#push(timer)
    return timer
  }

  /** Lets time pass, one event after the other, each with all that follows from it. */
  async runTo(time: number): Promise<void> {
    await this.#settle()
    for (let next = this.#heap[0]; next !== undefined && next.at <= time; next = this.#heap[0]) {
      this.#pop()
      if (next.isOff || next.owner?.isDead === true) continue
      this.time = next.at
      next.owner?.fired(next)
      next.run()
      await this.#settle()
    }
    this.time = time
  }

  async #settle(): Promise<void> {
    for (let turn = 0; turn < this.#turns; turn++) await settle()
  }

  #push(timer: Timer): void {
    const heap = this.#heap
    let at = heap.push(timer) - 1
    while (at > 0) {
      const up = (at - 1) >> 1
      if (!isBefore(timer, heap[up] as Timer)) break
      heap[at] = heap[up] as Timer
      at = up
    }
    heap[at] = timer
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop() as Timer
    if (heap.length === 0) return
    let at = 0
    for (;;) {
      let down = 2 * at + 1
      if (down >= heap.length) break
      if (down + 1 < heap.length && isBefore(heap[down + 1] as Timer, heap[down] as Timer)) down++
      if (!isBefore(heap[down] as Timer, last)) break
      heap[at] = heap[down] as Timer
      at = down
    }
    heap[at] = last
  }
}

/** The clock of one process: it may be wrong, and it stops when the process dies. */
export class NodeClock implements Clock {
  isDead = false
  readonly #world: World
  /** The date is wrong by so much. */
  readonly #skew: number
  readonly #timers = new Set<Timer>()

  constructor(world: World, skew: number) {
    this.#world = world
    this.#skew = skew
  }

  /** Timers that wait. */
  get size(): number {
    return this.#timers.size
  }

  now(): number {
    return EPOCH + this.#world.time
  }

  wallTime(): number {
    return this.now() + this.#skew
  }

  setTimeout(callback: () => void, delay: number): Timer {
    const timer = this.#world.after(delay, callback, this)
    this.#timers.add(timer)
    return timer
  }

  clearTimeout(timer: unknown): void {
    const known = timer as Timer | undefined
    if (known === undefined || !this.#timers.delete(known)) return
    known.isOff = true
  }

  /** Waits, or throws why it is no longer worth it. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const gone = (): void => {
        this.clearTimeout(timer)
        reject(signal?.reason as Error)
      }
      const timer = this.setTimeout(() => {
        signal?.removeEventListener("abort", gone)
        resolve()
      }, milliseconds)
      if (signal?.aborted === true) gone()
      else signal?.addEventListener("abort", gone, { once: true })
    })
  }

  fired(timer: Timer): void {
    this.#timers.delete(timer)
  }
}

function isBefore(left: Timer, right: Timer): boolean {
  return left.at < right.at || (left.at === right.at && left.order < right.order)
}

/** Immediates that are queued at a time: Node runs all promises after each, and looks for events only after the last. */
const TURNS = 32

const waiting: (() => void)[] = []
let queued = 0

/** All promises first: what was decided has its consequences before time goes on. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (queued > 0) return
    for (queued = 0; queued < TURNS; queued++) setImmediate(takeTurn)
  })
}

function takeTurn(): void {
  queued--
  waiting.shift()?.()
}
