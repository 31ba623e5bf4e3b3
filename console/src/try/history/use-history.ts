import { useSyncExternalStore } from "react"
import { HistoryStore } from "./store.ts"
import type { HistoryEntry } from "./store.ts"

/** The history of this browser. */
export const history = new HistoryStore(() => {
  try {
    return globalThis.localStorage
  } catch {
    // The browser keeps nothing for this page.
    return undefined
  }
})

/** The calls that were made from here, the newest first. */
export function useHistory(): readonly HistoryEntry[] {
  return useSyncExternalStore(subscribe, history.get)
}

function subscribe(listener: () => void): () => void {
  const stop = history.subscribe(listener)
  addEventListener("storage", history.refresh)
  return () => {
    stop()
    removeEventListener("storage", history.refresh)
  }
}

const waiting = new Map<string, { readonly input: unknown; readonly removed: readonly string[] }>()

/** Leaves an input for an operation that is about to be shown. */
export function leaveInput(entry: HistoryEntry): void {
  waiting.set(entry.operationId, { input: entry.input, removed: entry.removed })
}

/** The input that was left for an operation. */
export function peekInput(
  operationId: string,
): { readonly input: unknown; readonly removed: readonly string[] } | undefined {
  return waiting.get(operationId)
}

/** Takes it away, so that the next visit starts afresh. */
export function dropInput(operationId: string): void {
  waiting.delete(operationId)
}
