import { useEffect, useEffectEvent, useSyncExternalStore } from "react"
import { session } from "../api/session.ts"
import type { KnownIdentity } from "../api/session.ts"
import { useStore } from "./context.tsx"

/** Whether this page has a credential. */
export function useIsSignedIn(): boolean {
  return useSyncExternalStore(session.subscribe, () => session.credential !== undefined)
}

/** Every identity of this page, the one in use included. */
export function useIdentities(): readonly KnownIdentity[] {
  return useSyncExternalStore(session.subscribe, session.identities)
}

/** Whether the hub asks for a credential, or for another one. */
export function useIsLocked(): boolean {
  return useSyncExternalStore(session.subscribe, () => session.isRequired)
}

/** Reloads everything when the credential changes, and reports when the hub asks for one. */
export function useSession(onRequired: () => void): void {
  const store = useStore()
  const notifyRequired = useEffectEvent(onRequired)
  useEffect(() => {
    let before = session.credential
    return session.subscribe(() => {
      if (session.isRequired) notifyRequired()
      if (session.credential === before) return
      before = session.credential
      store.restart()
    })
  }, [store])
}
