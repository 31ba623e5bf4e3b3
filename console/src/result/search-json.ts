import { isObject } from "../../../src/internal/guards.ts"
import { countOf, entriesOf } from "./entries.ts"
import type { Entry } from "./entries.ts"

/** What a text was found in. */
export interface JsonSearch {
  /** Names and values that have the text in them. */
  readonly count: number
  /** Not everything was looked at. */
  readonly isCut: boolean
  isMatch(entry: Entry, holder: object): boolean
  /** Whether there is a match somewhere below a value. */
  holds(value: unknown): boolean
}

/** Values that are looked at. */
const MAX_VALUES = 500_000

/** Looks for a text in the names and values of JSON, in any case; `undefined` for no text. */
export function searchJson(root: unknown, text: string): JsonSearch | undefined {
  const wanted = text.trim().toLowerCase()
  if (wanted === "") return undefined
  // The index of an item is not a name.
  const isMatch = ({ key, value }: Entry, holder: object): boolean =>
    (!Array.isArray(holder) && key.toLowerCase().includes(wanted)) ||
    leafText(value).includes(wanted)
  const above = new Map<object, object | undefined>()
  const holding = new Set<object>()
  const open: object[] = []
  let count = 0
  let seen = 0
  if (isObject(root)) {
    above.set(root, undefined)
    open.push(root)
  } else if (leafText(root).includes(wanted)) count++
  for (let at = open.pop(); at !== undefined && seen < MAX_VALUES; at = open.pop()) {
    for (const entry of entriesOf(at, Math.min(countOf(at), MAX_VALUES - seen))) {
      seen++
      if (isMatch(entry, at)) {
        count++
        let holder: object | undefined = at
        while (holder !== undefined && !holding.has(holder)) {
          holding.add(holder)
          holder = above.get(holder)
        }
      }
      if (isObject(entry.value) && !above.has(entry.value)) {
        above.set(entry.value, at)
        open.push(entry.value)
      }
    }
  }
  return {
    count,
    isCut: seen >= MAX_VALUES,
    isMatch,
    holds: (value) => isObject(value) && holding.has(value),
  }
}

function leafText(value: unknown): string {
  if (isObject(value)) return ""
  return typeof value === "string" ? value.toLowerCase() : String(value)
}
