import { useEffect, useSyncExternalStore } from "react"
import { session } from "../api/session.ts"
import { useStore } from "./context.tsx"

const subscribe = (listener: () => void): (() => void) => session.subscribe(listener)

/** Whether this page says who it is. */
export function useIsSignedIn(): boolean {
  return useSyncExternalStore(subscribe, () => session.credential !== undefined)
}

/** Asks everything again when this page becomes somebody else, and tells when the hub wants to know who. */
export function useSession(onRequired: () => void): void {
  const store = useStore()
  useEffect(() => {
    let before = session.credential
    return session.subscribe(() => {
      if (session.isRequired) onRequired()
      if (session.credential === before) return
      before = session.credential
      store.restart()
    })
  }, [store, onRequired])
}
