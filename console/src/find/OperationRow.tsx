import { memo } from "react"
import type { ReactNode } from "react"
import { linkTo } from "../app/context.tsx"
import type { OperationSummary, OperationType } from "../api/model.ts"
import { Icon } from "../ui/Icon.tsx"
import { plainText } from "../ui/plain-text.ts"
import { cx } from "../ui/cx.ts"
import type { Row } from "./rows.ts"
import { highlightMatches } from "./words.ts"

export interface RowProps {
  readonly row: Row
  readonly domId: string
  readonly top: number
  readonly height: number
  readonly isActive: boolean
  readonly isCurrent: boolean
  /** The words of the query, which are highlighted. */
  readonly tokens: readonly string[]
  readonly onToggle: (key: string) => void
  readonly onOpen: () => void
}

const LETTERS: Readonly<Record<OperationType, string>> = {
  query: "Q",
  mutation: "M",
  subscription: "S",
}

/** One line of the list: a group, or an operation with its link. */
export const OperationRow = memo(function OperationRow(props: RowProps): ReactNode {
  const { row, domId, top, height, isActive, isCurrent, tokens, onToggle, onOpen } = props
  const place = { transform: `translateY(${top}px)`, height }
  const common = {
    id: domId,
    role: "treeitem",
    tabIndex: -1,
    style: place,
    "aria-posinset": row.position,
    "aria-setsize": row.of,
  } as const
  if (row.kind === "group") {
    const { group, isOpen } = row
    return (
      <div
        {...common}
        aria-level={1}
        aria-expanded={isOpen}
        className={cx("find-group", isActive && "is-active")}
        onClick={() => onToggle(row.key)}
      >
        <Icon name={isOpen ? "down" : "next"} className="find-arrow" />
        <span className="find-group-name">{group.label}</span>
        {group.source !== undefined && <span className="find-source">{group.source}</span>}
        <span className="find-count">{group.operations.length.toLocaleString("en")}</span>
      </div>
    )
  }
  const { operation } = row
  return (
    <a
      {...common}
      aria-level={row.level}
      aria-current={isCurrent ? "page" : undefined}
      aria-selected={isActive}
      href={linkTo({ view: "operation", id: operation.id })}
      className={cx("find-row", isActive && "is-active", isCurrent && "is-current")}
      title={operation.id}
      onClick={onOpen}
    >
      <span className={cx("find-type", `badge-${operation.type}`)} aria-hidden="true">
        {LETTERS[operation.type]}
      </span>
      <span className="find-text">
        <span className={cx("find-name", operation.deprecated === true && "is-deprecated")}>
          <Clipped text={row.label} tokens={tokens} />
        </span>
        <span className="find-what">
          <Clipped text={summaryOf(operation)} tokens={NONE} />
        </span>
      </span>
      <span className="visually-hidden">, {operation.type}</span>
      <Flags operation={operation} />
    </a>
  )
})

function Flags({ operation }: { readonly operation: OperationSummary }): ReactNode {
  const { deprecated, isProtected } = operation
  if (deprecated !== true && isProtected !== true) return null
  return (
    <span className="find-flags">
      {deprecated === true && (
        <span className="badge badge-warn" title="Deprecated">
          old<span className="visually-hidden">: deprecated</span>
        </span>
      )}
      {isProtected === true && (
        <span title="Needs permission">
          <Icon name="lock" className="find-lock" />
          <span className="visually-hidden">, needs permission</span>
        </span>
      )}
    </span>
  )
}

const NONE: readonly string[] = []
/** Characters of a long text that are always shown at its end. */
const TAIL = 16

/** A text of which the middle is cut where there is no room: neighbours often differ at their ends. */
function Clipped({
  text,
  tokens,
}: {
  readonly text: string
  readonly tokens: readonly string[]
}): ReactNode {
  if (text.length < 2 * TAIL) return <Highlighted text={text} tokens={tokens} />
  return (
    <>
      <span className="find-start">
        <Highlighted text={text.slice(0, -TAIL)} tokens={tokens} />
      </span>
      <span className="find-end">
        <Highlighted text={text.slice(-TAIL)} tokens={tokens} />
      </span>
    </>
  )
}

function Highlighted({
  text,
  tokens,
}: {
  readonly text: string
  readonly tokens: readonly string[]
}): ReactNode {
  if (tokens.length === 0) return text
  return highlightMatches(text, tokens).map(({ text: piece, isMatch: isFound }, at) =>
    isFound ? <mark key={at}>{piece}</mark> : piece,
  )
}

function summaryOf({ title, description }: OperationSummary): string {
  return plainText(title ?? description).slice(0, 160)
}
