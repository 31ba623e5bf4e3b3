import { useCallback, useState } from "react"
import type { ReactNode } from "react"
import { useRows } from "./use-rows.ts"

/** A virtual list: only the visible rows are in the page. */
export function LongList<TItem>({
  label,
  items,
  keyOf,
  height,
  children,
}: {
  readonly label: string
  readonly items: readonly TItem[]
  readonly keyOf: (item: TItem, index: number) => string
  /** The estimated height of a row until it is measured. */
  readonly height: number
  readonly children: (item: TItem) => ReactNode
}): ReactNode {
  const [focused, setFocused] = useState(-1)
  const rowKey = useCallback(
    (index: number) => {
      const item = items[index]
      return item === undefined ? index : keyOf(item, index)
    },
    [items, keyOf],
  )
  const rows = useRows({ count: items.length, keyOf: rowKey, height, pinned: focused })
  return (
    <div
      ref={rows.scroller}
      className="live-scroller"
      role="region"
      aria-label={label}
      tabIndex={0}
    >
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
              onFocus={() => setFocused(index)}
              onBlur={() => setFocused(-1)}
            >
              {children(item)}
            </div>
          )
        })}
      </div>
    </div>
  )
}
