import type { Unregistered } from "./source-ownership.ts"
import type { RawReport, ReportItem, SourceReport } from "./model.ts"
import type { Shaped } from "./apply-source-config.ts"

/** Translates a source's own report to the ids of the hub, and adds what the hub left out. */
export function reportOf(
  raw: RawReport,
  shaped: Shaped,
  unregistered: readonly Unregistered[],
  mask: (text: string) => string,
): SourceReport {
  const reasons = new Map(unregistered.map(({ id, reason }) => [id, reason]))
  const items: ReportItem[] = []
  const counts = { kept: 0, widened: 0, skipped: 0 }
  let filtered = 0
  for (const item of raw.items) {
    if (item.id !== undefined && shaped.filtered.has(item.id)) {
      filtered++
      continue
    }
    const mine = reportItem(item, shaped.ids, reasons)
    counts[mine.status]++
    if (mine.status === "kept" && mine.notes.length === 0) continue
    items.push({ ...mine, origin: mask(mine.origin), notes: mine.notes.map(mask) })
  }
  return { ...counts, filtered, items, warnings: [...raw.warnings, ...shaped.warnings].map(mask) }
}

function reportItem(
  { id: originalId, origin, status, notes }: ReportItem,
  ids: ReadonlyMap<string, string>,
  reasons: ReadonlyMap<string, string>,
): ReportItem {
  const id = originalId === undefined ? undefined : ids.get(originalId)
  if (id === undefined) return { origin, status, notes }
  const reason = reasons.get(id)
  return reason === undefined
    ? { id, origin, status, notes }
    : { origin, status: "skipped", notes: [reason] }
}
