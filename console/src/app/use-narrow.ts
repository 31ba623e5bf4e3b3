import { useSyncExternalStore } from "react"

/** As in the styles. */
const NARROW = "(max-width: 760px)"

/** Whether there is room for the list or a view, but not for both. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => matchMedia(NARROW).matches)
}

function subscribe(listener: () => void): () => void {
  const query = matchMedia(NARROW)
  query.addEventListener("change", listener)
  return () => query.removeEventListener("change", listener)
}
