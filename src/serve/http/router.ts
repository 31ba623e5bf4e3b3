import { HTTPRefusal, type Route, type Routes } from "./context.ts"

/** The match of a path: its routes by method, and the values of its parameters. */
export interface RouteMatch {
  readonly methods: ReadonlyMap<string, Route>
  readonly params: readonly string[]
}

interface Place {
  readonly methods: Map<string, Route>
  readonly next: Map<string, Place>
  param: Place | undefined
}

const NO_PARAMS: readonly string[] = []

/**
 * Finds the routes of a path in one pass over its segments.
 *
 * Segments must match exactly. A path with another spelling, such as two slashes,
 * capitals or escaped letters, does not match: a proxy that protects paths in front of this
 * server would not recognise it. Parameters are decoded once, after the match.
 */
export class Router {
  readonly #root: Place = place()
  readonly #basePath: string

  constructor(routes: Routes, basePath: string) {
    this.#basePath = basePath
    for (const route of routes) {
      if (this.add(route)) continue
      throw new TypeError(`toHTTP(): there are two routes for ${route.method} ${route.path}.`)
    }
  }

  find(path: string): RouteMatch | undefined {
    const base = this.#basePath
    if (!path.startsWith(base)) return undefined
    // The base path is the root, with or without a trailing slash.
    if (path.length === base.length) return this.find(`${base}/`)
    if (path.charCodeAt(base.length) !== SLASH) return undefined
    let params: string[] | undefined
    let here = this.#root
    for (let start = base.length + 1; ;) {
      const slash = path.indexOf("/", start)
      const segment = slash === -1 ? path.slice(start) : path.slice(start, slash)
      const named = here.next.get(segment)
      if (named !== undefined) {
        here = named
      } else {
        const value = here.param === undefined ? undefined : decode(segment)
        if (here.param === undefined || value === undefined) return undefined
        here = here.param
        ;(params ??= []).push(value)
      }
      if (slash === -1) break
      start = slash + 1
    }
    return here.methods.size === 0
      ? undefined
      : { methods: here.methods, params: params ?? NO_PARAMS }
  }

  /** Every match of a path: a segment that is named comes before a parameter, from left to right. */
  findAll(path: string): RouteMatch[] {
    const base = this.#basePath
    if (!path.startsWith(`${base}/`)) return []
    const segments = path.slice(base.length + 1).split("/")
    const found: RouteMatch[] = []
    const visit = (here: Place, at: number, params: readonly string[]): void => {
      const segment = segments[at]
      if (segment === undefined) {
        if (here.methods.size > 0) found.push({ methods: here.methods, params })
        return
      }
      const named = here.next.get(segment)
      if (named !== undefined) visit(named, at + 1, params)
      const value = here.param === undefined ? undefined : decode(segment)
      if (here.param !== undefined && value !== undefined) {
        visit(here.param, at + 1, [...params, value])
      }
    }
    visit(this.#root, 0, NO_PARAMS)
    return found
  }

  /** Adds a route; returns `false` if there is one for the same requests. */
  add(route: Route): boolean {
    let here = this.#root
    for (const segment of route.path.slice(1).split("/")) {
      if (segment.startsWith("{")) {
        here = here.param ??= place()
        continue
      }
      let next = here.next.get(segment)
      if (next === undefined) here.next.set(segment, (next = place()))
      here = next
    }
    if (here.methods.has(route.method)) return false
    here.methods.set(route.method, route)
    return true
  }
}

/** The refusal of a method that a path does not support. */
export function methodNotAllowed(methods: ReadonlyMap<string, Route>, method: string): HTTPRefusal {
  const allow = [...methods.keys(), ...(methods.has("GET") ? ["HEAD"] : [])].join(", ")
  return new HTTPRefusal(
    405,
    "INVALID_OPERATION_TYPE",
    `This path does not take ${method.slice(0, 20)}; it takes ${allow}.`,
    { headers: { allow } },
  )
}

const SLASH = 0x2f

function place(): Place {
  return { methods: new Map(), next: new Map(), param: undefined }
}

/** Decodes a segment, which may have slashes then; `undefined` when it is empty or malformed. */
function decode(segment: string): string | undefined {
  if (segment === "") return undefined
  if (!segment.includes("%")) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
