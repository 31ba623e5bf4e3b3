import { idOf } from "../../../core/define.ts"
import { setRef } from "../../../internal/defer.ts"
import type { LazyOperation } from "../../../core/lazy-operation.ts"
import type { Logger } from "../../../internal/logger.ts"
import { reasonOf } from "../../../internal/message-text.ts"
import type { MCPConnection } from "./connection.ts"
import type { MCPConnectionEvent } from "./model.ts"
import type { Section } from "./sections.ts"
import { systemClock } from "../../../internal/clock.ts"
import { backOff } from "../../../internal/back-off.ts"
import { Listeners } from "../../../internal/listeners.ts"

/** Changes of a server's operations, including resources and prompts. */
export interface MCPToolsChange {
  readonly added: readonly LazyOperation[]
  readonly replaced: readonly LazyOperation[]
  readonly removed: readonly LazyOperation[]
}

/** Minimum interval between refreshes caused by change notifications, in milliseconds. */
const MIN_INTERVAL = 250
/** Maximum pause after failures. */
const MAX_PAUSE = 300_000
/** Bounds of the lifetime of a list. */
const MIN_TTL = 5000
const MAX_TTL = 86_400_000

/**
 * Keeps the lists of a server up to date: refreshes after a change notification, after a reconnect, when a
 * list has expired, and on request.
 *
 * One refresh runs at a time; requests during it share the next one. Its creator closes it.
 */
export class Refresher {
  operations: readonly LazyOperation[] = []
  /** Why the last refresh failed; `undefined` when it did not. */
  failure: string | undefined = undefined
  readonly #connection: MCPConnection
  readonly #sections: readonly Section[]
  readonly #logger: Logger
  readonly #listeners = new Listeners<MCPToolsChange>()
  readonly #stopListening: () => void
  /** Sections to refresh in the background. */
  readonly #stale = new Set<Section>()
  #running: Promise<MCPToolsChange> | undefined
  #next: Promise<MCPToolsChange> | undefined
  #background: unknown
  #expiry: unknown
  #failures = 0
  #endedAt = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(connection: MCPConnection, sections: readonly Section[], logger: Logger) {
    this.#connection = connection
    this.#sections = sections
    this.#logger = logger
    this.#stopListening = connection.onEvent((event) => this.#onEvent(event))
  }

  /** Settles when no refresh is running or due. */
  get refreshing(): Promise<unknown> | undefined {
    if (this.#stale.size > 0 && this.#running === undefined && this.#next === undefined) {
      return this.refresh()
    }
    return this.#next ?? this.#running
  }

  /** Fetches all lists. Rejects when one of them fails, whose old entries then stay. */
  refresh(): Promise<MCPToolsChange> {
    if (this.#next !== undefined) return this.#next
    if (this.#running === undefined) return this.#start(this.#sections)
    // The running refresh may have started before the change that the caller knows of.
    this.#next = Promise.allSettled([this.#running]).then(() => {
      this.#next = undefined
      return this.#start(this.#sections)
    })
    return this.#next
  }

  onChange(listener: (change: MCPToolsChange) => void): () => void {
    return this.#listeners.add(listener)
  }

  close(): void {
    this.#isClosed = true
    this.#stopListening()
    this.#listeners.clear()
    this.#stale.clear()
    systemClock.clearTimeout(this.#background)
    systemClock.clearTimeout(this.#expiry)
  }

  #onEvent(event: MCPConnectionEvent): void {
    if (event.type === "changed") {
      this.#later(this.#sections.filter(({ kinds }) => kinds.includes(event.kind)))
    } else if (event.type === "connected" && event.isAgain) {
      this.#later(this.#sections)
    }
  }

  /** Refreshes in the background, now or after the minimum interval. */
  #later(sections: readonly Section[]): void {
    if (this.#isClosed || sections.length === 0) return
    for (const section of sections) this.#stale.add(section)
    if (this.#background !== undefined || this.#next !== undefined) return
    const pause = backOff(1 + 2 * this.#failures, MIN_INTERVAL, MAX_PAUSE)
    const wait = Math.max(0, this.#endedAt + pause - systemClock.now())
    this.#background = timer(wait, () => {
      this.#background = undefined
      this.#catchUp()
    })
  }

  #catchUp(): void {
    // A reconnect makes everything stale anyway; do not start a process just to refresh.
    if (this.#isClosed || this.#stale.size === 0 || this.#connection.status.state !== "ready")
      return
    if (this.#running !== undefined) {
      void Promise.allSettled([this.#running]).then(() => this.#catchUp())
      return
    }
    this.#start([...this.#stale]).catch((error: unknown) => {
      this.#logger.warn("The lists of an MCP server could not be refreshed; the old ones stay", {
        server: this.#connection.name,
        error,
      })
      this.#later([...this.#stale])
    })
  }

  #start(sections: readonly Section[]): Promise<MCPToolsChange> {
    this.#running = this.#run(sections).finally(() => {
      this.#running = undefined
      this.#endedAt = systemClock.now()
    })
    return this.#running
  }

  async #run(sections: readonly Section[]): Promise<MCPToolsChange> {
    for (const section of sections) this.#stale.delete(section)
    systemClock.clearTimeout(this.#expiry)
    const outcomes = await Promise.allSettled(sections.map((section) => section.update()))
    // Applies the lists that arrived, even if others failed.
    const change = this.#take()
    let shortest = Number.POSITIVE_INFINITY
    for (const [index, section] of sections.entries()) {
      const outcome = outcomes[index]
      if (outcome?.status === "fulfilled") {
        shortest = Math.min(shortest, lifetime(outcome.value.ttlMs))
      } else if (!this.#isClosed) this.#stale.add(section)
    }
    this.#expire(shortest)
    const failed = outcomes.find((outcome) => outcome.status === "rejected")
    this.#failures = failed === undefined ? 0 : this.#failures + 1
    this.failure = failed === undefined ? undefined : reasonOf(failed.reason)
    if (failed !== undefined) throw failed.reason
    return change
  }

  #take(): MCPToolsChange {
    const before = this.operations
    if (this.#isClosed) return difference(before, before)
    this.operations = this.#sections.flatMap(({ operations }) => operations)
    const change = difference(before, this.operations)
    if (change.added.length + change.replaced.length + change.removed.length > 0) {
      const what = "A listener for changed tools threw"
      const about = { server: this.#connection.name }
      this.#listeners.notifyLogged(change, this.#logger, what, about)
    }
    return change
  }

  #expire(milliseconds: number): void {
    if (this.#isClosed || milliseconds === Number.POSITIVE_INFINITY) return
    this.#expiry = timer(milliseconds, () => this.#later(this.#sections))
  }
}

/** Compares operations by id: new, replaced and removed ones. */
function difference(
  before: readonly LazyOperation[],
  after: readonly LazyOperation[],
): MCPToolsChange {
  const old = new Map(before.map((operation) => [idOf(operation), operation]))
  const added: LazyOperation[] = []
  const replaced: LazyOperation[] = []
  for (const operation of after) {
    const id = idOf(operation)
    const previous = old.get(id)
    if (previous === undefined) added.push(operation)
    else if (previous !== operation) replaced.push(operation)
    old.delete(id)
  }
  return { added, replaced, removed: [...old.values()] }
}

/** The lifetime of a list: unlimited without a positive `ttlMs`, else within bounds. */
function lifetime(ttlMs: number | undefined): number {
  if (ttlMs === undefined || !(ttlMs > 0)) return Number.POSITIVE_INFINITY
  return Math.min(Math.max(ttlMs, MIN_TTL), MAX_TTL)
}

function timer(milliseconds: number, callback: () => void): unknown {
  const handle = systemClock.setTimeout(callback, milliseconds)
  setRef(handle, false)
  return handle
}
