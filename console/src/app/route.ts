/** What the page shows; the part of its address after `#`. */
export type Route =
  | { readonly view: "operation"; readonly id: string; readonly tab?: string | undefined }
  | { readonly view: "find" }
  | { readonly view: "calls" }
  | { readonly view: "sources" }
  | { readonly view: "history" }

/** The address of a view: `#/o/task.create?tab=schema`. */
export function linkTo(route: Route): string {
  switch (route.view) {
    case "operation": {
      const tab = route.tab === undefined ? "" : `?tab=${encodeURIComponent(route.tab)}`
      return `#/o/${encodeURIComponent(route.id)}${tab}`
    }
    case "find":
      return "#/"
    case "calls":
    case "sources":
    case "history":
      return `#/${route.view}`
  }
}

/** The view of an address; an unknown address leads to the start page. */
export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#/, "").split("?", 2)
  const [, view = "", ...rest] = path.split("/")
  switch (view) {
    case "o": {
      const id = decoded(rest.join("/"))
      if (id === "") return { view: "find" }
      const tab = new URLSearchParams(query).get("tab")
      return tab === null || tab === "" ? { view: "operation", id } : { view: "operation", id, tab }
    }
    case "calls":
    case "sources":
    case "history":
      return { view }
    default:
      return { view: "find" }
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A hand-written address with a percent sign in it.
    return text
  }
}
