import type { ReactNode } from "react"
import type { HTTPProblem } from "../api/model.ts"
import { Badge } from "../ui/Badge.tsx"
import { adviceFor, issuesOf } from "../ui/advice.ts"

/** Why a call failed: code, detail, where the input is wrong, and what to do. */
export function ProblemView({
  problem,
  onIssue,
}: {
  readonly problem: HTTPProblem
  /** Focuses the field of a validation error. */
  readonly onIssue?: ((pointer: string) => void) | undefined
}): ReactNode {
  const { code, title, detail, retryable, mayHaveExecuted, requestId, type } = problem
  const cure = adviceFor(problem)
  const issues = issuesOf(problem)
  const page = /^https:\/\//.test(type) ? type : undefined
  return (
    <div className="error-box">
      <p className="error-title">
        <strong>{title}</strong> <Badge tone="bad">{code}</Badge>{" "}
        {retryable && <Badge tone="info">can be tried again</Badge>}{" "}
        {mayHaveExecuted && <Badge tone="warn">may have had its effect</Badge>}
      </p>
      <p className="error-detail">{detail}</p>
      {issues.length > 0 && (
        <ul className="error-faults">
          {issues.slice(0, 100).map(({ path, message }, at) => (
            <li key={at}>
              {onIssue === undefined ? (
                <code>{path === "" ? "/" : path}</code>
              ) : (
                <button type="button" className="fault-link" onClick={() => onIssue(path)}>
                  {path === "" ? "/" : path}
                </button>
              )}{" "}
              {message}
            </li>
          ))}
        </ul>
      )}
      {cure !== undefined && <p className="error-cure">{cure}</p>}
      <p className="error-id">
        {requestId !== undefined && (
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
