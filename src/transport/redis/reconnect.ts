import { backOff } from "../../internal/back-off.ts"

const MIN_DELAY_MS = 150
const MAX_DELAY_MS = 800
const PER_PEER_MS = 12
const MAX_CROWD_DELAY_MS = 5000

/**
 * The delay before the next attempt, in milliseconds: short for a few processes, and spread for many.
 *
 * `peers` is the number of processes on the broker when it was last connected.
 */
export function reconnectDelay(failures: number, peers: number): number {
  const alone = backOff(failures + 1, MIN_DELAY_MS, MAX_DELAY_MS)
  const window = Math.max(alone, Math.min(MAX_CROWD_DELAY_MS, peers * PER_PEER_MS))
  return (0.1 + 0.9 * Math.random()) * window
}
