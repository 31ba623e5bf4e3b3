import { memo } from "react"
import type { ReactNode } from "react"
import { linkTo, useSources } from "../app/context.tsx"
import type { OperationSummary } from "../api/model.ts"
import { Badge } from "../ui/Badge.tsx"
import { Icon, TypeIcon } from "../ui/Icon.tsx"
import type { IconName } from "../ui/Icon.tsx"
import { SOURCE_ICONS } from "../ui/icon-paths.ts"
import { SOURCE_TONES } from "../ui/tone.ts"
import { cx } from "../ui/cx.ts"
import { nameOf } from "./tree.ts"
import type { Folder, FolderRow, Row } from "./tree.ts"
import { highlightMatches } from "./words.ts"

export interface RowProps {
  readonly row: Row
  readonly domId: string
  readonly top: number
  readonly height: number
  readonly isActive: boolean
  readonly isCurrent: boolean
  /** Whether it is a result: then nothing above it says where it comes from. */
  readonly isSearch: boolean
  /** The words of the query, which are highlighted. */
  readonly tokens: readonly string[]
  readonly onToggle: (row: FolderRow) => void
  readonly onOpen: () => void
}

const FOLDER_ICONS: Readonly<Record<Folder["kind"], IconName | undefined>> = {
  favourites: "star",
  recent: "history",
  source: "sources",
  tag: undefined,
}

/** One line of the list: a folder, or an operation with its link. */
export const OperationRow = memo(function OperationRow(props: RowProps): ReactNode {
  const { row, domId, top, height, isActive, isCurrent, isSearch, tokens } = props
  const { level, position, of } = row
  const common = {
    id: domId,
    role: "treeitem",
    tabIndex: -1,
    style: { transform: `translateY(${top}px)`, height, paddingLeft: 12 + (level - 1) * 14 },
    "aria-level": level,
    "aria-posinset": position,
    "aria-setsize": of,
    "aria-selected": isActive,
  } as const
  if (row.kind === "folder") {
    return <FolderLine row={row} isActive={isActive} onToggle={props.onToggle} line={common} />
  }
  const { operation } = row
  return (
    <a
      {...common}
      aria-current={isCurrent ? "page" : undefined}
      href={linkTo({ view: "operation", id: operation.id })}
      className={cx("find-row", isActive && "is-active", isCurrent && "is-current")}
      title={operation.id}
      onClick={props.onOpen}
    >
      <TypeIcon type={operation.type} />
      <span className="find-text">
        <span className={cx("find-name", operation.deprecated === true && "is-deprecated")}>
          <Clipped text={nameOf(operation)} tokens={tokens} />
        </span>
        <span className="find-what">
          <Clipped text={operation.request ?? operation.id} tokens={tokens} />
        </span>
      </span>
      <span className="visually-hidden">, {operation.type}</span>
      {isSearch && operation.source !== undefined && (
        <span className="find-source ellipsis">{operation.source}</span>
      )}
      <Flags operation={operation} />
    </a>
  )
})

/** The line of a folder; that of a source that is not ready says so. */
function FolderLine({
  row,
  isActive,
  onToggle,
  line,
}: Pick<RowProps, "isActive" | "onToggle"> & {
  readonly row: FolderRow
  readonly line: object
}): ReactNode {
  const { folder, isOpen } = row
  const { kind, label, count } = folder
  const sources = useSources() ?? []
  const source = kind === "source" ? sources.find(({ name }) => name === label) : undefined
  const icon = SOURCE_ICONS[source?.kind ?? ""] ?? FOLDER_ICONS[kind]
  const isDown = source !== undefined && source.state !== "ready"
  return (
    <div
      {...line}
      aria-expanded={isOpen}
      className={cx("find-group", `is-${kind}`, isActive && "is-active")}
      onClick={() => onToggle(row)}
    >
      <Icon name={isOpen ? "down" : "next"} className="find-arrow" />
      {icon !== undefined && <Icon name={icon} className="find-kind" />}
      <span className="find-group-name">{label}</span>
      {isDown && (
        <Badge tone={SOURCE_TONES[source.state]} title={source.reason}>
          {source.state}
        </Badge>
      )}
      <span className="find-count">{count.toLocaleString("en")}</span>
    </div>
  )
}

function Flags({ operation }: { readonly operation: OperationSummary }): ReactNode {
  const { deprecated, isProtected } = operation
  if (deprecated !== true && isProtected !== true) return null
  return (
    <span className="find-flags">
      {deprecated === true && (
        <span title="Deprecated">
          <Icon name="warn" className="find-flag" />
          <span className="visually-hidden">, deprecated</span>
        </span>
      )}
      {isProtected === true && (
        <span title="Needs permission">
          <Icon name="lock" className="find-flag" />
          <span className="visually-hidden">, needs permission</span>
        </span>
      )}
    </span>
  )
}

/** Characters of a long text that are always shown at its end. */
const TAIL = 16

/** A text whose middle is cut where there is no room: neighbours often differ at their ends. */
function Clipped({
  text,
  tokens,
}: {
  readonly text: string
  readonly tokens: readonly string[]
}): ReactNode {
  const end = text.length < 2 * TAIL ? text.length : -TAIL
  return (
    <>
      <span className="find-start">
        <Highlighted text={text.slice(0, end)} tokens={tokens} />
      </span>
      <span className="find-end">
        <Highlighted text={text.slice(end)} tokens={tokens} />
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
