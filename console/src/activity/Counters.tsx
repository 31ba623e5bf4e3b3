import { useCallback } from "react"
import type { ReactNode } from "react"
import type { HubStats } from "../api/model.ts"
import { useHub, useOperations } from "../app/context.tsx"
import { ErrorBox, Spinner, formatDuration } from "../ui/index.ts"
import { Sparkline } from "./Sparkline.tsx"
import { describeHistory, errorCounts, formatRate } from "./counters.ts"
import { useRequested } from "./use-requested.ts"

/** The polling interval of the counters. */
const EVERY_MS = 2000

const LATENCIES = [
  ["p50", "In the last minute: half took no longer."],
  ["p90", "In the last minute: nine of ten took no longer."],
  ["p99", "In the last minute: 99 of 100 took no longer."],
] as const

/** The load of the hub; clicking an error code filters the calls by it. */
export function Counters({ onCode }: { readonly onCode: (code: string) => void }): ReactNode {
  const hub = useHub()
  const { operations } = useOperations()
  const ask = useCallback((signal: AbortSignal) => hub.stats(signal), [hub])
  // Another list may belong to another identity with more rights.
  const {
    value: stats,
    error,
    again,
  } = useRequested(ask, { everyMs: EVERY_MS, version: operations })
  if (stats === undefined) {
    return error === undefined ? (
      <Spinner label="Loading the counters" />
    ) : (
      <ErrorBox error={error} onRetry={again} />
    )
  }
  return (
    <section className="counters card" aria-label="Counters">
      <Rate stats={stats} />
      <dl className="counter-list">
        <Figure name="Calls since start" value={stats.calls.toLocaleString("en")} />
        <Figure name="Running now" value={stats.running.toLocaleString("en")} />
        {LATENCIES.map(([part, title]) => (
          <Figure key={part} name={part} value={latencyText(stats, part)} title={title} />
        ))}
      </dl>
      <Errors errors={stats.errors} onCode={onCode} />
      {error !== undefined && (
        <p className="counters-stale">These numbers are outdated: {error.message}</p>
      )}
    </section>
  )
}

function Rate({ stats }: { readonly stats: HubStats }): ReactNode {
  // The current second is not over: its count would look like a drop.
  const history = stats.history.slice(0, -1)
  return (
    <div className="counter-rate">
      <p>
        <strong>{formatRate(stats.callsPerSecond)}</strong> calls/s, last minute
      </p>
      <Sparkline values={history} words={describeHistory(history)} />
    </div>
  )
}

function Figure({
  name,
  value,
  title,
}: {
  readonly name: string
  readonly value: string
  readonly title?: string
}): ReactNode {
  return (
    <div title={title}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function Errors({
  errors,
  onCode,
}: {
  readonly errors: HubStats["errors"]
  readonly onCode: (code: string) => void
}): ReactNode {
  const counts = errorCounts(errors)
  if (counts.length === 0) return <p className="counter-errors-none">No errors since start</p>
  return (
    <ul className="counter-errors" aria-label="Errors by code">
      {counts.map(({ code, count, part }) => (
        <li key={code}>
          <button type="button" title={`Show calls with ${code}`} onClick={() => onCode(code)}>
            <span className="counter-bar" style={{ width: `${part * 100}%` }} aria-hidden="true" />
            <code>{code}</code>
            <span>{count.toLocaleString("en")}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}

/** Nothing was measured in the last minute when the longest took no time. */
function latencyText({ latencyMs }: HubStats, part: keyof HubStats["latencyMs"]): string {
  return latencyMs.p99 === 0 ? "–" : formatDuration(latencyMs[part])
}
