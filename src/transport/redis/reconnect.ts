const FIRST = 150
const MOST = 800
const PER_PEER = 12
const MOST_FOR_MANY = 5000

/**
 * Milliseconds until the next attempt: a few processes are back soon, and many of them not all at once.
 *
 * `peers` is how many there were on the broker when it was last there.
 */
export function reconnectDelay(failures: number, peers: number): number {
  const alone = Math.min(MOST, FIRST * 2 ** Math.min(failures, 30))
  const window = Math.max(alone, Math.min(MOST_FOR_MANY, peers * PER_PEER))
  return (0.1 + 0.9 * Math.random()) * window
}
