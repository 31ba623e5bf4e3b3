import type { Logger } from "../internal/logger.ts"
import type { Hub } from "./model.ts"

/** Milliseconds of the event loop that indexing takes at a time. */
const SLICE_MS = 4

/**
 * Indexes the operations of a hub in slices, as they come and change, so that the first search does not wait
 * for all of them. Returns a function that stops it.
 */
export function prepareSearch(hub: Pick<Hub, "onStatus" | "registry">, logger: Logger): () => void {
  let next: NodeJS.Immediate | undefined
  const index = (): void => {
    const end = performance.now() + SLICE_MS
    let isDone = false
    try {
      isDone = hub.registry.updateIndex(() => performance.now() >= end)
    } catch (error) {
      // The next slice continues with the operation after it.
      logger.warn("An operation cannot be searched for", { error })
    }
    next = isDone ? undefined : setImmediate(index)
  }
  const begin = (): void => void (next ??= setImmediate(index))
  const stop = hub.onStatus(begin)
  begin()
  return () => {
    stop()
    clearImmediate(next)
  }
}
