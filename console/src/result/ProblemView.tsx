import type { ReactNode } from "react"
import { isRecord } from "../../../src/internal/guards.ts"
import type { HTTPProblem } from "../api/model.ts"
import { codeOf, upstreamStatus } from "../api/outcome.ts"
import { Badge } from "../ui/Badge.tsx"
import { Issues } from "../ui/ErrorBox.tsx"
import { adviceFor, issuesOf } from "../ui/advice.ts"
import { JsonTree } from "./JsonTree.tsx"

/** Why a call failed: code, detail, where the input is wrong, what to do, and what else the operation says. */
export function ProblemView({
  problem,
  isQuery = false,
  onIssue,
}: {
  readonly problem: HTTPProblem
  /** A query has no effect, whether it failed or not. */
  readonly isQuery?: boolean | undefined
  /** Focuses the field of a validation error. */
  readonly onIssue?: ((pointer: string) => void) | undefined
}): ReactNode {
  const { title, detail, retryable, mayHaveExecuted, requestId, type, details } = problem
  const cure = adviceFor(problem)
  const upstream = upstreamStatus(problem)
  const page = /^https:\/\//.test(type) ? type : undefined
  return (
    <div className="error-box">
      <p className="row">
        <strong>{upstream === undefined ? title : `The API answered ${upstream}`}</strong>{" "}
        <Badge tone="bad">{codeOf(problem)}</Badge>{" "}
        {retryable && <Badge tone="info">can be tried again</Badge>}{" "}
        {mayHaveExecuted && !isQuery && <Badge tone="warn">may have taken effect</Badge>}
      </p>
      <p className="error-detail">{detail}</p>
      <Issues problem={problem} onIssue={onIssue} />
      {cure !== undefined && <p className="error-cure">{cure}</p>}
      {/* The deadline of a timeout, as a number: its detail says after how long it was. */}
      {issuesOf(problem).length === 0 && problem.code !== "TIMEOUT" && (
        <Details details={details} isUpstream={upstream !== undefined} />
      )}
      <p className="error-id">
        {requestId !== undefined && !detail.includes(requestId) && (
          <>
            Request <code>{requestId}</code>{" "}
          </>
        )}
        {page !== undefined && (
          <a href={page} target="_blank" rel="noopener noreferrer">
            About this code
          </a>
        )}
      </p>
    </div>
  )
}

/** What the operation says about its error; of a response of an API its body. */
function Details({
  details,
  isUpstream,
}: {
  readonly details: unknown
  readonly isUpstream: boolean
}): ReactNode {
  const value = isUpstream && isRecord(details) ? details["body"] : details
  if (value === undefined || value === "") return null
  const name = isUpstream ? "Response body" : "Details"
  return (
    <div>
      <strong>{name}</strong>
      <JsonTree value={value} label={name} />
    </div>
  )
}
