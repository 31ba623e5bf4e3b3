import { useCallback, useId, useState } from "react"
import type { KeyboardEvent, ReactNode, RefObject } from "react"
import { navigate, useOperations, useRoute } from "../app/context.tsx"
import { focusHeading } from "../app/focus.ts"
import { Button } from "../ui/Button.tsx"
import { Empty } from "../ui/Empty.tsx"
import { ErrorBox } from "../ui/ErrorBox.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Skeleton } from "../ui/Skeleton.tsx"
import { formatCount } from "../ui/format.ts"
import { treeMove } from "../ui/tree-keys.ts"
import { FilterBar } from "./FilterBar.tsx"
import { OperationTree, rowId } from "./OperationTree.tsx"
import { countFilters, setFilters, useFilters } from "./filters.ts"
import "./find.css"
import type { Row } from "./tree.ts"
import { useFinder } from "./use-finder.ts"

/** Keys that move the cursor within a text. */
const CURSOR_KEYS: ReadonlySet<string> = new Set(["ArrowLeft", "ArrowRight", "Home", "End"])

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
  const { rows, isSearch, isPending } = finder
  const chosen = rows.findIndex((row) => row.key === key)
  // Enter opens the best result, until the arrows select another.
  const active = chosen === -1 && isSearch && rows.length > 0 ? 0 : chosen
  const open = (row: Row | undefined): void => {
    if (row?.kind === "folder") return finder.toggle(row)
    if (row === undefined) return
    navigate({ view: "operation", id: row.operation.id })
    focusHeading()
  }
  const leave = (): void => {
    setKey(undefined)
    if (finder.query === "") return search.current?.blur()
    finder.setQuery("")
    search.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.nativeEvent.isComposing) return
    const isTyping = event.target === search.current && finder.query !== ""
    if (event.key === "Enter" && isTyping && isPending) {
      event.preventDefault()
      return finder.whenFound(open)
    }
    if (event.key === "Escape") leave()
    else if (event.key === "Enter") {
      if (active === -1) return
      open(rows[active])
    } else {
      if (isTyping && CURSOR_KEYS.has(event.key)) return
      const move = treeMove(event.key, rows, active)
      if (move === undefined) return
      if (move === "toggle") open(rows[active])
      else setKey(rows[move]?.key)
    }
    event.preventDefault()
  }
  const onOpen = useCallback(() => focusHeading(), [])
  const label = isSearch
    ? `${finder.count.toLocaleString("en")} found`
    : formatCount(finder.count, "operation")
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
            aria-expanded={rows.length > 0}
            aria-haspopup="tree"
            aria-autocomplete="list"
            aria-activedescendant={active >= 0 ? rowId(tree, active) : undefined}
            aria-keyshortcuts="/"
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
        <FilterBar label={status === "ready" ? label : ""} />
      </div>
      {status === "loading" && <Skeleton label="Loading the operations" lines={8} />}
      {status === "failed" && (
        <div className="find-failed">
          <ErrorBox error={error} onRetry={reload} />
        </div>
      )}
      {finder.error !== undefined && (
        <div className="find-failed">
          <ErrorBox error={finder.error} onRetry={reload} />
        </div>
      )}
      {status === "ready" && rows.length === 0 && finder.error === undefined && (
        <Nothing isSearch={isSearch} />
      )}
      {rows.length > 0 && (
        <OperationTree
          id={tree}
          rows={rows}
          active={active}
          current={route.view === "operation" ? route.id : undefined}
          tokens={isSearch ? finder.tokens : NO_TOKENS}
          isSearch={isSearch}
          onToggle={finder.toggle}
          onOpen={onOpen}
          onKeyDown={onKeyDown}
        />
      )}
    </div>
  )
}

const NO_TOKENS: readonly string[] = []

function Nothing({ isSearch }: { readonly isSearch: boolean }): ReactNode {
  const isFiltered = countFilters(useFilters()) > 0
  if (!isSearch && !isFiltered) {
    return (
      <Empty title="No operations yet">
        Add some with <code>npx @alkdev/operations import</code>. Sources may also still be loading,
        or you may not be allowed to call their operations.
      </Empty>
    )
  }
  return (
    <Empty title="Nothing found">
      {isSearch && <p>Try other or fewer words, or a path such as /pets.</p>}
      {isFiltered && <Button onClick={() => setFilters({})}>Clear the filters</Button>}
    </Empty>
  )
}
