import { useMemo, useSyncExternalStore } from "react"
import type { OperationSummary } from "../api/model.ts"

/** What the page shows; the part of its address after `#`. */
export type Route =
  | {
      readonly view: "operation"
      readonly id: string
      readonly tab?: string | undefined
      /** The JSON of an input that a link brings. */
      readonly input?: string | undefined
    }
  | {
      /** `home` is the start page also where there is room for the list alone. */
      readonly view: "find" | "home" | (typeof VIEWS)[number]["view"]
      /** The request id of the call whose details are open, in Calls; an approval, in Approvals. */
      readonly call?: string | undefined
    }

/** The views besides the start page and the operations. */
export const VIEWS = [
  { view: "calls", label: "Calls", icon: "activity", isForAdmins: true },
  { view: "sources", label: "Sources", icon: "sources", isForAdmins: true },
  { view: "approvals", label: "Approvals", icon: "approve", isForAdmins: true },
  { view: "resources", label: "Resources", icon: "folder", isForAdmins: false },
  { view: "history", label: "History", icon: "history", isForAdmins: false },
] as const

/** The views that a caller has; that of resources where there are some. */
export function viewsFor(
  isAdmin: boolean,
  operations: readonly OperationSummary[],
): readonly (typeof VIEWS)[number][] {
  const hasResources = operations.some(({ mcp }) => mcp !== undefined)
  return VIEWS.filter(
    ({ view, isForAdmins }) => (isAdmin || !isForAdmins) && (view !== "resources" || hasResources),
  )
}

/** The address of a view: `#/o/task.create?tab=schema`, `#/o/task.create?input={"title":"Milk"}`, `#/calls/41f0`. */
export function linkTo(route: Route): string {
  if (route.view !== "operation") {
    const call = route.call === undefined ? "" : `/${encodeURIComponent(route.call)}`
    return route.view === "find" ? "#/" : `#/${route.view}${call}`
  }
  const { id, tab, input } = route
  const query = Object.entries({ tab, input }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  return `#/o/${encodeURIComponent(id)}${query.length === 0 ? "" : `?${query.join("&")}`}`
}

/** The view of an address; an unknown address leads to the start page. */
export function parseRoute(hash: string): Route {
  const [, path = "", query = ""] = /^#?([^?]*)\??(.*)$/s.exec(hash) ?? []
  const [, view = "", ...rest] = path.split("/")
  const id = view === "o" ? decoded(rest.join("/")) : ""
  if (id === "") {
    const call = view === "calls" || view === "approvals" ? decoded(rest.join("/")) : ""
    const found = VIEWS.find((one) => one.view === view)?.view ?? (view === "home" ? view : "find")
    return { view: found, ...(call !== "" && { call }) }
  }
  const parameters = new URLSearchParams(query)
  const [tab, input] = [parameters.get("tab") ?? "", parameters.get("input") ?? ""]
  return { view: "operation", id, ...(tab !== "" && { tab }), ...(input !== "" && { input }) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A hand-written address with a percent sign in it.
    return text
  }
}

/** The view that is displayed. */
export function useRoute(): Route {
  const hash = useSyncExternalStore(onHash, () => location.hash)
  return useMemo(() => parseRoute(hash), [hash])
}

/** Displays another view; `replace` leaves no step to come back to, as for a tab of the same view. */
export function navigate(route: Route, options: { readonly replace?: boolean } = {}): void {
  const link = linkTo(route)
  if (link === location.hash) return
  if (options.replace === true) {
    history.replaceState(history.state, "", link)
    // `replaceState` fires no event.
    dispatchEvent(new HashChangeEvent("hashchange"))
  } else {
    location.hash = link
  }
}

function onHash(listener: () => void): () => void {
  addEventListener("hashchange", listener)
  return () => removeEventListener("hashchange", listener)
}
