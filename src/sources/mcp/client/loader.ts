/// <reference lib="esnext.disposable" preserve="true" />
import { eachOf } from "../../../internal/each-of.ts"
import { validateOptions, type OptionsSchema } from "../../../internal/options.ts"
import type { Logger } from "../../../internal/logger.ts"
import { resolveServer } from "../config-resolve.ts"
import type { MCPClientConfig } from "../config.ts"
import { MCP_FIELDS, PIN_STORE } from "../config-fields.ts"
import { readServers, type ReadServersOptions } from "../config-read.ts"
import type { MCPEra } from "../../../mcp/model.ts"
import { memoryPins, type PinStore } from "../pins.ts"
import type { AnyRegistry } from "../../../engine/registry.ts"
import { Connection } from "./connection.ts"
import { RegistrySync } from "./registry-sync.ts"
import {
  loaderClosedError,
  entryStatus,
  loadedOf,
  namespaceTaken,
  unknownServer,
} from "./loaded.ts"
import type { LoadedEntry, MCPLoaded } from "./loaded.ts"
import { disabledStatus, failedStatus, type MCPServerStatus } from "./status.ts"
import { disabledServer, namespacesOf, openWrapper, Wrapper, type FailedServer } from "./wrapper.ts"
import type { MCPClientWrapper, MCPOperation } from "./client.ts"
import { isolatedLogger } from "../../../internal/notify.ts"

/** How servers are loaded. */
export interface MCPClientLoaderOptions extends ReadServersOptions {
  /** Maximum number of servers that connect at the same time; 8. */
  readonly concurrency?: number | undefined
  readonly logger?: Logger | undefined
  /** Where pinned tool definitions are stored; default: in memory, as long as the loader lives. */
  readonly pins?: PinStore | undefined
  /** Defaults for every server. */
  readonly defaults?: Partial<MCPClientConfig> | undefined
  /** The eras of servers, from `eras()` of an earlier loader: saves a probe. */
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

/** Loads MCP servers from a configuration, and keeps registries in sync with them. Close it when you no longer need it. */
export class MCPClientLoader implements AsyncDisposable {
  readonly #options: MCPClientLoaderOptions
  readonly #logger: Logger
  readonly #pins: PinStore
  readonly #entries = new Map<string, LoadedEntry>()
  readonly #followers = new Set<RegistrySync>()
  /** Serialises the work on each server. */
  readonly #turns = new SerialQueue()
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
   * Connects the servers of a configuration, several at a time. A failing server does not affect the others:
   * `servers` of the result has the status of each.
   *
   * A server whose name is already loaded replaces the old one once it is ready; if it fails, the old one
   * stays.
   */
  async load(config: unknown): Promise<MCPLoaded> {
    const { signal } = this.#stop
    const { servers, failures, warnings } = await readServers(config, this.#options)
    for (const warning of warnings) this.#logger.warn(warning)
    const names = [...servers.keys(), ...failures.keys()]
    await eachOf(names, this.#options.concurrency ?? CONCURRENCY, (name) =>
      this.#turns.run(name, () => this.#load(name, servers.get(name), failures.get(name), signal)),
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
   * Registers the operations of all servers, all or none, and keeps the registry in sync with the servers,
   * including those loaded later. Returns a function that stops this and unregisters them.
   */
  registerAll(registry: AnyRegistry): () => void {
    const follower = new RegistrySync(registry, this.#logger)
    follower.start(this.getAllOperations())
    this.#followers.add(follower)
    return () => {
      this.#followers.delete(follower)
      follower.stop()
    }
  }

  /** The status of each requested server. */
  status(): Record<string, MCPServerStatus> {
    return Object.fromEntries(
      Array.from(this.#entries, ([name, entry]) => [name, entryStatus(name, entry)]),
    )
  }

  /** Connects a server again, even if it failed or crashed too often. Rejects when that fails. */
  async reconnect(name: string): Promise<MCPClientWrapper> {
    const { signal } = this.#stop
    return await this.#turns.run(name, async () => {
      const { wrapper, config } = this.#entries.get(name) ?? {}
      if (wrapper !== undefined) {
        await wrapper.client.reconnect()
        return wrapper
      }
      if (config === undefined) throw unknownServer(name, [...this.#entries.keys()])
      const opened = await this.#open(name, config, signal)
      if (opened instanceof Wrapper) return opened
      const failure = failedStatus(name, opened.error, opened.stderrTail)
      if (!signal.aborted) this.#put(name, { config, wrapper, failure })
      throw opened.error
    })
  }

  /** The era of each server, for `eras` of a later loader. */
  eras(): Record<string, MCPEra> {
    return Object.fromEntries(this.#eras)
  }

  /** Closes every server and unregisters its operations. May be called more than once. */
  async closeAll(): Promise<void> {
    this.#stop.abort()
    this.#stop = new AbortController()
    for (const follower of this.#followers) follower.stop()
    this.#followers.clear()
    await this.#turns.idle()
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    await Promise.all(entries.map(({ wrapper }) => this.#close(wrapper)))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.closeAll()
  }

  async #load(
    name: string,
    written: MCPClientConfig | undefined,
    error: unknown,
    signal: AbortSignal,
  ): Promise<void> {
    const { wrapper } = this.#entries.get(name) ?? {}
    const config = written === undefined ? undefined : { ...this.#options.defaults, ...written }
    if (config?.disabled === true && !signal.aborted) {
      this.#put(name, { config, wrapper: undefined, failure: disabledStatus(name) })
      await this.#close(wrapper)
      return
    }
    const opened = config === undefined ? { error } : await this.#open(name, config, signal)
    if (opened instanceof Wrapper || signal.aborted) return
    const failed = failedStatus(name, opened.error, opened.stderrTail)
    this.#put(name, { config, wrapper, failure: failed })
    this.#logger.warn(`MCP server "${name}" was not loaded`, { error: failed.error })
  }

  /** Connects a server and stores it. Leaves nothing open unless it returns a wrapper. */
  async #open(
    name: string,
    config: MCPClientConfig,
    signal: AbortSignal,
  ): Promise<Wrapper | FailedServer> {
    try {
      const server = resolveServer(name, { logger: this.#logger, ...config })
      if (server.disabled) throw disabledServer(name)
      this.#assertNamespacesFree(name, namespacesOf(server))
      const connection = new Connection(server, { knownEra: this.#eras.get(name) })
      const pins = server.pins ?? this.#pins
      const opened = await openWrapper(server, connection, pins, signal)
      return opened instanceof Wrapper ? await this.#accept(name, config, opened, signal) : opened
    } catch (error) {
      return { error }
    }
  }

  /** Stores a connected server, unless the loader was closed or its namespace was taken in the meantime. */
  async #accept(
    name: string,
    config: MCPClientConfig,
    wrapper: Wrapper,
    signal: AbortSignal,
  ): Promise<Wrapper> {
    try {
      if (signal.aborted) throw loaderClosedError(name)
      this.#assertNamespacesFree(name, wrapper.namespaces)
    } catch (error) {
      await this.#close(wrapper)
      throw error
    }
    const before = this.#entries.get(name)?.wrapper
    const era = wrapper.connection.peer?.era
    if (era !== undefined) this.#eras.set(name, era)
    wrapper.onToolsChanged(() => this.#syncRegistries())
    wrapper.onClosed(() => this.#forget(name, wrapper))
    this.#put(name, { config, wrapper, failure: undefined })
    await this.#close(before)
    return wrapper
  }

  /** Throws if another server uses one of the namespaces, those for resources and prompts included. */
  #assertNamespacesFree(name: string, namespaces: readonly string[]): void {
    for (const [owner, { wrapper }] of this.#entries) {
      const clash = wrapper?.namespaces.find((namespace) => namespaces.includes(namespace))
      if (clash !== undefined && owner !== name) throw namespaceTaken(name, clash, owner)
    }
  }

  #put(name: string, entry: LoadedEntry): void {
    this.#entries.set(name, entry)
    this.#syncRegistries()
  }

  /** Removes a wrapper that its user closed. */
  #forget(name: string, wrapper: Wrapper): void {
    if (this.#entries.get(name)?.wrapper !== wrapper) return
    this.#entries.delete(name)
    this.#syncRegistries()
  }

  /** Synchronises every registry. */
  #syncRegistries(): void {
    const operations = this.getAllOperations()
    for (const follower of this.#followers) follower.sync(operations)
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

/** Serialises work per name; work for different names runs concurrently. */
class SerialQueue {
  readonly #last = new Map<string, Promise<unknown>>()

  async run<TResult>(name: string, run: () => Promise<TResult>): Promise<TResult> {
    const before = this.#last.get(name)
    const turn = before === undefined ? run() : before.then(run, run)
    this.#last.set(name, turn)
    try {
      return await turn
    } finally {
      if (this.#last.get(name) === turn) this.#last.delete(name)
    }
  }

  /** Resolves when all work has ended, successfully or not. */
  async idle(): Promise<void> {
    await Promise.allSettled([...this.#last.values()])
  }
}
