import type { AnyRegistry, OperationRegistry } from "../../engine/registry.ts"

const sorted = new WeakMap<AnyRegistry, { ids: readonly string[] | undefined }>()

/** The sorted ids of callable operations, cached until the registry changes; one listener per registry. */
export function sortedIds(registry: AnyRegistry): readonly string[] {
  let cached = sorted.get(registry)
  if (cached === undefined) {
    const fresh: { ids: readonly string[] | undefined } = { ids: undefined }
    registry.onChange(() => {
      fresh.ids = undefined
    })
    sorted.set(registry, fresh)
    cached = fresh
  }
  cached.ids ??= callableIds(registry).sort(order)
  return cached.ids
}

/** The ids of operations with a handler. A registry that is none of ours only lists its operations. */
function callableIds(registry: AnyRegistry): string[] {
  const own = registry as Partial<Pick<OperationRegistry, "callableIds">>
  if (own.callableIds !== undefined) return own.callableIds()
  return registry
    .list()
    .filter(({ handler }) => handler !== undefined)
    .map(({ namespace, name }) => `${namespace}.${name}`)
}

function order(left: string, right: string): number {
  return left < right ? -1 : Number(left > right)
}

/** The index of the first id after this one. */
export function placeAfter(ids: readonly string[], last: string): number {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ids[middle] as string) <= last) low = middle + 1
    else high = middle
  }
  return low
}
