import { MAX_DOCUMENTS } from "./postings.ts"

/** The resolution of scores: four tiers of these and a place fit a double exactly. */
const STEPS_PER_TIER = 2 ** 26

const MAX_BUCKETS = 4096

/** Score and place in one number that sorts: a higher score first, then the earlier place. */
export function rankKey(score: number, place: number): number {
  return Math.floor(score * STEPS_PER_TIER) * MAX_DOCUMENTS + (MAX_DOCUMENTS - 1 - place)
}

/** The score in a key, rounded down to what the order goes by. */
export function scoreOfKey(key: number): number {
  return stepsOf(key) / STEPS_PER_TIER
}

/** The place in a key. */
export function placeOfKey(key: number): number {
  return MAX_DOCUMENTS - 1 - (key - stepsOf(key) * MAX_DOCUMENTS)
}

// Arithmetic instead of `%`, which is slow on numbers beyond 32 bits.
function stepsOf(key: number): number {
  return Math.floor(key / MAX_DOCUMENTS)
}

/**
 * Calls `visit` with the keys from the highest on, until it returns `false`.
 *
 * Most searches take a handful from many. So the keys are only thrown into buckets by size, in
 * linear time, and a bucket is sorted when its turn comes.
 */
export function eachDescending(keys: Float64Array, visit: (key: number) => boolean): void {
  const { grouped, starts } = intoBuckets(keys)
  for (let bucket = starts.length - 2; bucket >= 0; bucket--) {
    const [start, end] = [starts[bucket]!, starts[bucket + 1]!]
    if (end - start > 1) grouped.subarray(start, end).sort()
    for (let i = end - 1; i >= start; i--) if (!visit(grouped[i]!)) return
  }
}

/** The keys grouped by equal slices of their range, and where each group starts. */
function intoBuckets(keys: Float64Array): { grouped: Float64Array; starts: Uint32Array } {
  let [least, most] = [Infinity, 0]
  for (let i = 0; i < keys.length; i++) {
    least = Math.min(least, keys[i]!)
    most = Math.max(most, keys[i]!)
  }
  const count = Math.min(MAX_BUCKETS, keys.length)
  const scale = most > least ? (count - 1) / (most - least) : 0
  const starts = new Uint32Array(count + 1)
  const grouped = new Float64Array(keys.length)
  for (let i = 0; i < keys.length; i++) starts[Math.floor((keys[i]! - least) * scale)]!++
  // Counts become ends, and filling each bucket from its end makes them starts.
  for (let i = 1; i <= count; i++) starts[i]! += starts[i - 1]!
  for (let i = 0; i < keys.length; i++) {
    grouped[--starts[Math.floor((keys[i]! - least) * scale)]!] = keys[i]!
  }
  return { grouped, starts }
}
