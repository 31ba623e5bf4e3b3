import type { ServedRegistry } from "./served-registry.ts"
import { systemClock } from "../internal/clock.ts"
import { defer } from "../internal/defer.ts"

/** Milliseconds of the event loop that indexing takes at a time. */
const SLICE_MS = 4

/**
 * Indexes what was registered since the last search. Servers do that before they search: in a large registry the
 * first search would otherwise keep all other callers waiting. Returns `undefined` if one slice was enough.
 *
 * An operation that cannot be indexed throws; the next call continues with the one after it.
 */
export function indexInSlices(registry: ServedRegistry): Promise<void> | undefined {
  const runSlice = (): boolean => {
    const end = systemClock.now() + SLICE_MS
    return registry.updateIndex?.(() => systemClock.now() >= end) ?? true
  }
  if (runSlice()) return undefined
  return new Promise((resolve, reject) => {
    const next = (): void => {
      try {
        if (runSlice()) resolve()
        else defer(next)
      } catch (error) {
        reject(error)
      }
    }
    defer(next)
  })
}
