import { useMemo } from "react"
import type { ReactNode } from "react"
import type { OperationSummary, SourceStatus } from "../api/model.ts"
import { Badge } from "../ui/Badge.tsx"
import type { Tone } from "../ui/Badge.tsx"
import { formatCount } from "../ui/format.ts"
import { KeyList } from "./Help.tsx"
import { linkTo, useHubState, useOperations, useSources } from "./context.tsx"

const TYPES = [
  ["query", "queries"],
  ["mutation", "mutations"],
  ["subscription", "subscriptions"],
] as const

const TONES: Readonly<Record<SourceStatus["state"], Tone>> = {
  loading: "info",
  ready: "good",
  failed: "bad",
  lost: "warn",
  disabled: "neutral",
}

/** The start page: the content of the hub, and links to it. */
export function Overview(): ReactNode {
  const { title } = useHubState()
  const { status, operations } = useOperations()
  const sources = useSources()
  return (
    <div className="page overview">
      <h1>{title}</h1>
      {status === "ready" && <Counts operations={operations} />}
      {sources !== undefined && sources.length > 0 && <SourceList sources={sources} />}
      <section className="card stack" aria-labelledby="overview-keys">
        <h2 id="overview-keys">Keys</h2>
        <KeyList />
      </section>
    </div>
  )
}

function Counts({ operations }: { readonly operations: readonly OperationSummary[] }): ReactNode {
  const counts = useMemo(() => {
    const byType = { query: 0, mutation: 0, subscription: 0 }
    for (const { type } of operations) byType[type]++
    return byType
  }, [operations])
  return (
    <ul className="overview-counts" aria-label="Operations by type">
      {TYPES.map(([type, many]) => (
        <li key={type} className="card">
          <span className={`overview-number is-${type}`}>{counts[type].toLocaleString("en")}</span>
          <span className="muted">{counts[type] === 1 ? type : many}</span>
        </li>
      ))}
    </ul>
  )
}

function SourceList({ sources }: { readonly sources: readonly SourceStatus[] }): ReactNode {
  return (
    <section className="card stack" aria-labelledby="overview-sources">
      <div className="page-head overview-head">
        <h2 id="overview-sources">Sources</h2>
        <a href={linkTo({ view: "sources" })}>Health and reports</a>
      </div>
      <ul className="overview-sources">
        {sources.map(({ name, kind, state, operations, reason }) => (
          <li key={name}>
            <span className="overview-source">
              <strong>{name}</strong> <span className="muted">{kind}</span>
            </span>
            <span className="muted overview-size">{formatCount(operations, "operation")}</span>
            <Badge tone={TONES[state]} title={reason}>
              {state}
            </Badge>
          </li>
        ))}
      </ul>
    </section>
  )
}
