import { checkAccess } from "../../core/access.ts"
import type { AnyRegistry } from "../../engine/registry.ts"
import type { Identity } from "../../core/types.ts"

const MAX_NAMESPACES = 50

/** Instructions for the three search tools. */
export const SEARCH_FIRST =
  "To use an operation: 1. search_operations finds operations and their ids. 2. describe_operation returns the input, output and errors of one. 3. call_operation runs it. Do not guess ids or inputs."

/** The default instructions: the namespaces that a caller may use, with their numbers of operations. */
export function describeNamespaces(
  registry: AnyRegistry,
  identity: Identity | undefined,
): string | undefined {
  const counts = new Map<string, number>()
  for (const { namespace, visibility, accessControl } of registry.getAllSpecs()) {
    if (visibility === "internal" || !mayCall(accessControl, identity)) continue
    counts.set(namespace, (counts.get(namespace) ?? 0) + 1)
  }
  if (counts.size === 0) return undefined
  const all = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const shown = all.slice(0, MAX_NAMESPACES).map(([namespace, count]) => `${namespace} (${count})`)
  const rest = all.length > shown.length ? [`${all.length - shown.length} more`] : []
  return `Operations by namespace: ${[...shown, ...rest].join(", ")}.`
}

function mayCall(
  accessControl: Parameters<typeof checkAccess>[0],
  identity: Identity | undefined,
): boolean {
  try {
    // The resource is known only with the input.
    return checkAccess({ ...accessControl, resourceIdPath: undefined }, identity)
  } catch {
    return false
  }
}
