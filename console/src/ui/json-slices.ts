import { setOwn } from "../../../src/internal/own.ts"
import { pause } from "../../../src/internal/wait.ts"
import { parseJson } from "./json-text.ts"

/** Characters that are parsed at once, and that are read between two looks at the clock. */
const SLICE = 256 * 1024
/** Milliseconds after which the page can draw. */
const TURN_MS = 16
/** What is nested deeper is parsed at once. */
const MAX_DEPTH = 100

/** Parses JSON like `parseJson`, with pauses: a text of 20 MB would block the page for a second. */
export async function parseInSlices(text: string, slice: number = SLICE): Promise<unknown> {
  const slices = slicesOf(text, slice, 0)
  for (let since = performance.now(); ;) {
    const { done, value } = slices.next()
    if (done === true) return value
    // Timers of hidden pages are late, and those draw nothing.
    if (performance.now() - since < TURN_MS || globalThis.document?.hidden) continue
    await pause(0)
    since = performance.now()
  }
}

/** Parses a long list or object some members at a time, and long members in the same way. */
function* slicesOf(text: string, slice: number, depth: number): Generator<void, unknown, void> {
  const begin = text.search(/[^ \n\r\t]/)
  const open = text[begin] ?? ""
  // A text is not searched for large integers.
  if (open === '"') return JSON.parse(text)
  if (text.length <= slice || depth > MAX_DEPTH || !"[{".includes(open)) return parseJson(text)
  const [list, object]: [unknown[], object] = [[], {}]
  const close = open === "[" ? "]" : "}"
  const take = (from: number, to: number): void => {
    const members = text.slice(from, to)
    // Nothing before or after a comma: no JSON, unless there is no comma at all.
    const part = parseJson(members.trim() === "" ? text : open + members + close) as object
    if (open === "[") for (const item of part as unknown[]) list.push(item)
    else for (const [name, value] of Object.entries(part)) setOwn(object, name, value)
  }
  // Where the members begin that are not parsed yet, and the last of them.
  let [first, start, inside] = [begin + 1, begin + 1, 0]
  for (let at = start, next = slice; at < text.length; at++) {
    if (at > next) {
      next = at + slice
      yield
    }
    const char = text[at]
    if (char === '"') at = endOfText(text, at)
    else if (char === "[" || char === "{") inside++
    else if (char === "]" || char === "}") inside--
    if (inside > 0 || (inside === 0 && char !== ",")) continue
    if (at - start > slice) {
      if (start > first) take(first, start - 1)
      const colon =
        open === "[" ? start - 1 : text.indexOf(":", endOfText(text, text.indexOf('"', start)))
      const value = yield* slicesOf(text.slice(colon + 1, at), slice, depth + 1)
      if (open === "[") list.push(value)
      else {
        const [name = ""] = Object.keys(parseJson(`{${text.slice(start, colon)}:0}`) as object)
        setOwn(object, name, value)
      }
      first = at + 1
    } else if (inside < 0 || at - first > slice) {
      take(first, at)
      first = at + 1
    }
    if (inside < 0) {
      // At the end of the value: after it, what is left must be JSON.
      parseJson(`${open}${text.slice(at)}`)
      return open === "[" ? list : object
    }
    start = at + 1
  }
  return parseJson(text)
}

/** Where a text ends that begins with a quote; beyond the end if it does not. */
function endOfText(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text[end - 1 - slashes] === "\\") slashes++
    if (slashes % 2 === 0) return end
  }
  return text.length
}
