import { isObject } from "../../internal/guards.ts"
import { cutText } from "../../internal/message-text.ts"
import { childPointer, getOwn } from "../../schema/json.ts"
import { canonicalJson } from "../../mcp/canonical.ts"

/** A difference between two definitions. */
export interface DefinitionChange {
  /** JSON pointer. */
  readonly path: string
  /** As JSON, shortened for display; `undefined` if the value was absent. */
  readonly before: string | undefined
  readonly after: string | undefined
}

const MAX_CHANGES = 20
const MAX_SHOWN = 160
const MAX_TEXT = 400
const MAX_DEPTH = 64

/** Compares two JSON values; returns at most 20 differences, as deep inside as possible. */
export function diffOf(before: unknown, after: unknown): readonly DefinitionChange[] {
  const changes: DefinitionChange[] = []
  compare(before, after, "", 0, changes)
  return changes
}

/** Describes a diff for a message. */
export function diffText(changes: readonly DefinitionChange[]): string {
  const listed = changes.slice(0, 3).map(({ path, before, after }) => {
    const place = path === "" ? "the whole value" : path
    if (before === undefined) return `${place} is new: ${cutText(after ?? "", MAX_SHOWN)}`
    if (after === undefined) return `${place} is gone: ${cutText(before, MAX_SHOWN)}`
    return `${place} was ${cutText(before, MAX_SHOWN)}, is ${cutText(after, MAX_SHOWN)}`
  })
  const more = changes.length - listed.length
  return more > 0 ? `${listed.join("; ")}; and ${more} more` : listed.join("; ")
}

function compare(
  before: unknown,
  after: unknown,
  path: string,
  depth: number,
  changes: DefinitionChange[],
): void {
  if (changes.length >= MAX_CHANGES || Object.is(before, after)) return
  if (depth < MAX_DEPTH && isObject(before) && isObject(after)) {
    if (Array.isArray(before) === Array.isArray(after)) {
      for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
        compare(
          getOwn(before, key),
          getOwn(after, key),
          childPointer(path, key),
          depth + 1,
          changes,
        )
      }
      return
    }
  }
  const [was, is] = [printed(before), printed(after)]
  if (was === is) return
  const cutAt = firstDifference(was ?? "", is ?? "")
  changes.push({ path, before: windowOf(was, cutAt), after: windowOf(is, cutAt) })
}

function printed(value: unknown): string | undefined {
  return value === undefined ? undefined : canonicalJson(value)
}

function firstDifference(a: string, b: string): number {
  let at = 0
  while (at < a.length && at < b.length && a[at] === b[at]) at++
  return at
}

/** The part of a long text that contains the difference: a poisoned description may be changed at its end. */
function windowOf(text: string | undefined, at: number): string | undefined {
  if (text === undefined || text.length <= MAX_TEXT) return text
  const start = Math.max(0, Math.min(at - 80, text.length - MAX_TEXT))
  const end = start + MAX_TEXT
  return `${start > 0 ? "…" : ""}${text.slice(start, end)}${end < text.length ? "…" : ""}`
}
