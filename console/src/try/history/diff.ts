import { isRecord } from "../../../../src/internal/guards.ts"
import { sameData } from "../../../../src/internal/same-data.ts"
import type { Path } from "../schema/json.ts"
import { toPointer } from "../schema/pointer.ts"

/** One difference of two values. */
export interface Change {
  readonly pointer: string
  readonly kind: "added" | "removed" | "changed"
  readonly before?: unknown
  readonly after?: unknown
}

/** The differences of two values, and whether there are more than listed. */
export interface Diff {
  readonly changes: readonly Change[]
  readonly isCut: boolean
}

const MAX_CHANGES = 500

/** What is different in `after`. Lists are compared from both ends: what was put in between is one change each. */
export function diffValues(before: unknown, after: unknown): Diff {
  const changes: Change[] = []
  compare(before, after, [], changes)
  return { changes: changes.slice(0, MAX_CHANGES), isCut: changes.length > MAX_CHANGES }
}

function compare(before: unknown, after: unknown, path: Path, changes: Change[]): void {
  if (changes.length > MAX_CHANGES || sameData(before, after)) return
  if (Array.isArray(before) && Array.isArray(after))
    return compareLists(before, after, path, changes)
  if (isRecord(before) && isRecord(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const was = Object.hasOwn(before, key) ? before[key] : undefined
      const is = Object.hasOwn(after, key) ? after[key] : undefined
      compare(was, is, [...path, key], changes)
    }
    return
  }
  const pointer = toPointer(path)
  if (before === undefined) changes.push({ pointer, kind: "added", after })
  else if (after === undefined) changes.push({ pointer, kind: "removed", before })
  else changes.push({ pointer, kind: "changed", before, after })
}

function compareLists(
  before: readonly unknown[],
  after: readonly unknown[],
  path: Path,
  changes: Change[],
): void {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && sameData(before[start], after[start])) start++
  let end = 0
  while (end < shorter - start && sameData(before.at(-1 - end), after.at(-1 - end))) end++
  const [was, is] = [
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
  ]
  for (let at = 0; at < Math.max(was.length, is.length); at++) {
    compare(was[at], is[at], [...path, start + at], changes)
    if (changes.length > MAX_CHANGES) return
  }
}
