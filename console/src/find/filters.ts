import { useSyncExternalStore } from "react"
import { Listeners } from "../../../src/internal/listeners.ts"
import type { OperationSummary, OperationType } from "../api/model.ts"

/** Which operations the list shows; a filter that is not set leaves all. */
export interface Filters {
  readonly source?: string | undefined
  readonly tag?: string | undefined
  readonly type?: OperationType | undefined
  readonly access?: "open" | "protected" | undefined
  readonly deprecated?: "hide" | "only" | undefined
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

const NO_FILTERS: Filters = {}
let filters = NO_FILTERS
const listeners = new Listeners()

/** Sets filters in place of the current ones. */
export function setFilters(next: Filters): void {
  filters = next
  listeners.notify()
}

export function useFilters(): Filters {
  return useSyncExternalStore(listeners.add, () => filters)
}
