import { useCallback, useLayoutEffect, useRef, useState } from "react"
import type { KeyboardEvent, ReactNode } from "react"
import { linkTo } from "../app/context.tsx"
import { treeMove } from "../ui/tree-keys.ts"
import { CallLine } from "./CallLine.tsx"
import type { CallLog } from "./call-log.ts"
import type { CallRow } from "./call-rows.ts"
import { useRows } from "./use-rows.ts"

/** The height of a row, as the style sheet has it. */
const ROW_HEIGHT = 34

// The cells are in CallLine.tsx, in this order; their widths in activity.css.
const COLUMNS = ["Operation", "Outcome", "Duration", "Source", "Caller", "Began"] as const

/** Calls as a tree with columns; arrows move, left and right collapse and expand, Enter or a click shows a call. */
export function CallTable({
  rows,
  log,
  now,
  sources,
  onOpen,
  onShow,
}: {
  readonly rows: readonly CallRow[]
  readonly log: CallLog
  readonly now: number
  /** The source of each operation. */
  readonly sources: ReadonlyMap<string, string | undefined>
  readonly onOpen: (key: string, isOpen: boolean) => void
  /** Shows the details of a call. */
  readonly onShow: (key: string) => void
}): ReactNode {
  const [active, setActive] = useState<string>()
  const activeIndex = rows.findIndex(({ call }) => call.key === active)
  const keyOf = useCallback((index: number) => rows[index]?.call.key ?? index, [rows])
  const list = useRows({ count: rows.length, keyOf, height: ROW_HEIGHT, pinned: activeIndex })
  useSteadyRows(list.scroller, rows)
  useFocusOn(list.scroller, active)
  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    // A link inside a row has its own Enter.
    if (event.key === "Enter" && event.target instanceof HTMLAnchorElement) return
    // Without an active row, the first one has the focus.
    const index = Math.max(0, activeIndex)
    const row = rows[index]
    const move = event.key === "Enter" ? "show" : treeMove(event.key, rows, index)
    if (move === undefined || row === undefined) return
    event.preventDefault()
    if (move === "toggle") onOpen(row.call.key, row.isOpen === false)
    else if (move === "show") onShow(row.call.key)
    else {
      setActive(rows[move]?.call.key)
      list.show(move)
    }
  }
  return (
    <div
      role="treegrid"
      aria-label="Calls"
      aria-rowcount={rows.length + 1}
      className="call-grid"
      onKeyDown={press}
    >
      <div role="row" aria-rowindex={1} className="call-line call-columns">
        {COLUMNS.map((name) => (
          <span key={name} role="columnheader">
            {name}
          </span>
        ))}
      </div>
      <div ref={list.scroller} role="rowgroup" className="live-scroller call-scroller">
        <div role="presentation" className="live-rows" style={{ height: list.totalHeight }}>
          {list.visible.map(({ index, start }) => {
            const row = rows[index]
            if (row === undefined) return null
            return (
              <CallLine
                key={row.call.key}
                row={row}
                index={index}
                top={start}
                log={log}
                now={now}
                isActive={activeIndex === -1 ? index === 0 : index === activeIndex}
                link={linkTo({ view: "operation", id: row.call.operationId })}
                source={sources.get(row.call.operationId)}
                onOpen={onOpen}
                onShow={onShow}
                onActive={setActive}
              />
            )
          })}
        </div>
      </div>
    </div>
  )
}

/** Keeps the first visible row in place while others are added above it. */
function useSteadyRows(
  scroller: { readonly current: HTMLElement | null },
  rows: readonly CallRow[],
): void {
  const last = useRef(rows)
  useLayoutEffect(() => {
    const before = last.current
    last.current = rows
    const element = scroller.current
    if (element === null || element.scrollTop < ROW_HEIGHT) return
    const index = Math.floor(element.scrollTop / ROW_HEIGHT)
    const key = before[index]?.call.key
    const now = rows.findIndex(({ call }) => call.key === key)
    if (now !== -1 && now !== index) element.scrollTop += (now - index) * ROW_HEIGHT
  }, [scroller, rows])
}

/** Moves the focus to the active row, when it was within the table. */
function useFocusOn(
  scroller: { readonly current: HTMLElement | null },
  active: string | undefined,
): void {
  const last = useRef(active)
  // Before the list scrolls: afterwards the focused row, and with it the focus, may be gone.
  useLayoutEffect(() => {
    if (last.current === active) return
    last.current = active
    const element = scroller.current
    if (element === null || !element.contains(document.activeElement)) return
    const row = element.querySelector<HTMLElement>('[role="row"][tabindex="0"]')
    if (row !== null && !row.contains(document.activeElement)) row.focus({ preventScroll: true })
  }, [scroller, active])
}
