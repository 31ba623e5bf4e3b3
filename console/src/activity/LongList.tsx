import { useCallback, useLayoutEffect, useRef, useState } from "react"
import type { ReactNode } from "react"
import { useRows } from "./use-rows.ts"

/** A virtual list: only the visible rows are in the page. */
export function LongList<TItem>({
  label,
  items,
  keyOf,
  height,
  isGrowing = false,
  children,
}: {
  readonly label: string
  readonly items: readonly TItem[]
  /** Pass the same function in each render. */
  readonly keyOf: (item: TItem, index: number) => string | number
  /** The estimated height of a row until it is measured. */
  readonly height: number
  /** Whether rows of that height are added at the top: what is being read stays in its place. */
  readonly isGrowing?: boolean | undefined
  readonly children: (item: TItem) => ReactNode
}): ReactNode {
  const [focused, setFocused] = useState<string | number>()
  const rowKey = useCallback(
    (index: number) => {
      const item = items[index]
      return item === undefined ? index : keyOf(item, index)
    },
    [items, keyOf],
  )
  const pinned = items.findIndex((_, index) => focused !== undefined && rowKey(index) === focused)
  const rows = useRows({ count: items.length, keyOf: rowKey, height, pinned })
  const { scroller } = rows
  const first = useRef<string | number>(undefined)
  useLayoutEffect(() => {
    const before = first.current
    first.current = rowKey(0)
    const element = scroller.current
    // At the top, new rows are what is being read.
    if (!isGrowing || before === undefined || element === null || element.scrollTop < height) return
    const added = items.findIndex((_, index) => rowKey(index) === before)
    if (added > 0) element.scrollTop += added * height
  }, [isGrowing, items, rowKey, height, scroller])
  return (
    <div ref={scroller} className="live-scroller" role="region" aria-label={label} tabIndex={0}>
      <div role="list" className="live-rows" style={{ height: rows.totalHeight }}>
        {rows.visible.map(({ index, key, start }) => {
          const item = items[index]
          if (item === undefined) return null
          return (
            <div
              key={key}
              ref={rows.measure}
              data-index={index}
              role="listitem"
              aria-setsize={items.length}
              aria-posinset={index + 1}
              className="live-row"
              style={{ transform: `translateY(${start}px)` }}
              onFocus={() => setFocused(rowKey(index))}
              onBlur={() => setFocused(undefined)}
            >
              {children(item)}
            </div>
          )
        })}
      </div>
    </div>
  )
}
