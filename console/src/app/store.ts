import { Listeners } from "../../../src/internal/listeners.ts"
import type {
  WaitingApprovals,
  HubClient,
  HubInfo,
  OperationSummary,
  SourceStatus,
} from "../api/model.ts"
import { asError } from "./as-error.ts"
import { SpecCache } from "./spec-cache.ts"
import type { SpecState } from "./spec-cache.ts"

/** Every operation that the caller may call, or the error of loading them. */
export interface OperationsState {
  readonly status: "loading" | "ready" | "failed"
  readonly operations: readonly OperationSummary[]
  readonly error?: Error | undefined
}

/** A hub that has not answered yet. */
const UNKNOWN_HUB: HubInfo = {
  // The hub puts its title into the page.
  title: globalThis.document?.title || "Operations",
  isAdmin: true,
  hasAuth: false,
  mcp: undefined,
  websocket: false,
}

/** Whether the hub answers. */
export type Connection = "connecting" | "online" | "offline"

/** The state of the hub, for all components that display it. */
export class HubStore {
  readonly hub: HubClient
  readonly #specs: SpecCache
  readonly #listeners = new Listeners()
  #operations: OperationsState = { status: "loading", operations: [] }
  #sources: readonly SourceStatus[] | undefined
  #approvals: WaitingApprovals | undefined
  #connection: Connection = "connecting"
  #info: HubInfo = UNKNOWN_HUB
  #loading: AbortController | undefined

  constructor(hub: HubClient) {
    this.hub = hub
    this.#specs = new SpecCache((id, signal) => hub.describe(id, signal), this.#notify)
  }

  get operations(): OperationsState {
    return this.#operations
  }

  /** The last known state of its sources; `undefined` if the caller may not see it. */
  get sources(): readonly SourceStatus[] | undefined {
    return this.#sources
  }

  /** The calls that wait for an approval, as last asked; `undefined` if the caller may not see them. */
  get approvals(): WaitingApprovals | undefined {
    return this.#approvals
  }

  get connection(): Connection {
    return this.#connection
  }

  get info(): HubInfo {
    return this.#info
  }

  readonly subscribe = this.#listeners.add

  setReachable(isReached: boolean): void {
    const connection = isReached ? "online" : "offline"
    const before = this.#connection
    if (connection === before) return
    this.#connection = connection
    this.#notify()
    // It may have been restarted, with other operations.
    if (before === "offline" && this.#operations.status !== "loading") this.reload()
  }

  setInfo(info: HubInfo): void {
    if (JSON.stringify(info) === JSON.stringify(this.#info)) return
    this.#info = info
    this.#notify()
  }

  /** Reloads the list. The current one stays until the response arrives. */
  readonly reload = (): void => {
    // A promise that never rejects.
    void this.#load()
  }

  /** Drops everything that belongs to the previous identity, and reloads. */
  readonly restart = (): void => {
    this.#specs.clear()
    this.#operations = { status: "loading", operations: [] }
    this.#sources = undefined
    this.#approvals = undefined
    this.#info = { ...UNKNOWN_HUB, title: this.#info.title }
    this.#notify()
    this.reload()
  }

  spec(id: string): SpecState {
    return this.#specs.get(id)
  }

  /** Requests a spec, unless it is cached. */
  readonly requestSpec = (id: string): void => this.#specs.request(id)

  /** Sets the state of the sources; reloads the list if their operations have changed. */
  updateSources(sources: readonly SourceStatus[]): void {
    const before = this.#sources
    if (before !== undefined && signature(before) === signature(sources)) return
    this.#sources = sources
    if (before !== undefined) this.reload()
    this.#notify()
  }

  readonly updateApprovals = (approvals: WaitingApprovals | undefined): void => {
    if (JSON.stringify(approvals) === JSON.stringify(this.#approvals)) return
    this.#approvals = approvals
    this.#notify()
  }

  /** Aborts pending requests. */
  close(): void {
    this.#loading?.abort()
    this.#specs.clear()
  }

  async #load(): Promise<void> {
    this.#loading?.abort()
    const controller = new AbortController()
    this.#loading = controller
    if (this.#operations.status === "failed")
      this.#setOperations({ status: "loading", operations: [] })
    try {
      const operations = await this.hub.list(controller.signal)
      if (controller.signal.aborted) return
      this.#specs.expire()
      this.#setOperations({ status: "ready", operations })
    } catch (error) {
      if (controller.signal.aborted) return
      // The last list is more useful than an error.
      if (this.#operations.status !== "ready") {
        this.#setOperations({ status: "failed", operations: [], error: asError(error) })
      }
    }
  }

  #setOperations(state: OperationsState): void {
    this.#operations = state
    this.#notify()
  }

  readonly #notify = (): void => {
    this.#listeners.notify()
  }
}

function signature(sources: readonly SourceStatus[]): string {
  return JSON.stringify(
    sources.map(({ name, state, operations, reason }) => [name, state, operations, reason]),
  )
}
