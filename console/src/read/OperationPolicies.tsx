// The policies of an operation: which apply, where each was set, and how it is doing.
import { createContext, use, useMemo } from "react"
import type { ReactNode } from "react"
import { settingsText } from "../../../src/core/policy-state.ts"
import { BreakerBadge, BreakerLine } from "../activity/BreakerLine.tsx"
import { usageText } from "../activity/policy-text.ts"
import { usePolicies } from "../activity/use-policies.ts"
import type { AppliedPolicy, OperationPolicyState } from "../api/model.ts"

const EVERY_MS = 2_000

interface Current {
  readonly state: OperationPolicyState
  readonly at: number
}

const CurrentPolicies = createContext<Current | undefined>(undefined)

/** Provides the state of the policies of one operation, so that only what shows it is rendered again. */
export function OperationPolicies({
  id,
  policies,
  children,
}: {
  readonly id: string
  readonly policies: readonly AppliedPolicy[]
  readonly children: ReactNode
}): ReactNode {
  const all = usePolicies(EVERY_MS, policies.length > 0)
  const current = useMemo(() => {
    const state = all?.operations.find(({ operationId }) => operationId === id)
    return all && state && { state, at: all.at }
  }, [all, id])
  return <CurrentPolicies value={current}>{children}</CurrentPolicies>
}

/** A word about the breaker of the operation while it refuses calls. */
export function OpenCircuit(): ReactNode {
  const breaker = use(CurrentPolicies)?.state.breaker
  if (breaker === undefined || breaker.state === "closed") return null
  return <BreakerBadge breaker={breaker} />
}

export function PoliciesPanel({
  policies,
}: {
  readonly policies: readonly AppliedPolicy[]
}): ReactNode {
  return (
    <table className="table operation-policies">
      <caption className="visually-hidden">Policies of the operation</caption>
      <thead>
        <tr>
          <th scope="col">Policy</th>
          <th scope="col">Settings</th>
          <th scope="col">Set by</th>
          <th scope="col">Now</th>
        </tr>
      </thead>
      <tbody>
        {policies.map(({ policy, settings, from }) => (
          <tr key={policy}>
            <th scope="row">{policy}</th>
            <td>{settingsText(settings)}</td>
            <td>{from}</td>
            <td>
              <Now policy={policy} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Now({ policy }: { readonly policy: string }): ReactNode {
  const current = use(CurrentPolicies)
  if (current === undefined) return "–"
  const { state, at } = current
  if (policy === "breaker" && state.breaker !== undefined) {
    return <BreakerLine breaker={state.breaker} at={at} />
  }
  return usageText(policy, state) ?? "–"
}
