import { asksForDryRun } from "./call-sink.ts"
import { idOf } from "../../core/define.ts"
import { pathParameters } from "../../core/rest-route.ts"
import type { OperationSpec, RestRoute } from "../../core/types.ts"
import type { HTTPAnswer } from "../exchange.ts"
import { refuseGet } from "./context.ts"
import type { ResolvedHTTPOptions, Route, RouteRequest, Routes } from "./context.ts"
import { answerOperation } from "./deprecation.ts"
import { HEALTH_PATHS } from "./endpoints.ts"
import type { HTTPContext } from "./http-context.ts"
import type { Mounts } from "./mounts.ts"
import { answerData } from "./rest.ts"
import { Router, type RouteMatch } from "./router.ts"

/**
 * The routes of operations: their own ones, and their default paths. They follow the registry.
 *
 * Own routes of operations that are hidden, or that the server's own paths cover, do not exist.
 */
export class OperationRoutes {
  readonly #context: HTTPContext
  readonly #defaults: Routes
  readonly #reserved: readonly string[]
  #router: Router | undefined
  #hasOwn = false

  /**
   * `reserved` has the server's own paths: nothing below them can be a route. Throws a `TypeError` for a route that is;
   * one that is registered later is logged, and not served.
   */
  constructor(
    context: HTTPContext,
    defaults: Routes,
    reserved: readonly string[],
    stops: (() => void)[],
  ) {
    this.#context = context
    this.#defaults = defaults
    this.#reserved = reserved
    if (context.options.rest === undefined) return
    for (const spec of context.registry.getAllSpecs()) {
      const issue = this.#issueOf(spec)
      if (issue !== undefined) throw new TypeError(`toHTTP(): ${issue}`)
    }
    const follow = context.registry.onChange(({ type, spec, previous }) => {
      if ((spec.route ?? previous?.route) === undefined) return
      this.#router = undefined
      const issue = type === "removed" ? undefined : this.#issueOf(spec)
      if (issue !== undefined) context.logger.error(`A route is not served: ${issue}`)
    })
    stops.push(follow)
  }

  /** The match of a path that has the method, or the one with all methods that the path has. */
  find(path: string, method: string): RouteMatch | undefined {
    this.#router ??= this.#build()
    if (!this.#hasOwn) return this.#router.find(path)
    const matches = this.#router.findAll(path)
    const [first, ...others] = matches
    if (first === undefined || others.length === 0) return first
    return (
      matches.find(({ methods }) => methods.has(method)) ?? {
        methods: new Map(matches.flatMap(({ methods }) => [...methods])),
        params: [],
      }
    )
  }

  /** The own route of an operation, if it is served. */
  routeOf(spec: OperationSpec): RestRoute | undefined {
    return this.#issueOf(spec) === undefined ? spec.route : undefined
  }

  #build(): Router {
    const { registry, options } = this.#context
    const router = new Router(this.#defaults, options.basePath)
    this.#hasOwn = false
    if (options.rest === undefined) return router
    for (const spec of registry.getAllSpecs()) {
      const { route } = spec
      if (route === undefined || !options.isExposed(spec) || this.#issueOf(spec) !== undefined) {
        continue
      }
      router.add(ownRoute(this.#context, idOf(spec), route))
      this.#hasOwn = true
    }
    return router
  }

  #issueOf(spec: OperationSpec): string | undefined {
    const { route } = spec
    if (route === undefined || !this.#context.options.isExposed(spec)) return undefined
    const { method, path } = route
    const taken = this.#reserved.find((own) => path === own || path.startsWith(`${own}/`))
    if (taken === undefined) return undefined
    return `the route ${method} ${path} of "${idOf(spec)}" is among the server's own paths. Choose one that does not begin with "${taken}".`
  }
}

/** The paths below which a server serves something else, without the base path. */
export function ownPaths(
  fixed: Routes,
  mounts: Mounts,
  { basePath, rest }: ResolvedHTTPOptions,
  hasConsole: boolean,
): string[] {
  const mounted = mounts.all
    .filter(({ path }) => path.startsWith(`${basePath}/`))
    .map(({ path }) => path.slice(basePath.length))
  const first = fixed.map(({ path }) => `/${path.split("/")[1]}`)
  const all = [...first, ...mounted, ...FURTHER_PATHS, rest?.path ?? ""]
  if (hasConsole) all.push("/hub", "/assets", "/icon.svg", "/favicon.ico")
  return all.filter((path) => path !== "" && path !== "/")
}

/** Health checks and WebSockets are not answered by routes. */
const FURTHER_PATHS = [...HEALTH_PATHS, "/ws"]

function ownRoute(context: HTTPContext, id: string, { method, path, status }: RestRoute): Route {
  const names = pathParameters(path)
  const isQuery = method === "GET" || method === "DELETE"
  const up = "../".repeat(path.split("/").length - 2)
  // The path of a successor may have parameters, so that its default path is named.
  const pathTo = ({ namespace, name }: OperationSpec): string =>
    up + `${context.options.rest?.path}/${namespace}/${name}`.slice(1)
  const answer = async (request: RouteRequest, spec: OperationSpec): Promise<HTTPAnswer> => {
    const answered = await answerData(context, request, spec, async () => {
      if (method === "GET") refuseGet(id, spec)
      const { readBody, readQuery } = await import("./route-input.ts")
      const read = isQuery ? readQuery : readBody
      return await read(context, request, spec, names)
    })
    if (asksForDryRun(request.incoming)) return answered
    const isUsual = answered.status === 200 || answered.status === 204
    if (status === undefined || !isUsual) return answered
    return { ...answered, status, ...(status === 204 && { body: undefined }) }
  }
  return {
    method,
    path,
    takesFiles: !isQuery,
    handle: (request) => {
      const spec = context.require(id, request.caller)
      return answerOperation(context, request, spec, pathTo, () => answer(request, spec))
    },
  }
}
