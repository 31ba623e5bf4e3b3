import { useMemo } from "react"
import type { ReactNode } from "react"
import type { ListedSource, SourceLogLine } from "../api/model.ts"
import { useOperations } from "../app/context.tsx"
import { Button, Empty, ErrorBox, Icon, Spinner } from "../ui/index.ts"
import { ConnectionNote } from "./ConnectionNote.tsx"
import { SourceCard } from "./SourceCard.tsx"
import { groupBy } from "../ui/group-by.ts"
import { breakersBySource } from "./policy-text.ts"
import { describeSources, failedFirst } from "./source-list.ts"
import { usePolicies } from "./use-policies.ts"
import { useLiveSources } from "./use-sources.ts"
import "../watch/watch.css"
import "./activity.css"

const NO_LINES: readonly SourceLogLine[] = []
const POLICIES_MS = 5_000

/** The sources of the operations, and their state. */
export function SourcesView(): ReactNode {
  const { sources, logs, take, error, connection, again } = useLiveSources()
  const { operations } = useOperations()
  const bySource = useMemo(() => groupBy(operations, ({ source }) => source), [operations])
  const state = usePolicies(POLICIES_MS)
  const circuits = useMemo(() => breakersBySource(state), [state])
  const refuses = ({ name }: ListedSource): boolean =>
    circuits.get(name)?.breakers[0]?.state === "open"
  return (
    <div className="activity page stack-l">
      <header className="page-head">
        <h1 tabIndex={-1}>Sources</h1>
        <div className="row">
          <ConnectionNote connection={connection} />
          <Button onClick={again}>
            <Icon name="refresh" /> Refresh
          </Button>
        </div>
      </header>
      {error !== undefined && <ErrorBox error={error} onRetry={again} />}
      {sources === undefined ? (
        error === undefined && <Spinner label="Loading the sources" />
      ) : (
        <>
          <p className="muted" role="status">
            {describeSources(sources)}
          </p>
          {sources.length === 0 && (
            <Empty title="No sources">
              A program that serves its own registry has none. Add one to the configuration of a hub
              with <code>operations import</code>.
            </Empty>
          )}
          <ul className="stack">
            {failedFirst(sources, refuses).map((status) => (
              <li key={status.name}>
                <SourceCard
                  status={status}
                  operations={bySource.get(status.name) ?? []}
                  log={logs.get(status.name) ?? NO_LINES}
                  circuits={circuits.get(status.name)}
                  onStatus={take}
                />
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
