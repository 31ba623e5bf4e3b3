import { idOf } from "../core/define.ts"
import type { AnyOperation } from "../core/define.ts"
import { lazyPartsOf } from "../core/lazy-operation.ts"
import { sameData } from "../internal/same-data.ts"
import type { SourceChanges } from "./model.ts"

/** Ids of each kind that are listed. */
const MAX_LISTED = 100

/** Compares the operations of a source with those of its last reading. Lazy schemas are not read. */
export function changesBetween(
  before: readonly AnyOperation[],
  after: readonly AnyOperation[],
  at: number,
): SourceChanges {
  const old = new Map(before.map((operation) => [idOf(operation), operation]))
  const added: string[] = []
  const changed: string[] = []
  for (const operation of after) {
    const id = idOf(operation)
    const previous = old.get(id)
    old.delete(id)
    if (previous === undefined) added.push(id)
    else if (previous !== operation && !sameData(partsOf(previous), partsOf(operation)))
      changed.push(id)
  }
  return { at, added: listed(added), removed: listed([...old.keys()]), changed: listed(changed) }
}

function listed(ids: readonly string[]): SourceChanges["added"] {
  return { count: ids.length, ids: ids.slice(0, MAX_LISTED) }
}

/** The parts of an operation that callers see, without schemas that are not read yet. */
function partsOf(operation: AnyOperation): unknown {
  const { type, title, description, tags, deprecated, accessControl } = operation
  const seen = { type, title, description, tags, deprecated, accessControl }
  const lazy = lazyPartsOf(operation)
  if (lazy !== undefined) return { ...seen, inputNames: lazy.inputNames }
  const { inputSchema, outputSchema, errorSchemas } = operation
  return { ...seen, inputSchema, outputSchema, errorSchemas }
}
