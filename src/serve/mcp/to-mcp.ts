import { loggerOf } from "../../engine/failures.ts"
import { Closable } from "../../internal/closable.ts"
import { validateOptions } from "../../internal/options.ts"
import type { AnyRegistry } from "../../engine/registry.ts"
import { requireRegistry } from "../../engine/served-registry.ts"
import type { Identity } from "../../core/types.ts"
import type { HTTPAnswer, HTTPIncoming } from "../exchange.ts"
import { toResponse, WebIncoming } from "../fetch.ts"
import { MOUNT, type Mountable, type MountedServer, type MountHost } from "../mount.ts"
import { answerNode, type IgnoredFunction, type NodeGiven } from "../node.ts"
import type { NodeRequestLike, NodeResponseLike } from "../node-types.ts"
import { GONE, NOT_SERVED, Refusal, refuse } from "./answers.ts"
import { Authenticator, identityGiven, type GivenCaller, type Mounted } from "./auth.ts"
import { HTTPServing } from "./http.ts"
import { LISTEN_OPTIONS, listenOn, type Listening, type ListenOptions } from "./listen.ts"
import type { SurfaceCost } from "../../tools/model.ts"
import { MCP_SERVER_OPTIONS, type MCPServerOptions } from "./options.ts"
import { Responder } from "./responder.ts"
import { serveStdio, STDIO_OPTIONS, type StdioConnection, type StdioOptions } from "./stdio.ts"
import { ToolSurface } from "../../tools/surface.ts"

/** A registry as an MCP server, over HTTP and standard input and output, for clients of both eras. */
export interface MCPServer extends AsyncDisposable {
  /** Answers a web request. */
  readonly fetch: (request: Request, caller?: GivenCaller) => Promise<Response>
  /**
   * Answers a Node request: `http.createServer(server.node)`. Pass `{ body }` if the framework parses bodies and does
   * not leave them on the request, and `{ identity }` if you have authenticated the caller. A function, such as
   * Express's `next`, is ignored.
   */
  readonly node: (
    request: NodeRequestLike,
    response: NodeResponseLike,
    given?: NodeGiven | IgnoredFunction,
  ) => Promise<void>
  /** Listens on its own port. */
  listen(options?: ListenOptions): Promise<Listening>
  /** Serves the client that started this process. */
  stdio(options?: StdioOptions): Promise<StdioConnection>
  /** Notifies clients to list tools again. Changes of the registry are announced automatically. */
  notifyChanged(): void
  /** Notifies clients that have subscribed to a resource that it has changed. */
  notifyUpdated(uri: string): void
  /** Size of the list of tools in a model's context. */
  cost(identity?: Identity): SurfaceCost
  /** Waits for running calls, cancels the rest, and disconnects all clients. The registry stays open. */
  close(): Promise<void>
}

/** Serves a registry as MCP tools. */
export function toMCP(registry: AnyRegistry, options: MCPServerOptions = {}): MCPServer {
  requireRegistry("toMCP", registry)
  validateOptions("toMCP", options, MCP_SERVER_OPTIONS)
  return new RegistryServer(registry, options)
}

class RegistryServer extends Closable implements MCPServer, Mountable {
  readonly #registry: AnyRegistry
  readonly #options: MCPServerOptions
  readonly #authenticator: Authenticator
  readonly #responder: Responder
  readonly #http: HTTPServing
  readonly #closers = new Set<{ close(): Promise<void> }>()
  #drainMs: number

  constructor(registry: AnyRegistry, options: MCPServerOptions) {
    super()
    const { logger = loggerOf(registry), drainMs = 5000 } = options
    this.#registry = registry
    this.#options = options
    this.#drainMs = drainMs
    this.#authenticator = new Authenticator(options, logger)
    const surface = new ToolSurface(registry, { ...options, logger })
    this.#responder = new Responder(surface, options, logger)
    this.#http = new HTTPServing(this.#responder, this.#authenticator, options)
  }

  readonly fetch = async (request: Request, caller?: GivenCaller): Promise<Response> => {
    const incoming = new WebIncoming(request, identityGiven(caller))
    return toResponse(await this.#handle(incoming), incoming)
  }

  readonly node = async (
    request: NodeRequestLike,
    response: NodeResponseLike,
    given?: NodeGiven | IgnoredFunction,
  ): Promise<void> => {
    await answerNode(request, response, (incoming) => this.#handle(incoming), undefined, given)
  };

  /** Mounts this server below a path of an HTTP server, which authenticates callers. */
  [MOUNT](host: MountHost): MountedServer {
    const { authenticate } = this.#options
    const authenticator = this.#authenticator
    // With the same function both servers authenticate in the same way.
    const isOther = authenticate !== undefined && authenticate !== host.authenticate
    if (isOther && host.authenticate !== undefined) {
      throw new TypeError(
        `toHTTP(): ${host.name} authenticates its callers, and so does this server. Remove authenticate from ` +
          "toMCP(): it gets the callers of this server. Or write { mount, public: true } to let it ask alone.",
      )
    }
    const document = (incoming: HTTPIncoming): HTTPAnswer =>
      authenticator.metadata(incoming) ?? refuse(404, NOT_SERVED, "Not found.").answer
    return {
      protocol: "mcp",
      documents: new Map(authenticator.metadataPaths.map((path) => [path, document])),
      handle: (incoming, caller) => this.#handle(incoming, { host, caller }),
      refuse({ status, error, headers }) {
        const challenge = headers["www-authenticate"]
        const { answer } =
          challenge === undefined
            ? refuse(status, NOT_SERVED, error.message)
            : authenticator.unauthorized(challenge.includes("invalid_token"))
        return { ...answer, headers: { ...headers, ...answer.headers } }
      },
    }
  }

  async listen(options: ListenOptions = {}): Promise<Listening> {
    validateOptions("listen", options, LISTEN_OPTIONS)
    const hasAuthentication = this.#options.authenticate !== undefined
    const listening = await listenOn(this.node, options, hasAuthentication)
    this.#closers.add(listening)
    return listening
  }

  async stdio(options: StdioOptions = {}): Promise<StdioConnection> {
    validateOptions("stdio", options, STDIO_OPTIONS)
    const connection = await serveStdio(
      {
        responder: this.#responder,
        closeAll: async (drainMs) => {
          this.#drainMs = drainMs
          await this.close()
          await this.#registry.close()
        },
      },
      options,
    )
    this.#closers.add(connection)
    return connection
  }

  notifyChanged(): void {
    this.#responder.surface.announce()
  }

  notifyUpdated(uri: string): void {
    this.#responder.extras.updated(uri)
  }

  cost(identity?: Identity): SurfaceCost {
    return this.#responder.surface.cost(identity)
  }

  async #handle(incoming: HTTPIncoming, mount?: Mounted): Promise<HTTPAnswer> {
    try {
      if (this.isClosing) {
        const headers = { "retry-after": "5" }
        throw refuse(503, NOT_SERVED, "The server is closing.", { headers })
      }
      if (incoming.mistake !== undefined) throw refuse(500, -32603, incoming.mistake.message)
      return await this.#http.handle(incoming, mount)
    } catch (error) {
      if (error instanceof Refusal) return error.answer
      if (hasLeft(incoming)) return GONE
      this.#responder.logger.error("An MCP request failed", { error })
      return refuse(500, -32603, "Internal error.").answer
    }
  }

  protected async end(): Promise<void> {
    this.#responder.surface.close()
    await this.#responder.drain(this.#drainMs)
    this.#http.close()
    await Promise.all([...this.#closers].map((closer) => closer.close()))
  }
}

function hasLeft(incoming: HTTPIncoming): boolean {
  let isGone = false
  const stop = incoming.onGone(() => {
    isGone = true
  })
  stop()
  return isGone
}
