import type { ReactNode } from "react"
import type { HTTPProblem } from "../api/model.ts"
import { Badge } from "../ui/Badge.tsx"
import { cureOf, faultsOf } from "../ui/cure.ts"

/** Why a call failed: code, detail, where the input is wrong, and what to do. */
export function ProblemView({
  problem,
  onFault,
}: {
  readonly problem: HTTPProblem
  /** Shows the field that a fault is about. */
  readonly onFault?: ((pointer: string) => void) | undefined
}): ReactNode {
  const { code, title, detail, retryable, mayHaveExecuted, requestId, type } = problem
  const cure = cureOf(problem)
  const faults = faultsOf(problem)
  const page = /^https:\/\//.test(type) ? type : undefined
  return (
    <div className="error-box">
      <p className="error-title">
        <strong>{title}</strong> <Badge tone="bad">{code}</Badge>{" "}
        {retryable && <Badge tone="info">can be tried again</Badge>}{" "}
        {mayHaveExecuted && <Badge tone="warn">may have had its effect</Badge>}
      </p>
      <p className="error-detail">{detail}</p>
      {faults.length > 0 && (
        <ul className="error-faults">
          {faults.slice(0, 100).map(({ path, message }, at) => (
            <li key={at}>
              {onFault === undefined ? (
                <code>{path === "" ? "/" : path}</code>
              ) : (
                <button type="button" className="fault-link" onClick={() => onFault(path)}>
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
