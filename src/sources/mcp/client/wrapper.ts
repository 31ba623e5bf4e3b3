import { Closable } from "../../../internal/closable.ts"
import { systemClock, wallTimeOf } from "../../../internal/clock.ts"
import { validateOptions, type OptionsSchema } from "../../../internal/options.ts"
import { CallError } from "../../../core/errors.ts"
import { addSignalListener, removeSignalListener } from "../../../internal/signals.ts"
import { Listeners } from "../../../internal/listeners.ts"
import { MCP_FIELDS } from "../config-fields.ts"
import { resolveServer } from "../config-resolve.ts"
import type { MCPClientConfig, ResolvedServer } from "../config.ts"
import { memoryPins, type PinStore } from "../pins.ts"
import type { AnyRegistry } from "../../../engine/registry.ts"
import type { MCPCallOptions, MCPClient, MCPClientWrapper, MCPOperation } from "./client.ts"
import { Connection, type MCPConnection } from "./connection.ts"
import { ExtraSection, PROMPTS, readOptions, RESOURCES, type Section } from "./sections.ts"
import type { MCPLogReader } from "./log-lines.ts"
import type { MCPPeer, MCPRequestOptions } from "./model.ts"
import { Refresher, type MCPToolsChange } from "./refresh.ts"
import { RegistrySync } from "./registry-sync.ts"
import { statusOf, type MCPServerStatus } from "./status.ts"
import { ToolSection } from "./tools.ts"

/** Options of `createMCPClient` besides the configuration. */
export interface CreateMCPClientOptions {
  /** Aborts connecting; everything opened so far is closed. */
  readonly signal?: AbortSignal | undefined
}

export const CREATE_CLIENT_OPTIONS: OptionsSchema<CreateMCPClientOptions> = { signal: "signal" }

/**
 * Connects to an MCP server and lists its tools. Close the returned client when you no longer need it.
 *
 * `name` is the namespace of the operations. Rejects with a `CallError` that says what to do when the
 * configuration is invalid or the server cannot be used; nothing is left running then.
 */
export async function createMCPClient(
  name: string,
  config: MCPClientConfig,
  options: CreateMCPClientOptions = {},
): Promise<MCPClientWrapper> {
  validateOptions("createMCPClient", config, MCP_FIELDS)
  validateOptions("createMCPClient", options, CREATE_CLIENT_OPTIONS)
  return await connectClient(name, config, options.signal)
}

/** Closes a client: its connection, its process and its registrations. May be called more than once. */
export async function closeMCPClient(wrapper: MCPClientWrapper): Promise<void> {
  await wrapper.close()
}

/**
 * Connects to an MCP server; the configuration may come from a file. `log` receives what the server logs.
 *
 * Rejects with a `CallError` that says what to do; nothing is left running then.
 */
export async function connectClient(
  name: string,
  config: MCPClientConfig,
  signal: AbortSignal | undefined,
  log?: MCPLogReader,
): Promise<MCPClientWrapper> {
  const server = resolveServer(name, config)
  if (server.disabled) throw disabledServer(name)
  const connection = new Connection(server, { log })
  const opened = await openWrapper(server, connection, server.pins ?? memoryPins(), signal)
  if (opened instanceof Wrapper) return opened
  throw opened.error
}

/** A server that could not be connected or listed; nothing is left open. */
export interface FailedServer {
  readonly error: unknown
  readonly stderrTail?: string | undefined
}

/** Connects and lists. Returns the wrapper, or why it failed. */
export async function openWrapper(
  server: ResolvedServer,
  connection: MCPConnection,
  pins: PinStore,
  signal?: AbortSignal,
): Promise<Wrapper | FailedServer> {
  const wrapper = new Wrapper(server, connection, pins)
  const abort = { handleEvent: () => void wrapper.close() }
  if (signal !== undefined) addSignalListener(signal, abort)
  try {
    if (signal?.aborted) throw abortError(server.name, signal)
    await connection.connect(signal)
    await wrapper.refresh()
    if (signal?.aborted) throw abortError(server.name, signal)
    return wrapper
  } catch (error) {
    const { stderrTail } = connection.status
    await wrapper.close()
    return { error: signal?.aborted ? abortError(server.name, signal) : error, stderrTail }
  } finally {
    if (signal !== undefined) removeSignalListener(signal, abort)
  }
}

/** The implementation of `MCPClientWrapper`. */
export class Wrapper extends Closable implements MCPClientWrapper {
  readonly name: string
  readonly client: MCPClient
  readonly connection: MCPConnection
  readonly namespaces: readonly string[]
  readonly #server: ResolvedServer
  readonly #tools: ToolSection
  readonly #sections: readonly Section[]
  readonly #refresher: Refresher
  readonly #detachers = new Set<() => void>()
  readonly #closeListeners = new Listeners()

  constructor(server: ResolvedServer, connection: MCPConnection, pins: PinStore) {
    super()
    this.name = server.name
    this.connection = connection
    this.namespaces = namespacesOf(server)
    this.#server = server
    this.#tools = new ToolSection(server, connection, pins, () => this.#refresher.refreshing)
    this.#sections = [
      this.#tools,
      ...(server.resources ? [new ExtraSection(server, connection, RESOURCES)] : []),
      ...(server.prompts ? [new ExtraSection(server, connection, PROMPTS)] : []),
    ]
    this.#refresher = new Refresher(connection, this.#sections, server.logger)
    this.client = this.#createClient()
  }

  #createClient(): MCPClient {
    const { connection } = this
    const accepted = (peer: MCPPeer): MCPPeer => ({ ...peer, instructions: this.instructions })
    return {
      name: this.name,
      get peer() {
        const { peer } = connection
        return peer === undefined ? undefined : accepted(peer)
      },
      callTool: (name, input, options) =>
        this.#tools.call(name, input, { ...options, deadline: deadlineOf(options) }),
      readResource: (uri, options) => connection.readResource(uri, requestOptions(options)),
      getPrompt: (name, input = {}, options) =>
        connection.getPrompt(name, input, requestOptions(options)),
      list: (kind, signal) => connection.list(kind, signal),
      refresh: () => this.refresh(),
      reconnect: async () => {
        const peer = await connection.reconnect()
        await this.refresh()
        return accepted(peer)
      },
      status: () => this.status(),
      onEvent: (listener) => connection.onEvent(listener),
      close: () => this.close(),
    }
  }

  get tools(): MCPOperation[] {
    return [...this.#tools.operations]
  }

  get operations(): readonly MCPOperation[] {
    return this.#refresher.operations
  }

  get instructions(): string | undefined {
    return this.#tools.instructions
  }

  get warnings(): readonly string[] {
    const { failure } = this.#refresher
    const stale = failure === undefined ? [] : [`Its lists could not be refreshed: ${failure}`]
    return [...this.#sections.flatMap(({ warnings }) => warnings), ...stale]
  }

  status(): MCPServerStatus {
    return statusOf(this.connection, {
      tools: this.tools.length,
      warnings: this.warnings,
      quarantined: this.#tools.quarantined,
    })
  }

  registerAll(registry: AnyRegistry): () => void {
    if (this.isClosing) throw closed(this.name)
    const follower = new RegistrySync(registry, this.#server.logger)
    follower.start(this.operations)
    const stopListening = this.onToolsChanged(() => follower.sync(this.operations))
    const detach = (): void => {
      this.#detachers.delete(detach)
      stopListening()
      follower.stop()
    }
    this.#detachers.add(detach)
    return detach
  }

  onToolsChanged(listener: (change: MCPToolsChange) => void): () => void {
    return this.#refresher.onChange(listener)
  }

  async refresh(): Promise<MCPToolsChange> {
    if (this.isClosing) throw closed(this.name)
    return await this.#refresher.refresh()
  }

  /** Listens for the start of closing. */
  onClosed(listener: () => void): void {
    this.#closeListeners.add(listener)
  }

  protected async end(): Promise<void> {
    this.#refresher.close()
    for (const detach of [...this.#detachers]) detach()
    this.#closeListeners.notify()
    await this.connection.close()
  }
}

/** The namespaces of a server's operations. */
export function namespacesOf({ name, resources, prompts }: ResolvedServer): readonly string[] {
  return [
    name,
    ...(resources ? [`${name}-resources`] : []),
    ...(prompts ? [`${name}-prompts`] : []),
  ]
}

/** The error for a server that its configuration disables. */
export function disabledServer(name: string): CallError {
  return new CallError(
    "UNAVAILABLE",
    `MCP server "${name}" was not connected: its configuration says "disabled". Remove that to use it.`,
    { retryable: false, mayHaveExecuted: false, details: { server: name } },
  )
}

function closed(server: string): CallError {
  return new CallError(
    "UNAVAILABLE",
    `MCP server "${server}" is closed. Create a new client with createMCPClient(), or load it again.`,
    { retryable: false, mayHaveExecuted: false, details: { server } },
  )
}

function abortError(server: string, signal: AbortSignal): CallError {
  return new CallError("ABORTED", `Connecting to MCP server "${server}" was aborted.`, {
    cause: signal.reason,
    retryable: false,
    mayHaveExecuted: false,
    details: { server },
  })
}

/** Converts the options of a call to those of a request. */
function requestOptions(options: MCPCallOptions | undefined): MCPRequestOptions {
  return readOptions({ ...options, deadline: deadlineOf(options) }, undefined)
}

/** The earlier of `deadline` and `timeout`, in epoch milliseconds. */
function deadlineOf(options: MCPCallOptions | undefined): number | undefined {
  const { deadline = Number.POSITIVE_INFINITY, timeout } = options ?? {}
  const due = Math.min(
    deadline,
    timeout === undefined ? deadline : wallTimeOf(systemClock) + timeout,
  )
  return due === Number.POSITIVE_INFINITY ? undefined : due
}
