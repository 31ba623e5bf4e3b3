/// <reference lib="esnext.disposable" preserve="true" />
import { Closable } from "../../../internal/closable.ts"
import { CallError } from "../../../core/errors.ts"
import { addSignalListener, removeSignalListener } from "../../../internal/signals.ts"
import { Listeners } from "../../../internal/listeners.ts"
import type { LazyOperation } from "../../../core/lazy-operation.ts"
import type { ResolvedServer } from "../config.ts"
import type { PinStore } from "../pins.ts"
import type { AnyRegistry } from "../../../engine/registry.ts"
import { clientOver, deadlineOf, type MCPClient } from "./client.ts"
import { RegistrySync } from "./registry-sync.ts"
import type { MCPConnection } from "./model.ts"
import { PromptSection, ResourceSection } from "./extras.ts"
import { Refresher, type MCPToolsChange, type Section } from "./refresh.ts"
import { runTool, unknownTool } from "./run-tool.ts"
import { statusOf, type MCPServerStatus } from "./status.ts"
import { ToolSection } from "./tools.ts"

/** An operation of an MCP server. */
export type MCPOperation = LazyOperation

/** A connected server and its operations. Its creator closes it. */
export interface MCPClientWrapper extends AsyncDisposable {
  /** The namespace of its tools. */
  readonly name: string
  readonly client: MCPClient
  /** Its current tools. */
  readonly tools: MCPOperation[]
  /** Its tools, and its resources and prompts if they are enabled. */
  readonly operations: readonly MCPOperation[]
  /** The server's instructions for models; with pin "block" only accepted ones. */
  readonly instructions: string | undefined
  /** What was left out or is unreliable, and why. */
  readonly warnings: readonly string[]
  status(): MCPServerStatus
  /**
   * Registers the operations, all or none, and keeps the registry in sync with the server. Returns a function
   * that stops this and unregisters them; so does `close`.
   */
  registerAll(registry: AnyRegistry): () => void
  /** Listens for changes of the operations; called after each change. */
  onToolsChanged(listener: (change: MCPToolsChange) => void): () => void
  /** Fetches the lists again. Rejects when that fails, and then nothing changes. */
  refresh(): Promise<MCPToolsChange>
  /** Closes the connection, ends its process, and unregisters the operations. May be called more than once. */
  close(): Promise<void>
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
    this.#server = server
    this.#tools = new ToolSection({
      server,
      connection,
      pins,
      refreshing: () => this.#refresher.refreshing,
    })
    this.#sections = [
      this.#tools,
      ...(server.resources ? [new ResourceSection(server, connection)] : []),
      ...(server.prompts ? [new PromptSection(server, connection)] : []),
    ]
    this.#refresher = new Refresher(connection, this.#sections, server.logger)
    this.client = clientOver({
      connection,
      instructions: () => this.#tools.instructions,
      callTool: async (name, input, options = {}) => {
        const tool = this.#tools.find(name)
        if (tool === undefined) throw unknownTool(this.name, name, this.#tools.names)
        const { signal, progress, requestInput, metadata, identity } = options
        const deadline = deadlineOf(options)
        const context = { signal, deadline, progress, requestInput, metadata, identity }
        return await runTool(this.#tools.host, tool, input, context)
      },
      refresh: () => this.refresh(),
      status: () => this.status(),
      close: () => this.close(),
    })
  }

  get tools(): MCPOperation[] {
    return [...this.#tools.operations]
  }

  get operations(): readonly MCPOperation[] {
    return this.#refresher.operations
  }

  /** The namespaces of its operations. */
  get namespaces(): readonly string[] {
    return namespacesOf(this.#server)
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
