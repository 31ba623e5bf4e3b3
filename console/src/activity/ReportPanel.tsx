import { useCallback, useMemo, useState } from "react"
import type { ReactNode } from "react"
import type { SourceReport } from "../api/model.ts"
import { linkTo, useHub } from "../app/context.tsx"
import { Badge, ErrorBox, SearchField, Select, Spinner } from "../ui/index.ts"
import { LongList } from "./LongList.tsx"
import { filterReport } from "./source-list.ts"
import type { Tone } from "../ui/tone.ts"
import type { ReportFilter } from "./source-list.ts"
import { useRequested } from "./use-requested.ts"

type ReportItem = SourceReport["items"][number]

const TONES: Readonly<Record<ReportItem["status"], Tone>> = {
  kept: "good",
  widened: "warn",
  skipped: "bad",
}

const STATUSES: readonly (readonly [status: ReportFilter["status"], text: string])[] = [
  ["any", "Everything"],
  ["kept", "kept"],
  ["widened", "widened"],
  ["skipped", "skipped"],
]

/** What each count of a report means. */
const COUNTS = [
  ["kept", "Imported as its source describes it."],
  ["widened", "Imported, but accepts or returns more than its source describes."],
  ["skipped", "Not imported; its note says why."],
  ["filtered", "Left out by include or exclude in the configuration."],
] as const

/** The import report of a source; requested when it is opened, and when the source has changed. */
export function ReportPanel({
  name,
  version,
}: {
  readonly name: string
  /** Changes when there may be a new report. */
  readonly version: string
}): ReactNode {
  const hub = useHub()
  const ask = useCallback((signal: AbortSignal) => hub.report(name, signal), [hub, name])
  const { value: report, error, again } = useRequested(ask, { version })
  if (error !== undefined) return <ErrorBox error={error} onRetry={again} />
  if (report === undefined) return <Spinner label="Loading the report" />
  return (
    <div className="stack">
      <dl className="report-counts">
        {COUNTS.map(([count, meaning]) => (
          <div key={count} title={meaning}>
            <dt>{count}</dt>
            <dd>{report[count].toLocaleString("en")}</dd>
          </div>
        ))}
      </dl>
      {report.warnings.length > 0 && (
        <ul className="report-warnings" aria-label="Warnings">
          {report.warnings.map((warning, index) => (
            <li key={index}>{warning}</li>
          ))}
        </ul>
      )}
      <Items name={name} report={report} />
    </div>
  )
}

function Items({
  name,
  report,
}: {
  readonly name: string
  readonly report: SourceReport
}): ReactNode {
  const [filter, setFilter] = useState<ReportFilter>({ text: "", status: "any" })
  const items = useMemo(() => filterReport(report, filter), [report, filter])
  if (report.items.length === 0)
    return <p className="muted">No notes: everything is imported as its source describes it.</p>
  return (
    <>
      <ReportFilters filter={filter} onChange={setFilter} />
      {items.length === 0 ? (
        <p className="muted">Nothing matches the filter.</p>
      ) : (
        <LongList label={`Report of ${name}`} items={items} keyOf={keyOf} height={56}>
          {(item) => <Item item={item} />}
        </LongList>
      )}
    </>
  )
}

function ReportFilters({
  filter,
  onChange,
}: {
  readonly filter: ReportFilter
  readonly onChange: (filter: ReportFilter) => void
}): ReactNode {
  return (
    <div className="row">
      <SearchField
        label="Filter the report"
        placeholder="Filter by name or note"
        text={filter.text}
        onText={(text) => onChange({ ...filter, text })}
      />
      <Select
        label="Filter by result"
        value={filter.status}
        options={STATUSES}
        onChange={(status) => onChange({ ...filter, status })}
      />
    </div>
  )
}

function Item({ item }: { readonly item: ReportItem }): ReactNode {
  const { id, origin, status, notes } = item
  return (
    <div className="report-item">
      <p className="row">
        <Badge tone={TONES[status]}>{status}</Badge>
        {id !== undefined && <a href={linkTo({ view: "operation", id })}>{id}</a>}
        <code className="muted">{origin}</code>
      </p>
      {notes.length > 0 && (
        <ul>
          {notes.map((note, index) => (
            <li key={index}>{note}</li>
          ))}
        </ul>
      )}
    </div>
  )
}

function keyOf({ id, origin }: ReportItem, index: number): string {
  return `${index} ${id ?? origin}`
}
