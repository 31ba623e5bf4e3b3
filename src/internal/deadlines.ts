import { deferOn, MAX_TIMER_DELAY } from "./clock.ts"
import type { Clock } from "./platform.ts"
import { setRef } from "./defer.ts"

/** Something that expires at a time unless it is removed before. `Deadlines` owns the links. */
export interface DeadlineEntry {
  /** A time of the clock. `now` is passed to entries that have not chosen theirs yet. */
  due(now?: number): number
  /** It has ended and needs no deadline any more. */
  readonly isOver: boolean
  /** Called once, when the deadline passes. */
  expire(): void
  listedIn: Deadlines | undefined
  dueBefore: DeadlineEntry | undefined
  dueAfter: DeadlineEntry | undefined
}

// Capacity of the list of undated entries before ended ones are removed from it.
const MIN_UNDATED_CAPACITY = 32

/** Entries that are searched in a millisecond; the time between two searches grows with their number. */
const ENTRIES_PER_MS = 1000

/**
 * Deadlines of many calls on one timer: adding and removing one are constant work.
 *
 * The entries are in no order. When the earliest time passes, all of them are searched. This is rare, because
 * most entries are removed before. Each thousand entries may delay a deadline by a millisecond.
 *
 * While nothing waits, the timer does not keep the process alive.
 */
export class Deadlines {
  readonly #clock: Clock
  #first: DeadlineEntry | undefined
  /**
   * Entries that have not chosen their time yet; most end before they have to. The list is short, and is copied
   * without ended entries when it is full. Linking each entry into a long-lived structure would cost more than
   * everything else here, because the garbage collector has to track every such link.
   */
  #undated: DeadlineEntry[] = new Array<DeadlineEntry>(MIN_UNDATED_CAPACITY)
  #undatedCount = 0
  #isDating = false
  #size = 0
  #timer: unknown
  #armedFor = Number.POSITIVE_INFINITY
  /** The entries are not searched before this time. */
  #nextLook = 0
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
    const first = this.#first
    entry.listedIn = this
    entry.dueAfter = first
    if (first !== undefined) first.dueBefore = entry
    this.#first = entry
    if (this.#size++ === 0) setRef(this.#timer, true)
    const at = due < this.#nextLook ? this.#nextLook : due
    if (at < this.#armedFor || this.#armedWith !== globalThis.setTimeout) {
      this.#arm(Math.min(at, this.#armedFor))
    }
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
    if (entry.listedIn !== this) return
    const { dueBefore, dueAfter } = entry
    if (dueBefore === undefined) this.#first = dueAfter
    else dueBefore.dueAfter = dueAfter
    if (dueAfter !== undefined) dueAfter.dueBefore = dueBefore
    entry.listedIn = undefined
    entry.dueBefore = undefined
    entry.dueAfter = undefined
    if (--this.#size === 0) setRef(this.#timer, false)
  }

  /** Removes all pending entries, and passes each to `end`. */
  close(end: (entry: DeadlineEntry) => void): void {
    this.#disarm()
    for (const entry of this.#takeUndated()) end(entry)
    for (let entry = this.#first; entry !== undefined; entry = this.#first) {
      this.remove(entry)
      end(entry)
    }
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

  #arm(at: number): void {
    this.#disarm()
    this.#armedFor = at
    this.#armedWith = globalThis.setTimeout
    const delay = Math.min(Math.max(0, at - this.#clock.now()), MAX_TIMER_DELAY)
    this.#timer = this.#clock.setTimeout(this.#tick, delay)
  }

  #disarm(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#armedFor = Number.POSITIVE_INFINITY
  }

  readonly #tick = (): void => {
    this.#timer = undefined
    this.#armedFor = Number.POSITIVE_INFINITY
    const now = this.#clock.now()
    const expired: DeadlineEntry[] = []
    let next = Number.POSITIVE_INFINITY
    for (let entry = this.#first; entry !== undefined; entry = entry.dueAfter) {
      const due = entry.due()
      if (due <= now) expired.push(entry)
      else if (due < next) next = due
    }
    const gap = Math.floor(this.#size / ENTRIES_PER_MS)
    this.#nextLook = gap === 0 ? 0 : now + gap
    for (const entry of expired.sort((one, other) => one.due() - other.due())) {
      // Another one may have removed it.
      if (entry.listedIn !== this) continue
      this.remove(entry)
      entry.expire()
    }
    if (this.#size === 0) return
    // Entries added meanwhile have armed the timer.
    const at = Math.max(next, this.#nextLook)
    if (at < this.#armedFor) this.#arm(at)
  }
}
