import { useMemo, useSyncExternalStore } from "react"
import { Listeners } from "../../../src/internal/listeners.ts"
import type { OperationSummary, OperationType } from "../api/model.ts"

/** Which operations the list shows; a filter that is not set has no effect. */
export interface Filters {
  readonly source?: string | undefined
  readonly tag?: string | undefined
  readonly type?: OperationType | undefined
  readonly access?: "open" | "protected" | undefined
  readonly deprecated?: "hide" | "only" | undefined
}

/** Characters of a name in an address; longer ones are ignored. */
const MAX_NAME = 200

/** Reads filters from the query of an address; ignores invalid ones. */
export function parseFilters(search: string): Filters {
  const parameters = new URLSearchParams(search)
  const name = (key: string): string | undefined => {
    const value = parameters.get(key) ?? ""
    return value === "" || value.length > MAX_NAME ? undefined : value
  }
  const choice = <TValue extends string>(
    key: string,
    values: readonly TValue[],
  ): TValue | undefined => values.find((value) => value === parameters.get(key))
  return {
    source: name("source"),
    tag: name("tag"),
    type: choice("type", ["query", "mutation", "subscription"]),
    access: choice("access", ["open", "protected"]),
    deprecated: choice("deprecated", ["hide", "only"]),
  }
}

/** The query of an address with these filters: `?source=github&type=query`. */
export function searchWith(filters: Filters): string {
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(filters)) {
    if (typeof value === "string") query.set(key, value)
  }
  const text = query.toString()
  return text === "" ? "" : `?${text}`
}

/** The number of filters that are set. */
export function countFilters(filters: Filters): number {
  return Object.values(filters).filter((value) => value !== undefined).length
}

/** The operations that pass all filters; the same list if none is set. */
export function filterOperations(
  operations: readonly OperationSummary[],
  filters: Filters,
): readonly OperationSummary[] {
  if (countFilters(filters) === 0) return operations
  const { source, tag, type, access, deprecated } = filters
  return operations.filter(
    (one) =>
      (source === undefined || one.source === source) &&
      (tag === undefined || one.tags?.includes(tag) === true) &&
      (type === undefined || one.type === type) &&
      (access === undefined || (one.isProtected === true) === (access === "protected")) &&
      (deprecated === undefined || (one.deprecated === true) === (deprecated === "only")),
  )
}

/** The names of all sources and tags, in order; tags only of one source if that is chosen. */
export function filterChoices(
  operations: readonly OperationSummary[],
  source: string | undefined,
): { readonly sources: readonly string[]; readonly tags: readonly string[] } {
  const sources = new Set<string>()
  const tags = new Set<string>()
  for (const one of operations) {
    if (one.source !== undefined) sources.add(one.source)
    if (source === undefined || one.source === source) {
      for (const tag of one.tags ?? []) tags.add(tag)
    }
  }
  return { sources: [...sources].toSorted(), tags: [...tags].toSorted() }
}

const listeners = new Listeners()

/** Sets filters in place of the current ones. They are in the address, so that they can be kept and shared. */
export function setFilters(next: Filters): void {
  const { pathname, hash } = location
  history.replaceState(history.state, "", `${pathname}${searchWith(next)}${hash}`)
  // `replaceState` fires no event.
  listeners.notify()
}

export function useFilters(): Filters {
  const search = useSyncExternalStore(onSearch, () => location.search)
  return useMemo(() => parseFilters(search), [search])
}

function onSearch(listener: () => void): () => void {
  const stop = listeners.add(listener)
  addEventListener("popstate", listener)
  return () => {
    stop()
    removeEventListener("popstate", listener)
  }
}
