import { useCallback, useEffect, useMemo, useRef, useState } from "react"
import { useOperations, useRoute, useSources } from "../app/context.tsx"
import type { OperationSummary } from "../api/model.ts"
import { filterOperations, useFilters } from "./filters.ts"
import { favourites, recent, useKeptIds } from "./kept-ids.ts"
import { flatRows, foldersOf, isOpenAtFirst, keptFolder, toTree, treeRows } from "./tree.ts"
import type { Folder, FolderRow, Row } from "./tree.ts"
import { useSearch } from "./use-search.ts"
import { plain, tokensOf } from "./words.ts"

/** The query, and the list of what it finds. */
export interface Finder {
  readonly query: string
  /** Whether the rows are results of a search, not the tree. */
  readonly isSearch: boolean
  readonly isPending: boolean
  readonly error: Error | undefined
  readonly rows: readonly Row[]
  /** The number of operations that match the query and the filters. */
  readonly count: number
  readonly tokens: readonly string[]
  readonly setQuery: (query: string) => void
  readonly toggle: (row: FolderRow) => void
  /** Calls back with the first row for the current query, once its results have arrived. */
  readonly whenFound: (then: (first: Row | undefined) => void) => void
}

/** The list: a tree of all operations, or the results of a search. */
export function useFinder(): Finder {
  const { operations } = useOperations()
  const filters = useFilters()
  const [query, setQuery] = useState("")
  const search = useSearch(query)
  const listed = useMemo(() => filterOperations(operations, filters), [operations, filters])
  const matches = useMemo(
    () => search.matches && filterOperations(search.matches, filters),
    [search.matches, filters],
  )
  // What is filtered says nothing about a source without operations.
  const { tree, isOpen, toggle } = useTree(listed, listed === operations)
  const rows = useMemo(
    () => (matches === undefined ? treeRows(tree, isOpen) : flatRows(matches)),
    [matches, tree, isOpen],
  )
  const tokens = useMemo(() => tokensOf(plain(query)), [query])
  return {
    query,
    isSearch: matches !== undefined,
    isPending: search.isPending,
    error: search.error,
    rows,
    count: (matches ?? listed).length,
    tokens,
    setQuery,
    toggle,
    whenFound: (then) =>
      search.whenFound((latest) => then(flatRows(filterOperations(latest, filters))[0])),
  }
}

/** The tree of operations with the user's own folders, and which of its folders are open. */
function useTree(
  operations: readonly OperationSummary[],
  isWhole: boolean,
): {
  readonly tree: readonly Folder[]
  readonly isOpen: (folder: Folder) => boolean
  readonly toggle: (row: FolderRow) => void
} {
  const route = useRoute()
  const current = route.view === "operation" ? route.id : undefined
  const { favouriteFolder, recentFolder } = useKeptFolders(operations)
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map())
  const states = useSources()
  const down = isWhole ? states : undefined
  const sources = useMemo(() => toTree(operations, down), [operations, down])
  const tree = useMemo(
    () => [favouriteFolder, recentFolder, ...sources].filter((folder) => folder !== undefined),
    [favouriteFolder, recentFolder, sources],
  )
  const isOpen = useCallback(
    (folder: Folder) => opened.get(folder.key) ?? isOpenAtFirst(folder, tree),
    [opened, tree],
  )
  const toggle = useCallback(
    (row: FolderRow) => setOpened((before) => new Map(before).set(row.key, !row.isOpen)),
    [],
  )
  const revealed = useRef<string>(undefined)
  useEffect(() => {
    if (current === undefined || current === revealed.current) return
    const keys = foldersOf(sources, current)
    if (keys.length === 0) return
    // Once: the user may close them again.
    revealed.current = current
    setOpened((before) => new Map([...before, ...keys.map((key) => [key, true] as const)]))
  }, [current, sources])
  return { tree, isOpen, toggle }
}

/** The folders of the user; `undefined` for an empty one. */
export function useKeptFolders(operations: readonly OperationSummary[]): {
  readonly favouriteFolder: Folder | undefined
  readonly recentFolder: Folder | undefined
} {
  const favouriteIds = useKeptIds(favourites)
  const recentIds = useKeptIds(recent)
  return useMemo(() => {
    const byId = new Map(operations.map((one) => [one.id, one]))
    return {
      favouriteFolder: keptFolder("favourites", favouriteIds, byId),
      recentFolder: keptFolder("recent", recentIds, byId),
    }
  }, [operations, favouriteIds, recentIds])
}
