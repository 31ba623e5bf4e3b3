import { vi } from "vitest"
import { PATIENCE } from "./patience.ts"

/** Calls back until that does not throw any more, and gives its result. */
export function waitFor<TValue>(callback: () => TValue | Promise<TValue>): Promise<TValue> {
  return vi.waitFor(callback, { timeout: PATIENCE, interval: 20 })
}
