import { isRefusal } from "../api/problems.ts"
import type { Session } from "../api/session.ts"
import type { HubStore } from "./store.ts"

const CALM_MS = 5000
/** The interval while something is about to change. */
const BUSY_MS = 2000

/** Polls the state of the sources while the page is visible; returns a function that stops it. */
export function startPolling(store: HubStore, session: Session): () => void {
  const controller = new AbortController()
  const { signal } = controller
  let timer: ReturnType<typeof setTimeout> | undefined
  let isAsking = false
  /** Some callers may not see sources. */
  let isRefused = false

  const later = (): void => {
    clearTimeout(timer)
    if (!signal.aborted) timer = setTimeout(poll, isBusy(store) ? BUSY_MS : CALM_MS)
  }
  const ask = async (): Promise<void> => {
    isAsking = true
    try {
      if (isRefused) await store.hub.ping(signal)
      else {
        store.updateSources(await store.hub.sources(signal))
        store.updateApprovals(await store.hub.approvals(signal))
      }
    } catch (error) {
      // The store has been notified whether the hub was reached.
      if (isRefusal(error)) isRefused = true
    } finally {
      isAsking = false
    }
    later()
  }
  const poll = (): void => {
    if (isAsking || signal.aborted) return
    // Another anonymous request would only be refused again.
    if (document.visibilityState === "hidden" || session.isRequired) later()
    else void ask()
  }
  const wake = (): void => {
    if (document.visibilityState === "visible") poll()
  }
  document.addEventListener("visibilitychange", wake)
  addEventListener("online", wake)
  const stopHearing = session.subscribe(() => {
    isRefused = false
    wake()
  })
  poll()
  return () => {
    controller.abort()
    clearTimeout(timer)
    document.removeEventListener("visibilitychange", wake)
    removeEventListener("online", wake)
    stopHearing()
  }
}

function isBusy({ connection, sources }: HubStore): boolean {
  if (connection === "offline") return true
  return sources?.some(({ state }) => state !== "ready" && state !== "disabled") ?? false
}
