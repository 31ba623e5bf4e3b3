import { systemClock } from "../../internal/clock.ts"
import { consoleLogger } from "../../logger.ts"
import type { AnyRegistry } from "../../registry.ts"
import type { Authenticated } from "../authenticated.ts"
import type { NodeResponseLike } from "../mcp/node.ts"
import { pathOf } from "../upgrade.ts"
import { isStream, whenStreamed, withHeaders } from "./answer.ts"
import { Serving, closing } from "./context.ts"
import { createDocuments } from "./documents.ts"
import { Drain } from "./drain.ts"
import { ExposedRegistry } from "./exposed.ts"
import { WebIncoming, toResponse } from "./fetch.ts"
import { createGateway } from "./gateway.ts"
import { createGuard } from "./guard.ts"
import type { Admission, Admitted, Guard } from "./guard.ts"
import { answerHealth } from "./health.ts"
import type { HTTPAnswer, HTTPHandler, HTTPIncoming } from "./model.ts"
import { Mounts } from "./mounts.ts"
import { answerNode } from "./node.ts"
import type { HTTPRequestLike, HTTPResponseLike } from "./node.ts"
import { settleHTTPOptions } from "./options.ts"
import type { HTTPServerOptions } from "./options.ts"
import { createRest } from "./rest.ts"
import { Router } from "./router.ts"
import { HTTPRefusal } from "./spine.ts"
import type { Routes } from "./spine.ts"

/** A registry as an HTTP API. */
export interface HTTPServer extends AsyncDisposable {
  /** Answers web requests. `identity` is for those who know who calls; `null` for nobody. */
  readonly fetch: (
    request: Request,
    caller?: { readonly identity?: Authenticated | null | undefined },
  ) => Promise<Response>
  /** Answers requests of whatever server. */
  readonly handle: HTTPHandler
  /**
   * Answers requests of Node's `http`, and of what is built on it. `body` is for frameworks that parse
   * bodies and do not leave them on the request; a function, such as Express's `next`, is ignored.
   */
  readonly node: (request: HTTPRequestLike, response: HTTPResponseLike, body?: unknown) => void
  /** Refuses what comes, waits for what runs, ends what does not end. Twice is fine. */
  close(): Promise<void>
  /** @internal What those need who open ports and sockets for it. */
  readonly inner: HTTPInner
}

/** What a port's server has to know. */
export interface HTTPInner {
  /** What may be reached. */
  readonly registry: AnyRegistry
  readonly guard: Guard
  readonly basePath: string
  readonly options: HTTPServerOptions
}

/** Makes an HTTP API of a registry: a gateway, REST with an OpenAPI document, server-sent events. */
export function toHTTP(registry: AnyRegistry, options: HTTPServerOptions = {}): HTTPServer {
  if (typeof (registry as Partial<AnyRegistry> | undefined)?.execute !== "function") {
    throw new TypeError("toHTTP(registry): registry must be an OperationRegistry.")
  }
  return new Server(registry, options)
}

class Server implements HTTPServer {
  readonly inner: HTTPInner
  readonly #serving: Serving
  readonly #guard: Guard
  readonly #router: Router
  readonly #mounts: Mounts
  readonly #drain: Drain
  readonly #stops: (() => void)[] = []
  #closing: Promise<void> | undefined

  constructor(registry: AnyRegistry, options: HTTPServerOptions) {
    const settled = settleHTTPOptions(options)
    const { clock = systemClock, logger = consoleLogger } = options
    const { authenticateTimeout, trustedProxies } = options
    const { basePath, isExposed, isFiltered } = settled
    const { maxStreams } = settled.sse
    this.#guard = createGuard(
      { ...settled, maxStreams, authenticateTimeout, trustedProxies },
      clock,
      logger,
    )
    this.#mounts = new Mounts(options.mounts ?? {})
    this.#drain = new Drain(clock, options.drainMs ?? 5000)
    const context = new Serving(registry, settled, clock, logger)
    this.#serving = context
    const routes: Routes = [
      ...(settled.gateway ? createGateway(context) : []),
      ...(settled.rest === undefined ? [] : createRest(context)),
      ...createDocuments(context, this.#stops),
      ...(options.routes?.(context) ?? []),
    ]
    this.#router = new Router(routes, basePath)
    const shown = isFiltered === true ? new ExposedRegistry(registry, isExposed) : registry
    this.inner = { registry: shown, guard: this.#guard, basePath, options }
  }

  readonly fetch = async (
    request: Request,
    caller?: { readonly identity?: Authenticated | null | undefined },
  ): Promise<Response> => {
    const incoming = new WebIncoming(request, caller?.identity)
    const mount = this.#mounts.find(incoming.path)
    if (typeof mount === "object") return await mount.fetch(request)
    return toResponse(await this.handle(incoming), incoming)
  }

  readonly node = (request: HTTPRequestLike, response: HTTPResponseLike, body?: unknown): void => {
    const mount = this.#mounts.isEmpty ? undefined : this.#mounts.find(pathOf(request))
    if (typeof mount !== "object") answerNode(request, response, this.handle, body)
    // It answers whatever happens.
    else void mount.node(request, response as unknown as NodeResponseLike, body)
  }

  readonly handle: HTTPHandler = (incoming) => {
    const { path } = incoming
    const mount = this.#mounts.find(path)
    if (typeof mount === "function") return mount(incoming)
    const { isDraining } = this.#serving
    const { basePath, options } = this.inner
    if (path.startsWith(basePath)) {
      const below = path.slice(basePath.length)
      const health = answerHealth(incoming.method, below, !isDraining, options.isReady)
      if (health !== undefined) return health
    }
    if (isDraining)
      return withHeaders(this.#serving.problem(closing(), incoming), { connection: "close" })
    if (options.files?.has(path) === true) {
      const refused = this.#guard.checkSource(incoming)
      return refused === undefined ? options.files.answer(incoming) : this.#enter(incoming, refused)
    }
    const admission = this.#guard.admit(incoming)
    return admission instanceof Promise
      ? admission.then((settled) => this.#enter(incoming, settled))
      : this.#enter(incoming, admission)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #enter(incoming: HTTPIncoming, admission: Admission): HTTPAnswer | Promise<HTTPAnswer> {
    switch (admission.kind) {
      case "answered":
        return admission.answer
      case "refused": {
        const { status, error, headers } = admission
        const { code, message, retryable, retryAfterMs } = error
        const refused = new HTTPRefusal(status, code, message, { retryable, retryAfterMs })
        return withHeaders(this.#serving.problem(refused, incoming), headers)
      }
      case "admitted": {
        this.#drain.begin()
        try {
          const answer = this.#route(incoming, admission)
          if (!(answer instanceof Promise)) return this.#finish(answer, admission)
          return answer.then(
            (settled) => this.#finish(settled, admission),
            (error: unknown) => this.#fail(error, incoming, admission),
          )
        } catch (error) {
          return this.#fail(error, incoming, admission)
        }
      }
    }
  }

  #route(incoming: HTTPIncoming, caller: Admitted): HTTPAnswer | Promise<HTTPAnswer> {
    const found = this.#router.find(incoming.path)
    if (found === undefined) {
      throw new HTTPRefusal(404, "OPERATION_NOT_FOUND", "Nothing is served under this path.")
    }
    const { methods, params } = found
    const route = methods.get(incoming.method === "HEAD" ? "GET" : incoming.method)
    if (route !== undefined) return route.handle({ incoming, caller, params })
    const allow = [...methods.keys(), ...(methods.has("GET") ? ["HEAD"] : [])].join(", ")
    throw new HTTPRefusal(
      405,
      "INVALID_OPERATION_TYPE",
      `This path does not take ${incoming.method.slice(0, 20)}; it takes ${allow}.`,
      { headers: { allow } },
    )
  }

  #fail(error: unknown, incoming: HTTPIncoming, admission: Admitted): HTTPAnswer {
    return this.#finish(this.#serving.problem(error, incoming), admission)
  }

  #finish(answer: HTTPAnswer, admission: Admitted): HTTPAnswer {
    const complete = withHeaders(answer, admission.headers)
    if (isStream(complete.body)) return whenStreamed(complete, () => this.#release(admission))
    this.#release(admission)
    return complete
  }

  #release(admission: Admitted): void {
    admission.release()
    this.#drain.end()
  }

  async #close(): Promise<void> {
    this.#serving.isDraining = true
    this.#serving.endStreams()
    await this.#drain.wait()
    this.#serving.endCalls()
    await this.#drain.settle()
    for (const stop of this.#stops) stop()
  }
}
