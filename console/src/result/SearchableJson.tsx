import { useDeferredValue, useMemo, useState } from "react"
import type { ReactNode } from "react"
import { isObject } from "../../../src/internal/guards.ts"
import { weigh } from "../../../src/internal/weigh.ts"
import { SearchField, SearchMatches } from "../ui/SearchField.tsx"
import { JsonTree } from "./JsonTree.tsx"
import { countOf } from "./entries.ts"
import { searchJson } from "./search-json.ts"

/** Smaller values are read faster than searched. */
const MIN_SEARCHED = 400

/** A JSON value as a tree, and a field that finds names and values in it. */
export function SearchableJson({
  value,
  label,
}: {
  readonly value: unknown
  readonly label: string
}): ReactNode {
  const [text, setText] = useState("")
  const wanted = useDeferredValue(text)
  const search = useMemo(() => searchJson(value, wanted), [value, wanted])
  const isLarge = useMemo(
    () =>
      isObject(value) &&
      (countOf(value) >= MIN_SEARCHED || weigh(value, MIN_SEARCHED) >= MIN_SEARCHED),
    [value],
  )
  if (!isLarge) return <JsonTree value={value} label={label} />
  return (
    <div className="stack">
      <div className="row">
        <SearchField
          label={`Search in ${label}`}
          placeholder="Search names and values"
          text={text}
          onText={setText}
        />
        <SearchMatches count={search?.count} isCut={search?.isCut} />
      </div>
      {search?.count !== 0 && (
        // Another search opens other parts.
        <JsonTree
          key={search === undefined ? "" : wanted}
          value={value}
          label={label}
          search={search}
        />
      )}
    </div>
  )
}
