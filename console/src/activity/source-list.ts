import type { ListedSource, SourceInfo, SourceReport, SourceStatus } from "../api/model.ts"
import { formatCount, formatDuration } from "../ui/format.ts"
import { groupBy } from "../ui/group-by.ts"

type ReportItem = SourceReport["items"][number]

/** The filter of a report. */
export interface ReportFilter {
  readonly text: string
  readonly status: ReportItem["status"] | "any"
}

/** The sources with one that has changed: in its place, or at the end when it is new. */
export function withStatus(
  sources: readonly ListedSource[],
  status: SourceStatus,
): readonly ListedSource[] {
  const index = sources.findIndex(({ name }) => name === status.name)
  if (index === -1) return [...sources, status]
  const calls = sources[index]?.calls
  return sources.with(index, calls === undefined ? status : { ...status, calls })
}

/** Failed sources first, then those whose calls are refused; otherwise in the order of the configuration. */
export function failedFirst(
  sources: readonly ListedSource[],
  refuses: (source: ListedSource) => boolean,
): readonly ListedSource[] {
  return sources.toSorted((a, b) => urgencyOf(a, refuses(a)) - urgencyOf(b, refuses(b)))
}

function urgencyOf({ state, attempts }: SourceStatus, isRefused: boolean): number {
  // One that is being tried again stays where it was.
  if (state === "failed" || (state === "loading" && attempts > 0)) return 0
  if (state === "lost") return 1
  if (isRefused) return 2
  return state === "disabled" ? 4 : 3
}

/** The sources of a response, with the status updates that arrived during the request. */
export function withStatuses(
  answer: readonly ListedSource[],
  updates: readonly SourceStatus[],
): readonly ListedSource[] {
  return updates.reduce<readonly ListedSource[]>(withStatus, answer)
}

/** How the sources are doing, in a sentence. */
export function describeSources(sources: readonly SourceStatus[]): string {
  const states = groupBy(sources, ({ state }) => state)
  const parts = [...states].map(([state, { length }]) => `${length} ${state}`)
  const count = sources.length === 1 ? "1 source" : `${sources.length} sources`
  return parts.length === 0 ? "No sources." : `${count}: ${parts.join(", ")}.`
}

/** How the calls of a source went, in a sentence; `undefined` before the first one. */
export function describeCalls(calls: ListedSource["calls"]): string | undefined {
  if (calls === undefined || calls.calls === 0) return undefined
  const { errorRate, latencyMs } = calls
  const percent = errorRate * 100
  const shown = percent > 0 && percent < 1 ? "less than 1" : Math.round(percent)
  const times = `p50 ${formatDuration(latencyMs.p50)}, p90 ${formatDuration(latencyMs.p90)}`
  return `${formatCount(calls.calls, "call")}, ${shown} % of the last ones failed; ${times}.`
}

/** What a reload changed, in a sentence. */
export function describeChanges({ added, removed, changed }: Changes): string {
  const parts = [
    added.count > 0 && `${added.count} added`,
    removed.count > 0 && `${removed.count} removed`,
    changed.count > 0 && `${changed.count} changed`,
  ].filter((part) => part !== false)
  return parts.length === 0 ? "nothing changed" : parts.join(", ")
}

type Changes = NonNullable<SourceInfo["changes"]>

/** When something happens, from now. */
export function untilText(at: number, now: number): string {
  const seconds = Math.ceil((at - now) / 1000)
  if (seconds <= 0) return "any moment"
  if (seconds < 90) return `in ${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 90 ? `in ${minutes} min` : `in ${Math.round(minutes / 60)} h`
}

/** The items of a report that match a filter. */
export function filterReport(
  { items }: SourceReport,
  { text, status }: ReportFilter,
): readonly ReportItem[] {
  const wanted = text.trim().toLowerCase()
  return items.filter(
    (item) =>
      (status === "any" || item.status === status) &&
      (wanted === "" || textOf(item).includes(wanted)),
  )
}

function textOf({ id, origin, notes }: ReportItem): string {
  return [id ?? "", origin, ...notes].join("\n").toLowerCase()
}
