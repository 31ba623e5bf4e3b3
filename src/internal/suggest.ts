// Bounds the work for a wrong id in a large namespace.
const MAX_CANDIDATES = 512
const MIN_BEGINNING = 3

/** The candidate most similar to `typed`, if it is a likely typo. */
export function nearest(typed: string, candidates: Iterable<string>): string | undefined {
  if (typed.length > 128) return undefined
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(typed.length / 4)) + 1
  let seen = 0
  for (const candidate of candidates) {
    if (++seen > MAX_CANDIDATES) break
    const isBeginning = typed.length >= MIN_BEGINNING && candidate.startsWith(typed)
    if (!isBeginning && Math.abs(candidate.length - typed.length) >= bestDistance) continue
    // A name that was cut off is a likelier typo than another name.
    const distance = isBeginning ? 1 : editDistance(typed.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** A sentence about the candidate most similar to `typed`, with a space before it; empty without one. */
export function didYouMean(typed: string, candidates: Iterable<string>): string {
  const meant = nearest(typed, candidates)
  return meant === undefined ? "" : ` Did you mean "${meant}"?`
}

/** Single-character edits, a swap of neighbors counting as one. */
function editDistance(left: string, right: string): number {
  const rows: number[][] = []
  const at = (row: number, column: number): number => rows[row]?.[column] ?? row + column
  for (let row = 1; row <= left.length; row++) {
    const current: number[] = [row]
    rows[row] = current
    for (let column = 1; column <= right.length; column++) {
      const isSame = left[row - 1] === right[column - 1]
      const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      current[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (isSame ? 0 : 1),
        isSwapped ? at(row - 2, column - 2) + 1 : Infinity,
      )
    }
  }
  return at(left.length, right.length)
}
