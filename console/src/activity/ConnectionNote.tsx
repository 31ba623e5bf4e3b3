import type { ReactNode } from "react"
import { Badge, Button } from "../ui/index.ts"
import type { FollowState } from "./follow.ts"
import { untilText } from "./source-list.ts"
import { useNow } from "./use-now.ts"

/** The state of the connection to the hub's events. */
export function ConnectionNote({
  connection,
}: {
  readonly connection: FollowState & { readonly retry: () => void }
}): ReactNode {
  const now = useNow(connection.phase === "waiting")
  switch (connection.phase) {
    case "live":
      return (
        <Badge tone="good" className="connection-live">
          Live
        </Badge>
      )
    case "waiting":
      return (
        <p className="row" role="status">
          <Badge tone="warn">Not connected</Badge>
          <span>Next try {untilText(connection.retryAt, now)}.</span>
          <Button size="small" onClick={connection.retry}>
            Connect now
          </Button>
        </p>
      )
    case "refused":
      return <Badge tone="bad">Not allowed</Badge>
  }
}
