import type { ApprovalCall, Verdict } from "../core/approvals.ts"
import type { CompiledList } from "./rules.ts"

/** What may happen to calls of which not everything is known. */
export interface Outlook {
  /** All are denied. */
  readonly isDenied: boolean
  /** A person may be asked. */
  readonly mayAsk: boolean
  /** All run. */
  readonly isFree: boolean
}

/** What may happen to calls, as far as they are known. */
export function possibleVerdicts(lists: readonly CompiledList[], call: ApprovalCall): Outlook {
  let isDenied = false
  let mayAsk = false
  let mayDeny = false
  let isDecided = false
  for (const list of lists) {
    const { verdicts, mayPass } = verdictsOf(list, call)
    isDenied ||= !mayPass && verdicts.size === 1 && verdicts.has("deny")
    mayAsk ||= verdicts.has("ask")
    mayDeny ||= verdicts.has("deny")
    isDecided ||= !mayPass
  }
  mayAsk ||= !isDecided && call.spec.type === "mutation"
  return { isDenied, mayAsk: mayAsk && !isDenied, isFree: !mayAsk && !mayDeny }
}

function verdictsOf(
  list: CompiledList,
  call: ApprovalCall,
): { readonly verdicts: ReadonlySet<Verdict>; readonly mayPass: boolean } {
  const verdicts = new Set<Verdict>()
  for (const { applies, decide, decideBy } of list) {
    const isMet = applies(call)
    if (isMet === false) continue
    for (const verdict of decideBy === undefined ? [decide] : ANY) verdicts.add(verdict)
    if (isMet === true && decideBy === undefined) return { verdicts, mayPass: false }
  }
  return { verdicts, mayPass: true }
}

const ANY = ["allow", "ask", "deny"] as const
