import type { ReactNode } from "react"
import { formatRate } from "../activity/counters.ts"
import { download } from "../result/download.ts"
import { useNow } from "../activity/use-now.ts"
import { Badge, Button, Icon, SearchField, formatCount, formatDuration } from "../ui/index.ts"
import type { Tone } from "../ui/index.ts"
import { printJson } from "../ui/json-text.ts"
import type { WatchAction, WatchPhase, WatchState } from "./model.ts"
import { rateAt } from "./rate.ts"

const PHASES: Readonly<Record<WatchPhase, { readonly tone: Tone; readonly label: string }>> = {
  idle: { tone: "neutral", label: "Not started" },
  running: { tone: "good", label: "Live" },
  ended: { tone: "neutral", label: "Ended" },
  stopped: { tone: "neutral", label: "Stopped" },
  failed: { tone: "bad", label: "Failed" },
}

/** How a stream is doing, and what can be done with it while it runs. */
export function WatchBar({
  state,
  dispatch,
  text,
  onText,
}: {
  readonly state: WatchState
  readonly dispatch: (action: WatchAction) => void
  readonly text: string
  readonly onText: (text: string) => void
}): ReactNode {
  const { phase, isPaused, waitingCount } = state
  const { tone, label } = PHASES[phase]
  return (
    <div className="watch-bar">
      <p className="watch-status">
        <span role="status">
          <Badge tone={isPaused ? "warn" : tone}>{isPaused ? `${label}, paused` : label}</Badge>
        </span>
        <Figures state={state} />
      </p>
      <div className="watch-actions">
        <SearchField
          label="Filter items by text"
          placeholder="Filter by text"
          text={text}
          onText={onText}
        />
        {(phase === "running" || isPaused) && (
          <Button
            aria-pressed={isPaused}
            onClick={() => dispatch({ type: isPaused ? "resume" : "pause" })}
          >
            <Icon name={isPaused ? "play" : "pause"} />
            {isPaused ? `Resume (${waitingCount.toLocaleString("en")} waiting)` : "Pause"}
          </Button>
        )}
        <Button
          disabled={state.shown.length === 0}
          onClick={() =>
            download({
              name: "items.ndjson",
              type: "application/x-ndjson",
              content: linesOf(state),
            })
          }
        >
          Download
        </Button>
        <Button onClick={() => dispatch({ type: "clear" })}>
          <Icon name="trash" /> Clear
        </Button>
      </div>
    </div>
  )
}

/** The data of every item that is kept, one JSON value per line. */
function linesOf({ shown, waiting }: WatchState): string {
  return [...shown, ...waiting]
    .map(({ envelope }) => `${printJson(envelope.data) ?? "null"}\n`)
    .join("")
}

function Figures({ state }: { readonly state: WatchState }): ReactNode {
  const { phase, received, dropped, rate, startedAt, endedAt } = state
  const isRunning = phase === "running"
  const now = useNow(isRunning)
  const end = endedAt ?? now
  return (
    <>
      <span>{formatCount(received, "item")}</span>
      {isRunning && <span>{formatRate(rateAt(rate, now, startedAt))} per second</span>}
      <span>{formatDuration(Math.max(0, end - startedAt))}</span>
      {dropped > 0 && (
        <span title="Only the last items are kept.">{dropped.toLocaleString("en")} not kept</span>
      )}
    </>
  )
}
