import type { CallForest, CallState, LoggedCall } from "./call-forest.ts"

/** The filter of the calls. */
export interface CallFilter {
  /** Words that each are part of an operation, an error code, a source, an identity or a request id; or `code:TIMEOUT`. */
  readonly text: string
  readonly state: CallState | "any"
  /** What became of the calls that people had to approve. */
  readonly approval: NonNullable<LoggedCall["approval"]> | "any"
  /** The name of a source; empty for any. */
  readonly source: string
  /** The shortest duration, in milliseconds. */
  readonly minMs: number
}

/** A filter that matches everything. */
export const NO_FILTER: CallFilter = {
  text: "",
  state: "any",
  approval: "any",
  source: "",
  minMs: 0,
}

/** The source of each operation. */
export type SourceOf = ReadonlyMap<string, string | undefined>

const NO_SOURCES: SourceOf = new Map()

/** A line of the tree. */
export interface CallRow {
  readonly call: LoggedCall
  /** The call that all of its tree is below. */
  readonly root: LoggedCall
  /** From 0. */
  readonly level: number
  /** `undefined` for a call that has made no others. */
  readonly isOpen: boolean | undefined
  /** Whether it matches the filter itself, rather than a call below it. */
  readonly isMatch: boolean
  /** Its place among those with the same parent, from 1, and how many there are. */
  readonly position: number
  readonly siblings: number
}

/** The lines of a forest: those that match, and what they are below. */
export function toRows(
  forest: CallForest,
  filter: CallFilter,
  closed: ReadonlySet<string>,
  sources: SourceOf = NO_SOURCES,
): readonly CallRow[] {
  const matches = matcherOf(filter, sources)
  const kept = matches === undefined ? undefined : keptBy(forest, matches)
  const shownOf = (calls: readonly LoggedCall[]): readonly LoggedCall[] =>
    kept === undefined ? calls : calls.filter(({ key }) => kept.has(key))
  const rows: CallRow[] = []
  const open = linesOf(shownOf(forest.roots)).map((line) => ({
    ...line,
    level: 0,
    root: line.call,
  }))
  while (open.length > 0) {
    const next = open.pop()
    if (next === undefined) break
    const children = shownOf(forest.childrenOf(next.call))
    const isOpen = children.length > 0 ? !closed.has(next.call.key) : undefined
    rows.push({ ...next, isOpen, isMatch: matches?.(next.call) ?? true })
    if (isOpen !== true) continue
    for (const line of linesOf(children)) {
      open.push({ ...line, level: next.level + 1, root: next.root })
    }
  }
  return rows
}

/** Where a call lies within its tree, as parts of the tree's time. */
export function spanWithin(
  call: Pick<LoggedCall, "at">,
  durationMs: number | undefined,
  root: { readonly at: number; readonly durationMs: number | undefined },
): { readonly start: number; readonly width: number } {
  const whole = Math.max(root.durationMs ?? 0, call.at - root.at + (durationMs ?? 0))
  if (whole <= 0) return { start: 0, width: 1 }
  const start = Math.min(1, Math.max(0, (call.at - root.at) / whole))
  return { start, width: Math.min(1 - start, (durationMs ?? 0) / whole) }
}

/** Last first, as a stack gives them back. */
function linesOf(
  calls: readonly LoggedCall[],
): { readonly call: LoggedCall; readonly position: number; readonly siblings: number }[] {
  return calls
    .map((call, index) => ({ call, position: index + 1, siblings: calls.length }))
    .toReversed()
}

function matcherOf(
  { text, state, approval, source, minMs }: CallFilter,
  sources: SourceOf,
): ((call: LoggedCall) => boolean) | undefined {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const isOpen = state === "any" && approval === "any" && source === "" && minMs === 0
  if (words.length === 0 && isOpen) return undefined
  return (call) => {
    const { operationId, code, identity, requestId, durationMs } = call
    const from = sources.get(operationId) ?? call.source
    const fields = { operation: operationId, code, source: from, caller: identity, requestId }
    return (
      (approval === "any" || call.approval === approval) &&
      (state === "any" || call.state === state) &&
      (source === "" || from === source) &&
      (minMs === 0 || (durationMs !== undefined && durationMs >= minMs)) &&
      words.every((word) => isIn(word, fields))
    )
  }
}

/** Whether a word is part of a field; `code:` before it says of which. */
function isIn(word: string, fields: Readonly<Record<string, string | undefined>>): boolean {
  const colon = word.indexOf(":")
  const name = word.slice(0, Math.max(0, colon))
  if (Object.hasOwn(fields, name)) {
    return fields[name]?.toLowerCase().includes(word.slice(colon + 1)) === true
  }
  return Object.values(fields).some((part) => part?.toLowerCase().includes(word))
}

function keptBy(
  { roots, within, parentOf }: CallForest,
  matches: (call: LoggedCall) => boolean,
): ReadonlySet<string> {
  const kept = new Set<string>()
  for (const root of roots) {
    for (const call of within(root)) {
      if (!matches(call)) continue
      let at: LoggedCall | undefined = call
      while (at !== undefined && !kept.has(at.key)) {
        kept.add(at.key)
        at = parentOf(at)
      }
    }
  }
  return kept
}
