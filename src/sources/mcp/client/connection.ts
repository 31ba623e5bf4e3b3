import { systemClock } from "../../../internal/clock.ts"
import type { SettledServer } from "../config.ts"
import type { MCPEra } from "../../../mcp/model.ts"
import type { Clock } from "../../../internal/platform.ts"
import { CallerSessions } from "./caller-sessions.ts"
import { Changes, listenForChanges } from "./changes.ts"
import { memberOf } from "./frames.ts"
import { Gate } from "./gate.ts"
import type {
  MCPConnection,
  MCPConnectionEvent,
  MCPConnectionStatus,
  MCPList,
  MCPListKind,
  MCPPeer,
} from "./model.ts"
import { LISTS, listAll, withoutBadHeaders } from "./paging.ts"
import { Patience } from "./patience.ts"
import { patienceFor, runCall, sendWithin } from "./requests.ts"
import type { CallRequest, RequestHost } from "./requests.ts"
import { Supervisor } from "./supervisor.ts"
import { notify } from "../../../internal/notify.ts"

/** What a connection may be given besides its server. */
export interface ConnectionDependencies {
  /** What was found out about the server before; `peer.era` of a connection tells it. */
  readonly knownEra?: MCPEra | undefined
  /** Servers are told that they may ask: callers pass `requestInput`. Default: as the server is configured. */
  readonly forwardInput?: boolean | undefined
  readonly clock?: Clock | undefined
}

/** A connection to one server; nothing is opened before the first use. */
export function createConnection(
  settled: SettledServer,
  dependencies: ConnectionDependencies = {},
): MCPConnection {
  return new Connection(settled, dependencies)
}

class Connection implements MCPConnection {
  readonly name: string
  readonly #settled: SettledServer
  readonly #clock: Clock
  readonly #listeners = new Set<(event: MCPConnectionEvent) => void>()
  readonly #changes: Changes
  readonly #supervisor: Supervisor
  readonly #callers: CallerSessions | undefined
  readonly #host: RequestHost
  #closing: Promise<void> | undefined

  constructor(settled: SettledServer, dependencies: ConnectionDependencies) {
    const { clock = systemClock, forwardInput = settled.forwardInput, knownEra } = dependencies
    this.name = settled.name
    this.#settled = settled
    this.#clock = clock
    this.#changes = new Changes(clock, (kind) => this.#emit({ type: "changed", kind }))
    const supervisor = new Supervisor({
      settled,
      clock,
      forwardsInput: forwardInput,
      knownEra,
      opened: (session, isAgain) => {
        // For as long as the session lasts; it handles its own failures.
        void listenForChanges(session, clock, (method) => this.#changes.notified(method))
        this.#emit({ type: "connected", isAgain })
      },
      notified: (method) => this.#changes.notified(method),
      lost: (error) => this.#emit({ type: "lost", error }),
    })
    this.#supervisor = supervisor
    const callers = CallerSessions.of(settled, clock, (own) => {
      const nothing = (): void => {}
      return new Supervisor({
        settled: own,
        clock,
        forwardsInput: forwardInput,
        knownEra: supervisor.peer?.era ?? knownEra,
        // What there is the connection itself finds out; that the server is away whoever calls it first.
        opened: nothing,
        notified: nothing,
        lost: nothing,
        unreached: (error) => supervisor.away(error),
      })
    })
    this.#callers = callers
    this.#host = {
      settled,
      clock,
      gate: new Gate(settled.maxConcurrency),
      era: () => supervisor.peer?.era,
      ready: async (patience, caller) =>
        (await callers?.ready(caller, patience)) ?? (await supervisor.ready(patience)),
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
    const patience = new Patience({
      clock: this.#clock,
      subject: `Connecting to MCP server "${this.name}"`,
      idle: Number.POSITIVE_INFINITY,
      total: Number.POSITIVE_INFINITY,
      signal,
    })
    try {
      const session = await this.#supervisor.ready(patience)
      return session.peer
    } finally {
      patience.dispose()
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
    const patience = patienceFor(about, this.#host)
    try {
      const { peer } = await this.#supervisor.ready(patience)
      if (memberOf(peer.capabilities, capability) === undefined) {
        return { items: [], ttlMs: undefined, warnings: [] }
      }
      const list = await listAll(kind, this.#settled, (params) =>
        sendWithin({ ...about, params }, {}, patience, this.#host),
      )
      return kind === "tools" ? withoutBadHeaders(list, this.#settled, peer) : list
    } catch (error) {
      // Some declare what they do not have.
      if (memberOf(memberOf(error, "details"), "code") !== -32601) throw error
      const warning = `The server declares ${capability}, and does not know "${method}".`
      return { items: [], ttlMs: undefined, warnings: [warning] }
    } finally {
      patience.dispose()
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
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #call(request: CallRequest): Promise<Readonly<Record<string, unknown>>> {
    this.#supervisor.assertOpen()
    return await runCall(request, this.#host)
  }

  async #close(): Promise<void> {
    this.#changes.close()
    await Promise.all([this.#supervisor.close(), this.#callers?.close()])
    this.#listeners.clear()
  }

  #emit(event: MCPConnectionEvent): void {
    if (this.#closing !== undefined) return
    for (const listener of [...this.#listeners]) {
      const what = `A listener of MCP server "${this.name}" threw`
      notify(this.#settled.logger, what, () => listener(event))
    }
  }
}
