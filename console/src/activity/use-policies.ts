import { useCallback } from "react"
import { useHub, useHubInfo } from "../app/context.tsx"
import { steadyNow } from "../ui/steady-now.ts"
import type { TimedPolicyState } from "./policy-text.ts"
import { useRequested } from "./use-requested.ts"

/** The state of the policies of the hub, requested every so often; `undefined` for callers who may not see it. */
export function usePolicies(everyMs: number, isNeeded = true): TimedPolicyState | undefined {
  const hub = useHub()
  const isAsked = useHubInfo().isAdmin && isNeeded
  const ask = useCallback(
    async (signal: AbortSignal) =>
      isAsked ? { ...(await hub.policies(signal)), at: steadyNow() } : undefined,
    [hub, isAsked],
  )
  const { value } = useRequested(ask, isAsked ? { everyMs } : {})
  return isAsked ? value : undefined
}
