import type { HubConnection } from "../api/client.ts"
import type { OperationSummary, SourceStatus } from "../api/model.ts"
import { asError } from "./as-error.ts"
import { SpecCache } from "./spec-cache.ts"
import type { SpecState } from "./spec-cache.ts"

/** Every operation that the caller may call, or why they are not known. */
export interface OperationsState {
  readonly status: "loading" | "ready" | "failed"
  readonly operations: readonly OperationSummary[]
  readonly error?: Error | undefined
}

/** Whether the hub answers. */
export type Connection = "connecting" | "online" | "offline"

/** What the page knows of the hub, for everything that shows it. */
export class HubStore {
  readonly hub: HubConnection
  readonly #specs: SpecCache
  readonly #listeners = new Set<() => void>()
  #operations: OperationsState = { status: "loading", operations: [] }
  #sources: readonly SourceStatus[] | undefined
  #connection: Connection = "connecting"
  #title: string | undefined
  #loading: AbortController | undefined

  constructor(hub: HubConnection) {
    this.hub = hub
    this.#specs = new SpecCache((id, signal) => hub.describe(id, signal), this.#tell)
  }

  get operations(): OperationsState {
    return this.#operations
  }

  /** How its sources were doing when they were last asked; nothing where that is not told. */
  get sources(): readonly SourceStatus[] | undefined {
    return this.#sources
  }

  get connection(): Connection {
    return this.#connection
  }

  get title(): string | undefined {
    return this.#title
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  reached(isReached: boolean): void {
    const connection = isReached ? "online" : "offline"
    const before = this.#connection
    if (connection === before) return
    this.#connection = connection
    this.#tell()
    // It may have been started anew, with other operations.
    if (before === "offline" && this.#operations.status !== "loading") this.reload()
  }

  named(title: string): void {
    if (title === this.#title) return
    this.#title = title
    this.#tell()
  }

  /** Asks for the list anew. What is known stays until the answer is there. */
  readonly reload = (): void => {
    // A promise that never rejects.
    void this.#load()
  }

  /** Forgets everything that was told to somebody else, and asks again. */
  readonly restart = (): void => {
    this.#specs.clear()
    this.#operations = { status: "loading", operations: [] }
    this.#sources = undefined
    this.#tell()
    this.reload()
  }

  spec(id: string): SpecState {
    return this.#specs.get(id)
  }

  /** Asks for a spec, unless it is known already. */
  readonly wantSpec = (id: string): void => this.#specs.want(id)

  /** Takes what the sources say; when they have something else to offer, the list is asked for anew. */
  heard(sources: readonly SourceStatus[]): void {
    const before = this.#sources
    if (before !== undefined && signature(before) === signature(sources)) return
    this.#sources = sources
    if (before !== undefined) this.reload()
    this.#tell()
  }

  /** Ends what is under way. */
  close(): void {
    this.#loading?.abort()
    this.#specs.clear()
  }

  async #load(): Promise<void> {
    this.#loading?.abort()
    const controller = new AbortController()
    this.#loading = controller
    if (this.#operations.status === "failed") this.#become({ status: "loading", operations: [] })
    try {
      const operations = await this.hub.list(controller.signal)
      if (controller.signal.aborted) return
      this.#specs.expire()
      this.#become({ status: "ready", operations })
    } catch (error) {
      if (controller.signal.aborted) return
      // What was read before is of more use than an error.
      if (this.#operations.status !== "ready") {
        this.#become({ status: "failed", operations: [], error: asError(error) })
      }
    }
  }

  #become(state: OperationsState): void {
    this.#operations = state
    this.#tell()
  }

  readonly #tell = (): void => {
    for (const listener of this.#listeners) listener()
  }
}

function signature(sources: readonly SourceStatus[]): string {
  return JSON.stringify(
    sources.map(({ name, state, operations, reason }) => [name, state, operations, reason]),
  )
}
