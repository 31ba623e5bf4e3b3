import { useCallback, useState } from "react"
import type { ReactNode } from "react"
import type { HubLoad, LoadOf, NamedLoad } from "../api/model.ts"
import { useHub, useOperations } from "../app/context.tsx"
import { ErrorBox, Select, cx, formatDuration } from "../ui/index.ts"
import { drawSeries, scaleOf } from "../watch/scale.ts"
import { chartsOf } from "./load-charts.ts"
import type { LoadChart } from "./load-charts.ts"
import { useRequested } from "./use-requested.ts"

const EVERY_MS = 5000
const BOX = { width: 600, height: 120 }
/** Rows of a table. */
const MAX_ROWS = 20
/** The value of the choice for everything. */
const ALL = "all"

/** Rate, error rate and latencies of the last hour: of the hub, of a source or of an operation. */
export function LastHour(): ReactNode {
  const hub = useHub()
  const { operations } = useOperations()
  const [of, setOf] = useState<LoadOf>({})
  const ask = useCallback(async (signal: AbortSignal) => await hub.load(of, signal), [hub, of])
  const {
    value: load,
    error,
    again,
  } = useRequested(ask, { everyMs: EVERY_MS, version: operations })
  if (load === undefined) {
    // The counters say that they are loaded.
    return error === undefined ? null : <ErrorBox error={error} onRetry={again} />
  }
  return (
    <section className="load card" aria-label="Last hour">
      <div className="row">
        <h2>Last hour</h2>
        <Select
          label="Of what the last hour is shown"
          value={keyOf(of)}
          options={optionsOf(load, of)}
          onChange={(key) => setOf(fromKey(key))}
        />
      </div>
      <div className="load-charts">
        {chartsOf(load).map((chart) => (
          <Chart key={chart.title} chart={chart} />
        ))}
      </div>
      <details>
        <summary>By source and operation</summary>
        <div className="load-tables">
          <LoadTable what="Source" rows={load.sources} onChoose={(source) => setOf({ source })} />
          <LoadTable
            what="Operation"
            rows={load.operations}
            onChoose={(operation) => setOf({ operation })}
          />
        </div>
      </details>
    </section>
  )
}

function Chart({ chart }: { readonly chart: LoadChart }): ReactNode {
  const { title, words, series, format } = chart
  const { high, ticks } = scaleOf([0, ...series.flatMap(({ values }) => values)])
  const scale = { low: 0, high }
  return (
    <figure className="load-chart">
      <figcaption>
        {title}
        {series.length > 1 && (
          <span className="load-legend" aria-hidden="true">
            {series.map(({ name }, at) => (
              <span key={name}>
                <svg viewBox="0 0 24 6">
                  <path className={`load-line load-line-${at}`} d="M0 3h24" />
                </svg>
                {name}
              </span>
            ))}
          </span>
        )}
      </figcaption>
      <div className="load-plot">
        <div className="chart-axis" aria-hidden="true">
          {[ticks[0], ticks.at(-1)].map(
            (tick, at) =>
              tick !== undefined && (
                <span key={at} style={{ bottom: `${at * 100}%` }}>
                  {format(at === 0 ? 0 : high)}
                </span>
              ),
          )}
        </div>
        <svg
          role="img"
          aria-label={words}
          viewBox={`0 -3 ${BOX.width} ${BOX.height + 6}`}
          preserveAspectRatio="none"
        >
          <path className="chart-grid" d={`M0 0H${BOX.width}M0 ${BOX.height}H${BOX.width}`} />
          {series.map(({ name, values }, at) => {
            const { lines, dots } = drawSeries(values, scale, BOX)
            return (
              <g key={name} className={cx("load-line", `load-line-${at}`)}>
                {lines.map((points) => (
                  <polyline key={points} points={points} />
                ))}
                {dots.map(({ x, y }) => (
                  <path key={x} className="load-dot" d={`M${x} ${y}h0`} />
                ))}
              </g>
            )
          })}
        </svg>
      </div>
      <p className="load-words" aria-hidden="true">
        {words}
      </p>
    </figure>
  )
}

function LoadTable({
  what,
  rows,
  onChoose,
}: {
  readonly what: string
  readonly rows: readonly NamedLoad[]
  readonly onChoose: (name: string) => void
}): ReactNode {
  if (rows.length === 0) return null
  return (
    <table className="load-table">
      <thead>
        <tr>
          {[what, "Calls", "Failed", "p50", "p90", "p99"].map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.slice(0, MAX_ROWS).map(({ name, calls, errors, latencyMs }) => (
          <tr key={name}>
            <th scope="row">
              <button type="button" className="issue-link" onClick={() => onChoose(name)}>
                {name}
              </button>
            </th>
            <td>{calls.toLocaleString("en")}</td>
            <td>{`${Number(((errors / calls) * 100).toFixed(1))} %`}</td>
            {[latencyMs.p50, latencyMs.p90, latencyMs.p99].map((value, at) => (
              <td key={at}>{value === 0 ? "–" : formatDuration(value)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function optionsOf(
  { sources, operations }: HubLoad,
  of: LoadOf,
): readonly (readonly [string, string])[] {
  const chosen = keyOf(of)
  const keys = [
    ALL,
    ...sources.map(({ name }) => keyOf({ source: name })),
    ...operations.map(({ name }) => keyOf({ operation: name })),
  ]
  // What is chosen stays, also when it has no calls any longer.
  return [...new Set([...keys, chosen])].map((key) => [key, textOf(key)])
}

function keyOf({ operation, source }: LoadOf): string {
  if (operation !== undefined) return `operation ${operation}`
  return source === undefined ? ALL : `source ${source}`
}

function fromKey(key: string): LoadOf {
  const name = key.slice(key.indexOf(" ") + 1)
  if (key === ALL) return {}
  return key.startsWith("source ") ? { source: name } : { operation: name }
}

function textOf(key: string): string {
  if (key === ALL) return "All calls"
  return key.startsWith("source ")
    ? `Source ${fromKey(key).source}`
    : (fromKey(key).operation ?? "")
}
