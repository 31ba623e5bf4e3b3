import { useVirtualizer } from "@tanstack/react-virtual"
import { useCallback, useEffect, useRef } from "react"
import type { KeyboardEvent, ReactNode } from "react"
import { OperationRow } from "./OperationRow.tsx"
import type { FolderRow, Row } from "./tree.ts"

/** Heights are fixed, so that nothing has to be measured. */
const GROUP_HEIGHT = 32
const ROW_HEIGHT = 46

export interface OperationTreeProps {
  readonly id: string
  readonly rows: readonly Row[]
  /** The active line of the keyboard; -1 for none. */
  readonly active: number
  /** The displayed operation. */
  readonly current: string | undefined
  readonly tokens: readonly string[]
  readonly isSearch: boolean
  readonly onToggle: (row: FolderRow) => void
  readonly onOpen: () => void
  readonly onKeyDown: (event: KeyboardEvent) => void
}

/** The id of a line's element. */
export function rowId(tree: string, at: number): string {
  return `${tree}-${at}`
}

/** A virtual list of thousands of lines. */
export function OperationTree(props: OperationTreeProps): ReactNode {
  const { id, rows, active, current, tokens, isSearch, onToggle, onOpen, onKeyDown } = props
  const scroller = useRef<HTMLDivElement>(null)
  // Created only for other rows: each new function causes a new layout of all rows.
  const estimateSize = useCallback(
    (at: number) => (rows[at]?.kind === "folder" ? GROUP_HEIGHT : ROW_HEIGHT),
    [rows],
  )
  const getItemKey = useCallback((at: number) => rows[at]?.key ?? at, [rows])
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize,
    getItemKey,
    overscan: 8,
    // What is scrolled to has a neighbour on each side, and stays in sight when the folder of recent ones appears.
    scrollPaddingStart: ROW_HEIGHT,
    scrollPaddingEnd: ROW_HEIGHT,
  })
  useEffect(() => {
    if (active >= 0) virtual.scrollToIndex(active, { align: "auto" })
  }, [active, rows, virtual])
  const seen = useRef<string>(undefined)
  useEffect(() => {
    if (current === seen.current) return
    // Scrolls to the displayed operation once, as after a deep link; later the list stays where the user scrolls it.
    const at = rows.findIndex((row) => row.key === `o:${current}`)
    // The folder that it is in may not be open yet.
    if (at === -1) return
    seen.current = current
    virtual.scrollToIndex(at, { align: "auto" })
  }, [current, rows, virtual])
  return (
    <div ref={scroller} className="find-scroll">
      <div
        id={id}
        role="tree"
        aria-label="Operations"
        aria-activedescendant={active >= 0 ? rowId(id, active) : undefined}
        tabIndex={0}
        className="find-tree"
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={onKeyDown}
      >
        {virtual.getVirtualItems().map(({ index, key, start, size }) => {
          const row = rows[index]
          return (
            row !== undefined && (
              <OperationRow
                key={key}
                row={row}
                domId={rowId(id, index)}
                top={start}
                height={size}
                isActive={index === active}
                isCurrent={row.kind === "operation" && row.operation.id === current}
                isSearch={isSearch}
                tokens={tokens}
                onToggle={onToggle}
                onOpen={onOpen}
              />
            )
          )
        })}
      </div>
    </div>
  )
}
