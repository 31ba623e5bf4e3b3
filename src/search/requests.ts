/** A query for an HTTP request: `GET /pets/{id}`, `/pets`, `POST refund`. */
export interface RequestQuery {
  /** In capital letters. */
  readonly method: string | undefined
  /** The segments of a path, in lower case; `undefined` if the query has words instead. */
  readonly segments?: readonly string[]
  /** The words after the method, if there is no path. */
  readonly words?: string | undefined
}

const MAX_SEGMENTS = 32
const MAX_LENGTH = 2048

/**
 * Reads a query that may ask for a request: a path or URL, or what may be a method in capital letters and words. `undefined`
 * for all others: in "delete a repo", the verb is a word.
 */
export function readRequest(query: string): RequestQuery | undefined {
  const text = query.slice(0, MAX_LENGTH).trim()
  const [, verb, path] = /^(?:([a-z]+)\s+)?([^\s/]*\/\S*)$/i.exec(text) ?? []
  if (path !== undefined) return { method: verb?.toUpperCase(), segments: segmentsOf(path) }
  const [, method, words] = /^([A-Z]{3,7})\s+(.+)$/s.exec(text) ?? []
  return method === undefined ? undefined : { method, words }
}

/**
 * How well a path matches: 0 for no match; a whole path scores more than its beginning, which scores more
 * than a later part. A placeholder answers any segment, but at least one has to be the same. The last segment
 * may not have been typed to its end.
 */
export function pathScore(wanted: readonly string[], path: string): number {
  const segments = path.slice(1).toLowerCase().split("/", MAX_SEGMENTS)
  const rest = segments.length - wanted.length
  for (let start = 0; start <= rest; start++) {
    const same = sameAt(wanted, segments, start)
    if (same === 0) continue
    const tier = start > 0 ? 1 : rest > 0 || same % 1 > 0 ? 2 : 3
    return tier + same / (wanted.length + 1) / (rest + 1)
  }
  return 0
}

/** The number of segments that are the same, half for a beginning; 0 if one differs. */
function sameAt(wanted: readonly string[], segments: readonly string[], start: number): number {
  let same = 0
  for (const [at, word] of wanted.entries()) {
    const segment = segments[start + at]!
    if (segment === word) same++
    else if (at === wanted.length - 1 && segment.startsWith(word)) same += 0.5
    else if (!/^\{.*\}$/.test(segment)) return 0
  }
  return same
}

/** The segments of a path or URL, without its host and query. */
function segmentsOf(text: string): readonly string[] {
  const path = text.toLowerCase().replace(/^(?:[^/:]+:\/\/[^/]*)?\/?|[?#].*/g, "")
  return path.split("/", MAX_SEGMENTS)
}
