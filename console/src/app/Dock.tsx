import { useEffect, useState, useSyncExternalStore } from "react"
import type { ReactNode } from "react"
import { useNow } from "../activity/use-now.ts"
import { endingOf } from "../api/outcome.ts"
import { Badge } from "../ui/Badge.tsx"
import { Button } from "../ui/Button.tsx"
import { Spinner } from "../ui/Spinner.tsx"
import { formatDuration } from "../ui/format.ts"
import { steadyNow } from "../ui/steady-now.ts"
import { linkTo, useRoute } from "./context.tsx"
import { isOver, runs } from "./runs.ts"
import type { Run } from "./runs.ts"

/** How long a run is listed after its end. */
const SHOWN_MS = 10_000
const MAX_LISTED = 4

/** What runs, asks or has just ended in other views than the current one. */
export function Dock(): ReactNode {
  const route = useRoute()
  const all = useSyncExternalStore(runs.subscribe, runs.list)
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const hide = (run: Run): void => setHidden((before) => new Set([...before, keyOf(run)]))
  const current = route.view === "operation" ? runs.of(route.id) : undefined
  // Runs that ended in view are not listed.
  useEffect(() => {
    if (current !== undefined && isOver(current)) hide(current)
  }, [current])
  const now = useNow(all.some((run) => isRecent(run, steadyNow() - 1000)))
  const shown = all
    .filter((run) => run !== current && isRecent(run, now))
    .filter((run) => !hidden.has(keyOf(run)))
  const asking = shown.filter(asks).length
  const running = shown.filter((run) => !isOver(run)).length - asking
  const counts = [running > 0 && `${running} running`, asking > 0 && `${asking} waiting for you`]
  return (
    <section className="dock" aria-label="Running calls">
      <p role="status" className="visually-hidden">
        {counts.filter((count) => count !== false).join(", ")}
      </p>
      {shown.length > 0 && (
        <ul>
          {shown.slice(-MAX_LISTED).map((run) => (
            <li key={run.operationId} className="row">
              <State run={run} now={now} />
              <a className="ellipsis" href={linkTo({ view: "operation", id: run.operationId })}>
                {run.operationId}
              </a>
              <Button
                size="small"
                variant="quiet"
                onClick={() => (isOver(run) ? hide(run) : run.stop())}
              >
                {isOver(run) ? "Hide" : run.kind === "stream" ? "Stop" : "Cancel"}
              </Button>
            </li>
          ))}
          {shown.length > MAX_LISTED && <li>{shown.length - MAX_LISTED} more</li>}
        </ul>
      )}
    </section>
  )
}

function keyOf({ operationId, startedAt }: Run): string {
  return `${startedAt} ${operationId}`
}

function isRecent({ state: { endedAt } }: Run, now: number): boolean {
  return endedAt === undefined || now - endedAt < SHOWN_MS
}

function asks(run: Run): boolean {
  return run.kind === "call" && run.state.questions.length > 0
}

function State({ run, now }: { readonly run: Run; readonly now: number }): ReactNode {
  if (asks(run)) return <Badge tone="warn">asks you</Badge>
  if (!isOver(run)) {
    const seconds = Math.max(0, Math.floor((now - run.startedAt) / 1000))
    return (
      <>
        <Spinner label={run.kind === "stream" ? "Live" : "Running"} />
        <span className="muted">{formatDuration(seconds * 1000)}</span>
      </>
    )
  }
  if (run.kind === "stream") {
    return <Badge tone={run.state.phase === "failed" ? "bad" : "neutral"}>{run.state.phase}</Badge>
  }
  if (run.state.outcome === undefined) return null
  const { text, tone } = endingOf(run.state.outcome)
  return <Badge tone={tone}>{text}</Badge>
}
