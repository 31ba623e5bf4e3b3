// @isolated: it counts the timers, listeners or processes that are left, also those of other files.
import fc from "fast-check"
import { afterEach, describe, expect, test, vi } from "vitest"
import type { Clock } from "../../src/internal/platform.ts"
import { systemClock } from "../../src/internal/clock.ts"
import { Deadlines } from "../../src/internal/deadlines.ts"
import type { DeadlineEntry } from "../../src/internal/deadlines.ts"

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

class Entry implements DeadlineEntry {
  at: number | undefined
  readonly after: number
  expired: number | undefined
  readonly #clock: Clock
  isOver = false
  listedIn: DeadlineEntry["listedIn"]
  dueBefore: DeadlineEntry | undefined
  dueAfter: DeadlineEntry | undefined

  constructor(clock: Clock, at: number | undefined, after = 100) {
    this.#clock = clock
    this.at = at
    this.after = after
  }

  due(now?: number): number {
    return (this.at ??= (now ?? this.#clock.now()) + this.after)
  }

  expire(): void {
    this.expired = this.#clock.now()
  }
}

/** A clock that is moved by hand; its timers fire in order of time. */
function handClock(): Clock & { advance(to: number): void; timers: number } {
  let now = 0
  let id = 0
  const timers = new Map<number, { at: number; callback: () => void }>()
  return {
    now: () => now,
    setTimeout(callback, delay) {
      timers.set(++id, { at: now + delay, callback })
      return id
    },
    clearTimeout: (timer) => void timers.delete(timer as number),
    advance(to) {
      for (;;) {
        const next = [...timers]
          .filter(([, timer]) => timer.at <= to)
          .toSorted((a, b) => a[1].at - b[1].at)[0]
        if (next === undefined) break
        timers.delete(next[0])
        now = Math.max(now, next[1].at)
        next[1].callback()
      }
      now = to
    },
    get timers() {
      return timers.size
    },
  }
}

describe("Deadlines", () => {
  test("expires each entry at its time, in order, on one timer", () => {
    const clock = handClock()
    const deadlines = new Deadlines(clock)
    const entries = [50, 10, 10, 30, 20].map((at) => new Entry(clock, at))
    for (const entry of entries) deadlines.add(entry)
    expect(clock.timers).toBe(1)
    clock.advance(100)
    expect(entries.map((entry) => entry.expired)).toEqual([50, 10, 10, 30, 20])
    expect(deadlines.size).toBe(0)
    expect(clock.timers).toBe(0)
  })

  test("thousands of waiting entries are looked through rarely, also when short deadlines keep coming", () => {
    const clock = handClock()
    const deadlines = new Deadlines(clock)
    let looks = 0
    const first = new Entry(clock, 1_000_000)
    vi.spyOn(first, "due").mockImplementation(() => (looks++, 1_000_000))
    deadlines.add(first)
    for (let count = 0; count < 20_000; count++) deadlines.add(new Entry(clock, 1_000_000))
    looks = 0
    const short: Entry[] = []
    for (let now = 0; now < 200; now++) {
      clock.advance(now)
      short.push(new Entry(clock, now + 5))
      deadlines.add(short.at(-1) as Entry)
    }
    clock.advance(300)
    expect(short.filter(({ at = 0, expired = Infinity }) => expired - at > 20)).toEqual([])
    expect(looks).toBeLessThanOrEqual(12)
  })

  test("an entry that is taken out does not expire, twice is fine", () => {
    const clock = handClock()
    const deadlines = new Deadlines(clock)
    const entries = [10, 10, 10, 20].map((at) => new Entry(clock, at))
    for (const entry of entries) deadlines.add(entry)
    deadlines.remove(entries[1] as Entry)
    deadlines.remove(entries[1] as Entry)
    deadlines.remove(entries[3] as Entry)
    clock.advance(100)
    expect(entries.map((entry) => entry.expired)).toEqual([10, undefined, 10, undefined])
  })

  test("an undated entry is asked for its time when the turn is over", () => {
    const clock = handClock()
    const deadlines = new Deadlines(clock)
    const early = new Entry(clock, undefined)
    const gone = new Entry(clock, undefined)
    deadlines.addUndated(early)
    deadlines.addUndated(gone)
    gone.isOver = true
    expect(early.at).toBeUndefined()
    clock.advance(7)
    expect(early.at).toBe(100)
    deadlines.addUndated(new Entry(clock, undefined))
    clock.advance(200)
    expect(early.expired).toBe(100)
    expect(gone.at).toBeUndefined()
    expect(deadlines.size).toBe(0)
  })

  test("undated entries are held only while they wait, however many come in one turn", () => {
    const clock = handClock()
    const deadlines = new Deadlines(clock)
    const waiting: Entry[] = []
    for (let n = 0; n < 5000; n++) {
      const entry = new Entry(clock, undefined)
      deadlines.addUndated(entry)
      if (n % 50 === 0) waiting.push(entry)
      else entry.isOver = true
    }
    clock.advance(50)
    expect(deadlines.size).toBe(waiting.length)
    clock.advance(100)
    expect(waiting.every((entry) => entry.expired === 100)).toBe(true)
  })

  test("close takes everything out and hands it over", () => {
    const clock = handClock()
    const deadlines = new Deadlines(clock)
    const dated = new Entry(clock, 10)
    const undated = new Entry(clock, undefined)
    deadlines.add(dated)
    deadlines.addUndated(undated)
    const ended: DeadlineEntry[] = []
    deadlines.close((entry) => ended.push(entry))
    expect(ended).toEqual([undated, dated])
    clock.advance(1000)
    expect([dated.expired, undated.expired, deadlines.size]).toEqual([undefined, undefined, 0])
  })

  test("an entry may add and remove others while it expires", () => {
    const clock = handClock()
    const deadlines = new Deadlines(clock)
    const later = new Entry(clock, 15)
    const doomed = new Entry(clock, 10)
    const first = new Entry(clock, 10)
    first.expire = () => {
      deadlines.remove(doomed)
      deadlines.add(later)
    }
    deadlines.add(doomed)
    deadlines.add(first)
    clock.advance(20)
    expect([doomed.expired, later.expired]).toEqual([undefined, 15])
  })

  test("any order of adding and removing leaves nothing behind and expires nothing early", () => {
    const action = fc.oneof(
      fc.record({ add: fc.integer({ min: 0, max: 60 }) }),
      fc.record({ remove: fc.nat(30) }),
      fc.record({ advance: fc.integer({ min: 0, max: 20 }) }),
    )
    fc.assert(
      fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
        const clock = handClock()
        const deadlines = new Deadlines(clock)
        const entries: Entry[] = []
        const removed = new Set<Entry>()
        for (const step of actions) {
          if ("add" in step) {
            const entry = new Entry(clock, clock.now() + step.add)
            entries.push(entry)
            deadlines.add(entry)
          } else if ("remove" in step) {
            const entry = entries[step.remove]
            if (entry === undefined || entry.expired !== undefined) continue
            removed.add(entry)
            deadlines.remove(entry)
          } else clock.advance(clock.now() + step.advance)
        }
        clock.advance(clock.now() + 1000)
        for (const entry of entries) {
          expect(entry.expired).toBe(removed.has(entry) ? undefined : entry.at)
        }
        expect(deadlines.size).toBe(0)
        expect(clock.timers).toBe(0)
      }),
    )
  })

  test("a timer without entries does not keep the process alive", async () => {
    const deadlines = new Deadlines(systemClock)
    const timers = (): number =>
      process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length
    const before = timers()
    const entry = new Entry(systemClock, systemClock.now() + 60_000)
    deadlines.add(entry)
    expect(timers()).toBe(before + 1)
    deadlines.remove(entry)
    expect(timers()).toBe(before)
    deadlines.add(entry)
    expect(timers()).toBe(before + 1)
    deadlines.close(() => undefined)
    expect(timers()).toBe(before)
  })

  test("a deadline past the longest delay of timers waits in steps", () => {
    vi.useFakeTimers()
    const deadlines = new Deadlines(systemClock)
    const entry = new Entry(systemClock, systemClock.now() + 2 ** 32)
    deadlines.add(entry)
    vi.advanceTimersByTime(2 ** 31)
    expect(entry.expired).toBeUndefined()
    vi.advanceTimersByTime(2 ** 31)
    expect(entry.expired).toBeDefined()
  })

  test("works where there is no setImmediate and timers are numbers", () => {
    vi.useFakeTimers()
    vi.stubGlobal("setImmediate", undefined)
    const real = globalThis.setTimeout
    vi.stubGlobal("setTimeout", (...args: Parameters<typeof setTimeout>) => Number(real(...args)))
    const deadlines = new Deadlines(systemClock)
    const entry = new Entry(systemClock, undefined, 5)
    deadlines.addUndated(entry)
    vi.advanceTimersByTime(10)
    expect(entry.expired).toBeDefined()
  })

  test("notices that the platform's timers were replaced", () => {
    const deadlines = new Deadlines(systemClock)
    const far = new Entry(systemClock, systemClock.now() + 10)
    deadlines.add(far)
    vi.useFakeTimers({ now: Date.now() + 1e6 })
    const entry = new Entry(systemClock, systemClock.now() + 50)
    deadlines.add(entry)
    vi.advanceTimersByTime(60)
    expect(entry.expired).toBeDefined()
  })

  test("expires entries in the order of their times, in whichever order they came", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 50 })), (times) => {
        const clock = handClock()
        const deadlines = new Deadlines(clock)
        const entries = times.map((at) => new Entry(clock, at))
        for (const entry of entries) deadlines.add(entry)
        // Every third ends by itself.
        for (const [index, entry] of entries.entries()) {
          if (index % 3 === 0) deadlines.remove(entry)
        }
        clock.advance(100)
        expect(entries.map((entry) => entry.expired)).toEqual(
          times.map((at, index) => (index % 3 === 0 ? undefined : at)),
        )
        expect([deadlines.size, clock.timers]).toEqual([0, 0])
      }),
    )
  })
})
