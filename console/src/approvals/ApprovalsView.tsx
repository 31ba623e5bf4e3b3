import { useCallback, useEffect, useRef } from "react"
import type { ReactNode } from "react"
import type { WaitingApprovals } from "../api/model.ts"
import { useApprovals, useHub, useRoute } from "../app/context.tsx"
import { useNow } from "../activity/use-now.ts"
import { useRequested } from "../activity/use-requested.ts"
import { Empty, ErrorBox, Spinner, formatCount } from "../ui/index.ts"
import { WaitingCall } from "./WaitingCall.tsx"
import "./approvals.css"

const EVERY_MS = 2000

/** The calls that wait until a person approves them. */
export function ApprovalsView(): ReactNode {
  const hub = useHub()
  const { approvals, update } = useApprovals()
  const ask = useCallback(
    async (signal: AbortSignal) => {
      const list = await hub.approvals(signal)
      if (!signal.aborted) update(list)
    },
    [hub, update],
  )
  const { error, again } = useRequested(ask, { everyMs: EVERY_MS })
  const heading = useRef<HTMLHeadingElement>(null)
  const answered = (id: string): void => {
    // The buttons that had the focus are gone with the call.
    heading.current?.focus()
    if (approvals !== undefined) {
      update({ ...approvals, waiting: approvals.waiting.filter((call) => call.id !== id) })
    }
    again()
  }
  return (
    <div className="approvals page stack-l">
      <header className="page-head">
        <h1 ref={heading} tabIndex={-1}>
          Approvals
        </h1>
      </header>
      {error !== undefined && <ErrorBox error={error} onRetry={again} />}
      {approvals === undefined
        ? error === undefined && <Spinner label="Loading the calls that wait" />
        : error === undefined && <WaitingCalls approvals={approvals} onAnswered={answered} />}
    </div>
  )
}

function WaitingCalls({
  approvals: { waiting, canAlways },
  onAnswered,
}: {
  readonly approvals: WaitingApprovals
  readonly onAnswered: (id: string) => void
}): ReactNode {
  const route = useRoute()
  const asked = route.view === "operation" ? undefined : route.call
  const isThere = waiting.some(({ id }) => id === asked)
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    if (isThere) list.current?.querySelector("[data-asked]")?.scrollIntoView({ block: "nearest" })
  }, [asked, isThere])
  // The time that is left, not less often than people notice.
  const now = useNow(waiting.length > 0, 1000)
  return (
    <>
      <p className="muted" role="status">
        {waiting.length === 0 ? "" : `${formatCount(waiting.length, "call")} waiting`}
      </p>
      {asked !== undefined && !isThere && (
        <p className="field-note">
          No call waits for the approval <code>{asked}</code>: it was answered, or has expired.
        </p>
      )}
      {waiting.length === 0 ? (
        <Empty title="No call waits">
          Calls that a rule of <code>approvals</code> asks about appear here, if their callers
          cannot be asked.
        </Empty>
      ) : (
        <ul className="stack" ref={list}>
          {waiting.map((call) => (
            <li key={call.id} data-asked={call.id === asked || undefined}>
              <WaitingCall call={call} canAlways={canAlways} now={now} onAnswered={onAnswered} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
