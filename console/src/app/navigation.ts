import { useMemo, useSyncExternalStore } from "react"
import { linkTo, parseRoute } from "./route.ts"
import type { Route } from "./route.ts"

/** The view that is shown. */
export function useRoute(): Route {
  const hash = useSyncExternalStore(onHash, () => location.hash)
  return useMemo(() => parseRoute(hash), [hash])
}

/** Shows another view; `replace` leaves no step to come back to, as for a tab of the same view. */
export function navigate(route: Route, options: { readonly replace?: boolean } = {}): void {
  const link = linkTo(route)
  if (link === location.hash) return
  if (options.replace === true) {
    history.replaceState(history.state, "", link)
    // `replaceState` fires no event.
    dispatchEvent(new HashChangeEvent("hashchange"))
  } else {
    location.hash = link
  }
}

function onHash(listener: () => void): () => void {
  addEventListener("hashchange", listener)
  return () => removeEventListener("hashchange", listener)
}
