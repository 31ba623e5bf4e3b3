import { useCallback } from "react"
import type { ReactNode } from "react"
import type { SourceInfo, SourceLogLine, SourceStatus } from "../api/model.ts"
import { linkTo, useHub } from "../app/context.tsx"
import { ErrorBox, Output, Spinner, formatCount, formatDuration } from "../ui/index.ts"
import { logText } from "../ui/log-lines.ts"
import { BreakerLine } from "./BreakerLine.tsx"
import type { SourceBreakers } from "./policy-text.ts"
import { describeChanges } from "./source-list.ts"
import { useRequested } from "./use-requested.ts"

/** Output of a process, and reloads of files, change nothing in the status. */
const EVERY_MS = 5000
const MAX_BREAKERS = 20

/** What helps to repair a source: its last error, breakers, output and log, what a reload changed. */
export function SourceDetails({
  status,
  log,
  circuits,
  reopened,
}: {
  readonly status: SourceStatus
  /** What its server has logged. */
  readonly log: readonly SourceLogLine[]
  readonly circuits: SourceBreakers | undefined
  /** How often it was opened again from here. */
  readonly reopened: number
}): ReactNode {
  const { name, state, attempts, operations } = status
  const hub = useHub()
  const ask = useCallback((signal: AbortSignal) => hub.source(name, signal), [hub, name])
  const version = `${state} ${attempts} ${operations} ${reopened}`
  const { value: info, error, again } = useRequested(ask, { version, everyMs: EVERY_MS })
  if (error !== undefined) return <ErrorBox error={error} onRetry={again} />
  if (info === undefined) return <Spinner label="Loading the details" />
  const { lastError, stderr, changes, workers } = info
  return (
    <div className="stack">
      <section>
        <h3>Last error</h3>
        {lastError === undefined ? (
          <p className="muted">None since the hub started.</p>
        ) : (
          <p>
            <Time at={lastError.at} />
            {lastError.reason === status.reason ? ", as above." : `: ${lastError.reason}`}
          </p>
        )}
      </section>
      {circuits !== undefined && circuits.breakers.length > 0 && <Breakers {...circuits} />}
      {workers !== undefined && (
        <section>
          <h3>Workers</h3>
          {workers.length === 0 && <p className="muted">The hub knows of no workers.</p>}
          {workers.map(({ address, calls, silentFor, state: condition }) => (
            <p key={address}>
              <code>{address}</code> {condition}, runs {formatCount(calls, "call")}, last seen{" "}
              {formatDuration(silentFor)} ago
            </p>
          ))}
        </section>
      )}
      {stderr !== undefined && (
        <section>
          <h3>Output to stderr</h3>
          <Output label={`stderr of ${name}`} text={stderr} />
        </section>
      )}
      {status.kind === "mcp" && (
        <section>
          <h3>Log</h3>
          {log.length === 0 ? (
            <p className="muted">
              What the server logs while this page is open appears here. The hub does not keep it.
            </p>
          ) : (
            <Output label={`Log of ${name}`} text={logText(log)} />
          )}
        </section>
      )}
      {changes !== undefined && <Changes changes={changes} />}
    </div>
  )
}

/** The breakers of a source; there may be one for each of its operations. */
function Breakers({ breakers, at }: SourceBreakers): ReactNode {
  return (
    <section aria-label="Circuit breakers">
      <h3>Circuit breakers</h3>
      {breakers.slice(0, MAX_BREAKERS).map((breaker, index) => (
        <p key={index}>
          <BreakerLine breaker={breaker} at={at} />
        </p>
      ))}
      {breakers.length > MAX_BREAKERS && <p>And {breakers.length - MAX_BREAKERS} more.</p>}
    </section>
  )
}

function Changes({ changes }: { readonly changes: NonNullable<SourceInfo["changes"]> }): ReactNode {
  return (
    <section>
      <h3>Last reload</h3>
      <p>
        <Time at={changes.at} />: {describeChanges(changes)}.
      </p>
      {(["added", "removed", "changed"] as const).map((kind) => {
        const { count, ids } = changes[kind]
        if (count === 0) return null
        return (
          <p key={kind}>
            {kind}:{" "}
            {ids.map((id, at) => (
              <span key={id}>
                {at > 0 && ", "}
                {kind === "removed" ? (
                  <code>{id}</code>
                ) : (
                  <a href={linkTo({ view: "operation", id })}>{id}</a>
                )}
              </span>
            ))}
            {count > ids.length && ` and ${count - ids.length} more`}
          </p>
        )
      })}
    </section>
  )
}

function Time({ at }: { readonly at: number }): ReactNode {
  const date = new Date(at)
  return <time dateTime={date.toISOString()}>{date.toLocaleString()}</time>
}
