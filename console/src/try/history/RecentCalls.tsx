import { useState } from "react"
import type { ReactNode } from "react"
import type { CallOutcome } from "../../api/model.ts"
import { resultOf } from "../../api/outcome.ts"
import { Button } from "../../ui/Button.tsx"
import { DiffView } from "./DiffView.tsx"
import { EntryFacts } from "./EntryFacts.tsx"
import type { HistoryEntry } from "./store.ts"
import { useHistory } from "./use-history.ts"

const MAX_LISTED = 10

/** The calls of one operation from this browser: to look at, run again, and compare with the result. */
export function RecentCalls({
  id,
  outcome,
  isRunning,
  onUse,
  onAgain,
}: {
  readonly id: string
  readonly outcome: CallOutcome | undefined
  readonly isRunning: boolean
  readonly onUse: (entry: HistoryEntry) => void
  readonly onAgain: (entry: HistoryEntry) => void
}): ReactNode {
  const entries = useHistory()
    .filter((entry) => entry.operationId === id)
    .slice(0, MAX_LISTED)
  const [compared, setCompared] = useState<string>()
  if (entries.length === 0) return null
  const now = outcome === undefined ? undefined : resultOf(outcome)
  return (
    <details className="recent">
      <summary>Earlier calls ({entries.length})</summary>
      <ul>
        {entries.map((entry) => (
          <li key={entry.id} className="entry row">
            <EntryFacts entry={entry} />
            <span className="row">
              <Button size="small" onClick={() => onUse(entry)}>
                Use input
              </Button>
              <Button size="small" disabled={isRunning} onClick={() => onAgain(entry)}>
                Run again
              </Button>
              {now !== undefined && entry.result !== undefined && (
                <Button
                  size="small"
                  aria-expanded={compared === entry.id}
                  onClick={() => setCompared(compared === entry.id ? undefined : entry.id)}
                >
                  Compare
                </Button>
              )}
            </span>
            {compared === entry.id && now !== undefined && (
              <DiffView before={entry.result} after={now} />
            )}
          </li>
        ))}
      </ul>
    </details>
  )
}
