import { useMemo, useReducer } from "react"
import type { HubClient } from "../api/model.ts"
import { useHub } from "../app/context.tsx"
import { NO_CALLS, reduceCalls } from "./calls-state.ts"
import type { CallsAction, CallsState } from "./calls-state.ts"
import type { FollowState } from "./follow.ts"
import { useHubEvents } from "./use-hub-events.ts"
import type { EventHandlers } from "./use-hub-events.ts"
import { steadyNow } from "../ui/steady-now.ts"

export interface Calls {
  readonly state: CallsState
  readonly dispatch: (action: CallsAction) => void
  readonly connection: FollowState & { readonly retry: () => void }
}

/** The calls of the hub, from those it remembers on. */
export function useCalls(): Calls {
  const hub = useHub()
  const [state, dispatch] = useReducer(reduceCalls, NO_CALLS)
  const handlers = useMemo(() => handlersOf(hub, dispatch), [hub])
  const connection = useHubEvents(handlers)
  return { state, dispatch, connection }
}

function handlersOf(hub: HubClient, dispatch: (action: CallsAction) => void): EventHandlers {
  const remember = (signal?: AbortSignal): void => {
    hub.stats(signal).then(
      ({ recent }) => {
        if (signal?.aborted !== true) dispatch({ type: "remembered", traces: recent })
      },
      // The counters make the same request, and report its error.
      () => {},
    )
  }
  return {
    onOpen: remember,
    onEvents: (events) => {
      if (events.some(({ kind }) => kind === "lost")) {
        // Running calls may have ended in the meantime.
        dispatch({ type: "disconnected" })
        remember()
      }
      const traces = events.flatMap((event) => (event.kind === "call" ? [event.trace] : []))
      if (traces.length > 0) dispatch({ type: "received", traces, receivedAt: steadyNow() })
    },
    onLost: () => dispatch({ type: "disconnected" }),
  }
}
