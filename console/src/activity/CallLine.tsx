import { memo } from "react"
import type { MouseEvent, ReactNode } from "react"
import { Badge, Icon, cx, clockText, formatDuration } from "../ui/index.ts"
import type { Tone } from "../ui/index.ts"
import { durationAt } from "./call-log.ts"
import type { CallLog } from "./call-log.ts"
import type { CallState, LoggedCall } from "./call-forest.ts"
import { spanWithin } from "./call-rows.ts"
import type { CallRow } from "./call-rows.ts"

/** Deeper calls are not moved further to the right: there would be no room for their names. */
const MAX_INDENT = 12

const TONES: Readonly<Record<CallState, Tone>> = {
  running: "info",
  ok: "good",
  error: "bad",
  aborted: "warn",
  unknown: "neutral",
}

/** One call. */
export const CallLine = memo(function CallLine({
  row,
  index,
  top,
  log,
  now,
  isActive,
  link,
  source,
  onOpen,
  onShow,
  onActive,
}: {
  readonly row: CallRow
  readonly index: number
  readonly top: number
  readonly log: CallLog
  readonly now: number
  readonly isActive: boolean
  readonly link: string
  /** The name of the operation's source. */
  readonly source: string | undefined
  readonly onOpen: (key: string, isOpen: boolean) => void
  readonly onShow: (key: string) => void
  readonly onActive: (key: string) => void
}): ReactNode {
  const press = ({ target }: MouseEvent): void => {
    // The link and the button in it do something else.
    if (target instanceof Element && target.closest("a, button") === null) onShow(row.call.key)
  }
  const { call, root, level, isOpen, isMatch, position, siblings } = row
  const duration = durationAt(call, now, log)
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the table has them
    <div
      role="row"
      aria-level={level + 1}
      aria-posinset={position}
      aria-setsize={siblings}
      aria-expanded={isOpen}
      aria-rowindex={index + 2}
      tabIndex={isActive ? 0 : -1}
      className={cx("call-line", "live-row", !isMatch && "call-context")}
      style={{ transform: `translateY(${top}px)` }}
      onFocus={() => onActive(call.key)}
      onClick={press}
    >
      <span role="gridcell" className="call-operation">
        <span
          className="call-indent"
          style={{ width: `${Math.min(level, MAX_INDENT) * 1.1}rem` }}
        />
        {isOpen !== undefined ? (
          <button
            type="button"
            tabIndex={-1}
            className="call-toggle"
            aria-label={isOpen ? "Close nested calls" : "Open nested calls"}
            onClick={() => onOpen(call.key, !isOpen)}
          >
            <Icon name={isOpen ? "down" : "next"} />
          </button>
        ) : (
          <span className="call-toggle" />
        )}
        <a href={link} tabIndex={-1} title={`Request ${call.requestId}`}>
          {call.operationId}
        </a>
      </span>
      <span role="gridcell">
        <Outcome call={call} />
      </span>
      <span role="gridcell" className="call-duration">
        <span>{duration === undefined ? "–" : formatDuration(duration)}</span>
        {(isOpen !== undefined || level > 0) && (
          <Span
            call={call}
            duration={duration}
            root={{ at: root.at, durationMs: durationAt(root, now, log) }}
          />
        )}
      </span>
      <span role="gridcell">{source ?? call.source ?? "–"}</span>
      <span role="gridcell" title={call.identity}>
        {call.identity ?? "anonymous"}
      </span>
      <span role="gridcell">
        <time dateTime={new Date(call.at).toISOString()}>{clockText(call.at)}</time>
      </span>
    </div>
  )
})

/** How a call ended, or that it has not. */
export function Outcome({ call }: { readonly call: LoggedCall }): ReactNode {
  const { state, code, items, type } = call
  return (
    <>
      <Badge
        tone={TONES[state]}
        title={state === "unknown" ? "Its end may have been missed." : code}
        className={state === "running" ? "call-running" : undefined}
      >
        {code ?? state}
      </Badge>
      {type === "subscription" && state !== "running" && state !== "unknown" && (
        <span className="call-items">
          {items.toLocaleString("en")} {items === 1 ? "item" : "items"}
        </span>
      )}
    </>
  )
}

/** The bar of a call on the time line of its tree. */
export function Span({
  call,
  duration,
  root,
}: {
  readonly call: LoggedCall
  readonly duration: number | undefined
  readonly root: BarRoot
}): ReactNode {
  if (duration === undefined) return null
  return <Bar at={call.at} duration={duration} root={root} look={call.state} />
}

/** The time that all bars of a tree are parts of. */
interface BarRoot {
  readonly at: number
  readonly durationMs: number | undefined
}

/** A bar on the time line of a tree. */
export function Bar({
  at,
  duration,
  root,
  look,
}: {
  readonly at: number
  readonly duration: number
  readonly root: BarRoot
  readonly look: CallState | "wait" | "exchange" | "attempt" | "moment"
}): ReactNode {
  const { start, width } = spanWithin({ at }, duration, root)
  return (
    <span className="call-span" aria-hidden="true">
      <span
        className={cx("call-span-bar", `call-span-${look}`)}
        style={{ marginInlineStart: `min(${start * 100}%, 100% - 3px)`, width: `${width * 100}%` }}
      />
    </span>
  )
}
