import type { ReactNode } from "react"
import type { BreakerStatus } from "../api/model.ts"
import { Badge } from "../ui/index.ts"
import { breakerBadge, breakerText } from "./policy-text.ts"
import { useNow } from "./use-now.ts"

/** What a breaker does with calls, and for how long. */
export function BreakerLine({
  breaker,
  at,
}: {
  readonly breaker: BreakerStatus
  /** When this was its state. */
  readonly at: number
}): ReactNode {
  const now = useNow(breaker.state === "open")
  return (
    <>
      <BreakerBadge breaker={breaker} /> {breakerText(breaker, at, now)}
    </>
  )
}

export function BreakerBadge({ breaker }: { readonly breaker: BreakerStatus }): ReactNode {
  const [tone, text] = breakerBadge(breaker.state)
  return <Badge tone={tone}>{text}</Badge>
}
