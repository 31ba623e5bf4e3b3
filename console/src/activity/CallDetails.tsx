import { useCallback, useMemo } from "react"
import type { ReactNode } from "react"
import type { RecordedCall, RecordedValue, TimelineCall } from "../api/model.ts"
import { toProblem } from "../api/problems.ts"
import { linkTo, navigate, useHub, useHubInfo, useOperations, useSpec } from "../app/context.tsx"
import { useIsSignedIn } from "../app/use-session.ts"
import { curlSnippet } from "../read/snippets/snippets.ts"
import { ProblemView } from "../result/ProblemView.tsx"
import { SearchableJson } from "../result/SearchableJson.tsx"
import { download } from "../result/download.ts"
import { drafts } from "../try/drafts.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { Button, CopyButton, ErrorBox, Spinner, clockText, formatDuration } from "../ui/index.ts"
import { printJson } from "../ui/json-text.ts"
import { Outcome } from "./CallLine.tsx"
import { Waterfall } from "./Waterfall.tsx"
import { causeOf } from "./call-forest.ts"
import type { CallForest, LoggedCall } from "./call-forest.ts"
import { factsOf, findRecord } from "./call-record.ts"
import { durationAt } from "./call-log.ts"
import type { CallLog } from "./call-log.ts"
import { findTimeline, findTimelineCall, traceAddress } from "./waterfall-rows.ts"
import { useRequested } from "./use-requested.ts"

/** Everything that is known about one call: when it and its neighbours ran, its input and its result. */
export function CallDetails({
  call,
  forest,
  log,
  now,
  source,
  onSelect,
  onClose,
}: {
  readonly call: LoggedCall
  readonly forest: CallForest
  readonly log: CallLog
  readonly now: number
  readonly source: string | undefined
  readonly onSelect: (call: LoggedCall) => void
  readonly onClose: () => void
}): ReactNode {
  const duration = durationAt(call, now, log)
  const cause = causeOf(call, forest)
  const { operations } = useOperations()
  const isListed = operations.some(({ id }) => id === call.operationId)
  const { record, isRecording, error, again } = useRecord(call)
  const timeline = useTimeline(call)
  const traceId = findTimelineCall(timeline ?? [], call)?.traceId ?? traceIdOf(record)
  const address = traceAddress(useHubInfo().traceLink, traceId)
  return (
    <Dialog title={call.operationId} open onClose={onClose} className="call-details">
      <p className="row">
        <Outcome call={call} />
        <span>{duration === undefined ? "–" : formatDuration(duration)}</span>
        {isListed && (
          <a href={linkTo({ view: "operation", id: call.operationId })}>Open the operation</a>
        )}
        {address !== undefined && (
          <a href={address} target="_blank" rel="noopener noreferrer">
            Open the trace
          </a>
        )}
        {cause !== call && (
          <span>
            Failed in{" "}
            <button type="button" className="issue-link" onClick={() => onSelect(cause)}>
              {cause.operationId}
            </button>
          </span>
        )}
      </p>
      <Actions call={call} forest={forest} record={record} isListed={isListed} />
      <dl className="raw-facts">
        {factsOf(call, source, record, traceId).map(({ name, text, isCopied }) => (
          <div key={name} className="raw-header">
            <dt>{name}</dt>
            <dd>
              {isCopied ? <code>{text}</code> : text} {isCopied && <CopyButton text={text} />}
            </dd>
          </div>
        ))}
        <div className="raw-header">
          <dt>Began</dt>
          <dd>
            <time dateTime={new Date(call.at).toISOString()}>{clockText(call.at)}</time>
          </dd>
        </div>
      </dl>
      <section aria-label="Waterfall">
        <h3>Waterfall</h3>
        <Waterfall
          call={call}
          forest={forest}
          log={log}
          now={now}
          timeline={timeline}
          onSelect={onSelect}
        />
      </section>
      {!isRecording ? (
        <p className="muted">
          This hub does not record inputs and results. To see them here, set{" "}
          <code>record: true</code> under <code>server</code> in its configuration.
        </p>
      ) : error !== undefined ? (
        <ErrorBox error={error} onRetry={again} />
      ) : (
        <Recorded record={record} call={call} />
      )}
    </Dialog>
  )
}

/** What the hub has recorded of a call; requested again when the call has ended. */
function useRecord(call: LoggedCall): {
  readonly record: RecordedCall | "none" | undefined
  readonly isRecording: boolean
  readonly error: Error | undefined
  readonly again: () => void
} {
  const hub = useHub()
  const isRecording = useHubInfo().records === true
  const { requestId } = call
  const ask = useCallback(
    async (signal: AbortSignal) => ({
      requestId,
      calls: isRecording ? await hub.recorded(requestId, signal) : [],
    }),
    [hub, requestId, isRecording],
  )
  const { value, error, again } = useRequested(ask, { version: call.state })
  // The last answer may be of the call that was selected before.
  const isCurrent = value?.requestId === requestId
  return {
    record: isCurrent ? (findRecord(value.calls, call) ?? "none") : undefined,
    isRecording,
    error,
    again,
  }
}

/** What happened in the tree of a call, as far as the hub remembers it; requested again when the call has ended. */
function useTimeline(call: LoggedCall): readonly TimelineCall[] | undefined {
  const hub = useHub()
  const { requestId } = call
  const ask = useCallback(
    async (signal: AbortSignal) => await hub.timelines(requestId, signal),
    [hub, requestId],
  )
  const { value } = useRequested(ask, { version: call.state })
  return useMemo(() => findTimeline(value ?? [], call), [value, call])
}

function traceIdOf(record: RecordedCall | "none" | undefined): string | undefined {
  return typeof record === "object" ? record.traceId : undefined
}

function Actions({
  call,
  forest,
  record,
  isListed,
}: {
  readonly call: LoggedCall
  readonly forest: CallForest
  readonly record: RecordedCall | "none" | undefined
  readonly isListed: boolean
}): ReactNode {
  const recorded = typeof record === "object" ? record : undefined
  const input = recorded?.input
  const canRun = isListed && input !== undefined && !input.isOmitted
  const exported = (): string =>
    printJson({ call, calls: forest.within(forest.rootOf(call)), recorded }, 2) ?? ""
  return (
    <div className="row">
      {canRun && (
        <>
          <Button
            onClick={() => {
              drafts.put(call.operationId, { input: input.value, removed: input.removed })
              navigate({ view: "operation", id: call.operationId })
            }}
          >
            Open with this input
          </Button>
          <CopyCurl id={call.operationId} input={input.value} />
        </>
      )}
      <Button
        variant="quiet"
        size="small"
        onClick={() =>
          download({
            name: `call-${call.requestId.replaceAll(/[^\w-]/g, "").slice(0, 60)}.json`,
            type: "application/json",
            content: exported(),
          })
        }
      >
        Export
      </Button>
    </div>
  )
}

function CopyCurl({ id, input }: { readonly id: string; readonly input: unknown }): ReactNode {
  const { baseUrl } = useHub()
  const needsToken = useIsSignedIn()
  const { spec } = useSpec(id)
  if (spec === undefined) return null
  return (
    <CopyButton
      text={() => curlSnippet(spec, input, { baseUrl, needsToken })}
      label="Copy as curl"
    />
  )
}

function Recorded({
  record,
  call,
}: {
  readonly record: RecordedCall | "none" | undefined
  readonly call: LoggedCall
}): ReactNode {
  if (record === undefined) return <Spinner label="Loading the recorded call" />
  if (record === "none")
    return <p className="muted">This call is not recorded yet, or no longer.</p>
  if (record.isHidden) {
    return (
      <p className="muted">
        You may not call this operation with this input, so its input and result are not shown.
      </p>
    )
  }
  const { input, result, items } = record
  const problem = toProblem(record.problem)
  return (
    <>
      {problem !== undefined && (
        <section aria-label="Error">
          <h3>Error</h3>
          {/* The ids of the call, and of the one that it failed in, are in the facts about them. */}
          <ProblemView problem={{ ...problem, requestId: "" }} isQuery={call.type === "query"} />
        </section>
      )}
      {input !== undefined && <Value name="Input" recorded={input} />}
      {result !== undefined && <Value name="Output" recorded={result} />}
      {items !== undefined && <Items items={items} />}
    </>
  )
}

function Items({ items }: { readonly items: readonly RecordedValue[] }): ReactNode {
  const joined = useMemo(
    () => ({
      value: items.map(({ value, isOmitted }) => (isOmitted ? "(too large to record)" : value)),
      removed: items.flatMap(({ removed }, at) => removed.map((pointer) => `/${at}${pointer}`)),
      isOmitted: false,
    }),
    [items],
  )
  return <Value name="Last items" recorded={joined} />
}

function Value({
  name,
  recorded,
}: {
  readonly name: string
  readonly recorded: RecordedValue
}): ReactNode {
  const { value, removed, isOmitted } = recorded
  return (
    <section aria-label={name}>
      <h3>{name}</h3>
      {isOmitted ? (
        <p className="muted">It was too large to record.</p>
      ) : value === undefined ? (
        <p className="muted">None.</p>
      ) : (
        <SearchableJson value={value} label={name} />
      )}
      {removed.length > 0 && (
        <p className="muted">
          Not recorded: <code>{removed.slice(0, 20).join(", ")}</code>
        </p>
      )}
    </section>
  )
}
