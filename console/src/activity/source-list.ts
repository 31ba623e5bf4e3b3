import type { SourceReport, SourceStatus } from "../api/model.ts"
import type { Tone } from "../ui/tone.ts"
import { groupBy } from "./group-by.ts"

type ReportItem = SourceReport["items"][number]

/** The filter of a report. */
export interface ReportFilter {
  readonly text: string
  readonly status: ReportItem["status"] | "any"
}

/** The sources with one that has changed: in its place, or at the end when it is new. */
export function withStatus(
  sources: readonly SourceStatus[],
  status: SourceStatus,
): readonly SourceStatus[] {
  const index = sources.findIndex(({ name }) => name === status.name)
  return index === -1 ? [...sources, status] : sources.with(index, status)
}

/** The sources of a response, with the status updates that arrived during the request. */
export function withStatuses(
  answer: readonly SourceStatus[],
  updates: readonly SourceStatus[],
): readonly SourceStatus[] {
  return updates.reduce<readonly SourceStatus[]>(withStatus, answer)
}

/** A state as a badge. */
export function toneOf(state: SourceStatus["state"]): Tone {
  switch (state) {
    case "ready":
      return "good"
    case "loading":
      return "info"
    case "lost":
      return "warn"
    case "failed":
      return "bad"
    case "disabled":
      return "neutral"
  }
}

/** How the sources are doing, in a sentence. */
export function describeSources(sources: readonly SourceStatus[]): string {
  const states = groupBy(sources, ({ state }) => state)
  const parts = [...states].map(([state, { length }]) => `${length} ${state}`)
  const count = sources.length === 1 ? "1 source" : `${sources.length} sources`
  return parts.length === 0 ? "No sources." : `${count}: ${parts.join(", ")}.`
}

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
