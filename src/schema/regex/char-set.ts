/** A set of code points as sorted ranges that do not touch. */
export type CharSet = ReadonlyArray<readonly [from: number, to: number]>

const LAST = 0x10ffff

/** Puts ranges in order and joins those that overlap or touch. */
export function charSet(ranges: ReadonlyArray<readonly [number, number]>): CharSet {
  const sorted = ranges.toSorted((a, b) => a[0] - b[0])
  const joined: Array<[number, number]> = []
  for (const [from, to] of sorted) {
    const last = joined[joined.length - 1]
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else joined.push([from, to])
  }
  return joined
}

/** Every code point that is not in the set. */
export function complement(set: CharSet): CharSet {
  const rest: Array<[number, number]> = []
  let next = 0
  for (const [from, to] of set) {
    if (from > next) rest.push([next, from - 1])
    next = to + 1
  }
  if (next <= LAST) rest.push([next, LAST])
  return rest
}

/** Whether two sets have a code point in common. */
export function overlaps(a: CharSet, b: CharSet): boolean {
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    const [aFrom, aTo] = a[i] as readonly [number, number]
    const [bFrom, bTo] = b[j] as readonly [number, number]
    if (aTo < bFrom) i++
    else if (bTo < aFrom) j++
    else return true
  }
  return false
}

/** Whether a code point is in the set. */
export function contains(set: CharSet, code: number): boolean {
  return overlaps(set, [[code, code]])
}

export const ANYTHING: CharSet = [[0, LAST]]
export const DIGITS: CharSet = [[0x30, 0x39]]
export const WORD: CharSet = charSet([
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
])
export const SPACE: CharSet = charSet([
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
])
export const NOT_NEWLINE: CharSet = complement([
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
])

/** What `\p{…}` may match: exact for ASCII, and all of the rest of Unicode for simplicity. */
export function propertySet(escape: string): CharSet {
  const regexp = new RegExp(escape, "u")
  const ranges: Array<[number, number]> = [[0x80, LAST]]
  for (let code = 0; code < 0x80; code++) {
    if (regexp.test(String.fromCodePoint(code))) ranges.push([code, code])
  }
  return charSet(ranges)
}

/** Whether a character or class is written with `\p{…}`, so that its set is only an approximation. */
export function usesProperty(text: string): boolean {
  return /\\p\{/i.test(text)
}
