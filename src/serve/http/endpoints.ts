import type { HTTPContext, Route, Routes } from "./context.ts"

/** Something that a server answers. */
export interface Endpoint {
  /** From the root: `/v1/operations/{id}`. */
  readonly path: string
  /** Of routes; other protocols have their own. */
  readonly methods?: readonly string[] | undefined
  /** `mcp` or `websocket`; HTTP, when left out. */
  readonly protocol?: string | undefined
}

/** What a server answers, for whoever asks at its root. */
export class Endpoints {
  readonly #byPath = new Map<string, Endpoint>()

  /** Every route, with the base path in front. */
  addRoutes(routes: Routes, basePath: string): void {
    for (const { method, path: below } of routes) {
      const path = `${basePath}${below}`
      const known = this.#byPath.get(path)?.methods ?? []
      this.#byPath.set(path, { path, methods: [...known, method] })
    }
  }

  add(endpoint: Endpoint): void {
    this.#byPath.set(endpoint.path, endpoint)
  }

  /** All of them, as a client sees them who reaches the server below a path. */
  under(mountPath: string): readonly Endpoint[] {
    const all = [...this.#byPath.values()]
    if (mountPath === "") return all
    return all.map((endpoint) => ({ ...endpoint, path: `${mountPath}${endpoint.path}` }))
  }
}

/** `GET /`: what there is. */
export function indexRoute(context: HTTPContext, endpoints: Endpoints): Route {
  const { title, version, description } = context.options
  return {
    method: "GET",
    path: "/",
    handle: ({ incoming }) => {
      const all = endpoints.under(incoming.mountPath ?? "")
      return context.json(JSON.stringify({ title, version, description, endpoints: all }))
    },
  }
}
