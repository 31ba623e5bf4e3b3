import { useCallback, useId, useMemo, useState } from "react"
import type { KeyboardEvent, ReactNode } from "react"
import { useRows } from "../activity/use-rows.ts"
import { SchemaRow } from "./SchemaRow.tsx"
import type { RowPlace } from "./SchemaRow.tsx"
import type { SchemaNode } from "./schema/node.ts"
import { schemaMove } from "./schema/rows.ts"
import type { Row } from "./schema/rows.ts"

/** With more rows only the visible ones are in the page, in a scrolling frame. */
const MAX_ROWS_ON_PAGE = 250
const USUAL_HEIGHT = 46

/**
 * The rows of a tree.
 *
 * The tree itself has the focus and names the active row: a focused row that is scrolled out of view, and removed
 * from the page, would lose the focus.
 */
export function TreeRows({
  label,
  rows,
  onToggle,
}: {
  readonly label: string
  readonly rows: readonly Row[]
  readonly onToggle: (node: SchemaNode) => void
}): ReactNode {
  const base = useId()
  const [activeKey, setActiveKey] = useState<string>()
  const active = useActive(rows, activeKey)
  const isLong = rows.length > MAX_ROWS_ON_PAGE
  const keyOf = useCallback((index: number) => rows[index]?.node.key ?? index, [rows])
  const list = useRows({
    count: rows.length,
    keyOf,
    height: USUAL_HEIGHT,
    pinned: active,
    isVirtual: isLong,
  })
  const idOf = (node: SchemaNode): string => `${base}${node.key}`
  const show = (index: number): void => {
    if (isLong) list.show(index)
    const node = rows[index]?.node
    if (node !== undefined)
      document.getElementById(idOf(node))?.scrollIntoView({ block: "nearest" })
  }
  const press = (event: KeyboardEvent): void => {
    const row = rows[active]
    // Keys on a link within a row belong to the link. Combinations belong to the browser.
    if (row === undefined || event.target !== event.currentTarget) return
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const move = schemaMove(event.key, rows, active)
    if (move === undefined) return
    event.preventDefault()
    if (move === "toggle") return onToggle(row.node)
    setActiveKey(rows[move]?.node.key)
    show(move)
  }
  const rowAt = (index: number, place?: RowPlace): ReactNode => {
    const row = rows[index]
    if (row === undefined) return null
    return (
      <SchemaRow
        key={row.node.key}
        id={idOf(row.node)}
        row={row}
        index={index}
        isActive={index === active}
        place={place}
        onToggle={onToggle}
        onPick={setActiveKey}
      />
    )
  }
  const current = rows[active]
  return (
    <div ref={list.scroller} className={isLong ? "schema-frame" : undefined}>
      <div
        role="tree"
        aria-label={label}
        aria-activedescendant={current === undefined ? undefined : idOf(current.node)}
        tabIndex={0}
        className="schema-tree"
        onKeyDown={press}
        style={isLong ? { height: list.totalHeight } : undefined}
      >
        {isLong
          ? list.visible.map(({ index, start }) => rowAt(index, { start, measure: list.measure }))
          : rows.map((_, index) => rowAt(index))}
      </div>
    </div>
  )
}

/** The active row: the one last used, as long as it exists. */
function useActive(rows: readonly Row[], key: string | undefined): number {
  return useMemo(() => {
    if (key === undefined) return 0
    const exact = rows.findIndex(({ node }) => node.key === key)
    if (exact >= 0) return exact
    // It disappeared because a parent was closed.
    return Math.max(
      0,
      rows.findLastIndex(({ node }) => key.startsWith(`${node.key}/`)),
    )
  }, [rows, key])
}
