import type { ApprovalCall, RuleOutcome } from "../core/approvals.ts"
import { calledFor } from "./call-function.ts"
import type { CompiledList } from "./rules.ts"

/** What each rule of lists says of a call. */
export async function explainCall(
  lists: readonly CompiledList[],
  call: ApprovalCall,
): Promise<readonly RuleOutcome[]> {
  const outcomes: RuleOutcome[] = []
  for (const list of lists) {
    let isDecided = false
    for (const { rule = "", decide, reason, decideBy, mismatch } of list) {
      const field = isDecided ? undefined : mismatch(call)
      if (isDecided || field !== undefined) {
        outcomes.push({
          ...{ rule, state: isDecided ? "later" : "differs", reason, field },
          decide: decideBy === undefined ? decide : undefined,
        })
        continue
      }
      const verdict = decideBy === undefined ? decide : await calledFor(decideBy, call, rule)
      isDecided = verdict !== undefined
      outcomes.push({ rule, state: isDecided ? "applies" : "differs", reason, decide: verdict })
    }
  }
  return outcomes
}
