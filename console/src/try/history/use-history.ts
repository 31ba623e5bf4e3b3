import { useSyncExternalStore } from "react"
import { HistoryShelf } from "./history-shelf.ts"
import { HistoryStore, KEY } from "./store.ts"
import type { HistoryEntry } from "./store.ts"

const shelf = new HistoryShelf(
  () => globalThis.sessionStorage,
  () => globalThis.localStorage,
)

/** The history of this tab, or of this browser where the user has chosen so. */
export const history = new HistoryStore(() => shelf)

/** Whether the history stays when the tab is closed. */
export function isHistoryKept(): boolean {
  try {
    return shelf.isKept
  } catch {
    // The browser keeps nothing for this page.
    return false
  }
}

/** Keeps the history when the tab is closed, or no longer. */
export function keepHistory(isKept: boolean): void {
  try {
    shelf.keep(isKept, KEY)
  } catch {
    // As above: then there is nothing to keep.
  }
  history.refresh()
}

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

/** Removes it, so that the next visit starts with a new input. */
export function dropInput(operationId: string): void {
  waiting.delete(operationId)
}
