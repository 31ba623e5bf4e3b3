/// <reference lib="esnext.disposable" preserve="true" />
import { validateOptions } from "../../../internal/options.ts"
import type { OptionsSchema } from "../../../internal/options.ts"
import type { Logger } from "../../../internal/logger.ts"
import { settleServer } from "../config-settle.ts"
import type { MCPClientConfig } from "../config.ts"
import { MCP_FIELDS, PIN_STORE } from "../config-fields.ts"
import { readServers } from "../config-read.ts"
import type { ReadServersOptions } from "../config-read.ts"
import type { MCPEra } from "../../../mcp/model.ts"
import { memoryPins } from "../pins.ts"
import type { PinStore } from "../pins.ts"
import type { AnyRegistry } from "../../../engine/registry.ts"
import { createConnection } from "./connection.ts"
import { Follower } from "./follow.ts"
import { closedMeanwhile, entryStatus, loadedOf, namespaceTaken, unknownServer } from "./loaded.ts"
import type { Entry, MCPLoaded } from "./loaded.ts"
import { disabledStatus, failedStatus } from "./status.ts"
import type { MCPServerStatus } from "./status.ts"
import { eachOf, Turns } from "./turns.ts"
import { disabledServer, namespacesOf, openWrapper, Wrapper } from "./wrapper.ts"
import type { FailedServer, MCPClientWrapper, MCPOperation } from "./wrapper.ts"
import { isolatedLogger } from "../../../internal/notify.ts"

/** How servers are loaded. */
export interface MCPClientLoaderOptions extends ReadServersOptions {
  /** Servers that are connected at the same time; 8. */
  readonly concurrency?: number | undefined
  readonly logger?: Logger | undefined
  /** Where it is kept what tools were; default: in memory, for as long as the loader lives. */
  readonly pins?: PinStore | undefined
  /** For every server that says nothing else. */
  readonly defaults?: Partial<MCPClientConfig> | undefined
  /** What servers were found to speak, from `eras()` of an earlier loader: saves looking. */
  readonly eras?: Readonly<Record<string, MCPEra>> | undefined
}

export const LOADER_OPTIONS: OptionsSchema<MCPClientLoaderOptions> = {
  env: "function",
  inputs: "function",
  workspaceFolder: "text",
  userHome: "text",
  readFile: "function",
  concurrency: "count",
  logger: "logger",
  pins: PIN_STORE,
  defaults: { members: MCP_FIELDS },
  eras: { record: { oneOf: ["legacy", "modern"] } },
}

const CONCURRENCY = 8

/** Loads MCP servers from a configuration, and keeps registries in step with them. Whoever makes one closes it. */
export class MCPClientLoader implements AsyncDisposable {
  readonly #options: MCPClientLoaderOptions
  readonly #logger: Logger
  readonly #pins: PinStore
  readonly #entries = new Map<string, Entry>()
  readonly #followers = new Set<Follower>()
  /** What is being done to a server: one thing after the other. */
  readonly #turns = new Turns()
  readonly #eras: Map<string, MCPEra>
  #stop = new AbortController()

  constructor(options: MCPClientLoaderOptions = {}) {
    validateOptions("new MCPClientLoader", options, LOADER_OPTIONS)
    this.#options = options
    this.#logger = isolatedLogger(options.logger)
    this.#pins = options.pins ?? memoryPins()
    this.#eras = new Map(Object.entries(options.eras ?? {}))
  }

  /**
   * Connects the servers of a configuration, several at a time. One that fails hides nobody: `servers` of the
   * result says what became of each.
   *
   * A server of a name that is loaded already takes its place once it is ready; if it fails, the one that
   * is there stays.
   */
  async load(config: unknown): Promise<MCPLoaded> {
    const { signal } = this.#stop
    const { servers, failures, warnings } = await readServers(config, this.#options)
    for (const warning of warnings) this.#logger.warn(warning)
    const names = [...servers.keys(), ...failures.keys()]
    await eachOf(names, this.#options.concurrency ?? CONCURRENCY, (name) =>
      this.#turns.take(name, () => this.#load(name, servers.get(name), failures.get(name), signal)),
    )
    return loadedOf(names, this.#entries)
  }

  getClient(name: string): MCPClientWrapper | undefined {
    return this.#entries.get(name)?.wrapper
  }

  getAllWrappers(): MCPClientWrapper[] {
    return [...this.#entries.values()].flatMap(({ wrapper }) => wrapper ?? [])
  }

  getAllOperations(): MCPOperation[] {
    return this.getAllWrappers().flatMap(({ operations }) => operations)
  }

  /**
   * Registers the operations of all servers, all or none, and keeps the registry in step: with the servers,
   * and with what is loaded later. Gives what stops that and takes them out again.
   */
  registerAll(registry: AnyRegistry): () => void {
    const follower = new Follower(registry, this.#logger)
    follower.start(this.getAllOperations())
    this.#followers.add(follower)
    return () => {
      this.#followers.delete(follower)
      follower.stop()
    }
  }

  /** How each server is doing that was asked for. */
  status(): Record<string, MCPServerStatus> {
    return Object.fromEntries(
      Array.from(this.#entries, ([name, entry]) => [name, entryStatus(name, entry)]),
    )
  }

  /** Connects a server anew, also one that failed or crashed too often. Rejects when that fails. */
  async reconnect(name: string): Promise<MCPClientWrapper> {
    const { signal } = this.#stop
    return await this.#turns.take(name, async () => {
      const { wrapper, config } = this.#entries.get(name) ?? {}
      if (wrapper !== undefined) {
        await wrapper.client.reconnect()
        return wrapper
      }
      if (config === undefined) throw unknownServer(name, [...this.#entries.keys()])
      const opened = await this.#open(name, config, signal)
      if (opened instanceof Wrapper) return opened
      const trouble = failedStatus(name, opened.error, opened.stderrTail)
      if (!signal.aborted) this.#put(name, { config, wrapper, trouble })
      throw opened.error
    })
  }

  /** What each server was found to speak: for `eras` of a later loader. */
  eras(): Record<string, MCPEra> {
    return Object.fromEntries(this.#eras)
  }

  /** Closes every server, and takes what they gave out of all registries. Twice is fine. */
  async closeAll(): Promise<void> {
    this.#stop.abort()
    this.#stop = new AbortController()
    for (const follower of this.#followers) follower.stop()
    this.#followers.clear()
    await this.#turns.over()
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    await Promise.all(entries.map(({ wrapper }) => this.#close(wrapper)))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.closeAll()
  }

  async #load(
    name: string,
    given: MCPClientConfig | undefined,
    fault: unknown,
    signal: AbortSignal,
  ): Promise<void> {
    const { wrapper } = this.#entries.get(name) ?? {}
    const config = given === undefined ? undefined : { ...this.#options.defaults, ...given }
    if (config?.disabled === true && !signal.aborted) {
      this.#put(name, { config, wrapper: undefined, trouble: disabledStatus(name) })
      await this.#close(wrapper)
      return
    }
    const opened = config === undefined ? { error: fault } : await this.#open(name, config, signal)
    if (opened instanceof Wrapper || signal.aborted) return
    const trouble = failedStatus(name, opened.error, opened.stderrTail)
    this.#put(name, { config, wrapper, trouble })
    this.#logger.warn(`MCP server "${name}" was not loaded`, { error: trouble.error })
  }

  /** Connects a server, and puts it in its place. Nothing is left open unless it gives a wrapper. */
  async #open(
    name: string,
    config: MCPClientConfig,
    signal: AbortSignal,
  ): Promise<Wrapper | FailedServer> {
    try {
      const server = settleServer(name, { logger: this.#logger, ...config })
      if (server.disabled) throw disabledServer(name)
      this.#expectFree(name, namespacesOf(server))
      const { forwardInput } = server
      const connection = createConnection(server, { knownEra: this.#eras.get(name), forwardInput })
      const pins = server.pins ?? this.#pins
      const opened = await openWrapper(server, connection, pins, signal)
      return opened instanceof Wrapper ? await this.#accept(name, config, opened, signal) : opened
    } catch (error) {
      return { error }
    }
  }

  /** Puts a server in its place, unless there is none for it any more. */
  async #accept(
    name: string,
    config: MCPClientConfig,
    wrapper: Wrapper,
    signal: AbortSignal,
  ): Promise<Wrapper> {
    try {
      if (signal.aborted) throw closedMeanwhile(name)
      this.#expectFree(name, wrapper.namespaces)
    } catch (error) {
      await this.#close(wrapper)
      throw error
    }
    const before = this.#entries.get(name)?.wrapper
    const era = wrapper.connection.peer?.era
    if (era !== undefined) this.#eras.set(name, era)
    wrapper.onToolsChanged(() => this.#settle())
    wrapper.onClosed(() => this.#forget(name, wrapper))
    this.#put(name, { config, wrapper, trouble: undefined })
    await this.#close(before)
    return wrapper
  }

  /** Two servers never write into one namespace, not even by way of what one calls its resources. */
  #expectFree(name: string, namespaces: readonly string[]): void {
    for (const [owner, { wrapper }] of this.#entries) {
      const clash = wrapper?.namespaces.find((namespace) => namespaces.includes(namespace))
      if (clash !== undefined && owner !== name) throw namespaceTaken(name, clash, owner)
    }
  }

  #put(name: string, entry: Entry): void {
    this.#entries.set(name, entry)
    this.#settle()
  }

  /** Somebody else closed it. */
  #forget(name: string, wrapper: Wrapper): void {
    if (this.#entries.get(name)?.wrapper !== wrapper) return
    this.#entries.delete(name)
    this.#settle()
  }

  /** Brings every registry in step, in one turn. */
  #settle(): void {
    const operations = this.getAllOperations()
    for (const follower of this.#followers) follower.settle(operations)
  }

  async #close(wrapper: Wrapper | undefined): Promise<void> {
    try {
      await wrapper?.close()
    } catch (error) {
      this.#logger.warn("An MCP server could not be closed properly", {
        server: wrapper?.name,
        error,
      })
    }
  }
}
