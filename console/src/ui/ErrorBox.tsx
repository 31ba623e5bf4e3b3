import type { ReactNode } from "react"
import { ProblemError } from "../api/model.ts"
import type { HTTPProblem } from "../api/model.ts"
import { toProblem } from "../api/problems.ts"
import { Badge } from "./Badge.tsx"
import { Button } from "./Button.tsx"
import { Empty } from "./Empty.tsx"
import { adviceFor, issuesOf } from "./advice.ts"

const MAX_ISSUES = 100

/** What went wrong, and what to do about it: of a `ProblemError`, a problem, or anything thrown. */
export function ErrorBox({
  error,
  onRetry,
}: {
  readonly error: unknown
  readonly onRetry?: (() => void) | undefined
}): ReactNode {
  const problem = problemOf(error)
  // The dialog asks for a credential: nothing is wrong.
  if (problem?.code === "UNAUTHENTICATED") {
    return <Empty title="Sign in to continue">This hub needs an API key or a token.</Empty>
  }
  const cure = problem === undefined ? undefined : adviceFor(problem)
  return (
    <div className="error-box" role="alert">
      <p className="row">
        <strong>{problem?.title ?? "Something went wrong"}</strong>
        {problem !== undefined && <Badge tone="bad">{problem.code}</Badge>}
      </p>
      <p className="error-detail">{problem?.detail ?? messageOf(error)}</p>
      {problem !== undefined && <Issues problem={problem} />}
      {cure !== undefined && <p className="error-cure">{cure}</p>}
      {problem?.mayHaveExecuted === true && (
        <p className="error-cure">The call may have taken effect.</p>
      )}
      {problem?.requestId !== undefined && (
        <p className="error-id">
          Request <code>{problem.requestId}</code>
        </p>
      )}
      {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
    </div>
  )
}

/** The validation errors of an input. */
export function Issues({
  problem,
  onIssue,
}: {
  readonly problem: HTTPProblem
  /** Focuses the field of a validation error. */
  readonly onIssue?: ((pointer: string) => void) | undefined
}): ReactNode {
  const issues = issuesOf(problem).slice(0, MAX_ISSUES)
  if (issues.length === 0) return null
  return (
    <ul className="error-issues">
      {issues.map(({ path, message }, at) => (
        <li key={at}>
          {onIssue === undefined ? (
            <code>{path === "" ? "/" : path}</code>
          ) : (
            <button type="button" className="issue-link" onClick={() => onIssue(path)}>
              {path === "" ? "/" : path}
            </button>
          )}{" "}
          {message}
        </li>
      ))}
    </ul>
  )
}

function problemOf(error: unknown): HTTPProblem | undefined {
  return error instanceof ProblemError ? error.problem : toProblem(error)
}

function messageOf(error: unknown): string {
  if (error instanceof Error && error.message !== "") return error.message
  return typeof error === "string" && error !== "" ? error : "No reason was given."
}
