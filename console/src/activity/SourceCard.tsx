import { useId, useState } from "react"
import type { ReactNode } from "react"
import type { ListedSource, OperationSummary, SourceLogLine, SourceStatus } from "../api/model.ts"
import { asError } from "../app/as-error.ts"
import { linkTo, toast, useHub } from "../app/context.tsx"
import { Badge, Button, Icon, TypeBadge, formatCount } from "../ui/index.ts"
import { SOURCE_TONES } from "../ui/tone.ts"
import { BreakerLine } from "./BreakerLine.tsx"
import { LongList } from "./LongList.tsx"
import { ReportPanel } from "./ReportPanel.tsx"
import { SourceDetails } from "./SourceDetails.tsx"
import type { SourceBreakers } from "./policy-text.ts"
import { describeCalls, untilText } from "./source-list.ts"
import { useNow } from "./use-now.ts"
import { useMissing } from "./use-requested.ts"

type Part = "operations" | "report" | "details"

const PARTS = [
  ["operations", "Operations"],
  ["report", "Import report"],
  ["details", "Details"],
] as const

/** One source: its state, its operations, and its import report. */
export function SourceCard({
  status,
  operations,
  log,
  circuits,
  onStatus,
}: {
  readonly status: ListedSource
  readonly operations: readonly OperationSummary[]
  /** What its server has logged. */
  readonly log: readonly SourceLogLine[]
  readonly circuits: SourceBreakers | undefined
  /** Receives the state after a retry. */
  readonly onStatus: (changed: readonly SourceStatus[]) => void
}): ReactNode {
  const { name, kind, namespace, origin, state, reason } = status
  const [chosen, setChosen] = useState<Part | "none">()
  // A failed source is opened for its details. It keeps its reason while it is opened again.
  const [hasFailed, setFailed] = useState(false)
  if (reason !== undefined && !hasFailed) setFailed(true)
  const part = chosen ?? (hasFailed ? "details" : "none")
  const [reopened, setReopened] = useState(0)
  const take = (after: SourceStatus): void => {
    onStatus([after])
    setReopened((count) => count + 1)
  }
  const calls = describeCalls(status.calls)
  const [breaker] = circuits?.breakers ?? []
  const panel = useId()
  const toggle = (wanted: Part): void => setChosen(part === wanted ? "none" : wanted)
  return (
    <article className="card source stack" aria-label={`Source ${name}`}>
      <div className="row">
        <h2>{name}</h2>
        <Badge
          tone={SOURCE_TONES[state]}
          className={state === "loading" ? "call-running" : undefined}
        >
          {state}
        </Badge>
        <Badge>{kind}</Badge>
        <span className="muted">{formatCount(status.operations, "operation")}</span>
      </div>
      <p className="row">
        <code>{origin}</code>
        {namespace !== name && (
          <span className="muted">
            as <code>{namespace}</code>
          </span>
        )}
      </p>
      {reason !== undefined && <p className={`source-reason source-${state}`}>{reason}</p>}
      <Missing status={status} />
      <Retry status={status} />
      {circuits !== undefined && breaker !== undefined && breaker.state !== "closed" && (
        <p>
          <BreakerLine breaker={breaker} at={circuits.at} />
        </p>
      )}
      {calls !== undefined && <p className="muted">{calls}</p>}
      <div className="row">
        <RetryButton status={status} onStatus={take} />
        {PARTS.map(([wanted, label]) => (
          <Button
            key={wanted}
            size="small"
            aria-expanded={part === wanted}
            aria-controls={part === wanted ? panel : undefined}
            onClick={() => toggle(wanted)}
          >
            <Icon name={part === wanted ? "down" : "next"} />
            {label}
          </Button>
        ))}
      </div>
      {part !== "none" && (
        <div id={panel} className="source-panel stack">
          {part === "operations" && <Operations name={name} operations={operations} />}
          {part === "report" && (
            <ReportPanel name={name} version={`${state} ${status.operations}`} />
          )}
          {part === "details" && (
            <SourceDetails status={status} log={log} circuits={circuits} reopened={reopened} />
          )}
        </div>
      )}
    </article>
  )
}

function Missing({ status }: { readonly status: SourceStatus }): ReactNode {
  return useMissing(status).map(({ name, how }) => (
    <p key={name} className="source-reason source-lost">
      <code>{name}</code> is not set. {how}
    </p>
  ))
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

/** Opens the source again: one that failed at once, one that is open as it is now. */
function RetryButton({
  status: { name, state },
  onStatus,
}: {
  readonly status: SourceStatus
  readonly onStatus: (status: SourceStatus) => void
}): ReactNode {
  const hub = useHub()
  const [isBusy, setBusy] = useState(false)
  if (state === "disabled") return null
  const retry = async (): Promise<void> => {
    setBusy(true)
    try {
      const status = await hub.reopen(name)
      onStatus(status)
      const isBack = status.state === "ready" && status.reason === undefined
      toast(isBack ? `${name} is ready` : `${name} failed again`, isBack ? "good" : "bad")
    } catch (error) {
      toast(asError(error).message, "bad")
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button size="small" busy={isBusy} onClick={() => void retry()}>
      <Icon name="refresh" /> {state === "failed" || state === "lost" ? "Retry now" : "Reload"}
    </Button>
  )
}

function Operations({
  name,
  operations,
}: {
  readonly name: string
  readonly operations: readonly OperationSummary[]
}): ReactNode {
  if (operations.length === 0) return <p className="muted">There are none that you may call.</p>
  return (
    <LongList label={`Operations of ${name}`} items={operations} keyOf={idOf} height={32}>
      {({ id, type, title }) => (
        <div className="source-operation row">
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
