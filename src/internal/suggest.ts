// Bounds the work for a wrong id in a large namespace.
const MAX_CANDIDATES = 512

/** The candidate nearest to `typed`, if it is near enough to be a likely typo. */
export function nearest(typed: string, candidates: Iterable<string>): string | undefined {
  if (typed.length > 128) return undefined
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(typed.length / 4)) + 1
  let seen = 0
  for (const candidate of candidates) {
    if (++seen > MAX_CANDIDATES) break
    if (Math.abs(candidate.length - typed.length) >= bestDistance) continue
    const distance = editDistance(typed.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Single-character edits, a swap of neighbours counting as one. */
function editDistance(left: string, right: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: right.length + 1 }, (_, at) => at)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1]
      let cost = Math.min(
        (last[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (last[column - 1] as number) + (same ? 0 : 1),
      )
      const swapped =
        row > 1 &&
        column > 1 &&
        left[row - 1] === right[column - 2] &&
        left[row - 2] === right[column - 1]
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] as number) + 1)
      current.push(cost)
    }
    beforeLast = last
    last = current
  }
  return last[right.length] as number
}
