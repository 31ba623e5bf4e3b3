import { useCallback, useDeferredValue, useMemo, useState } from "react"
import { useOperations } from "../app/context.tsx"
import type { OperationType } from "../api/model.ts"
import { flatRows, groupOperations, groupedRows, ofType } from "./rows.ts"
import type { GroupBy, Row } from "./rows.ts"
import { createSearchIndex } from "./search-index.ts"
import { plain, tokensOf } from "./words.ts"

/** The query, and its results. */
export interface Finder {
  readonly query: string
  readonly type: OperationType | undefined
  readonly groupBy: GroupBy
  readonly rows: readonly Row[]
  /** The rows of what is typed right now: those that are shown may still be of what was typed before. */
  readonly latest: () => readonly Row[]
  readonly found: number
  readonly tokens: readonly string[]
  readonly setQuery: (query: string) => void
  readonly setType: (type: OperationType | undefined) => void
  readonly setGroupBy: (by: GroupBy) => void
  readonly toggle: (key: string) => void
}

/** The list: groups of all operations, or the results of a search. */
export function useFinder(): Finder {
  const { operations } = useOperations()
  const [query, setQuery] = useState("")
  const [type, setType] = useState<OperationType>()
  const [groupBy, setGroupBy] = useState<GroupBy>("namespace")
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  // Typing comes first; the list follows when there is time.
  const asked = useDeferredValue(query)
  const isSearch = asked.trim() !== ""
  const index = useMemo(() => createSearchIndex(operations), [operations])
  const found = useMemo(() => ofType(index.search(asked), type), [index, asked, type])
  const groups = useMemo(
    () => (isSearch ? [] : groupOperations(found, groupBy)),
    [isSearch, found, groupBy],
  )
  const rows = useMemo(
    () => (isSearch ? flatRows(found) : groupedRows(groups, closed, groupBy)),
    [isSearch, found, groups, closed, groupBy],
  )
  const latest = (): readonly Row[] => {
    if (query === asked) return rows
    const now = ofType(index.search(query), type)
    if (query.trim() !== "") return flatRows(now)
    return groupedRows(groupOperations(now, groupBy), closed, groupBy)
  }
  const tokens = useMemo(() => tokensOf(plain(asked)), [asked])
  const toggle = useCallback((key: string) => {
    setClosed((before) => {
      const next = new Set(before)
      if (!next.delete(key)) next.add(key)
      return next
    })
  }, [])
  return {
    query,
    type,
    groupBy,
    rows,
    latest,
    found: found.length,
    tokens,
    setQuery,
    setType,
    setGroupBy,
    toggle,
  }
}
