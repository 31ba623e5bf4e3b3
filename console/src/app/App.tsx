import { useEffect, useState } from "react"
import type { ReactNode } from "react"
import { createHubClient } from "../api/client.ts"
import { session } from "../api/session.ts"
import "../styles/tokens.css"
import "../styles/base.css"
import "../styles/ui.css"
import "../styles/frame.css"
import { Frame } from "./Frame.tsx"
import { StoreContext } from "./context.tsx"
import { startPolling } from "./poll.ts"
import { runs } from "./runs.ts"
import { HubStore } from "./store.ts"
import { startTheme } from "./theme.ts"

// Before anything is rendered.
startTheme()

/** The console of the hub that this page came from. */
export function App(): ReactNode {
  const [store] = useState(createStore)
  useEffect(() => {
    store.reload()
    const stop = startPolling(store, session)
    // A page that the browser keeps for going back would hold its streams open.
    addEventListener("pagehide", runs.clear)
    return () => {
      stop()
      removeEventListener("pagehide", runs.clear)
      store.close()
    }
  }, [store])
  return (
    <StoreContext value={store}>
      <Frame />
    </StoreContext>
  )
}

function createStore(): HubStore {
  const store: HubStore = new HubStore(
    createHubClient({
      // Relative to the page: the hub may be served under a path.
      baseUrl: new URL(".", document.baseURI).href,
      session,
      onReach: (isReached) => store.setReachable(isReached),
      onInfo: (info) => {
        store.setInfo(info)
        session.setName(info.callerId)
      },
    }),
  )
  return store
}
