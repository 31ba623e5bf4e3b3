import { useEffect, useRef, useState } from "react"
import { pause } from "../../../src/internal/wait.ts"
import type { HubEvent } from "../api/model.ts"
import { useConnection, useHub, useOperations } from "../app/context.tsx"
import { follow } from "./follow.ts"
import type { FollowState } from "./follow.ts"
import { createGatherer } from "./gather.ts"
import { isRefusal } from "../api/problems.ts"
import { steadyNow } from "../ui/steady-now.ts"

/** The event handlers of a view; pass the same object in each render. */
export interface EventHandlers {
  /**
   * A connection is being opened, for the first time or again; called once more when it is open: what happened in between is
   * in no event.
   */
  onOpen(signal: AbortSignal): void
  onEvents(events: readonly HubEvent[]): void
  /** The connection is lost, until it is opened again. */
  onLost(): void
}

const GATHER_MS = 150

/** The events of the hub for as long as the view is there; a lost connection is opened again. */
export function useHubEvents(
  handlers: EventHandlers,
): FollowState & { readonly retry: () => void } {
  const hub = useHub()
  const { operations } = useOperations()
  const [state, setState] = useState<FollowState>({ phase: "live" })
  const [attempt, setAttempt] = useState(0)
  const connection = useConnection()
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    const open = async (onActive: () => void): Promise<void> => {
      const events = createGatherer<HubEvent>((batch) => handlers.onEvents(batch), GATHER_MS)
      handlers.onOpen(signal)
      try {
        await hub.events({
          signal,
          onOpen: () => {
            if (!signal.aborted) handlers.onOpen(signal)
          },
          onEvent: (event) => {
            if (signal.aborted) return
            onActive()
            events.add(event)
          },
        })
      } finally {
        events.flush()
        handlers.onLost()
      }
    }
    // A promise that never rejects.
    void follow({
      open,
      onState: setState,
      isFinal: isRefusal,
      now: steadyNow,
      wait: (ms, until) => pause(ms, { signal: until }),
      signal,
    })
    return () => controller.abort()
  }, [hub, handlers, attempt])
  const retry = (): void => setAttempt((count) => count + 1)
  const last = useRef({ connection, operations })
  useEffect(() => {
    const before = last.current
    last.current = { connection, operations }
    // Another request has reached the hub again.
    const isBack = before.connection === "offline" && connection !== "offline"
    // The user may have signed in since: then there is another list.
    const isAllowed = state.phase === "refused" && before.operations !== operations
    if (isBack || isAllowed) retry()
  }, [connection, operations, state.phase])
  return { ...state, retry }
}
