import { createContext, use, useEffect, useMemo, useSyncExternalStore } from "react"
import type { Context } from "react"
import type { WaitingApprovals, HubClient, HubInfo, SourceStatus } from "../api/model.ts"
import type { SpecState } from "./spec-cache.ts"
import type { Connection, HubStore, OperationsState } from "./store.ts"
import { Toasts } from "./toasts.ts"

export { linkTo, navigate, useRoute, VIEWS, viewsFor } from "./route.ts"
export type { Route } from "./route.ts"

/** The store of the hub, for all components inside. */
export const StoreContext: Context<HubStore | undefined> = createContext<HubStore | undefined>(
  undefined,
)

/** The messages that are displayed at the moment. */
export const toasts = new Toasts()

/** Shows a short message that goes away by itself: `toast("Saved")`. */
export const toast = toasts.show

/** The client of the hub; the same one for as long as the page is open. */
export function useHub(): HubClient {
  return useStore().hub
}

/** Every operation that the caller may call. */
export function useOperations(): OperationsState & { readonly reload: () => void } {
  const store = useStore()
  const state = useSyncExternalStore(store.subscribe, () => store.operations)
  return useMemo(() => ({ ...state, reload: store.reload }), [state, store])
}

/** The spec of one operation; loaded once, and again when the list has changed. */
export function useSpec(id: string): SpecState {
  const store = useStore()
  const state = useSyncExternalStore(store.subscribe, () => store.spec(id))
  const operations = useSyncExternalStore(store.subscribe, () => store.operations)
  useEffect(() => store.requestSpec(id), [store, id, operations])
  return state
}

/** The sources of the hub as they were when last asked, a few seconds ago. */
export function useSources(): readonly SourceStatus[] | undefined {
  const store = useStore()
  return useSyncExternalStore(store.subscribe, () => store.sources)
}

/** The calls that wait for an approval, and what replaces them after an answer. */
export function useApprovals(): {
  readonly approvals: WaitingApprovals | undefined
  readonly update: (approvals: WaitingApprovals | undefined) => void
} {
  const store = useStore()
  const approvals = useSyncExternalStore(store.subscribe, () => store.approvals)
  return { approvals, update: store.updateApprovals }
}

/** Whether the hub answers. */
export function useConnection(): Connection {
  const store = useStore()
  return useSyncExternalStore(store.subscribe, () => store.connection)
}

/** What the hub says about itself, and about the caller. */
export function useHubInfo(): HubInfo {
  const store = useStore()
  return useSyncExternalStore(store.subscribe, () => store.info)
}

/** The store of the hub; for the frame around the views. */
export function useStore(): HubStore {
  const store = use(StoreContext)
  if (store === undefined) throw new Error("Put <StoreContext value={…}> around this component.")
  return store
}
