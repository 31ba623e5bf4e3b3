import { useId, useMemo, useState } from "react"
import type { PointerEvent, ReactNode } from "react"
import { Select, clockText } from "../ui/index.ts"
import { drawSeries, formatNumber, positionOn, scaleOf } from "./scale.ts"
import type { Scale } from "./scale.ts"
import { numericFields, preferredField, readNumber } from "./series.ts"
import type { NumericField } from "./series.ts"
import { describeSeries, summarise } from "./summary.ts"
import type { WatchEntry } from "./model.ts"

/** What the drawing is made in; it is stretched to the room there is. */
const BOX = { width: 1000, height: 200 }

/** How many values the table beside the chart has. */
const TABLE_ROWS = 20

/** A number of each item, as a line; nothing where the items have no numbers. */
export function SeriesChart({ entries }: { readonly entries: readonly WatchEntry[] }): ReactNode {
  const select = useId()
  const [chosen, setChosen] = useState<string>()
  const fields = useMemo(
    () => numericFields(entries.map(({ envelope }) => envelope.data)),
    [entries],
  )
  const field = fields.find(({ pointer }) => pointer === chosen) ?? preferredField(fields)
  if (field === undefined) return null
  return (
    <figure className="chart card">
      {fields.length > 1 ? (
        <p className="row chart-head">
          <label htmlFor={select}>Chart of</label>
          <Select
            id={select}
            value={field.pointer}
            options={fields.map(({ pointer, label }) => [pointer, label])}
            onChange={setChosen}
          />
        </p>
      ) : (
        <p className="row chart-head">Chart of {field.label}</p>
      )}
      <Line field={field} entries={entries} />
    </figure>
  )
}

function Line({
  field,
  entries,
}: {
  readonly field: NumericField
  readonly entries: readonly WatchEntry[]
}): ReactNode {
  const values = useMemo(
    () => entries.map(({ envelope }) => readNumber(envelope.data, field.path)),
    [entries, field],
  )
  const scale = useMemo(() => scaleOf(values), [values])
  const words = describeSeries(field.label, summarise(values))
  const [at, setAt] = useState<number>()
  const point = (event: PointerEvent<SVGSVGElement>): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    setAt(width === 0 ? undefined : Math.min(1, Math.max(0, (event.clientX - left) / width)))
  }
  const index = at === undefined ? undefined : Math.round(at * (values.length - 1))
  return (
    <>
      <div className="chart-plot">
        <div className="chart-axis" aria-hidden="true">
          {scale.ticks.map(({ value, at: height, label }) => (
            <span key={value} style={{ bottom: `${height * 100}%` }}>
              {label}
            </span>
          ))}
        </div>
        <svg
          role="img"
          aria-label={words}
          className="chart-drawing"
          viewBox={`0 0 ${BOX.width} ${BOX.height}`}
          preserveAspectRatio="none"
          onPointerMove={point}
          onPointerLeave={() => setAt(undefined)}
        >
          <Drawing values={values} scale={scale} />
          {index !== undefined && <Mark values={values} scale={scale} index={index} />}
        </svg>
      </div>
      <figcaption className="chart-words">
        {index === undefined ? words : readout(entries[index], values[index])}
      </figcaption>
      <details className="chart-table">
        <summary>Last values as a table</summary>
        <Table field={field} entries={entries} values={values} />
      </details>
    </>
  )
}

function Drawing({
  values,
  scale,
}: {
  readonly values: readonly (number | undefined)[]
  readonly scale: Scale
}): ReactNode {
  const { lines, dots } = useMemo(() => drawSeries(values, scale, BOX), [values, scale])
  return (
    <>
      {scale.ticks.map(({ value, at }) => {
        const y = (1 - at) * BOX.height
        return <line key={value} className="chart-grid" x1={0} x2={BOX.width} y1={y} y2={y} />
      })}
      {lines.map((points, index) => (
        <polyline key={index} className="chart-line" points={points} />
      ))}
      {dots.map(({ x, y }) => (
        // A line of no length with round ends: a circle would be stretched with the drawing.
        <path key={x} className="chart-dot" d={`M${x} ${y}h0`} />
      ))}
    </>
  )
}

function Mark({
  values,
  scale,
  index,
}: {
  readonly values: readonly (number | undefined)[]
  readonly scale: Scale
  readonly index: number
}): ReactNode {
  const x = values.length < 2 ? BOX.width / 2 : (index / (values.length - 1)) * BOX.width
  const value = values[index]
  return (
    <>
      <line className="chart-mark" x1={x} x2={x} y1={0} y2={BOX.height} />
      {value !== undefined && (
        <path className="chart-dot" d={`M${x} ${(1 - positionOn(scale, value)) * BOX.height}h0`} />
      )}
    </>
  )
}

function Table({
  field,
  entries,
  values,
}: {
  readonly field: NumericField
  readonly entries: readonly WatchEntry[]
  readonly values: readonly (number | undefined)[]
}): ReactNode {
  const first = Math.max(0, entries.length - TABLE_ROWS)
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Item</th>
          <th scope="col">Time</th>
          <th scope="col">{field.label}</th>
        </tr>
      </thead>
      <tbody>
        {entries
          .slice(first)
          .map((entry, index) => (
            <tr key={entry.seq}>
              <td>{entry.seq}</td>
              <td>{clockText(entry.at)}</td>
              <td>{values[first + index] ?? "–"}</td>
            </tr>
          ))
          .toReversed()}
      </tbody>
    </table>
  )
}

function readout(entry: WatchEntry | undefined, value: number | undefined): string {
  if (entry === undefined) return ""
  const number = value === undefined ? "no number" : formatNumber(value)
  return `Item ${entry.seq} at ${clockText(entry.at)}: ${number}`
}
