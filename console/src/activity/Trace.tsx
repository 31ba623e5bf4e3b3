import { useCallback, useMemo } from "react"
import type { ReactNode } from "react"
import { linkTo, navigate, useHub } from "../app/context.tsx"
import { ErrorBox, Spinner } from "../ui/index.ts"
import { Waterfall } from "./Waterfall.tsx"
import { toForest } from "./call-forest.ts"
import { EMPTY_LOG, addTraces } from "./call-log.ts"
import { useRequested } from "./use-requested.ts"
import "./activity.css"

/** The calls that a call has made, as the hub remembers them; each leads to its details. */
export function Trace({ requestId }: { readonly requestId: string }): ReactNode {
  const hub = useHub()
  const ask = useCallback((signal: AbortSignal) => hub.stats(signal), [hub])
  const { value: stats, error, again } = useRequested(ask)
  const log = useMemo(() => addTraces(EMPTY_LOG, { traces: stats?.recent ?? [] }), [stats])
  const forest = useMemo(() => toForest(log.calls.values()), [log])
  const call = [...log.calls.values()].findLast((one) => one.requestId === requestId)
  if (error !== undefined) return <ErrorBox error={error} onRetry={again} />
  if (stats === undefined) return <Spinner label="Loading the calls" />
  return (
    <div className="stack">
      {call === undefined ? (
        <p className="muted">The hub does not remember this call any longer.</p>
      ) : (
        <Waterfall
          call={call}
          forest={forest}
          log={log}
          now={call.at}
          onSelect={(one) => navigate({ view: "calls", call: one.requestId })}
        />
      )}
      <p>
        Request <code>{requestId}</code>.{" "}
        <a href={linkTo({ view: "calls", call: requestId })}>Open in Calls</a>
      </p>
    </div>
  )
}
