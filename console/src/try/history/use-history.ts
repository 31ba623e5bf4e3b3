import { useSyncExternalStore } from "react"
import { historyShelf } from "./history-shelf.ts"
import { HistoryStore, KEY } from "./store.ts"
import type { HistoryEntry } from "./store.ts"

/** The history of this tab, or of this browser where the user has chosen so. */
export const history = new HistoryStore(() => historyShelf)

/** Whether the history stays when the tab is closed. */
export function isHistoryKept(): boolean {
  try {
    return historyShelf.isKept
  } catch {
    // The browser keeps nothing for this page.
    return false
  }
}

/** Keeps the history when the tab is closed, or no longer. */
export function keepHistory(isKept: boolean): void {
  try {
    historyShelf.keep(isKept, KEY)
  } catch {
    // As above: then there is nothing to keep.
  }
  history.refresh()
}

/** The calls that were made from here, the newest first. */
export function useHistory(): readonly HistoryEntry[] {
  return useSyncExternalStore(history.follow, history.get)
}
