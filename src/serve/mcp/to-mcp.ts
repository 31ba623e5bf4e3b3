import { loggerOf } from "../../engine/failures.ts"
import { Closable } from "../../internal/closable.ts"
import { validateOptions } from "../../internal/options.ts"
import { MissingPackage, reportMissing } from "../../internal/import-peer.ts"
import type { AnyRegistry } from "../../engine/registry.ts"
import { requireRegistry } from "../../engine/served-registry.ts"
import type { Identity } from "../../core/types.ts"
import type { HTTPAnswer, HTTPIncoming } from "../exchange.ts"
import { toResponse, WebIncoming } from "../fetch.ts"
import { MOUNT, type Mountable, type MountedServer, type MountHost } from "../mount.ts"
import { answerNode } from "../node.ts"
import type { NodeRequestLike, NodeResponseLike } from "../node-types.ts"
import { GONE, NOT_SERVED, Refusal, refuse } from "./answers.ts"
import { Authenticator, identityGiven, type GivenCaller, type Mounted } from "./auth.ts"
import { HTTPServing } from "./http.ts"
import { LISTEN_OPTIONS, listenOn, type Listening, type ListenOptions } from "./listen.ts"
import type { SurfaceCost } from "./model.ts"
import { MCP_SERVER_OPTIONS, type MCPServerOptions } from "./options.ts"
import { checkServerSDK, loadServerSDK, loadStdioSDK } from "./sdk.ts"
import { Servers, type MCPCaller } from "./server.ts"
import { serveStdio, STDIO_OPTIONS, type StdioConnection, type StdioOptions } from "./stdio.ts"
import { MCPSurface } from "./surface.ts"

/** A registry as an MCP server, over HTTP and standard input and output, for clients of both eras. */
export interface MCPServer extends AsyncDisposable {
  /** Answers a web request. */
  readonly fetch: (request: Request, caller?: GivenCaller) => Promise<Response>
  /**
   * Answers a Node request: `http.createServer(server.node)`. `body` is for frameworks that parse
   * bodies and do not leave them on the request; a function, such as Express's `next`, is ignored.
   */
  readonly node: (
    request: NodeRequestLike,
    response: NodeResponseLike,
    body?: unknown,
  ) => Promise<void>
  /** Listens on its own port. */
  listen(options?: ListenOptions): Promise<Listening>
  /** Serves the client that started this process. */
  stdio(options?: StdioOptions): Promise<StdioConnection>
  /** Notifies clients to list tools again. Changes of the registry are announced automatically. */
  notifyChanged(): void
  /** Size of the list of tools in a model's context. */
  cost(identity?: Identity): SurfaceCost
  /** Waits for running calls, cancels the rest, and disconnects all clients. The registry stays open. */
  close(): Promise<void>
}

/**
 * Serves a registry as MCP tools.
 *
 * Loads the package `@modelcontextprotocol/server` with the first request. If it is missing, logs at once how to install it.
 */
export function toMCP(registry: AnyRegistry, options: MCPServerOptions = {}): MCPServer {
  requireRegistry("toMCP", registry)
  validateOptions("toMCP", options, MCP_SERVER_OPTIONS)
  return new RegistryServer(registry, options)
}

class RegistryServer extends Closable implements MCPServer, Mountable {
  readonly #registry: AnyRegistry
  readonly #options: MCPServerOptions
  readonly #authenticator: Authenticator
  readonly #servers: Servers
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
    const surface = new MCPSurface(registry, { ...options, logger })
    this.#servers = new Servers(surface, options, logger)
    const installed = checkServerSDK()
    reportMissing(installed, (message) => logger.error(message))
    this.#http = new HTTPServing(this.#servers, this.#authenticator, installed, options)
  }

  readonly fetch = async (request: Request, caller?: GivenCaller): Promise<Response> => {
    const incoming = new WebIncoming(request, identityGiven(caller))
    return toResponse(await this.#handle(incoming), incoming)
  }

  readonly node = async (
    request: NodeRequestLike,
    response: NodeResponseLike,
    body?: unknown,
  ): Promise<void> => {
    await answerNode(request, response, (incoming) => this.#handle(incoming), undefined, body)
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
    await loadServerSDK()
    const hasAuthentication = this.#options.authenticate !== undefined
    const listening = await listenOn(this.node, options, hasAuthentication)
    this.#closers.add(listening)
    return listening
  }

  async stdio(options: StdioOptions = {}): Promise<StdioConnection> {
    validateOptions("stdio", options, STDIO_OPTIONS)
    const [sdk, stdio] = await Promise.all([loadServerSDK(), loadStdioSDK()])
    const caller: MCPCaller = { identity: options.identity }
    const connection = await serveStdio(
      {
        sdk: stdio,
        factory: ({ era }) => this.#servers.create(sdk, { era, caller, isLasting: true }),
        logger: this.#servers.logger,
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
    this.#servers.surface.announce()
  }

  cost(identity?: Identity): SurfaceCost {
    return this.#servers.surface.cost({ identity, era: "modern" })
  }

  async #handle(incoming: HTTPIncoming, mount?: Mounted): Promise<HTTPAnswer> {
    try {
      if (this.isClosing) {
        const headers = { "retry-after": "5" }
        throw refuse(503, NOT_SERVED, "The server is closing.", { headers })
      }
      return await this.#http.handle(incoming, mount)
    } catch (error) {
      if (error instanceof Refusal) return error.answer
      if (hasLeft(incoming)) return GONE
      if (error instanceof MissingPackage) return refuse(503, NOT_SERVED, error.message).answer
      this.#servers.logger.error("An MCP request failed", { error })
      return refuse(500, -32603, "Internal error.").answer
    }
  }

  protected async end(): Promise<void> {
    this.#servers.surface.close()
    await this.#servers.drain(this.#drainMs)
    await this.#http.close()
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
