import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual"
import type { Range, VirtualItem } from "@tanstack/react-virtual"
import { useCallback, useRef } from "react"
import type { RefObject } from "react"

export interface RowsOptions {
  readonly count: number
  readonly keyOf: (index: number) => string | number
  /** The estimated height of a row until it is measured. */
  readonly height: number
  /** A row that always stays in the page: the one with the focus, or -1. */
  readonly pinned: number
  /** Whether only the visible rows are in the page; if not, the caller renders all. */
  readonly isVirtual?: boolean | undefined
}

export interface Rows {
  readonly scroller: RefObject<HTMLDivElement | null>
  readonly visible: readonly VirtualItem[]
  readonly totalHeight: number
  /** The `ref` of each row, which also has its `data-index`. */
  readonly measure: (element: HTMLElement | null) => void
  readonly show: (index: number) => void
}

/** A virtual list: only the visible rows are in the page. */
export function useRows({ count, keyOf, height, pinned, isVirtual = true }: RowsOptions): Rows {
  const scroller = useRef<HTMLDivElement>(null)
  const rangeExtractor = useCallback(
    (range: Range) => {
      const seen = defaultRangeExtractor(range)
      if (pinned < 0 || pinned >= range.count || seen.includes(pinned)) return seen
      return [...seen, pinned].toSorted((a, b) => a - b)
    },
    [pinned],
  )
  const virtualizer = useVirtualizer({
    count,
    enabled: isVirtual,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    getItemKey: keyOf,
    overscan: 8,
    rangeExtractor,
  })
  return {
    scroller,
    visible: virtualizer.getVirtualItems(),
    totalHeight: virtualizer.getTotalSize(),
    measure: virtualizer.measureElement,
    show: (index) => virtualizer.scrollToIndex(index),
  }
}
