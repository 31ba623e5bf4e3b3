import type { ReportItem, SourceReport } from "../../hub/model.ts"
import type { CommandIO } from "../model.ts"
import { oneLine, styled } from "../output.ts"

const MAX_ITEMS = 10
const MAX_NOTES = 3

/** `8 kept, 1 widened, 2 skipped`. */
export function countsText({ kept, widened, skipped, filtered }: SourceReport): string {
  const parts = [`${kept} kept`]
  if (widened > 0) parts.push(`${widened} widened`)
  if (skipped > 0) parts.push(`${skipped} skipped`)
  if (filtered > 0) parts.push(`${filtered} left out by include and exclude`)
  return parts.join(", ")
}

/** Lines about single operations of an import: skipped ones first, and a limited number. */
export function reportLines(report: SourceReport, io: CommandIO): string[] {
  const { yellow, dim } = styled(io)
  const limit = io.verbose === true ? Number.POSITIVE_INFINITY : MAX_ITEMS
  const lines = report.warnings.map((warning) => `${yellow("!")} ${oneLine(warning)}`)
  for (const status of ["skipped", "widened", "kept"] as const) {
    const items = report.items.filter((item) => item.status === status && item.notes.length > 0)
    // Notes about kept operations are shown only with --verbose.
    if (status === "kept" && io.verbose !== true) continue
    for (const item of items.slice(0, limit)) lines.push(...itemLines(item, io))
    if (items.length > limit) {
      lines.push(dim(`and ${items.length - limit} more ${status}; --verbose shows them`))
    }
  }
  return lines
}

function itemLines({ id, origin, status, notes }: ReportItem, io: CommandIO): string[] {
  const { yellow, dim } = styled(io)
  const word = status === "skipped" ? yellow(status) : dim(status)
  const name = id === undefined ? oneLine(origin) : `${oneLine(id)} ${dim(`(${oneLine(origin)})`)}`
  const shownNotes = io.verbose === true ? notes : notes.slice(0, MAX_NOTES)
  const lines = [`${word} ${name}`, ...shownNotes.map((one) => `  ${oneLine(one)}`)]
  if (notes.length > shownNotes.length) {
    lines.push(dim(`  and ${notes.length - shownNotes.length} more`))
  }
  return lines
}
