import { useMemo, useState } from "react"
import type { ReactNode } from "react"
import { Trace } from "../activity/Trace.tsx"
import type { CallOutcome, ResponseEnvelope } from "../api/model.ts"
import { endingOf, resultOf } from "../api/outcome.ts"
import { useHubInfo } from "../app/context.tsx"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { CopyButton } from "../ui/CopyButton.tsx"
import { DiffView } from "../try/history/DiffView.tsx"
import { own } from "../try/schema/json.ts"
import { Tabs } from "../ui/Tabs.tsx"
import type { Tab } from "../ui/Tabs.tsx"
import { formatDuration } from "../ui/format.ts"
import { printJson } from "../ui/json-text.ts"
import { Block, ContentView } from "./ContentView.tsx"
import { ProblemView } from "./ProblemView.tsx"
import { SearchableJson } from "./SearchableJson.tsx"
import { TableView } from "./TableView.tsx"
import { TextView } from "./TextView.tsx"
import { resultBlock, servedBlocks } from "./blocks.ts"
import { download, downloadOf } from "./download.ts"
import { countOf } from "./entries.ts"
import { isRecord } from "../../../src/internal/guards.ts"
import { tableOf } from "../../../src/internal/table-of.ts"
import { csvTable } from "./table.ts"
import "./result.css"

/** The outcome of a call, in several views. */
export function ResultView({
  outcome,
  previous,
  isQuery,
  onIssue,
}: {
  readonly outcome: CallOutcome
  /** The outcome before this one, to compare it with. */
  readonly previous?: CallOutcome | undefined
  /** A query has no effect, whether it failed or not. */
  readonly isQuery: boolean
  /** Focuses the field of a validation error. */
  readonly onIssue?: ((pointer: string) => void) | undefined
}): ReactNode {
  const [wanted, setWanted] = useState<string>()
  const { isAdmin } = useHubInfo()
  const requestId = outcome.headers["request-id"] ?? (outcome.ok ? "" : outcome.problem.requestId)
  const tabs = useMemo(
    () => [
      ...tabsOf(outcome, isQuery, onIssue),
      ...(isAdmin && requestId
        ? [{ id: "trace", label: "Trace", panel: <Trace requestId={requestId} /> }]
        : []),
      ...(previous === undefined ? [] : [comparison(previous, outcome)]),
    ],
    [outcome, previous, isQuery, onIssue, isAdmin, requestId],
  )
  const value = tabs.some(({ id }) => id === wanted) ? wanted : tabs[0]?.id
  const text = (): string => printJson(resultOf(outcome), 2) ?? ""
  const { text: ending, tone } = endingOf(outcome)
  return (
    <div className="result stack">
      <div className="row">
        <Badge tone={tone}>{ending}</Badge>
        <span className="muted">{formatDuration(outcome.durationMs)}</span>
        <span className="result-actions">
          <CopyButton text={text} label="Copy JSON" />
          <Button
            variant="quiet"
            size="small"
            onClick={() => download(downloadOf(outcome.ok ? outcome.envelope : undefined, text()))}
          >
            Download
          </Button>
        </span>
      </div>
      <Tabs label="Result" tabs={tabs} value={value ?? "raw"} onChange={setWanted} />
    </div>
  )
}

function tabsOf(
  outcome: CallOutcome,
  isQuery: boolean,
  onIssue: ((pointer: string) => void) | undefined,
): readonly Tab[] {
  const tabs: Tab[] = []
  if (!outcome.ok) {
    const { problem } = outcome
    tabs.push({
      id: "error",
      label: "Error",
      panel: <ProblemView problem={problem} isQuery={isQuery} onIssue={onIssue} />,
    })
  } else {
    const { data, meta } = outcome.envelope
    if (meta.source === "mcp" && Array.isArray(meta.content) && meta.content.length > 0) {
      tabs.push({ id: "content", label: "Content", panel: <ContentView content={meta.content} /> })
    }
    const served = servedBlocks(data)
    if (served !== undefined) {
      tabs.push({ id: "content", label: "Content", panel: <ContentView content={served} /> })
    }
    const block = resultBlock(outcome.envelope)
    const csv = block?.kind === "csv" ? csvTable(block.text) : undefined
    if (csv !== undefined)
      tabs.push({ id: "table", label: "Table", panel: <TableView model={csv} /> })
    if (block !== undefined && block.kind !== "csv") {
      tabs.push({ id: "media", label: MEDIA[block.kind], panel: <Block block={block} /> })
    }
    if (typeof data === "string" && data !== "") {
      tabs.push({ id: "text", label: "Text", panel: <TextView text={data} /> })
    }
    tabs.push({
      id: "tree",
      label: "Data",
      panel:
        data === undefined ? (
          <p className="muted">No data.</p>
        ) : (
          <SearchableJson value={data} label="Data" />
        ),
    })
    // No object that holds a list.
    const isMap = isRecord(data) && countOf(data) > 1000
    const table = isMap || isContent(data, meta) ? undefined : tableOf(data)
    if (table !== undefined)
      tabs.push({ id: "table", label: "Table", panel: <TableView model={table} /> })
  }
  tabs.push({ id: "raw", label: "Raw", panel: <Raw outcome={outcome} /> })
  return tabs
}

const MEDIA: Readonly<Partial<Record<string, string>>> = {
  image: "Image",
  audio: "Audio",
  video: "Video",
  pdf: "PDF",
  page: "Page",
}

/** The differences from the previous result. */
function comparison(previous: CallOutcome, outcome: CallOutcome): Tab {
  return {
    id: "compare",
    label: "Compare",
    panel: (
      <>
        <p className="field-note">Compared with the result of the previous run.</p>
        <DiffView before={resultOf(previous)} after={resultOf(outcome)} />
      </>
    ),
  }
}

/** Whether the data of a tool are its content blocks, which the tab for those shows better. */
function isContent(data: unknown, meta: ResponseEnvelope["meta"]): boolean {
  if (meta.source !== "mcp" || !Array.isArray(data) || !Array.isArray(meta.content)) return false
  const types = (blocks: readonly unknown[]): string => blocks.map((one) => own(one, "type")).join()
  return types(data) === types(meta.content)
}

/** The whole response, unprocessed. */
function Raw({ outcome }: { readonly outcome: CallOutcome }): ReactNode {
  const { status, durationMs, headers } = outcome
  const body = outcome.ok ? outcome.envelope : outcome.problem
  return (
    <div className="stack">
      <dl className="raw-facts">
        <dt>Status</dt>
        <dd>{status}</dd>
        <dt>Time</dt>
        <dd>{formatDuration(durationMs)}</dd>
        {Object.entries(headers).map(([name, value]) => (
          <div key={name} className="raw-header">
            <dt>
              <code>{name}</code>
            </dt>
            <dd>
              <code>{value}</code>
            </dd>
          </div>
        ))}
      </dl>
      <SearchableJson value={body} label={outcome.ok ? "Envelope" : "Problem"} />
    </div>
  )
}
