import { systemClock } from "../../../internal/clock.ts"
import { Closable } from "../../../internal/closable.ts"
import type { ResolvedServer } from "../config.ts"
import type { MCPEra } from "../../../mcp/model.ts"
import type { Clock } from "../../../internal/platform.ts"
import { CallerSessions } from "./caller-sessions.ts"
import { Changes, listenForChanges } from "./changes.ts"
import { memberOf } from "./sdk.ts"
import type { MCPLogReader } from "./log-lines.ts"
import { Semaphore } from "./semaphore.ts"
import type {
  MCPConnection,
  MCPConnectionEvent,
  MCPConnectionStatus,
  MCPList,
  MCPListKind,
  MCPPeer,
} from "./model.ts"
import { LISTS, listAll, withoutBadHeaders } from "./paging.ts"
import { RequestTimeout } from "./request-timeout.ts"
import { timeoutFor, runCall, sendWithin, type CallRequest, type RequestHost } from "./requests.ts"
import { Supervisor } from "./supervisor.ts"
import { Listeners } from "../../../internal/listeners.ts"

/** Optional dependencies of a connection. */
export interface ConnectionDependencies {
  /** The server's era, if known from the `peer.era` of an earlier connection. */
  readonly knownEra?: MCPEra | undefined
  /** Receives what the server logs. */
  readonly log?: MCPLogReader | undefined
  readonly clock?: Clock | undefined
}

/** Creates a connection to one server; it opens nothing before the first use. */
export function createConnection(
  server: ResolvedServer,
  dependencies: ConnectionDependencies = {},
): MCPConnection {
  return new Connection(server, dependencies)
}

class Connection extends Closable implements MCPConnection {
  readonly name: string
  readonly #server: ResolvedServer
  readonly #clock: Clock
  readonly #listeners = new Listeners<MCPConnectionEvent>()
  readonly #changes: Changes
  readonly #supervisor: Supervisor
  readonly #callers: CallerSessions | undefined
  readonly #host: RequestHost

  constructor(server: ResolvedServer, dependencies: ConnectionDependencies) {
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
        this.#emit({ type: "connected", isAgain })
      },
      notified: (method) => this.#changes.notified(method),
      lost: (error) => this.#emit({ type: "lost", error }),
    })
    this.#supervisor = supervisor
    const callers = CallerSessions.of(server, clock, (own) => {
      const nothing = (): void => {}
      return new Supervisor({
        server: own,
        clock,
        log,
        knownEra: supervisor.peer?.era ?? knownEra,
        // The main connection follows the lists; any session may find that the server is unreachable.
        opened: nothing,
        notified: nothing,
        lost: nothing,
        unreached: (error) => supervisor.away(error),
      })
    })
    this.#callers = callers
    this.#host = {
      server,
      clock,
      semaphore: new Semaphore(server.maxConcurrency),
      era: () => supervisor.peer?.era,
      ready: async (timeout, caller) =>
        (await callers?.ready(caller, timeout)) ?? (await supervisor.ready(timeout)),
      expired: (session) => {
        supervisor.expired(session)
        callers?.expired(session)
      },
      unreached: (session, error) => {
        supervisor.unreached(session, error)
        callers?.unreached(session, error)
      },
    }
  }

  get peer(): MCPPeer | undefined {
    return this.#supervisor.peer
  }

  get status(): MCPConnectionStatus {
    return this.#supervisor.status
  }

  async connect(signal?: AbortSignal): Promise<MCPPeer> {
    const timeout = new RequestTimeout({
      clock: this.#clock,
      subject: `Connecting to MCP server "${this.name}"`,
      idle: Number.POSITIVE_INFINITY,
      total: Number.POSITIVE_INFINITY,
      signal,
    })
    try {
      const session = await this.#supervisor.ready(timeout)
      return session.peer
    } finally {
      timeout.dispose()
    }
  }

  async reconnect(): Promise<MCPPeer> {
    await this.#supervisor.reset()
    return await this.connect()
  }

  async list(kind: MCPListKind, signal?: AbortSignal): Promise<MCPList> {
    const { method, capability } = LISTS[kind]
    const options = { signal, isRepeatable: true }
    const about = { method, phase: "list", tool: kind, options } as const
    const timeout = timeoutFor(about, this.#host)
    try {
      const { peer } = await this.#supervisor.ready(timeout)
      if (memberOf(peer.capabilities, capability) === undefined) {
        return { items: [], ttlMs: undefined, warnings: [] }
      }
      const list = await listAll(kind, this.#server, (params) =>
        sendWithin({ ...about, params }, {}, timeout, this.#host),
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
    ...[tool, input, options]: Parameters<MCPConnection["callTool"]>
  ): ReturnType<MCPConnection["callTool"]> {
    return this.#call({
      method: "tools/call",
      params: { name: tool.name, arguments: input },
      phase: "call",
      tool: tool.name,
      definition: tool,
      options,
    })
  }

  readResource(
    ...[uri, options]: Parameters<MCPConnection["readResource"]>
  ): ReturnType<MCPConnection["readResource"]> {
    return this.#call({
      method: "resources/read",
      params: { uri },
      phase: "read",
      tool: uri,
      options: { isRepeatable: true, ...options },
    })
  }

  getPrompt(
    ...[name, input, options]: Parameters<MCPConnection["getPrompt"]>
  ): ReturnType<MCPConnection["getPrompt"]> {
    return this.#call({
      method: "prompts/get",
      params: { name, arguments: input },
      phase: "prompt",
      tool: name,
      options: { isRepeatable: true, ...options },
    })
  }

  onEvent(listener: (event: MCPConnectionEvent) => void): () => void {
    return this.#listeners.add(listener)
  }

  async #call(request: CallRequest): Promise<Readonly<Record<string, unknown>>> {
    this.#supervisor.assertOpen()
    return await runCall(request, this.#host)
  }

  protected async end(): Promise<void> {
    this.#changes.close()
    await Promise.all([this.#supervisor.close(), this.#callers?.close()])
    this.#listeners.clear()
  }

  #emit(event: MCPConnectionEvent): void {
    if (this.isClosing) return
    const what = `A listener of MCP server "${this.name}" threw`
    this.#listeners.notifyLogged(event, this.#server.logger, what)
  }
}
