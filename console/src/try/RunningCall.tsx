import type { ReactNode } from "react"
import type { CallTrace, ProgressUpdate } from "../api/model.ts"
import type { CallState } from "../app/runs.ts"
import { useNow } from "../activity/use-now.ts"
import { formatDuration } from "../ui/format.ts"
import { Spinner } from "../ui/Spinner.tsx"
import { isApproval } from "../approvals/ApprovalDialog.tsx"
import { Question } from "./Question.tsx"

/** A call that runs: for how long, how far it is, and what it asks. */
export function RunningCall({
  progress,
  questions,
  calls,
  startedAt,
}: Pick<CallState, "progress" | "questions" | "calls" | "startedAt">): ReactNode {
  const now = useNow(true, 200)
  return (
    <div className="stack">
      <div className="row">
        <Spinner label={questions.length === 0 ? "Running…" : "Waiting for your answer…"} />
        {/* Not read aloud: it changes all the time. */}
        <span className="muted" aria-hidden="true">
          {formatDuration(Math.max(0, Math.floor((now - startedAt) / 100) * 100))}
        </span>
      </div>
      {progress !== undefined && <Progress {...progress} />}
      {calls.size > 0 && (
        <ul className="running-calls" aria-label="Calls that it makes">
          {Array.from(calls.values(), (trace) => (
            <li key={trace.requestId}>
              <code>{trace.operationId}</code>{" "}
              <span className={trace.phase === "end" && trace.code ? "field-error" : "muted"}>
                {trace.phase === "start" ? "runs" : endOf(trace)}
              </span>
            </li>
          ))}
        </ul>
      )}
      {questions
        .filter((question) => !isApproval(question))
        .map(({ number, request, answer }) => (
          <Question key={number} request={request} onAnswer={answer} />
        ))}
    </div>
  )
}

function endOf({ code, outcome, durationMs }: Extract<CallTrace, { phase: "end" }>): string {
  return `${code ?? outcome} after ${formatDuration(durationMs)}`
}

function Progress({ progress, total, message }: ProgressUpdate): ReactNode {
  const isKnown = total !== undefined && total > 0
  return (
    <div className="row running-progress">
      <progress aria-label="Progress" {...(isKnown && { value: progress, max: total })} />
      <span className="muted">{isKnown ? `${progress} of ${total}` : progress}</span>
      {message !== undefined && <span role="status">{message}</span>}
    </div>
  )
}
