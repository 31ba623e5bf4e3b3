import type { ApprovalCall, ApprovalFunction, Verdict } from "../core/approvals.ts"
import { markInternal } from "../core/error-marks.ts"
import { CallError } from "../core/errors.ts"
import { reasonOf } from "../internal/message-text.ts"
import { verdictOf } from "./rules.ts"

/** What a function decides. A call about which it fails is not made. */
export function calledFor(
  decideBy: ApprovalFunction,
  call: ApprovalCall,
  rule: string,
): Verdict | undefined | Promise<Verdict | undefined> {
  const fail = (cause: unknown): never => {
    const { operationId } = call
    const message = `"${operationId}" was not called: the function of ${rule} failed: ${reasonOf(cause)}`
    throw markInternal(
      new CallError("EXECUTION_ERROR", message, { operationId, cause, mayHaveExecuted: false }),
    )
  }
  try {
    const returned: unknown = decideBy(call)
    if (!(returned instanceof Promise)) return verdictOf(returned, rule)
    return returned.then((late: unknown) => verdictOf(late, rule)).catch(fail)
  } catch (cause) {
    return fail(cause)
  }
}
