import { createContext, use, useEffect, useMemo, useSyncExternalStore } from "react"
import type { ReactNode } from "react"
import type { HubClient, HubInfo, SourceStatus } from "../api/model.ts"
import type { SpecState } from "./spec-cache.ts"
import type { Connection, HubStore, OperationsState } from "./store.ts"
import { Toasts } from "./toasts.ts"
import type { Toast } from "./toasts.ts"

export { navigate, useRoute } from "./navigation.ts"
export { linkTo } from "./route.ts"
export type { Route } from "./route.ts"

const StoreContext = createContext<HubStore | undefined>(undefined)
const toasts = new Toasts()

/** Provides a hub to all components inside. */
export function HubProvider({
  store,
  children,
}: {
  readonly store: HubStore
  readonly children: ReactNode
}): ReactNode {
  return <StoreContext value={store}>{children}</StoreContext>
}

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

/** Whether the hub answers, and what it is called. */
export function useHubState(): { readonly connection: Connection; readonly title: string } {
  const store = useStore()
  const connection = useSyncExternalStore(store.subscribe, () => store.connection)
  const { title } = useHubInfo()
  return useMemo(() => ({ connection, title }), [connection, title])
}

/** What the hub says about itself, and about the caller. */
export function useHubInfo(): HubInfo {
  const store = useStore()
  return useSyncExternalStore(store.subscribe, () => store.info)
}

/** Shows a short message that goes away by itself: `toast("Saved")`. */
export function useToast(): (text: string, tone?: Toast["tone"]) => void {
  return toasts.show
}

/** The messages that are shown at the moment. */
export function useToasts(): {
  readonly toasts: readonly Toast[]
  readonly hide: (id: number) => void
} {
  const shown = useSyncExternalStore(toasts.subscribe, toasts.get)
  return useMemo(() => ({ toasts: shown, hide: toasts.hide }), [shown])
}

/** The store of the hub; for the frame around the views. */
export function useStore(): HubStore {
  const store = use(StoreContext)
  if (store === undefined) throw new Error("Put <HubProvider store={…}> around this component.")
  return store
}
