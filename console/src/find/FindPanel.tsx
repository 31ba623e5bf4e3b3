import { useCallback, useId, useState } from "react"
import type { KeyboardEvent, ReactNode, RefObject } from "react"
import { navigate, useOperations, useRoute } from "../app/context.tsx"
import { focusHeading } from "../app/focus.ts"
import type { OperationType } from "../api/model.ts"
import { Empty } from "../ui/Empty.tsx"
import { ErrorBox } from "../ui/ErrorBox.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Spinner } from "../ui/Spinner.tsx"
import { formatCount } from "../ui/format.ts"
import { OperationTree, rowId } from "./OperationTree.tsx"
import "./find.css"
import { listAction } from "./keys.ts"
import type { GroupBy } from "./rows.ts"
import { useFinder } from "./use-finder.ts"
import type { Finder } from "./use-finder.ts"

/** Search and list, by mouse or keyboard. */
export function FindPanel({
  search,
}: {
  /** The field that `/` goes to. */
  readonly search: RefObject<HTMLInputElement | null>
}): ReactNode {
  const { status, error, reload } = useOperations()
  const finder = useFinder()
  const route = useRoute()
  const tree = useId()
  const [key, setKey] = useState<string>()
  const isSearch = finder.tokens.length > 0 || finder.query.trim() !== ""
  const chosen = finder.rows.findIndex((row) => row.key === key)
  // Enter opens the best result, until the arrows select another.
  const active = chosen === -1 && isSearch && finder.rows.length > 0 ? 0 : chosen
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.nativeEvent.isComposing) return
    const isTyping = event.target === search.current && finder.query !== ""
    // Enter applies to the typed query, even if the list still shows the previous one.
    const rows = finder.latest()
    const at = rows === finder.rows ? active : isTyping && rows.length > 0 ? 0 : -1
    const action = listAction(event.key, rows, at, isTyping)
    if (action === undefined) return
    event.preventDefault()
    switch (action.kind) {
      case "move":
        return setKey(rows[action.to]?.key)
      case "toggle":
        return finder.toggle(action.key)
      case "open":
        if (action.row.kind === "group") return finder.toggle(action.row.key)
        navigate({ view: "operation", id: action.row.operation.id })
        return focusHeading()
      case "leave":
        setKey(undefined)
        if (finder.query === "") return search.current?.blur()
        finder.setQuery("")
        return search.current?.focus()
    }
  }
  const onOpen = useCallback(() => focusHeading(), [])
  const label = isSearch
    ? `${finder.found.toLocaleString("en")} found`
    : formatCount(finder.found, "operation")
  return (
    <div className="find">
      <div className="find-head">
        <div className="find-search">
          <Icon name="search" />
          <input
            ref={search}
            type="search"
            className="input"
            role="combobox"
            aria-label="Search operations"
            aria-controls={tree}
            aria-expanded={finder.rows.length > 0}
            aria-haspopup="tree"
            aria-autocomplete="list"
            aria-activedescendant={active >= 0 ? rowId(tree, active) : undefined}
            aria-keyshortcuts="/ Control+K"
            placeholder="Search operations"
            autoComplete="off"
            spellCheck={false}
            value={finder.query}
            onChange={(event) => {
              setKey(undefined)
              finder.setQuery(event.target.value)
            }}
            onKeyDown={onKeyDown}
          />
          <kbd aria-hidden="true">/</kbd>
        </div>
        <Filters finder={finder} isSearch={isSearch} />
        <p className="find-total" role="status">
          {status === "ready" ? label : ""}
        </p>
      </div>
      {status === "loading" && <Spinner label="Reading the operations" />}
      {status === "failed" && (
        <div className="find-failed">
          <ErrorBox error={error} onRetry={reload} />
        </div>
      )}
      {status === "ready" && finder.rows.length === 0 && <Nothing finder={finder} />}
      {finder.rows.length > 0 && (
        <OperationTree
          id={tree}
          rows={finder.rows}
          active={active}
          current={route.view === "operation" ? route.id : undefined}
          tokens={finder.tokens}
          onToggle={finder.toggle}
          onOpen={onOpen}
          onKeyDown={onKeyDown}
        />
      )}
    </div>
  )
}

function Filters({
  finder,
  isSearch,
}: {
  readonly finder: Finder
  readonly isSearch: boolean
}): ReactNode {
  return (
    <div className="find-filters">
      <select
        className="input"
        aria-label="Type"
        value={finder.type ?? ""}
        onChange={({ target: { value } }) =>
          finder.setType(value === "" ? undefined : (value as OperationType))
        }
      >
        <option value="">All types</option>
        <option value="query">Queries</option>
        <option value="mutation">Mutations</option>
        <option value="subscription">Subscriptions</option>
      </select>
      <select
        className="input"
        aria-label="Group by"
        value={finder.groupBy}
        disabled={isSearch}
        onChange={({ target: { value } }) => finder.setGroupBy(value as GroupBy)}
      >
        <option value="namespace">By namespace</option>
        <option value="source">By source</option>
        <option value="tag">By tag</option>
      </select>
    </div>
  )
}

function Nothing({ finder }: { readonly finder: Finder }): ReactNode {
  if (finder.query.trim() !== "") {
    return <Empty title="Nothing found">Try fewer or shorter words.</Empty>
  }
  return finder.type === undefined ? (
    <Empty title="No operations yet">
      Sources may still be loading, or you may not be allowed to call any operation.
    </Empty>
  ) : (
    <Empty title={`No ${finder.type} here`}>Choose another type.</Empty>
  )
}
