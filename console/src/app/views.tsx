import { lazy } from "react"
import type { ReactNode } from "react"
import type { OperationView as OperationViewLike } from "../read/OperationView.tsx"
import { Overview } from "./Overview.tsx"
import type { Route } from "./route.ts"

const loadOperation = async (): Promise<{ readonly default: typeof OperationViewLike }> => ({
  default: (await import("../read/OperationView.tsx")).OperationView,
})

const OperationView = lazy(loadOperation)
const CallsView = lazy(async () => ({
  default: (await import("../activity/CallsView.tsx")).CallsView,
}))
const SourcesView = lazy(async () => ({
  default: (await import("../activity/SourcesView.tsx")).SourcesView,
}))
const ApprovalsView = lazy(async () => ({
  default: (await import("../approvals/ApprovalsView.tsx")).ApprovalsView,
}))
const ResourcesView = lazy(async () => ({
  default: (await import("../resources/ResourcesView.tsx")).ResourcesView,
}))
const HistoryView = lazy(async () => ({
  default: (await import("../try/HistoryView.tsx")).HistoryView,
}))

/** The view of a route. */
export function View({ route }: { readonly route: Route }): ReactNode {
  switch (route.view) {
    case "find":
    case "home":
      return <Overview />
    case "operation":
      return <OperationView key={route.id} id={route.id} />
    case "calls":
      return <CallsView />
    case "sources":
      return <SourcesView />
    case "approvals":
      return <ApprovalsView />
    case "resources":
      return <ResourcesView />
    case "history":
      return <HistoryView />
  }
}

/** Fetches the view that is wanted next before it is wanted. */
export function preloadOperation(): void {
  // The error is reported when a view is opened.
  loadOperation().catch(() => undefined)
}
