// Frameworks that mount a handler under a path either remove that path from the requests they pass on, or
// keep it. Express and its relatives remove it, and keep the whole URL in `originalUrl`.

import { pathOf } from "../upgrade.ts"
import { isHealthPath } from "./endpoints.ts"
import type { HTTPRequestLike } from "../node-types.ts"

/** The path of a request, from the view of the API. */
export interface PlacedPath {
  /** Path for routing, including the base path. */
  readonly path: string
  /** Prefix that a client sees before it. */
  readonly mountPath: string
}

/** The paths that a server answers, base path included. */
export interface ServedPaths {
  readonly basePath: string
  isRoute(path: string): boolean
  isMount(path: string): boolean
}

// Maximum depth of a mount path.
const MAX_SEGMENTS = 8

/** Restores the paths of requests from which a framework may have removed a prefix. */
export class MountPaths {
  readonly #served: ServedPaths

  constructor(served: ServedPaths) {
    this.#served = served
  }

  /** The path of a Node request. */
  ofNode(path: string, originalUrl: string): PlacedPath {
    const { basePath } = this.#served
    const mountPath = removedPath(path, originalUrl)
    if (mountPath === "" || basePath === "" || this.#served.isMount(path)) {
      return { path, mountPath }
    }
    // A base path is either the whole path of the API, or goes on below the mount.
    const whole = `${mountPath}${path}`
    return isWithin(whole, basePath) ? { path: whole, mountPath: "" } : { path, mountPath }
  }

  /** The path of a request that a framework passes on. */
  ofRequest(request: HTTPRequestLike): string {
    const path = pathOf(request)
    const { originalUrl } = request
    return originalUrl === undefined ? path : this.ofNode(path, originalUrl).path
  }

  /**
   * The path of a web request, with the base path added if needed.
   *
   * Web frameworks do not indicate whether they have removed it.
   */
  ofWeb(path: string): string {
    const { basePath } = this.#served
    if (basePath === "" || this.#served.isMount(path)) return path
    const whole = `${basePath}${path}`
    if (!isWithin(path, basePath)) return whole
    if (this.#served.isRoute(path) || isHealthPath(path.slice(basePath.length))) return path
    return this.#served.isRoute(whole) || isHealthPath(path) ? whole : path
  }

  /** The "not found" message of a path, with advice for an API mounted elsewhere. */
  nothingAt(path: string): string {
    const short = path.slice(0, -1)
    if (path.endsWith("/") && this.#served.isRoute(short)) {
      return `${NOTHING.slice(0, -1)}, but "${short}" is, without a slash at its end.`
    }
    const { basePath } = this.#served
    if (basePath !== "") {
      return isWithin(path, basePath)
        ? NOTHING
        : `Nothing is served under this path; everything is below "${basePath}".`
    }
    let at = path.indexOf("/", 1)
    for (let segments = 0; at !== -1 && segments < MAX_SEGMENTS; segments++) {
      const rest = path.slice(at)
      if (this.#served.isRoute(rest)) {
        const mount = path.slice(0, at)
        return `Nothing is served under this path, but "${rest}" is. If the API is mounted under "${mount}", give toHTTP basePath: "${mount}".`
      }
      at = path.indexOf("/", at + 1)
    }
    return NOTHING
  }
}

const NOTHING = "Nothing is served under this path."

/** Whether a path is a base path or below it. */
function isWithin(path: string, basePath: string): boolean {
  return (
    path.startsWith(basePath) && (path.length === basePath.length || path[basePath.length] === "/")
  )
}

function removedPath(path: string, originalUrl: string): string {
  const [whole = ""] = originalUrl.split("?", 1)
  if (!/^\/[^/]/.test(whole)) return ""
  if (whole.endsWith(path)) return whole.slice(0, whole.length - path.length)
  // `/api/v1` arrives as `/`.
  return path === "/" ? whole : ""
}

/** Validates a path and normalizes it: a leading slash, no trailing one; the root is "". */
export function normalizePath(option: string, path: string): string {
  const text = path === "/" ? "" : path
  if (text === "" || (/^(?:\/[\w.~-]+)+$/.test(text) && !/\/\.\.?(?:\/|$)/.test(text))) return text
  throw new TypeError(
    `toHTTP(): ${option} must be a path of plain letters, such as "/v1", without a slash at its end.`,
  )
}
