import { useCallback, useMemo, useRef, useState } from "react"
import type { SourceStatus } from "../api/model.ts"
import { useHub, useOperations } from "../app/context.tsx"
import type { FollowState } from "./follow.ts"
import { withLater } from "./source-list.ts"
import { useAsked } from "./use-asked.ts"
import { useHubEvents } from "./use-hub-events.ts"
import type { EventHandlers } from "./use-hub-events.ts"

/** Sources that are gone are not told of: the list is asked for again now and then. */
const EVERY_MS = 15_000

export interface LiveSources {
  readonly sources: readonly SourceStatus[] | undefined
  readonly error: Error | undefined
  readonly connection: FollowState & { readonly retry: () => void }
  readonly again: () => void
}

/** The sources of the hub, as they are and as they change. */
export function useLiveSources(): LiveSources {
  const hub = useHub()
  const [sources, setSources] = useState<readonly SourceStatus[]>()
  // What is told while an answer is on its way is newer than the answer.
  const told = useRef<SourceStatus[]>([])
  const ask = useCallback(
    async (signal: AbortSignal) => {
      told.current = []
      const answer = await hub.sources(signal)
      if (!signal.aborted) setSources(withLater(answer, told.current))
    },
    [hub],
  )
  const { operations } = useOperations()
  // Another list of operations comes from sources that have changed, or is that of somebody else.
  const { error, again } = useAsked(ask, { everyMs: EVERY_MS, version: operations })
  const take = useCallback((changed: readonly SourceStatus[]) => {
    told.current.push(...changed)
    setSources((before) => before && withLater(before, changed))
  }, [])
  const handlers = useMemo(() => handlersOf(again, take), [again, take])
  const connection = useHubEvents(handlers)
  return { sources, error, connection, again }
}

function handlersOf(
  again: () => void,
  take: (changed: readonly SourceStatus[]) => void,
): EventHandlers {
  let wasLost = false
  return {
    onOpen: () => {
      // What changed in the meantime was not told.
      if (wasLost) again()
    },
    onEvents: (events) => {
      const changed = events.flatMap((event) => (event.kind === "source" ? [event.status] : []))
      if (changed.length > 0) take(changed)
    },
    onLost: () => {
      wasLost = true
    },
  }
}
