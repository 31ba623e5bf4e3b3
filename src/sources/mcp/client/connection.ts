import { systemClock } from "../../../internal/clock.ts"
import { fixedHeaders } from "../../../core/call-headers.ts"
import type { CallError } from "../../../core/errors.ts"
import { Closable } from "../../../internal/closable.ts"
import type { ResolvedServer } from "../config.ts"
import type { JsonObject, MCPToolDefinition, MCPToolResult } from "../../../mcp/model.ts"
import type { Clock } from "../../../internal/platform.ts"
import { CallerSessions } from "./caller-sessions.ts"
import { Changes, listenForChanges } from "./changes.ts"
import { memberOf } from "./sdk.ts"
import type {
  MCPConnectionEvent,
  MCPConnectionStatus,
  MCPList,
  MCPListKind,
  MCPPeer,
  MCPRequestOptions,
} from "./model.ts"
import { declares, LISTS, listAll, withoutBadHeaders } from "./paging.ts"
import { RequestTimeout } from "./request-timeout.ts"
import { Requests } from "./requests.ts"
import { Supervisor, type Supervised } from "./supervisor.ts"
import { ResourceWatches } from "./watches.ts"
import { Listeners } from "../../../internal/listeners.ts"

/** A connection, or a stand-in for one. */
export type MCPConnection = Omit<Connection, typeof Symbol.asyncDispose>

/**
 * A connection to one server that outlives its sockets and processes: it opens nothing before the first use, and
 * lost ones are reopened when needed. May be closed more than once; later requests fail with `UNAVAILABLE`.
 */
export class Connection extends Closable {
  readonly name: string
  readonly #server: ResolvedServer
  readonly #clock: Clock
  readonly #listeners = new Listeners<MCPConnectionEvent>()
  readonly #changes: Changes
  readonly #supervisor: Supervisor
  /** Only if callers have sessions of their own, or headers that depend on them. */
  readonly #callers: CallerSessions | undefined
  readonly #requests: Requests
  readonly #watches: ResourceWatches

  constructor(
    server: ResolvedServer,
    dependencies: Partial<Pick<Supervised, "clock" | "knownEra" | "log">> = {},
  ) {
    super()
    const { clock = systemClock, knownEra, log } = dependencies
    this.name = server.name
    this.#server = server
    this.#clock = clock
    this.#changes = new Changes(clock, (kind) => this.#emit({ type: "changed", kind }))
    const supervisor = new Supervisor({
      server,
      clock,
      log,
      knownEra,
      opened: (session, isAgain) => {
        // Runs as long as the session and handles its own failures.
        void listenForChanges(session, clock, (method) => this.#changes.notified(method))
        this.#watches.opened(session)
        this.#emit({ type: "connected", isAgain })
      },
      notified: (method, params) => {
        if (method === "notifications/resources/updated") this.#watches.updated(params)
        else this.#changes.notified(method)
      },
      lost: (error) => this.#emit({ type: "lost", error }),
    })
    this.#supervisor = supervisor
    this.#watches = new ResourceWatches({
      name: server.name,
      clock,
      logger: server.logger,
      ready: (timeout) => supervisor.ready(timeout),
    })
    const { channel, sessions } = server
    const isByHeaders = channel.kind === "http" && fixedHeaders(channel.headers) === undefined
    if (isByHeaders || sessions === "caller") {
      this.#callers = new CallerSessions({
        server,
        main: supervisor,
        clock,
        make(own, isOfOneCaller) {
          const era = supervisor.peer?.era ?? knownEra
          // The main connection follows the lists; any session may find that the server is unreachable.
          const unreached = (error: CallError): void => supervisor.away(error)
          const made = { server: own, clock, log, knownEra: era, isOfOneCaller, unreached }
          const { isApproved } = supervisor
          return Object.assign(new Supervisor(made), { isApproved })
        },
      })
    }
    this.#requests = new Requests(server, clock, supervisor, this.#callers)
  }

  /** `undefined` before the first connection. */
  get peer(): MCPPeer | undefined {
    return this.#supervisor.peer
  }

  get status(): MCPConnectionStatus {
    return this.#supervisor.status
  }

  /** Connects unless connected; concurrent callers share one attempt. */
  async connect(signal?: AbortSignal): Promise<MCPPeer> {
    const timeout = new RequestTimeout({
      clock: this.#clock,
      subject: `Connecting to MCP server "${this.name}"`,
      signal,
    })
    try {
      const session = await this.#supervisor.ready(timeout)
      return session.peer
    } finally {
      timeout.dispose()
    }
  }

  /** Closes the connection and connects again, even after too many crashes. */
  async reconnect(): Promise<MCPPeer> {
    await this.#supervisor.reset()
    return await this.connect()
  }

  /** Fetches all pages. A kind that the server does not declare is empty, without a request. */
  async list(kind: MCPListKind, signal?: AbortSignal): Promise<MCPList> {
    const { method, capability } = LISTS[kind]
    const options = { signal, isRepeatable: true }
    const about = { method, phase: "list", tool: kind, options } as const
    const timeout = this.#requests.timeoutFor(about)
    try {
      const { peer } = await this.#supervisor.ready(timeout)
      if (!declares(peer, capability)) {
        return { items: [], ttlMs: undefined, warnings: [] }
      }
      const list = await listAll(kind, this.#server, (params) =>
        this.#requests.send({ ...about, params }, {}, timeout),
      )
      return kind === "tools" ? withoutBadHeaders(list, this.#server, peer) : list
    } catch (error) {
      // Some servers declare capabilities that they do not have.
      if (memberOf(memberOf(error, "details"), "code") !== -32601) throw error
      const warning = `The server declares ${capability} but does not support "${method}".`
      return { items: [], ttlMs: undefined, warnings: [warning] }
    } finally {
      timeout.dispose()
    }
  }

  callTool(
    tool: MCPToolDefinition,
    input: JsonObject,
    options: MCPRequestOptions,
  ): Promise<MCPToolResult> {
    return this.#requests.call({
      method: "tools/call",
      params: { name: tool.name, arguments: input },
      phase: "call",
      tool: tool.name,
      definition: tool,
      options,
    })
  }

  /** The raw result: `{ contents }`. */
  readResource(uri: string, options: MCPRequestOptions): Promise<JsonObject> {
    return this.#requests.call({
      method: "resources/read",
      params: { uri },
      phase: "read",
      tool: uri,
      options: { isRepeatable: true, ...options },
    })
  }

  /** The raw result: `{ description, messages }`. */
  getPrompt(
    name: string,
    input: Readonly<Record<string, string>>,
    options: MCPRequestOptions,
  ): Promise<JsonObject> {
    return this.#requests.call({
      method: "prompts/get",
      params: { name, arguments: input },
      phase: "prompt",
      tool: name,
      options: { isRepeatable: true, ...options },
    })
  }

  /** The raw result: `{ completion }`. */
  complete(params: JsonObject, options: MCPRequestOptions): Promise<JsonObject> {
    return this.#requests.call({
      method: "completion/complete",
      params,
      phase: "complete",
      options: { isRepeatable: true, ...options },
    })
  }

  /** Calls back when a resource has changed. Returns a function that unsubscribes. */
  watch(uri: string, listener: (uri: string) => void): () => void {
    return this.#watches.watch(uri, listener)
  }

  /** Listens for changed lists, reopened connections (everything may have changed) and lost connections. */
  onEvent(listener: (event: MCPConnectionEvent) => void): () => void {
    return this.#listeners.add(listener)
  }

  protected async end(): Promise<void> {
    this.#changes.close()
    this.#watches.close()
    await Promise.all([this.#supervisor.close(), this.#callers?.close()])
    this.#listeners.clear()
  }

  #emit(event: MCPConnectionEvent): void {
    if (this.isClosing) return
    const what = `A listener of MCP server "${this.name}" threw`
    this.#listeners.notifyLogged(event, this.#server.logger, what)
  }
}
