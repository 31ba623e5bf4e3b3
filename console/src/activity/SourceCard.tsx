import { useId, useState } from "react"
import type { ReactNode } from "react"
import type { OperationSummary, SourceStatus } from "../api/model.ts"
import { linkTo } from "../app/context.tsx"
import { Badge, Button, Icon, TypeBadge, formatCount } from "../ui/index.ts"
import { LongList } from "./LongList.tsx"
import { ReportPanel } from "./ReportPanel.tsx"
import { toneOf, untilText } from "./source-list.ts"
import { useNow } from "./use-now.ts"

type Part = "operations" | "report"

/** One source: its state, its operations, and its import report. */
export function SourceCard({
  status,
  operations,
}: {
  readonly status: SourceStatus
  readonly operations: readonly OperationSummary[]
}): ReactNode {
  const { name, kind, namespace, origin, state, reason } = status
  const [part, setPart] = useState<Part>()
  const panel = useId()
  const toggle = (wanted: Part): void => setPart(part === wanted ? undefined : wanted)
  return (
    <article className="card source" aria-label={`Source ${name}`}>
      <div className="source-head">
        <h2>{name}</h2>
        <Badge tone={toneOf(state)} className={state === "loading" ? "call-running" : undefined}>
          {state}
        </Badge>
        <Badge>{kind}</Badge>
        <span className="muted">{formatCount(status.operations, "operation")}</span>
      </div>
      <p className="source-origin">
        <code>{origin}</code>
        {namespace !== name && (
          <span className="muted">
            as <code>{namespace}</code>
          </span>
        )}
      </p>
      {reason !== undefined && <p className={`source-reason source-${state}`}>{reason}</p>}
      <Retry status={status} />
      <div className="row">
        {(["operations", "report"] as const).map((wanted) => (
          <Button
            key={wanted}
            size="small"
            aria-expanded={part === wanted}
            aria-controls={part === wanted ? panel : undefined}
            onClick={() => toggle(wanted)}
          >
            <Icon name={part === wanted ? "down" : "next"} />
            {wanted === "operations" ? "Operations" : "Import report"}
          </Button>
        ))}
      </div>
      {part !== undefined && (
        <div id={panel} className="source-panel">
          {part === "operations" ? (
            <Operations name={name} operations={operations} />
          ) : (
            <ReportPanel name={name} version={`${state} ${status.operations}`} />
          )}
        </div>
      )}
    </article>
  )
}

function Retry({ status }: { readonly status: SourceStatus }): ReactNode {
  const { retryAt, attempts } = status
  const now = useNow(retryAt !== undefined)
  if (retryAt === undefined && attempts === 0) return null
  return (
    <p className="muted">
      {attempts > 0 && `${formatCount(attempts, "failed attempt")}. `}
      {retryAt !== undefined && `Next try ${untilText(retryAt, now)}.`}
    </p>
  )
}

function Operations({
  name,
  operations,
}: {
  readonly name: string
  readonly operations: readonly OperationSummary[]
}): ReactNode {
  if (operations.length === 0) return <p className="muted">None that you may call.</p>
  return (
    <LongList label={`Operations of ${name}`} items={operations} keyOf={idOf} height={32}>
      {({ id, type, title }) => (
        <div className="source-operation">
          <TypeBadge type={type} />
          <a href={linkTo({ view: "operation", id })}>{id}</a>
          {title !== undefined && <span className="muted">{title}</span>}
        </div>
      )}
    </LongList>
  )
}

function idOf({ id }: OperationSummary): string {
  return id
}
