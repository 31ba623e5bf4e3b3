import type { Timeline, TimelineCall, TimelinePart } from "../api/model.ts"
import type { CallForest, LoggedCall } from "./call-forest.ts"

/** A line of a waterfall: a call, or a part of it. */
export interface WaterfallRow {
  readonly key: string
  readonly call: LoggedCall
  readonly level: number
  readonly part?: TimelinePart | undefined
}

/** The lines of the tree that a call is in: below each call what happened in it, in the order in which it began. */
export function toWaterfall(
  forest: CallForest,
  call: LoggedCall,
  timeline: readonly TimelineCall[],
): readonly WaterfallRow[] {
  const root = forest.rootOf(call)
  const rows: WaterfallRow[] = []
  const open: WaterfallRow[] = [{ key: root.key, call: root, level: 0 }]
  while (open.length > 0) {
    const row = open.pop()
    if (row === undefined) break
    rows.push(row)
    if (row.part !== undefined) continue
    const { call: one, level } = row
    const parts = findTimelineCall(timeline, one)?.parts ?? []
    const below = [
      ...parts.map((part, at) => ({
        key: `${one.key} ${at}`,
        call: one,
        part,
        at: one.at + part.at,
      })),
      ...forest.childrenOf(one).map((child) => ({ key: child.key, call: child, at: child.at })),
    ].toSorted((left, right) => left.at - right.at)
    // Last first, as a stack gives them back.
    for (const next of below.toReversed()) open.push({ ...next, level: level + 1 })
  }
  return rows
}

/** The timeline that a call is in: clients choose request ids, so that several may have one. */
export function findTimeline(
  timelines: readonly Timeline[],
  call: LoggedCall,
): readonly TimelineCall[] | undefined {
  const own = findTimelineCall(
    timelines.flatMap(({ calls }) => calls),
    call,
  )
  return timelines.find(({ calls }) => own !== undefined && calls.includes(own))?.calls
}

/** A call in a timeline. The two are noted one after the other, so that their times may differ a little. */
export function findTimelineCall(
  calls: readonly TimelineCall[],
  { requestId, operationId, at }: LoggedCall,
): TimelineCall | undefined {
  return calls
    .filter((one) => one.requestId === requestId && one.operationId === operationId)
    .toSorted((left, right) => Math.abs(left.at - at) - Math.abs(right.at - at))[0]
}

/** The address of a trace in the user's own tracing page; `undefined` for what is no web address. */
export function traceAddress(
  link: string | undefined,
  traceId: string | undefined,
): string | undefined {
  if (link === undefined || traceId === undefined || !/^[\da-f]{32}$/.test(traceId))
    return undefined
  const address = link.replaceAll("{traceId}", traceId)
  return /^https?:$/.test(URL.parse(address)?.protocol ?? "") ? address : undefined
}
