// The HTTP server of a registry: what happens to a request, from its path to its answer.

import { Closable } from "../../internal/closable.ts"
import { loggerOf } from "../../engine/failures.ts"
import { systemClock } from "../../internal/clock.ts"
import { validateOptions } from "../../internal/options.ts"
import type { AnyRegistry } from "../../engine/registry.ts"
import { requireRegistry } from "../../engine/served-registry.ts"
import type { Authenticated } from "../authenticate.ts"
import type { HTTPRequestLike, HTTPResponseLike } from "../node-types.ts"
import { ALREADY_SENT, isStream } from "../exchange.ts"
import { whenStreamed, withHeaders } from "./answer.ts"
import { HTTPContext, closing } from "./http-context.ts"
import { Endpoints, indexRoute, answerHealth } from "./endpoints.ts"
import { ExposedRegistry } from "./exposed-registry.ts"
import { WebIncoming, toResponse } from "../fetch.ts"
import { createGateway } from "./gateway.ts"
import { Guard, type Admission, type Admitted } from "./guard.ts"
import type { Refused, HTTPAnswer, HTTPHandler, HTTPIncoming } from "../exchange.ts"
import { isJsonBody } from "../negotiate.ts"
import { MountPaths } from "./mount-path.ts"
import { Mounts, type Mount } from "./mounts.ts"
import type * as NodeModule from "../node.ts"
import type { IgnoredFunction, NodeGiven } from "../node.ts"
import { withOwnHeaders } from "./response.ts"
import { HTTP_OPTIONS, resolveHTTPOptions } from "./options.ts"
import type { HTTPServerOptions, PublicFiles } from "./options.ts"
import { checkConsole, loadConsole } from "./console.ts"
import { OperationRoutes, ownPaths } from "./own-routes.ts"
import { createRest, documentRoutes } from "./rest.ts"
import { Router, methodNotAllowed, type RouteMatch } from "./router.ts"
import { HTTPRefusal, type Routes } from "./context.ts"

/** A registry as an HTTP API. */
export interface HTTPServer extends AsyncDisposable {
  /** Answers web requests. Pass `identity` if you have authenticated the caller; `null` for an anonymous one. */
  readonly fetch: (
    request: Request,
    caller?: { readonly identity?: Authenticated | null | undefined },
  ) => Promise<Response>
  /** Answers requests of any server. */
  readonly handle: HTTPHandler
  /**
   * Answers requests of Node's `http` and of frameworks on top of it. Pass `{ body }` if the framework parses
   * bodies and does not leave them on the request, and `{ identity }` as for `fetch`. A function, such as Express's
   * `next`, is ignored.
   */
  readonly node: (
    request: HTTPRequestLike,
    response: HTTPResponseLike,
    given?: NodeGiven | IgnoredFunction,
  ) => void
  /** Refuses new requests, waits for running ones, then cancels the rest. Calling it twice is fine. */
  close(): Promise<void>
  /** @internal For code that opens ports and sockets. */
  readonly inner: HTTPInner
}

/** Internals for code that serves the API on a port. */
export interface HTTPInner {
  readonly registry: AnyRegistry
  readonly guard: Guard
  readonly basePath: string
  readonly options: HTTPServerOptions
  /** Endpoints listed at the root; add those that you serve in addition. */
  readonly endpoints: Endpoints
}

/** Creates an HTTP API for a registry: a gateway, REST with an OpenAPI document, server-sent events. */
export function toHTTP(registry: AnyRegistry, options: HTTPServerOptions = {}): HTTPServer {
  requireRegistry("toHTTP", registry)
  validateOptions("toHTTP", options, HTTP_OPTIONS)
  return new Server(registry, options)
}

let node: typeof NodeModule | undefined

/** Loads what only Node's requests need with the first of them. */
function answerNode(...request: Parameters<typeof NodeModule.answerNode>): void {
  if (node !== undefined) return void node.answerNode(...request)
  import("../node.ts").then(
    (loaded) => {
      node = loaded
      answerNode(...request)
    },
    (error: Error) => void request[1].destroy(error),
  )
}

class Server extends Closable implements HTTPServer {
  readonly inner: HTTPInner
  readonly #context: HTTPContext
  readonly #guard: Guard
  #router: Router
  readonly #operations: OperationRoutes
  readonly #mounts: Mounts
  readonly #paths: MountPaths
  readonly #stops: (() => void)[] = []
  #files: PublicFiles | undefined
  /** The console is being loaded. */
  #loading: Promise<void> | undefined
  #closeConsole: (() => void) | undefined

  constructor(registry: AnyRegistry, options: HTTPServerOptions) {
    super()
    const { clock = systemClock, logger = loggerOf(registry) } = options
    const resolved = resolveHTTPOptions(options, logger)
    const { basePath, isExposed, isFiltered } = resolved
    this.#guard = new Guard({ ...options, maxStreams: options.sse?.maxStreams }, clock, logger)
    const { authenticate } = this.#guard
    const context = new HTTPContext(registry, resolved, clock, logger)
    this.#context = context
    const valuesFor = options.context && context.valuesFor
    const host = { authenticate, clock, limits: options, valuesFor }
    this.#mounts = new Mounts(options.mounts ?? {}, host)
    const gateway = resolved.gateway ? createGateway(context) : []
    const defaults = createRest(context)
    const others: Routes = [
      ...documentRoutes(context, (spec) => this.#operations.routeOf(spec), this.#stops),
      ...(options.routes?.(context) ?? []),
    ]
    const endpoints = new Endpoints()
    endpoints.addRoutes([...gateway, ...defaults, ...others], basePath)
    for (const { path, mounted } of this.#mounts.all) {
      endpoints.add({ path, protocol: mounted?.protocol })
    }
    const fixed = [...gateway, ...others, indexRoute(context, endpoints)]
    const { console: page = false } = options
    const hasConsole = options.files !== undefined || page !== false
    const taken = ownPaths(fixed, this.#mounts, resolved, hasConsole)
    this.#operations = new OperationRoutes(context, defaults, taken, this.#stops)
    this.#router = new Router(fixed, basePath)
    this.#paths = new MountPaths({
      basePath,
      isRoute: (path) => this.#find(path, "GET") !== undefined,
      isMount: (path) => (this.#mounts.find(path) ?? this.#mounts.document(path)) !== undefined,
    })
    const shown = isFiltered === true ? new ExposedRegistry(registry, isExposed) : registry
    this.inner = { registry: shown, guard: this.#guard, basePath, options, endpoints }
    this.#files = options.files
    if (page === false) return
    checkConsole("toHTTP", options.gateway)
    const folder = typeof page === "string" ? page : undefined
    const { title, expose } = options
    const terms = { basePath, folder, title, expose, clock, websocket: false }
    this.#loading = loadConsole()
      .then((create) => {
        const { routes, files, close } = create(registry, terms)
        if (context.isDraining) return close()
        this.#closeConsole = close
        const own = routes(context)
        endpoints.addRoutes(own, basePath)
        this.#router = new Router([...fixed, ...own], basePath)
        this.#files = files
      })
      .catch((error: Error) => logger.error(error.message))
      .finally(() => (this.#loading = undefined))
  }

  readonly fetch = async (
    request: Request,
    caller?: { readonly identity?: Authenticated | null | undefined },
  ): Promise<Response> => {
    const incoming = new WebIncoming(request, caller?.identity, this.#paths)
    const mount = this.#mounts.find(incoming.path)
    if (mount?.server === undefined) return toResponse(await this.handle(incoming), incoming)
    const { server } = mount
    let response: Response | undefined
    const answer = await this.#mount(incoming, mount, async (_, admitted) => {
      response = await server.fetch(request, admitted as never)
      return ALREADY_SENT
    })
    return response ?? toResponse(answer, incoming)
  }

  readonly node = (
    request: HTTPRequestLike,
    response: HTTPResponseLike,
    given?: NodeGiven | IgnoredFunction,
  ): void => {
    const mount = this.#mounts.isEmpty
      ? undefined
      : this.#mounts.find(this.#paths.ofRequest(request))
    if (mount?.server === undefined) {
      return answerNode(request, response, this.handle, this.#paths, given)
    }
    const { server } = mount
    const { body } = Object(given) as NodeGiven
    const handle: HTTPHandler = (incoming) => {
      if (incoming.mistake !== undefined) return this.handle(incoming)
      return this.#mount(incoming, mount, async (_, { identity }) => {
        const over = new Promise<void>((resolve) => response.once("close", () => resolve()))
        await server.node(request, response, { body, identity })
        await over
        return ALREADY_SENT
      })
    }
    answerNode(request, response, handle, undefined, given)
  }

  readonly handle: HTTPHandler = (incoming) => {
    if (this.#loading !== undefined) return this.#loading.then(() => this.handle(incoming))
    const { path, mistake } = incoming
    if (mistake !== undefined) return this.#context.problem(mistake, { incoming })
    if (!this.#mounts.isEmpty) {
      const document = this.#mounts.document(path)
      if (document !== undefined) return document(incoming)
      const mount = this.#mounts.find(path)
      if (mount?.handler !== undefined) return this.#mount(incoming, mount, mount.handler)
    }
    const { isDraining } = this.#context
    const { basePath, options } = this.inner
    if (path.startsWith(basePath)) {
      const below = path.slice(basePath.length)
      const isUp = !isDraining && !this.#guard.isPackageMissing
      const health = answerHealth(incoming.method, below, isUp, options.isReady)
      if (health !== undefined) return health
    }
    if (isDraining)
      return withHeaders(this.#context.problem(closing(), { incoming }), { connection: "close" })
    if (this.#files?.has(path, incoming) === true) {
      const refused = this.#guard.checkSource(incoming, true)
      return refused === undefined ? this.#files.answer(incoming) : this.#enter(incoming, refused)
    }
    const admission = this.#guard.admit(incoming, undefined, this.#takesFiles(incoming))
    return admission instanceof Promise
      ? admission.then((settled) => this.#enter(incoming, settled))
      : this.#enter(incoming, admission)
  }

  /** Applies the guard of the API to a mount. */
  #mount(
    incoming: HTTPIncoming,
    mount: Mount,
    handler: NonNullable<Mount["handler"]>,
  ): HTTPAnswer | Promise<HTTPAnswer> {
    if (this.#context.isDraining) {
      const headers = { connection: "close", "retry-after": "1" }
      const refused: Refused = { kind: "refused", status: 503, error: closing(), headers }
      return this.#enter(incoming, refused, mount)
    }
    const admission = this.#guard.admit(incoming, mount)
    return admission instanceof Promise
      ? admission.then((settled) => this.#enter(incoming, settled, mount, handler))
      : this.#enter(incoming, admission, mount, handler)
  }

  #enter(
    incoming: HTTPIncoming,
    admission: Admission,
    mount?: Mount,
    handler?: Mount["handler"],
  ): HTTPAnswer | Promise<HTTPAnswer> {
    switch (admission.kind) {
      case "answered":
        return admission.answer
      case "refused": {
        if (mount?.mounted !== undefined) return mount.mounted.refuse(admission, incoming)
        const { status, error, headers } = admission
        const { code, message, retryable, retryAfterMs } = error
        const refused = new HTTPRefusal(status, code, message, { retryable, retryAfterMs })
        return withHeaders(this.#context.problem(refused, { incoming }), headers)
      }
      case "admitted": {
        this.#context.beginRequest()
        try {
          const answer =
            handler === undefined ? this.#route(incoming, admission) : handler(incoming, admission)
          if (!(answer instanceof Promise)) return this.#finish(answer, incoming, admission, mount)
          return answer.then(
            (settled) => this.#finish(settled, incoming, admission, mount),
            (error: unknown) => this.#fail(error, incoming, admission),
          )
        } catch (error) {
          return this.#fail(error, incoming, admission)
        }
      }
    }
  }

  #route(incoming: HTTPIncoming, caller: Admitted): HTTPAnswer | Promise<HTTPAnswer> {
    const method = incoming.method === "HEAD" ? "GET" : incoming.method
    const match = this.#find(incoming.path, method)
    if (match === undefined) {
      const page = this.#files?.missing?.(incoming)
      if (page !== undefined) return page
      throw new HTTPRefusal(404, "OPERATION_NOT_FOUND", this.#paths.nothingAt(incoming.path))
    }
    const { methods, params } = match
    const route = methods.get(method)
    if (route !== undefined) return route.handle({ incoming, caller, params })
    throw methodNotAllowed(methods, incoming.method)
  }

  /** The routes of a path; of several, those with the method. The server's own come first. */
  #find(path: string, method: string): RouteMatch | undefined {
    return this.#router.find(path) ?? this.#operations.find(path, method)
  }

  /**
   * Whether a path takes bodies other than JSON.
   *
   * Where every page may call, none may do so in the name of its visitor: forms are sent with cookies, and without a
   * preflight request.
   */
  #takesFiles(incoming: HTTPIncoming): boolean {
    if (isJsonBody(incoming)) return false
    const isOpen = this.inner.options.cors?.origins.includes("*") === true
    if (isOpen && incoming.header("cookie") !== undefined) return false
    const { path, method } = incoming
    return this.#find(path, method)?.methods.get(method)?.takesFiles === true
  }

  #fail(error: unknown, incoming: HTTPIncoming, admission: Admitted): HTTPAnswer {
    const problem = this.#context.problem(error, { incoming, caller: admission })
    return this.#finish(problem, incoming, admission)
  }

  #finish(
    answer: HTTPAnswer,
    { response }: HTTPIncoming,
    admission: Admitted,
    mount?: Mount,
  ): HTTPAnswer {
    if (answer === ALREADY_SENT) {
      this.#release(admission)
      return answer
    }
    const { headers } = admission
    // Headers of a mount take precedence.
    let complete =
      mount === undefined
        ? withHeaders(answer, headers)
        : withHeaders({ ...answer, headers }, answer.headers)
    if (response !== undefined) complete = withOwnHeaders(complete, response)
    if (!isStream(complete.body)) {
      this.#release(admission)
      return complete
    }
    // A mount's stream does not end by itself: the code that mounted it closes it.
    if (mount === undefined || !admission.isStream) {
      return whenStreamed(complete, () => this.#release(admission))
    }
    this.#context.endRequest()
    return whenStreamed(complete, () => admission.release())
  }

  #release(admission: Admitted): void {
    admission.release()
    this.#context.endRequest()
  }

  protected async end(): Promise<void> {
    this.#context.isDraining = true
    const { onClose, drainMs = 5000 } = this.inner.options
    onClose?.()
    // The streams of open consoles do not end by themselves.
    this.#closeConsole?.()
    await this.#context.drain(drainMs)
    for (const stop of this.#stops) stop()
  }
}
