import type { Clock } from "./platform.ts"
import { MinHeap } from "./min-heap.ts"

/** Something that ends at a time unless it is taken out before. The links belong to `Deadlines`. */
export interface DeadlineEntry {
  /** A time of the clock. `now` is given when the entry has still to choose. */
  due(now?: number): number
  /** Over by itself: no deadline concerns it any more. */
  readonly isOver: boolean
  /** Called once, when the time has come. */
  expire(): void
  bucket: Bucket | undefined
  dueBefore: DeadlineEntry | undefined
  dueAfter: DeadlineEntry | undefined
}

/** The entries that end in the same millisecond, as a linked list. */
interface Bucket {
  readonly at: number
  head: DeadlineEntry | undefined
}

// How many undated entries are held before those that are over are let go.
const FEW = 32

// The longest delay that timers take; a longer one would fire at once.
const LONGEST_DELAY = 2_147_483_647

/**
 * Deadlines of many calls on one timer: adding and removing one are constant work.
 *
 * While nothing waits, the timer does not keep the process alive.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #buckets = new Map<number, Bucket>()
  readonly #times = new MinHeap()
  /**
   * Entries that have still to choose their time: most are over before it is asked for. A short list that is
   * made anew when it is full, without those that are over: linking each entry into something long-lived would
   * cost more than all else here, because the garbage collector has to be told of every such link.
   */
  #undated: DeadlineEntry[] = new Array<DeadlineEntry>(FEW)
  #undatedCount = 0
  #isDating = false
  #latest: Bucket | undefined
  #size = 0
  #timer: unknown
  #armedFor = Number.POSITIVE_INFINITY
  /** The platform's function at arming: a faked or restored clock makes the timer void. */
  #armedWith: unknown

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#size
  }

  /** Adds an entry that knows its time. */
  add(entry: DeadlineEntry): void {
    const due = entry.due()
    let bucket = this.#latest
    if (bucket === undefined || bucket.at !== due) bucket = this.#open(due)
    link(entry, bucket)
    if (this.#size++ === 0) setRef(this.#timer, true)
    if (due < this.#armedFor || this.#armedWith !== globalThis.setTimeout) this.#arm()
  }

  /**
   * Adds an entry whose time is counted from now. It is asked for it when what runs now is over.
   *
   * Reading the clock is a large part of a small call, and most calls end before that.
   */
  addUndated(entry: DeadlineEntry): void {
    if (this.#undatedCount === this.#undated.length) this.#sift()
    this.#undated[this.#undatedCount++] = entry
    if (this.#isDating) return
    this.#isDating = true
    if (this.#clock.defer === undefined) this.#clock.setTimeout(this.#date, 0)
    else this.#clock.defer(this.#date)
  }

  remove(entry: DeadlineEntry): void {
    const { bucket, dueBefore, dueAfter } = entry
    if (bucket === undefined) return
    if (dueBefore === undefined) bucket.head = dueAfter
    else dueBefore.dueAfter = dueAfter
    if (dueAfter !== undefined) dueAfter.dueBefore = dueBefore
    entry.bucket = undefined
    entry.dueBefore = undefined
    entry.dueAfter = undefined
    if (bucket.head === undefined && bucket !== this.#latest) this.#buckets.delete(bucket.at)
    if (--this.#size === 0) setRef(this.#timer, false)
  }

  /** Takes out everything that still waits, and hands each to `end`. */
  close(end: (entry: DeadlineEntry) => void): void {
    this.#disarm()
    for (const entry of this.#takeUndated()) end(entry)
    for (const bucket of [...this.#buckets.values()]) this.#empty(bucket, end)
    this.#forget()
  }

  readonly #date = (): void => {
    this.#isDating = false
    const entries = this.#takeUndated()
    if (entries.length === 0) return
    const now = this.#clock.now()
    for (const entry of entries) {
      entry.due(now)
      this.add(entry)
    }
  }

  /** Those that still wait for a time, which are then no longer here. */
  #takeUndated(): DeadlineEntry[] {
    const entries = this.#undated.slice(0, this.#undatedCount).filter((entry) => !entry.isOver)
    this.#undated = new Array<DeadlineEntry>(FEW)
    this.#undatedCount = 0
    return entries
  }

  /** Makes room: a new list with those that still wait, larger when they are most of it. */
  #sift(): void {
    const entries = this.#takeUndated()
    this.#undated = new Array<DeadlineEntry>(Math.max(FEW, 2 * entries.length))
    for (const entry of entries) this.#undated[this.#undatedCount++] = entry
  }

  #open(at: number): Bucket {
    const latest = this.#latest
    if (latest !== undefined && latest.head === undefined) this.#buckets.delete(latest.at)
    let bucket = this.#buckets.get(at)
    if (bucket === undefined) {
      bucket = { at, head: undefined }
      this.#buckets.set(at, bucket)
      this.#times.push(at)
    }
    this.#latest = bucket
    return bucket
  }

  #arm(): void {
    this.#disarm()
    const at = this.#times.peek()
    if (at === undefined) return
    this.#armedFor = at
    this.#armedWith = globalThis.setTimeout
    const delay = Math.min(Math.max(0, at - this.#clock.now()), LONGEST_DELAY)
    this.#timer = this.#clock.setTimeout(this.#tick, delay)
    if (this.#size === 0) setRef(this.#timer, false)
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#armedFor = Number.POSITIVE_INFINITY
  }

  readonly #tick = (): void => {
    this.#timer = undefined
    const now = this.#clock.now()
    for (let at = this.#times.peek(); at !== undefined && at <= now; at = this.#times.peek()) {
      this.#times.pop()
      const bucket = this.#buckets.get(at)
      if (bucket === undefined) continue
      this.#buckets.delete(at)
      if (this.#latest === bucket) this.#latest = undefined
      this.#empty(bucket, (entry) => entry.expire())
    }
    if (this.#size === 0) this.#forget()
    this.#arm()
  }

  #empty(bucket: Bucket, end: (entry: DeadlineEntry) => void): void {
    for (let entry = bucket.head; entry !== undefined; entry = bucket.head) {
      this.remove(entry)
      end(entry)
    }
  }

  #forget(): void {
    this.#buckets.clear()
    this.#times.clear()
    this.#latest = undefined
  }
}

function link(entry: DeadlineEntry, bucket: Bucket): void {
  const { head } = bucket
  entry.bucket = bucket
  entry.dueBefore = undefined
  entry.dueAfter = head
  if (head !== undefined) head.dueBefore = entry
  bucket.head = entry
}

/** Lets a timer hold the process, or not, where the platform's timers can. */
function setRef(timer: unknown, hold: boolean): void {
  if (typeof timer !== "object" || timer === null) return
  const handle = timer as { ref?: () => unknown; unref?: () => unknown }
  if (hold) handle.ref?.()
  else handle.unref?.()
}
