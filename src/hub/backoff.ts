const FIRST = 1000
const LONGEST = 30_000

/**
 * Milliseconds until the next attempt: 1 s, 2 s, 4 s, up to 30 s.
 *
 * Up to half of it is left out at random: many sources of one server do not come back all at once.
 */
export function backoff(failures: number, random: () => number = Math.random): number {
  const full = Math.min(LONGEST, FIRST * 2 ** Math.min(Math.max(failures - 1, 0), 16))
  return Math.round(full * (1 - random() / 2))
}
