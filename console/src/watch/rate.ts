/** How many came in each of the last seconds. */
export interface RateWindow {
  /** The second that the last count is of, since 1970. */
  readonly second: number
  /** The oldest first; the last is of `second`. */
  readonly counts: readonly number[]
}

/** As many seconds as are kept. */
const KEPT_SECONDS = 60

/** How many whole seconds a rate is taken over: few enough to follow, enough not to flicker. */
const RATE_SECONDS = 5

/** A window in which nothing came yet. */
export const EMPTY_RATE: RateWindow = { second: 0, counts: [] }

/** Adds arrivals, each a time in milliseconds, in any order. */
export function countArrivals(window: RateWindow, times: readonly number[]): RateWindow {
  const last = secondOf(times.reduce((latest, time) => Math.max(latest, time), -Infinity))
  if (!Number.isFinite(last)) return window
  const counts = movedTo(window, last)
  const second = counts.length === 0 ? last : Math.max(last, window.second)
  const next = counts.length === 0 ? Array.from({ length: KEPT_SECONDS }, () => 0) : counts
  for (const time of times) {
    const index = next.length - 1 - (second - secondOf(time))
    if (index >= 0 && index < next.length) next[index] = (next[index] ?? 0) + 1
  }
  return { second, counts: next }
}

/** Arrivals per second at a time; a stream that has just begun is not taken for a slow one. */
export function rateAt(window: RateWindow, now: number, since: number): number {
  if (window.counts.length === 0) return 0
  // A clock that was set back a little is taken to stand still.
  const time = Math.max(now, window.second * 1000)
  const current = secondOf(time)
  const first = current - RATE_SECONDS
  let sum = 0
  for (const [index, count] of window.counts.entries()) {
    if (window.second - (window.counts.length - 1 - index) >= first) sum += count
  }
  const whole = (time - first * 1000) / 1000
  return sum / Math.min(whole, Math.max(1, (time - since) / 1000))
}

/** The counts, moved on to a later second; none when nothing of them is left. */
function movedTo({ second, counts }: RateWindow, to: number): number[] {
  // A large step back means that the clock was changed: the old counts are meaningless.
  if (counts.length === 0 || Math.abs(to - second) >= KEPT_SECONDS) return []
  const passed = Math.max(0, to - second)
  return [...counts.slice(passed), ...Array.from({ length: passed }, () => 0)]
}

function secondOf(time: number): number {
  return Math.floor(time / 1000)
}
