import { memo, useCallback, useLayoutEffect, useMemo, useRef, useState } from "react"
import type { ReactNode } from "react"
import { useRows } from "../activity/use-rows.ts"
import { JsonTree } from "../result/JsonTree.tsx"
import { cx } from "../ui/index.ts"
import type { WatchEntry } from "./model.ts"
import { printShort } from "./text.ts"
import { clockText } from "./time.ts"

/** The height of a closed row, as the style sheet has it. */
const ROW_HEIGHT = 34
const PREVIEW_CHARACTERS = 300

/** Items, the newest first. What is being read stays where it is while others come. */
export function ItemList({ entries }: { readonly entries: readonly WatchEntry[] }): ReactNode {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const [focused, setFocused] = useState<number>()
  const newest = useMemo(() => entries.toReversed(), [entries])
  const keyOf = useCallback((index: number) => newest[index]?.seq ?? index, [newest])
  const rows = useRows({
    count: newest.length,
    keyOf,
    height: ROW_HEIGHT,
    pinned: newest.findIndex(({ seq }) => seq === focused),
  })
  useSteadyScroll(rows.scroller, newest)
  const toggle = useCallback((seq: number) => {
    setOpened((before) => {
      const after = new Set(before)
      if (!after.delete(seq)) after.add(seq)
      return after
    })
  }, [])
  return (
    <div
      ref={rows.scroller}
      className="live-scroller"
      role="region"
      aria-label="Items"
      tabIndex={0}
    >
      <div role="list" className="live-rows" style={{ height: rows.totalHeight }}>
        {rows.visible.map(({ index, start }) => {
          const entry = newest[index]
          if (entry === undefined) return null
          return (
            <div
              key={entry.seq}
              ref={rows.measure}
              data-index={index}
              role="listitem"
              aria-setsize={newest.length}
              aria-posinset={index + 1}
              className="live-row"
              style={{ transform: `translateY(${start}px)` }}
              onFocus={() => setFocused(entry.seq)}
              onBlur={() => setFocused(undefined)}
            >
              <Item entry={entry} isOpen={opened.has(entry.seq)} onToggle={toggle} />
            </div>
          )
        })}
      </div>
    </div>
  )
}

const Item = memo(function Item({
  entry,
  isOpen,
  onToggle,
}: {
  readonly entry: WatchEntry
  readonly isOpen: boolean
  readonly onToggle: (seq: number) => void
}): ReactNode {
  const { seq, at, envelope, id } = entry
  const preview = useMemo(() => printShort(envelope.data, PREVIEW_CHARACTERS), [envelope])
  return (
    <div className={cx("item", isOpen && "item-open")}>
      <button
        type="button"
        className="item-head"
        aria-expanded={isOpen}
        onClick={() => onToggle(seq)}
      >
        <span className="item-seq">{seq}</span>
        <time className="item-time" dateTime={new Date(at).toISOString()}>
          {clockText(at)}
        </time>
        <code className="item-preview">{preview}</code>
      </button>
      {isOpen && (
        <div className="item-body">
          {id !== undefined && (
            <p className="item-id">
              Event <code>{id}</code>
            </p>
          )}
          <JsonTree value={envelope.data} />
        </div>
      )}
    </div>
  )
})

/** Keeps what is seen in its place when rows come in above it, unless the top is what is seen. */
function useSteadyScroll(
  scroller: { readonly current: HTMLElement | null },
  newest: readonly WatchEntry[],
): void {
  const top = useRef<number>(undefined)
  useLayoutEffect(() => {
    const before = top.current
    top.current = newest[0]?.seq
    const element = scroller.current
    if (before === undefined || element === null || element.scrollTop < ROW_HEIGHT) return
    const added = newest.findIndex(({ seq }) => seq <= before)
    // New rows are closed: each has the same height.
    if (added > 0) element.scrollTop += added * ROW_HEIGHT
  }, [newest, scroller])
}
