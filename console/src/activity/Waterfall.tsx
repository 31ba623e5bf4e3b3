import { useMemo } from "react"
import type { ReactNode } from "react"
import { cx, formatDuration } from "../ui/index.ts"
import { Span } from "./CallLine.tsx"
import { durationAt } from "./call-log.ts"
import type { CallLog } from "./call-log.ts"
import { NO_FILTER, toRows } from "./call-rows.ts"
import type { CallForest, LoggedCall } from "./call-forest.ts"

const MAX_ROWS = 200
const NONE: ReadonlySet<string> = new Set()

/** The calls of one tree on a common time axis; each leads to its details. */
export function Waterfall({
  call,
  forest,
  log,
  now,
  onSelect,
}: {
  readonly call: LoggedCall
  readonly forest: CallForest
  readonly log: CallLog
  readonly now: number
  readonly onSelect: (call: LoggedCall) => void
}): ReactNode {
  const rows = useMemo(
    () => toRows({ ...forest, roots: [forest.rootOf(call)] }, NO_FILTER, NONE),
    [call, forest],
  )
  const root = rows[0]?.call ?? call
  const whole = durationAt(root, now, log)
  return (
    <>
      <ol className="waterfall">
        {rows.slice(0, MAX_ROWS).map(({ call: one, level }) => {
          const duration = durationAt(one, now, log)
          const isCurrent = one.key === call.key
          return (
            <li key={one.key}>
              <button
                type="button"
                className={cx("waterfall-row", isCurrent && "waterfall-current")}
                aria-current={isCurrent || undefined}
                onClick={() => onSelect(one)}
              >
                <span
                  className="waterfall-name ellipsis"
                  style={{ paddingInlineStart: `${Math.min(level, 12)}rem` }}
                >
                  {one.operationId}
                </span>
                <Span call={one} duration={duration} root={{ at: root.at, durationMs: whole }} />
                <span className="waterfall-time">
                  {duration === undefined ? one.state : formatDuration(duration)}
                </span>
              </button>
            </li>
          )
        })}
      </ol>
      {whole !== undefined && (
        <p className="waterfall-axis" aria-hidden="true">
          {[0, 0.25, 0.5, 0.75, 1].map((part) => (
            <span key={part}>{formatDuration(whole * part)}</span>
          ))}
        </p>
      )}
      {rows.length > MAX_ROWS && (
        <p className="muted">{(rows.length - MAX_ROWS).toLocaleString("en")} more calls.</p>
      )}
    </>
  )
}
