import type { HTTPAnswer } from "../exchange.ts"
import { COMMON_HEADERS, jsonAnswer } from "./answer.ts"
import type { Route, Routes } from "./context.ts"
import type { HTTPContext } from "./http-context.ts"

/** A path that a server answers. */
export interface Endpoint {
  /** Full path: `/v1/operations/{id}`. */
  readonly path: string
  /** Methods of a route; other protocols have their own. */
  readonly methods?: readonly string[] | undefined
  /** `mcp` or `websocket`; default: HTTP. */
  readonly protocol?: string | undefined
}

/** The endpoints of a server, listed at its root. */
export class Endpoints {
  readonly #byPath = new Map<string, Endpoint>()

  /** Adds every route, prefixed with the base path. */
  addRoutes(routes: Routes, basePath: string): void {
    for (const { method, path: below } of routes) {
      const path = `${basePath}${below}`
      const methods = this.#byPath.get(path)?.methods ?? []
      this.#byPath.set(path, { path, methods: [...methods, method] })
    }
  }

  add(endpoint: Endpoint): void {
    this.#byPath.set(endpoint.path, endpoint)
  }

  /** All endpoints for a client that reaches the server below a path. */
  under(mountPath: string): readonly Endpoint[] {
    const all = [...this.#byPath.values()]
    if (mountPath === "") return all
    return all.map((endpoint) => ({ ...endpoint, path: `${mountPath}${endpoint.path}` }))
  }
}

/** `GET /`: lists the endpoints. */
export function indexRoute(context: HTTPContext, endpoints: Endpoints): Route {
  const { title, version, description } = context.options
  return {
    method: "GET",
    path: "/",
    handle: ({ incoming }) => {
      const all = endpoints.under(incoming.mountPath ?? "")
      return jsonAnswer(JSON.stringify({ title, version, description, endpoints: all }))
    },
  }
}

const HEADERS = { "content-type": "application/json", ...COMMON_HEADERS }

/** The paths of health checks; `/healthz` is another name of `/livez`. */
export const HEALTH_PATHS: readonly string[] = ["/livez", "/healthz", "/readyz"]

/**
 * Answers the paths of health checks; `undefined` for every other path.
 *
 * They are public, so they answer only yes or no.
 */
export function answerHealth(
  method: string,
  path: string,
  isReady: boolean,
  hasAll?: () => boolean,
): HTTPAnswer | undefined {
  if (!isHealthPath(path)) return undefined
  if (method !== "GET" && method !== "HEAD") {
    return { status: 405, headers: { ...HEADERS, allow: "GET, HEAD" }, body: '{"status":"error"}' }
  }
  const isUp = path !== "/readyz" || (isReady && hasAll?.() !== false)
  const body = isUp ? '{"status":"ok"}' : '{"status":"unavailable"}'
  return { status: isUp ? 200 : 503, headers: HEADERS, body: method === "HEAD" ? undefined : body }
}

/** Whether a path, without the base path, is a health check. */
export function isHealthPath(path: string): boolean {
  return HEALTH_PATHS.includes(path)
}
