import { lazy, Suspense, useCallback, useMemo } from "react"
import type { ReactNode } from "react"
import { causeOf, toForest } from "../activity/call-forest.ts"
import type { LoggedCall } from "../activity/call-forest.ts"
import { EMPTY_LOG, addTraces } from "../activity/call-log.ts"
import { useRequested } from "../activity/use-requested.ts"
import type { CallTrace, OperationSummary, SourceStatus } from "../api/model.ts"
import { Badge, TypeBadge } from "../ui/Badge.tsx"
import { Empty } from "../ui/Empty.tsx"
import { Icon } from "../ui/Icon.tsx"
import { SOURCE_ICONS } from "../ui/icon-paths.ts"
import { Skeleton } from "../ui/Skeleton.tsx"
import { formatCount } from "../ui/format.ts"
import { plainText } from "../../../src/internal/plain-text.ts"
import { SOURCE_TONES } from "../ui/tone.ts"
import { linkTo, useHub, useHubInfo, useOperations, useSources } from "./context.tsx"

const Connect = lazy(async () => ({ default: (await import("./Connect.tsx")).Connect }))

/** The start page: what the hub is, how to use it, what to try, and what is wrong. */
export function Overview(): ReactNode {
  const { title, description, isAdmin } = useHubInfo()
  const { status, operations } = useOperations()
  const sources = useSources() ?? []
  if (status !== "ready") {
    return (
      <div className="page overview stack-l">
        <h1>{title}</h1>
        {status === "loading" && <Skeleton label="Loading" />}
      </div>
    )
  }
  return (
    <div className="page overview stack-l">
      <header>
        <h1>{title}</h1>
        {operations.length > 0 && (
          <p className="muted">{description ?? sentenceOf(operations, sources)}</p>
        )}
      </header>
      {operations.length === 0 ? (
        <NoOperations />
      ) : (
        <>
          <section className="stack" aria-labelledby="overview-use">
            <h2 id="overview-use">Use it from</h2>
            <Suspense fallback={<Skeleton label="Loading" />}>
              <Connect />
            </Suspense>
          </section>
          <Suggestions operations={operations} />
        </>
      )}
      {isAdmin && <Failures />}
      {sources.length > 0 && <SourceList sources={sources} />}
    </div>
  )
}

function sentenceOf(
  operations: readonly OperationSummary[],
  sources: readonly SourceStatus[],
): string {
  const ready = sources.filter(({ state }) => state === "ready").length
  const part = ready === sources.length ? "" : `${ready} of `
  const from = sources.length === 0 ? "" : ` from ${part}${formatCount(sources.length, "source")}`
  return `${formatCount(operations.length, "operation")}${from}: find one, read what it does, and run it.`
}

function NoOperations(): ReactNode {
  const { hasAuth } = useHubInfo()
  return (
    <Empty title="No operations yet">
      Add an API, an MCP server or a folder to the configuration:{" "}
      <code>npx @alkdev/operations import https://api.example.com/openapi.json</code>
      {hasAuth && "You may also need to sign in to see some."}
    </Empty>
  )
}

/** An operation of each of up to three sources: queries first, which change nothing, then those that are easy to call. */
function Suggestions({
  operations,
}: {
  readonly operations: readonly OperationSummary[]
}): ReactNode {
  const order = { query: 0, subscription: 1, mutation: 2 } as const
  const usable = operations.filter((one) => one.deprecated !== true)
  const rank = ({ type, title, description, request = "" }: OperationSummary): number =>
    // A path with parameters needs an id that a newcomer does not have.
    8 * order[type] +
    (request.includes("{") ? 4 : 0) +
    (description && description !== title ? 0 : 2) +
    (title ? 0 : 1)
  const sorted = usable.toSorted((a, b) => rank(a) - rank(b))
  const bySource = new Map(sorted.toReversed().map((one) => [one.source ?? one.namespace, one]))
  const chosen = sorted.filter((one) => [...bySource.values()].includes(one)).slice(0, 3)
  return (
    <section className="stack" aria-labelledby="overview-try">
      <h2 id="overview-try">Try one</h2>
      <ul className="overview-cards">
        {chosen.map(({ id, type, title, description }) => (
          <li key={id} className="card">
            <a href={linkTo({ view: "operation", id })}>{title ?? id}</a> <TypeBadge type={type} />
            {description !== title && <p className="muted">{plainText(description)}</p>}
          </li>
        ))}
      </ul>
    </section>
  )
}

const MAX_FAILURES = 5

/** The last calls that failed, for callers who may see them. */
function Failures(): ReactNode {
  const hub = useHub()
  const ask = useCallback((signal: AbortSignal) => hub.stats(signal), [hub])
  // The page is of use without it.
  const { value: stats } = useRequested(ask)
  const failures = useMemo(() => failuresIn(stats?.recent ?? []), [stats])
  if (failures.length === 0) return null
  return (
    <section className="card stack" aria-labelledby="overview-failures">
      <div className="page-head overview-head">
        <h2 id="overview-failures">Recent failures</h2>
        <a href={linkTo({ view: "calls" })}>All calls</a>
      </div>
      <ul className="overview-list">
        {failures.map(({ call, cause }) => (
          <li key={call.key}>
            <span className="overview-name">
              <a href={linkTo({ view: "calls", call: call.requestId })}>{call.operationId}</a>
              {cause !== call && <span className="muted"> in {cause.operationId}</span>}
            </span>
            <Badge tone="bad">{call.code}</Badge>
            <time className="muted" dateTime={new Date(call.at).toISOString()}>
              {new Date(call.at).toLocaleTimeString()}
            </time>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The outermost calls that failed, the newest first, and in which call below them. */
function failuresIn(
  traces: readonly CallTrace[],
): readonly { readonly call: LoggedCall; readonly cause: LoggedCall }[] {
  const { calls } = addTraces(EMPTY_LOG, { traces })
  const forest = toForest(calls.values())
  return [...calls.values()]
    .filter((call) => call.state === "error" && forest.parentOf(call)?.code !== call.code)
    .slice(0, MAX_FAILURES)
    .map((call) => ({ call, cause: causeOf(call, forest) }))
}

function SourceList({ sources }: { readonly sources: readonly SourceStatus[] }): ReactNode {
  const isWell = ({ state }: SourceStatus): number => Number(state === "ready")
  return (
    <section className="card stack" aria-labelledby="overview-sources">
      <div className="page-head overview-head">
        <h2 id="overview-sources">Sources</h2>
        <a href={linkTo({ view: "sources" })}>Health and reports</a>
      </div>
      <ul className="overview-list">
        {sources
          .toSorted((a, b) => isWell(a) - isWell(b))
          .map(({ name, kind, state, operations, reason }) => (
            <li key={name}>
              <span className="overview-name">
                <Icon name={SOURCE_ICONS[kind] ?? "sources"} /> <strong>{name}</strong>{" "}
                <span className="muted">{kind}</span>
              </span>
              <span className="muted">{formatCount(operations, "operation")}</span>
              <Badge tone={SOURCE_TONES[state]} title={reason}>
                {state}
              </Badge>
            </li>
          ))}
      </ul>
    </section>
  )
}
