/** Whether one inserted, missing, wrong or swapped letter makes the difference. Not for equal words. */
export function isOneEditApart(a: string, b: string): boolean {
  const difference = a.length - b.length
  if (difference > 1 || difference < -1) return false
  const shorter = Math.min(a.length, b.length)
  let from = 0
  while (from < shorter && a.charCodeAt(from) === b.charCodeAt(from)) from++
  if (difference !== 0) {
    return difference > 0 ? sameFrom(a, from + 1, b, from) : sameFrom(a, from, b, from + 1)
  }
  if (from === shorter) return false
  if (sameFrom(a, from + 1, b, from + 1)) return true
  const swapped = a[from] === b[from + 1] && a[from + 1] === b[from]
  return swapped && sameFrom(a, from + 2, b, from + 2)
}

function sameFrom(a: string, fromA: number, b: string, fromB: number): boolean {
  let i = fromA
  let j = fromB
  while (i < a.length && a.charCodeAt(i) === b.charCodeAt(j)) {
    i++
    j++
  }
  return i >= a.length
}
