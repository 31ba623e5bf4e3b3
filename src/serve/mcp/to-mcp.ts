import { loggerOf } from "../../engine/failures.ts"
import { validateOptions } from "../../internal/options.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import { MissingPackage, reportMissing } from "../../internal/import-peer.ts"
import type { Logger } from "../../internal/logger.ts"
import type { AnyRegistry } from "../../engine/registry.ts"
import type { MCPIcon } from "../../core/envelope.ts"
import type { Identity } from "../../core/types.ts"
import { MOUNT } from "../mount.ts"
import type { Mountable, MountedServer, MountHost } from "../mount.ts"
import { UPGRADE_RULES } from "../upgrade.ts"
import type { UpgradeRules } from "../upgrade.ts"
import { GONE, NOT_SERVED, refuse, responseOf } from "./answers.ts"
import type { Answer } from "./answers.ts"
import { AUTH_OPTIONS, Authenticator } from "./auth.ts"
import type { AuthOptions, GivenCaller } from "./auth.ts"
import { ChangeNotices } from "./changes.ts"
import { HTTPServing } from "./http.ts"
import type { Incoming } from "./incoming.ts"
import { describeNamespaces, SEARCH_FIRST } from "./instructions.ts"
import { LISTEN_OPTIONS, listenOn } from "./listen.ts"
import type { Listening, ListenOptions } from "./listen.ts"
import type { SurfaceCost } from "./model.ts"
import { mountServer } from "./mounted.ts"
import { answerNode } from "./node.ts"
import type { NodeRequestLike, NodeResponseLike } from "../node-types.ts"
import { StateSeal } from "./request-state.ts"
import { checkServerSDK, loadServerSDK, loadStdioSDK } from "./sdk.ts"
import { Servers } from "./server.ts"
import type { MCPCaller } from "./server.ts"
import { SURFACE_OPTIONS } from "./options.ts"
import { SESSION_LIMITS } from "./sessions.ts"
import type { SessionLimits } from "./sessions.ts"
import { serveStdio, STDIO_OPTIONS } from "./stdio.ts"
import type { StdioConnection, StdioOptions } from "./stdio.ts"
import { MCPSurface } from "./surface.ts"
import type { SurfaceOptions } from "./surface.ts"
import { incomingOf } from "./web.ts"

/** Options of `toMCP`. */
export interface MCPServerOptions extends SurfaceOptions, AuthOptions, UpgradeRules {
  /** Name and version of the server; default: "operations", "1.0.0". */
  readonly name?: string | undefined
  readonly version?: string | undefined
  readonly title?: string | undefined
  readonly icons?: readonly MCPIcon[] | undefined
  readonly websiteUrl?: string | undefined
  /**
   * What models read first; default: the list of namespaces. In search mode,
   * how to find and call an operation is added. `false` for no instructions.
   */
  readonly instructions?: string | false | undefined
  /** Sessions of clients up to 2025-11-25; `false` serves them without, and then handlers cannot ask for input. */
  readonly sessions?: SessionLimits | false | undefined
  /** Maximum size of a request body, in bytes; default: 4 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** Milliseconds without an event before a comment is sent; default: 15,000. */
  readonly keepAliveMs?: number | undefined
  /** Key that seals the answers modern clients carry between rounds. Set it if several servers share clients: 32 bytes or more. */
  readonly stateKey?: string | Uint8Array | undefined
  /** Milliseconds that a client may take for a round of questions; default: 5 minutes. */
  readonly stateTtlMs?: number | undefined
  /** Milliseconds that a legacy client may take for an answer; default: 10 minutes. */
  readonly inputTimeoutMs?: number | undefined
  /** Milliseconds that `close` waits for running calls; default: 5,000. */
  readonly drainMs?: number | undefined
  readonly logger?: Logger | undefined
}

export const MCP_SERVER_OPTIONS: OptionsSchema<MCPServerOptions> = {
  ...SURFACE_OPTIONS,
  ...AUTH_OPTIONS,
  ...UPGRADE_RULES,
  name: "text",
  version: "text",
  title: "string",
  icons: { list: { members: { src: { required: "text" } }, open: true } },
  websiteUrl: "url",
  instructions: { either: ["string", { oneOf: [false] }] },
  sessions: { either: [{ oneOf: [false] }, { members: SESSION_LIMITS }] },
  maxBodyBytes: "count",
  keepAliveMs: "duration",
  stateKey: { secret: { either: ["text", { methods: ["subarray"], expected: "a Uint8Array" }] } },
  stateTtlMs: "duration",
  inputTimeoutMs: "duration",
  drainMs: { min: 0 },
}

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
  if (typeof (registry as Partial<AnyRegistry> | undefined)?.execute !== "function") {
    throw new TypeError("toMCP(registry): registry must be an OperationRegistry.")
  }
  validateOptions("toMCP", options, MCP_SERVER_OPTIONS)
  return new RegistryServer(registry, options)
}

class RegistryServer implements MCPServer, Mountable {
  readonly #registry: AnyRegistry
  readonly #options: MCPServerOptions
  readonly #logger: Logger
  readonly #surface: MCPSurface
  readonly #notices = new ChangeNotices()
  readonly #installed: Promise<void>
  readonly #authenticator: Authenticator
  readonly #servers: Servers
  readonly #closers = new Set<{ close(): Promise<void> }>()
  readonly #stopFollowing: () => void
  #http: HTTPServing | undefined
  #closing: Promise<void> | undefined

  constructor(registry: AnyRegistry, options: MCPServerOptions) {
    const { logger = loggerOf(registry), stateKey, stateTtlMs = 300_000 } = options
    this.#registry = registry
    this.#options = options
    this.#logger = logger
    this.#authenticator = new Authenticator(options, logger)
    const seal = new StateSeal(stateKey, stateTtlMs)
    this.#surface = new MCPSurface(registry, { ...options, logger })
    this.#installed = checkServerSDK()
    reportMissing(this.#installed, (message) => logger.error(message))
    this.#stopFollowing = this.#surface.onChange(this.#notices.changed)
    this.#servers = new Servers({
      surface: this.#surface,
      seal,
      notices: this.#notices,
      logger,
      inputTimeoutMs: options.inputTimeoutMs ?? 600_000,
      serverInfo: infoOf(options),
      instructions: (caller) => this.#instructions(caller),
    })
  }

  readonly fetch = async (request: Request, caller?: GivenCaller): Promise<Response> =>
    responseOf(await this.#handle(incomingOf(request, caller)))

  readonly node = async (
    request: NodeRequestLike,
    response: NodeResponseLike,
    body?: unknown,
  ): Promise<void> => {
    try {
      await answerNode(request, response, (incoming) => this.#handle(incoming), body)
    } catch (error) {
      // The connection is gone, so the client cannot be answered.
      this.#logger.debug("An MCP request was not completed", { error })
    }
  };

  [MOUNT](host: MountHost): MountedServer {
    const { authenticate } = this.#options
    // With the same function both servers authenticate in the same way.
    const isOther = authenticate !== undefined && authenticate !== host.authenticate
    if (isOther && host.authenticate !== undefined) {
      throw new TypeError(
        `toHTTP(): ${host.name} authenticates its callers, and so does this server. Remove authenticate from ` +
          "toMCP(): it gets the callers of this server. Or write { mount, public: true } to let it ask alone.",
      )
    }
    return mountServer(host, this.#authenticator, (incoming) => this.#handle(incoming))
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
        logger: this.#logger,
        closeAll: async (drainMs) => {
          await (this.#closing ??= this.#close(drainMs))
          await this.#registry.close()
        },
      },
      options,
    )
    this.#closers.add(connection)
    return connection
  }

  notifyChanged(): void {
    this.#notices.changed()
  }

  cost(identity?: Identity): SurfaceCost {
    return this.#surface.cost({ identity, era: "modern" })
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close(this.#options.drainMs ?? 5000))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #handle(incoming: Incoming): Promise<Answer> {
    if (this.#closing !== undefined) {
      return refuse(503, NOT_SERVED, "The server is closing.", { headers: { "retry-after": "5" } })
    }
    try {
      this.#http ??= this.#openHTTP()
      return await this.#http.handle(incoming)
    } catch (error) {
      if (incoming.isGone) return GONE
      if (error instanceof MissingPackage) return refuse(503, NOT_SERVED, error.message)
      this.#logger.error("An MCP request failed", { error })
      return refuse(500, -32603, "Internal error.")
    }
  }

  #openHTTP(): HTTPServing {
    const { maxBodyBytes = 4 * 1024 * 1024, keepAliveMs = 15_000, sessions = {} } = this.#options
    return new HTTPServing({
      installed: this.#installed,
      surface: this.#surface,
      servers: this.#servers,
      notices: this.#notices,
      authenticator: this.#authenticator,
      rules: this.#options,
      sessions,
      maxBodyBytes,
      keepAliveMs,
      logger: this.#logger,
    })
  }

  async #close(drainMs: number): Promise<void> {
    this.#stopFollowing()
    await this.#servers.drain(drainMs)
    this.#notices.close()
    await this.#http?.close()
    await Promise.all([...this.#closers].map((closer) => closer.close()))
    this.#surface.close()
  }

  #instructions({ identity }: MCPCaller): string | undefined {
    const { instructions } = this.#options
    if (instructions === false) return undefined
    const own = instructions ?? describeNamespaces(this.#registry, identity)
    // The mode is the same in both eras: only definitions differ.
    const isSearched = this.#surface.mode({ identity, era: "modern" }) === "search"
    return isSearched ? [SEARCH_FIRST, own].filter(Boolean).join("\n\n") : own
  }
}

function infoOf(options: MCPServerOptions): Readonly<Record<string, unknown>> {
  const { name = "operations", version = "1.0.0", title, icons, websiteUrl } = options
  return {
    name,
    version,
    ...(title === undefined ? {} : { title }),
    ...(icons === undefined ? {} : { icons }),
    ...(websiteUrl === undefined ? {} : { websiteUrl }),
  }
}
