import { memo } from "react"
import type { MouseEvent, ReactNode } from "react"
import { cx, Icon } from "../ui/index.ts"
import { InlineMarkdown } from "./Markdown.tsx"
import { NodeFacts, NodeType } from "./NodeFacts.tsx"
import type { SchemaNode } from "./schema/node.ts"
import type { Row } from "./schema/rows.ts"

/** Where a row stands in a frame that holds only those in sight. */
export interface RowPlace {
  readonly start: number
  readonly measure: (element: HTMLElement | null) => void
}

interface SchemaRowProps {
  readonly id: string
  readonly row: Row
  readonly index: number
  readonly isActive: boolean
  readonly place: RowPlace | undefined
  readonly onToggle: (node: SchemaNode) => void
  readonly onPick: (key: string) => void
}

const INDENT = 18
// On a narrow screen deep rows still need room for words.
const MAX_INDENT = 8

/** One place of a schema: its name, its type, and its facts. */
export const SchemaRow = memo(function SchemaRow({
  id,
  row,
  index,
  isActive,
  place,
  onToggle,
  onPick,
}: SchemaRowProps): ReactNode {
  const { node, level, isOpen, isFound } = row
  const isOpenable = isOpen !== undefined
  const { facts } = node
  const paddingInlineStart = Math.min(level - 1, MAX_INDENT) * INDENT
  const pick = (event: MouseEvent): void => {
    onPick(node.key)
    if (isOpenable && isForTheRow(event)) onToggle(node)
  }
  return (
    // Keys are those of the tree.
    <div
      ref={place?.measure}
      id={id}
      role="treeitem"
      data-index={index}
      aria-level={level}
      aria-posinset={row.position}
      aria-setsize={row.size}
      aria-expanded={isOpen}
      className={cx(
        "schema-row",
        isOpenable && "schema-row-openable",
        isActive && "schema-row-active",
        isFound && "schema-row-found",
        place !== undefined && "schema-row-placed",
      )}
      style={
        place === undefined
          ? { paddingInlineStart }
          : { paddingInlineStart, transform: `translateY(${place.start}px)` }
      }
      onClick={pick}
    >
      <div className="schema-line">
        <span className={cx("schema-mark", isOpen && "schema-mark-open")}>
          {isOpenable && <Icon name="next" />}
        </span>
        <RowName node={node} />
        <NodeType facts={facts} />
        {node.isRequired && <span className="schema-required">required</span>}
        {node.isRecursive && <span className="muted">as above, again</span>}
      </div>
      <div className="schema-more">
        {facts.description !== undefined && (
          <InlineMarkdown text={facts.description} className="schema-description" />
        )}
        <NodeFacts facts={facts} isOpen={isOpen === true} />
      </div>
    </div>
  )
})

/** Whether a click is for the row, and not for a link or a text selection. */
function isForTheRow({ target }: MouseEvent): boolean {
  if (target instanceof Element && target.closest("a") !== null) return false
  return getSelection()?.isCollapsed !== false
}

function RowName({ node }: { readonly node: SchemaNode }): ReactNode {
  const { kind, label, facts } = node
  if (kind !== "property") return <span className="schema-place">{label}</span>
  const names = cx("schema-name", facts.isDeprecated && "schema-name-old")
  return <code className={names}>{label === "" ? '""' : label}</code>
}
