import { useCallback, useDeferredValue, useMemo, useRef, useState } from "react"
import type { ReactNode } from "react"
import { Button, Empty, ErrorBox, Icon, formatCount } from "../ui/index.ts"
import { navigate, useOperations, useRoute } from "../app/context.tsx"
import { CallDetails } from "./CallDetails.tsx"
import { CallTable } from "./CallTable.tsx"
import { LastHour } from "./LastHour.tsx"
import { ConnectionNote } from "./ConnectionNote.tsx"
import { Counters } from "./Counters.tsx"
import { toForest } from "./call-forest.ts"
import type { LoggedCall } from "./call-forest.ts"
import { NO_FILTER, toRows } from "./call-rows.ts"
import type { CallFilter, SourceOf } from "./call-rows.ts"
import { CallFilters } from "./CallFilters.tsx"
import { visibleLog, waitingCount } from "./calls-state.ts"
import { useCalls } from "./use-calls.ts"
import { useNow } from "./use-now.ts"
import "../watch/watch.css"
import "./activity.css"

/** The activity of the hub: its calls as they happen, and its counters. */
export function CallsView(): ReactNode {
  const { state, dispatch, connection } = useCalls()
  const [filter, setFilter] = useState<CallFilter>(NO_FILTER)
  const isPaused = state.frozen !== undefined
  const showCode = useCallback((text: string) => setFilter({ ...NO_FILTER, text }), [])
  const { operations } = useOperations()
  const sources = useMemo(
    () => new Map(operations.map(({ id, source }) => [id, source])),
    [operations],
  )
  const names = useMemo(
    () => [...new Set(sources.values())].filter((name) => name !== undefined).toSorted(),
    [sources],
  )
  return (
    <div className="activity page stack-l">
      <header className="page-head">
        <h1 tabIndex={-1}>Calls</h1>
        <ConnectionNote connection={connection} />
      </header>
      {connection.phase === "refused" ? (
        <ErrorBox error={connection.error} onRetry={connection.retry} />
      ) : (
        <>
          <Counters onCode={showCode} />
          <LastHour />
          <div className="row">
            <CallFilters filter={filter} sources={names} onChange={setFilter} />
            <Button
              aria-pressed={isPaused}
              onClick={() => dispatch({ type: isPaused ? "resume" : "pause" })}
            >
              <Icon name={isPaused ? "play" : "pause"} />
              {isPaused ? `Resume (${waitingCount(state).toLocaleString("en")} waiting)` : "Pause"}
            </Button>
            <Button onClick={() => dispatch({ type: "clear" })}>
              <Icon name="trash" /> Clear
            </Button>
          </div>
          <CallTree state={state} filter={filter} sources={sources} />
        </>
      )}
    </div>
  )
}

function CallTree({
  state,
  filter,
  sources,
}: {
  readonly state: ReturnType<typeof useCalls>["state"]
  readonly filter: CallFilter
  readonly sources: SourceOf
}): ReactNode {
  // Thousands of calls per second must not block typing.
  const log = useDeferredValue(visibleLog(state))
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set())
  const forest = useMemo(() => toForest(log.calls.values()), [log])
  const rows = useMemo(
    () => toRows(forest, filter, closed, sources),
    [forest, filter, closed, sources],
  )
  const setOpen = useCallback((key: string, isOpen: boolean) => {
    setClosed((before) => {
      const after = new Set(before)
      if (isOpen) after.delete(key)
      else after.add(key)
      return after
    })
  }, [])
  const now = useNow(
    state.frozen === undefined &&
      [...log.calls.values()].some(({ state: one }) => one === "running"),
  )
  const route = useRoute()
  const asked = route.view === "operation" ? undefined : route.call
  const [chosen, setChosen] = useState<LoggedCall>()
  const calls = useRef(log.calls)
  calls.current = log.calls
  const select = useCallback((call: LoggedCall | undefined) => {
    setChosen(call)
    navigate({ view: "calls", call: call?.requestId })
  }, [])
  const show = useCallback((key: string) => select(calls.current.get(key)), [select])
  // Of several calls with the id, the one that was clicked. It stays shown when it is dropped from the log.
  const current =
    chosen?.requestId === asked
      ? chosen
      : [...log.calls.values()].findLast(({ requestId }) => requestId === asked)
  const shown = asked === undefined ? undefined : current && (log.calls.get(current.key) ?? current)
  if (rows.length === 0 && shown === undefined) {
    return log.calls.size === 0 ? (
      <Empty title="No calls yet">They appear here as they happen.</Empty>
    ) : (
      <Empty title="No call matches the filter." />
    )
  }
  return (
    <>
      {asked !== undefined && shown === undefined && (
        <p className="field-note">
          The hub does not remember the call <code>{asked}</code>.
        </p>
      )}
      <CallTable rows={rows} log={log} now={now} sources={sources} onOpen={setOpen} onShow={show} />
      <p className="muted">
        {formatCount(log.calls.size, "call")}
        {log.dropped > 0 && `, ${log.dropped.toLocaleString("en")} older ones not kept`}
      </p>
      {shown !== undefined && (
        <CallDetails
          call={shown}
          forest={forest}
          log={log}
          now={now}
          source={sources.get(shown.operationId)}
          onSelect={select}
          onClose={() => select(undefined)}
        />
      )}
    </>
  )
}
