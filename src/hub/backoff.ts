const FIRST_MS = 1000
const MAX_MS = 30_000

/**
 * Milliseconds until the next attempt: 1 s, 2 s, 4 s, up to 30 s.
 *
 * Random jitter takes off up to half of it, so that sources of one server do not all retry at once.
 */
export function backoff(failures: number, random: () => number = Math.random): number {
  const full = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(Math.max(failures - 1, 0), 16))
  return Math.round(full * (1 - random() / 2))
}
