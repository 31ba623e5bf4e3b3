import { useCallback, useMemo, useRef, useState } from "react"
import type { ListedSource, SourceLogLine, SourceStatus } from "../api/model.ts"
import { useHub, useOperations } from "../app/context.tsx"
import { withLines } from "../ui/log-lines.ts"
import type { FollowState } from "./follow.ts"
import { groupBy } from "../ui/group-by.ts"
import { withStatuses } from "./source-list.ts"
import { useRequested } from "./use-requested.ts"
import { useHubEvents } from "./use-hub-events.ts"
import type { EventHandlers } from "./use-hub-events.ts"

/** Removed sources are not reported, so the list is requested again at this interval. */
const EVERY_MS = 15_000

export interface LiveSources {
  readonly sources: readonly ListedSource[] | undefined
  /** What the servers of sources have logged since the view was opened, by source. */
  readonly logs: ReadonlyMap<string, readonly SourceLogLine[]>
  /** Shows a state that came as an answer. */
  readonly take: (changed: readonly SourceStatus[]) => void
  readonly error: Error | undefined
  readonly connection: FollowState & { readonly retry: () => void }
  readonly again: () => void
}

/** The sources of the hub, as they are and as they change. */
export function useLiveSources(): LiveSources {
  const hub = useHub()
  const [sources, setSources] = useState<readonly ListedSource[]>()
  const [logs, setLogs] = useState<LiveSources["logs"]>(new Map())
  // Updates that arrive during a request are newer than its response.
  const updates = useRef<SourceStatus[]>([])
  const ask = useCallback(
    async (signal: AbortSignal) => {
      updates.current = []
      const answer = await hub.sources(signal)
      if (!signal.aborted) setSources(withStatuses(answer, updates.current))
    },
    [hub],
  )
  const { operations } = useOperations()
  // A new list of operations means that sources have changed, or the identity.
  const { error, again } = useRequested(ask, { everyMs: EVERY_MS, version: operations })
  const take = useCallback((changed: readonly SourceStatus[]) => {
    updates.current.push(...changed)
    setSources((before) => before && withStatuses(before, changed))
  }, [])
  const handlers = useMemo(() => handlersOf(again, take, setLogs), [again, take])
  const connection = useHubEvents(handlers)
  return { sources, logs, take, error, connection, again }
}

function handlersOf(
  again: () => void,
  take: (changed: readonly SourceStatus[]) => void,
  setLogs: (change: (logs: LiveSources["logs"]) => LiveSources["logs"]) => void,
): EventHandlers {
  let wasLost = false
  return {
    onOpen: () => {
      // Changes in the meantime were not reported.
      if (wasLost) again()
    },
    onEvents: (events) => {
      const changed = events.flatMap((event) => (event.kind === "source" ? [event.status] : []))
      if (changed.length > 0) take(changed)
      const lines = events.flatMap((event) => (event.kind === "log" ? [event.line] : []))
      if (lines.length > 0) setLogs((logs) => withLogs(logs, lines))
    },
    onLost: () => {
      wasLost = true
    },
  }
}

function withLogs(
  before: LiveSources["logs"],
  lines: readonly SourceLogLine[],
): LiveSources["logs"] {
  const logs = new Map(before)
  for (const [source, own] of groupBy(lines, (line) => line.source)) {
    logs.set(source, withLines(logs.get(source) ?? [], own))
  }
  return logs
}
