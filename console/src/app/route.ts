/** What the page shows; the part of its address after `#`. */
export type Route =
  | {
      readonly view: "operation"
      readonly id: string
      readonly tab?: string | undefined
      /** The JSON of an input that a link brings. */
      readonly input?: string | undefined
    }
  | { readonly view: "find" }
  | { readonly view: "calls" }
  | { readonly view: "sources" }
  | { readonly view: "history" }

/** The address of a view: `#/o/task.create?tab=schema`, `#/o/task.create?input={"title":"Milk"}`. */
export function linkTo(route: Route): string {
  switch (route.view) {
    case "operation": {
      const { id, tab, input } = route
      const query = Object.entries({ tab, input }).flatMap(([name, value]) =>
        value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
      )
      return `#/o/${encodeURIComponent(id)}${query.length === 0 ? "" : `?${query.join("&")}`}`
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
  const [, path = "", query = ""] = /^#?([^?]*)\??(.*)$/s.exec(hash) ?? []
  const [, view = "", ...rest] = path.split("/")
  switch (view) {
    case "o": {
      const id = decoded(rest.join("/"))
      if (id === "") return { view: "find" }
      const parameters = new URLSearchParams(query)
      const [tab, input] = [parameters.get("tab") ?? "", parameters.get("input") ?? ""]
      return { view: "operation", id, ...(tab !== "" && { tab }), ...(input !== "" && { input }) }
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
