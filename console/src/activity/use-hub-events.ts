import { useEffect, useRef, useState } from "react"
import { pause } from "../../../src/internal/wait.ts"
import type { HubEvent } from "../api/model.ts"
import { useConnection, useHub, useOperations } from "../app/context.tsx"
import { follow } from "./follow.ts"
import type { FollowState } from "./follow.ts"
import { createGatherer } from "./gather.ts"
import { isRefusal } from "./refusal.ts"
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
  // After a refusal, the user may have signed in since: then there is another list.
  const allowed = state.phase === "refused" ? operations : undefined
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
  useRetryOnChange(allowed, setAttempt)
  useRetryWhenBack(setAttempt)
  return { ...state, retry: () => setAttempt((count) => count + 1) }
}

/** Retries as soon as another request has reached the hub again. */
function useRetryWhenBack(setAttempt: (next: (count: number) => number) => void): void {
  const isAway = useConnection() === "offline"
  const wasAway = useRef(isAway)
  useEffect(() => {
    const isBack = wasAway.current && !isAway
    wasAway.current = isAway
    if (isBack) setAttempt((count) => count + 1)
  }, [isAway, setAttempt])
}

/** Retries when a value changes; not when it becomes defined or undefined. */
function useRetryOnChange(
  value: unknown,
  setAttempt: (next: (count: number) => number) => void,
): void {
  const [before, setBefore] = useState(value)
  useEffect(() => {
    if (value === before) return
    setBefore(value)
    if (value !== undefined && before !== undefined) setAttempt((count) => count + 1)
  }, [value, before, setAttempt])
}
