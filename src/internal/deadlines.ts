import { deferOn, MAX_TIMER_DELAY } from "./clock.ts"
import type { Clock } from "./platform.ts"
import { setRef } from "./defer.ts"

/** Something that expires at a time unless it is removed before. `Deadlines` owns the links. */
export interface DeadlineEntry {
  /** A time of the clock. `now` is passed to entries that have not chosen theirs yet. */
  due(now?: number): number
  /** It has ended on its own and needs no deadline any more. */
  readonly isOver: boolean
  /** Called once, when the deadline passes. */
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

// Capacity of the list of undated entries before ended ones are removed from it.
const MIN_UNDATED_CAPACITY = 32

/**
 * Deadlines of many calls on one timer: adding and removing one are constant work.
 *
 * While nothing waits, the timer does not keep the process alive.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #buckets = new Map<number, Bucket>()
  /** The times of buckets, the earliest first, also of buckets that are gone. Most times are later than all before. */
  readonly #times: number[] = []
  /**
   * Entries that have not chosen their time yet; most end before they have to. The list is short, and is copied
   * without ended entries when it is full. Linking each entry into a long-lived structure would cost more than
   * everything else here, because the garbage collector has to track every such link.
   */
  #undated: DeadlineEntry[] = new Array<DeadlineEntry>(MIN_UNDATED_CAPACITY)
  #undatedCount = 0
  #isDating = false
  #latest: Bucket | undefined
  #size = 0
  #timer: unknown
  #armedFor = Number.POSITIVE_INFINITY
  /** `setTimeout` as it was when the timer was armed: a faked or restored clock invalidates the timer. */
  #armedWith: unknown

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#size
  }

  /** Adds an entry whose time is known. */
  add(entry: DeadlineEntry): void {
    const due = entry.due()
    let bucket = this.#latest
    if (bucket === undefined || bucket.at !== due) bucket = this.#open(due)
    link(entry, bucket)
    if (this.#size++ === 0) setRef(this.#timer, true)
    if (due < this.#armedFor || this.#armedWith !== globalThis.setTimeout) this.#arm()
  }

  /**
   * Adds an entry whose time is counted from now. `due(now)` is called after the current task.
   *
   * Reading the clock is a large part of a small call, and most calls end before that.
   */
  addUndated(entry: DeadlineEntry): void {
    if (this.#undatedCount === this.#undated.length) this.#compactUndated()
    this.#undated[this.#undatedCount++] = entry
    if (this.#isDating) return
    this.#isDating = true
    deferOn(this.#clock, this.#dateEntries)
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

  /** Removes all pending entries, and passes each to `end`. */
  close(end: (entry: DeadlineEntry) => void): void {
    this.#disarm()
    for (const entry of this.#takeUndated()) end(entry)
    for (const bucket of [...this.#buckets.values()]) this.#empty(bucket, end)
    this.#forget()
  }

  readonly #dateEntries = (): void => {
    this.#isDating = false
    const entries = this.#takeUndated()
    if (entries.length === 0) return
    const now = this.#clock.now()
    for (const entry of entries) {
      entry.due(now)
      this.add(entry)
    }
  }

  /** Removes and returns the undated entries that have not ended. */
  #takeUndated(): DeadlineEntry[] {
    const entries = this.#undated.slice(0, this.#undatedCount).filter((entry) => !entry.isOver)
    this.#undated = new Array<DeadlineEntry>(MIN_UNDATED_CAPACITY)
    this.#undatedCount = 0
    return entries
  }

  /** Replaces the list of undated entries by one without ended entries, larger if most are pending. */
  #compactUndated(): void {
    const entries = this.#takeUndated()
    this.#undated = new Array<DeadlineEntry>(Math.max(MIN_UNDATED_CAPACITY, 2 * entries.length))
    for (const entry of entries) this.#undated[this.#undatedCount++] = entry
  }

  #open(at: number): Bucket {
    const latest = this.#latest
    if (latest !== undefined && latest.head === undefined) this.#buckets.delete(latest.at)
    let bucket = this.#buckets.get(at)
    if (bucket === undefined) {
      bucket = { at, head: undefined }
      this.#buckets.set(at, bucket)
      insert(this.#times, at)
    }
    this.#latest = bucket
    return bucket
  }

  #arm(): void {
    this.#disarm()
    const [at] = this.#times
    if (at === undefined) return
    this.#armedFor = at
    this.#armedWith = globalThis.setTimeout
    const delay = Math.min(Math.max(0, at - this.#clock.now()), MAX_TIMER_DELAY)
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
    // Buckets that became empty are gone: the next time is that of one that is not.
    const next = this.#times.findIndex((at) => at > now && this.#buckets.has(at))
    for (const at of this.#times.splice(0, next < 0 ? this.#times.length : next)) {
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
    this.#times.length = 0
    this.#latest = undefined
  }
}

/** Inserts a number after those that are not larger. */
function insert(sorted: number[], value: number): void {
  let low = 0
  let high = sorted.length
  // The last place first: it is the usual one.
  for (let middle = high - 1; low < high; middle = (low + high) >> 1) {
    if ((sorted[middle] as number) > value) high = middle
    else low = middle + 1
  }
  sorted.splice(low, 0, value)
}

function link(entry: DeadlineEntry, bucket: Bucket): void {
  const { head } = bucket
  entry.bucket = bucket
  entry.dueBefore = undefined
  entry.dueAfter = head
  if (head !== undefined) head.dueBefore = entry
  bucket.head = entry
}
