import { memo, useCallback, useMemo, useState } from "react"
import type { ReactNode } from "react"
import { LongList } from "../activity/LongList.tsx"
import { clockText } from "../ui/index.ts"
import { JsonTree } from "../result/JsonTree.tsx"
import { entriesOf } from "../result/entries.ts"
import type { Entry } from "../result/entries.ts"
import type { WatchEntry } from "./model.ts"
import { isRecord } from "../../../src/internal/guards.ts"
import { cellText } from "../../../src/internal/table-of.ts"

/** The height of a closed row, as the style sheet has it. */
const ROW_HEIGHT = 34
const MAX_CELLS = 6

/** Items, the newest first. */
export function ItemList({ entries }: { readonly entries: readonly WatchEntry[] }): ReactNode {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const newest = useMemo(() => entries.toReversed(), [entries])
  const toggle = useCallback((seq: number) => {
    setOpened((before) => {
      const after = new Set(before)
      if (!after.delete(seq)) after.add(seq)
      return after
    })
  }, [])
  return (
    <LongList label="Items" items={newest} keyOf={seqOf} height={ROW_HEIGHT} isGrowing>
      {(entry) => <Item entry={entry} isOpen={opened.has(entry.seq)} onToggle={toggle} />}
    </LongList>
  )
}

function seqOf({ seq }: WatchEntry): number {
  return seq
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
  const { seq, at, envelope } = entry
  const cells = useMemo(() => cellsOf(envelope.data), [envelope])
  return (
    <div className="item">
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
        <span className="item-cells">
          {cells.map(({ key, value }) => (
            <span key={key} className="ellipsis">
              <span className="muted">{key}</span> <code>{cellText(value)}</code>
            </span>
          ))}
        </span>
      </button>
      {isOpen && (
        <div className="item-body">
          <JsonTree value={envelope.data} />
        </div>
      )}
    </div>
  )
})

/** The first parts of an item, which are below those of its neighbours; the item itself where it has none. */
function cellsOf(data: unknown): readonly Entry[] {
  const cells = isRecord(data) ? entriesOf(data, MAX_CELLS) : []
  return cells.length > 0 ? cells : [{ key: "", value: data }]
}
