import type { CallForest, CallState, LoggedCall } from "./call-forest.ts"

/** The filter of the calls. */
export interface CallFilter {
  /** Part of an operation, an error code, a source or an identity. */
  readonly text: string
  readonly state: CallState | "any"
  /** What became of the calls that people had to approve. */
  readonly approval: NonNullable<LoggedCall["approval"]> | "any"
}

/** A filter that matches everything. */
export const NO_FILTER: CallFilter = { text: "", state: "any", approval: "any" }

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
): readonly CallRow[] {
  const matches = matcherOf(filter)
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

function matcherOf({
  text,
  state,
  approval,
}: CallFilter): ((call: LoggedCall) => boolean) | undefined {
  const wanted = text.trim().toLowerCase()
  if (wanted === "" && state === "any" && approval === "any") return undefined
  return (call) =>
    (approval === "any" || call.approval === approval) &&
    (state === "any" || call.state === state) &&
    [call.operationId, call.code, call.source, call.identity, call.requestId].some((part) =>
      part?.toLowerCase().includes(wanted),
    )
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
