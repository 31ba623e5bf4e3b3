import { useMemo } from "react"
import type { ReactNode } from "react"
import type { TimelineCall, TimelinePart } from "../api/model.ts"
import { cx, formatDuration } from "../ui/index.ts"
import { Bar, Span } from "./CallLine.tsx"
import { durationAt } from "./call-log.ts"
import type { CallLog } from "./call-log.ts"
import { toWaterfall } from "./waterfall-rows.ts"
import type { CallForest, LoggedCall } from "./call-forest.ts"

const MAX_ROWS = 300

/** The calls of one tree on a common time axis, and what happened in them; each call leads to its details. */
export function Waterfall({
  call,
  forest,
  log,
  now,
  timeline = NO_CALLS,
  onSelect,
}: {
  readonly call: LoggedCall
  readonly forest: CallForest
  readonly log: CallLog
  readonly now: number
  readonly timeline?: readonly TimelineCall[] | undefined
  readonly onSelect: (call: LoggedCall) => void
}): ReactNode {
  const rows = useMemo(() => toWaterfall(forest, call, timeline), [call, forest, timeline])
  const root = rows[0]?.call ?? call
  const whole = durationAt(root, now, log)
  const time = { at: root.at, durationMs: whole }
  return (
    <>
      <ol className="waterfall">
        {rows.slice(0, MAX_ROWS).map(({ key, call: one, level, part }) => (
          <li key={key}>
            {part === undefined ? (
              <button
                type="button"
                className={cx("waterfall-row", one.key === call.key && "waterfall-current")}
                aria-current={one.key === call.key || undefined}
                onClick={() => onSelect(one)}
              >
                <Name level={level}>{one.operationId}</Name>
                <Span call={one} duration={durationAt(one, now, log)} root={time} />
                <span className="waterfall-time">
                  {timeText(durationAt(one, now, log), one.state)}
                </span>
              </button>
            ) : (
              <div className="waterfall-row waterfall-part">
                <Name level={level}>
                  {part.kind === "log" ? `log ${part.name}` : part.name}{" "}
                  {part.code !== undefined && (
                    <span className={part.isFailed === true ? "waterfall-failed" : undefined}>
                      {part.code}
                    </span>
                  )}
                  {part.text !== undefined && <span className="waterfall-text">{part.text}</span>}
                </Name>
                <Bar
                  at={one.at + part.at}
                  duration={part.durationMs}
                  root={time}
                  look={lookOf(part)}
                />
                <span className="waterfall-time">
                  {part.durationMs === 0
                    ? `at ${formatDuration(part.at)}`
                    : formatDuration(part.durationMs)}
                </span>
              </div>
            )}
          </li>
        ))}
      </ol>
      {whole !== undefined && (
        <p className="waterfall-axis" aria-hidden="true">
          {[0, 0.25, 0.5, 0.75, 1].map((part) => (
            <span key={part}>{formatDuration(whole * part)}</span>
          ))}
        </p>
      )}
      {rows.length > MAX_ROWS && (
        <p className="muted">{(rows.length - MAX_ROWS).toLocaleString("en")} more lines.</p>
      )}
    </>
  )
}

const NO_CALLS: readonly TimelineCall[] = []

function Name({
  level,
  children,
}: {
  readonly level: number
  readonly children: ReactNode
}): ReactNode {
  return (
    <span
      className="waterfall-name ellipsis"
      style={{ paddingInlineStart: `${Math.min(level, 12)}rem` }}
    >
      {children}
    </span>
  )
}

function timeText(duration: number | undefined, state: LoggedCall["state"]): string {
  return duration === undefined ? state : formatDuration(duration)
}

function lookOf({ kind, durationMs, isFailed }: TimelinePart): Parameters<typeof Bar>[0]["look"] {
  if (isFailed === true) return "error"
  if (durationMs === 0) return "moment"
  return kind === "queue" || kind === "answer"
    ? "wait"
    : kind === "exchange"
      ? "exchange"
      : "attempt"
}
