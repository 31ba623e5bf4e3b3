import type { ReactNode } from "react"
import { Badge } from "../../ui/Badge.tsx"
import { formatDuration } from "../../ui/format.ts"
import { printJson } from "../../ui/json-text.ts"
import type { HistoryEntry } from "./store.ts"

/** When a call was, how it ended, and its input in a line. */
export function EntryFacts({ entry }: { readonly entry: HistoryEntry }): ReactNode {
  const { at, ending, tone, code, durationMs, input } = entry
  const text = printJson(input) ?? "no input"
  return (
    <span className="entry-facts">
      <Badge tone={tone} title={code}>
        {ending}
      </Badge>
      {code !== undefined && code !== "ABORTED" && <code>{code}</code>}
      <time dateTime={isoOf(at)}>{new Date(at).toLocaleString()}</time>
      <span className="muted">{formatDuration(durationMs)}</span>
      <code className="entry-input ellipsis" title={text.slice(0, 500)}>
        {text.slice(0, 120)}
      </code>
    </span>
  )
}

function isoOf(at: number): string | undefined {
  const moment = new Date(at)
  return Number.isNaN(moment.getTime()) ? undefined : moment.toISOString()
}
