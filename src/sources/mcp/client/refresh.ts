import { setRef } from "../../../internal/defer.ts"
import type { LazyOperation } from "../../../core/lazy-operation.ts"
import type { Logger } from "../../../internal/logger.ts"
import { reasonOf } from "../../../internal/describe.ts"
import type { MCPConnection, MCPConnectionEvent, MCPListKind } from "./model.ts"
import { systemClock } from "../../../internal/clock.ts"
import { notify } from "../../../internal/notify.ts"

/** What became of a server's operations, resources and prompts included. */
export interface MCPToolsChange {
  readonly added: readonly LazyOperation[]
  readonly replaced: readonly LazyOperation[]
  readonly removed: readonly LazyOperation[]
}

/** A part of what a server offers: its tools, its resources, its prompts. */
export interface Section {
  /** Lists that it is made of. */
  readonly kinds: readonly MCPListKind[]
  readonly operations: readonly LazyOperation[]
  readonly warnings: readonly string[]
  /** Lists anew and takes what came. Leaves what it had when it rejects. */
  update(): Promise<{ readonly ttlMs: number | undefined }>
}

/** Lists are asked for at most this often because a server says that they changed, in milliseconds. */
const CALM = 250
/** After failures the wait grows up to this. */
const LONGEST_PAUSE = 300_000
/** Bounds of how long a list is taken to be good for. */
const SHORTEST_TTL = 5000
const LONGEST_TTL = 86_400_000

/**
 * Keeps what a server offers up to date: when it says that a list has changed, when it was connected
 * again, when a list is too old, and when somebody asks.
 *
 * One refresh runs at a time, and those who come meanwhile share the next. Whoever makes it closes it.
 */
export class Refresher {
  readonly #connection: MCPConnection
  readonly #sections: readonly Section[]
  readonly #logger: Logger
  readonly #listeners = new Set<(change: MCPToolsChange) => void>()
  readonly #stopListening: () => void
  /** Lists to be asked for in the background. */
  readonly #stale = new Set<Section>()
  #operations: readonly LazyOperation[] = []
  #running: Promise<MCPToolsChange> | undefined
  #next: Promise<MCPToolsChange> | undefined
  #background: unknown
  #expiry: unknown
  #failures = 0
  #failure: string | undefined
  #endedAt = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(connection: MCPConnection, sections: readonly Section[], logger: Logger) {
    this.#connection = connection
    this.#sections = sections
    this.#logger = logger
    this.#stopListening = connection.onEvent((event) => this.#heed(event))
  }

  get operations(): readonly LazyOperation[] {
    return this.#operations
  }

  /** Why the last refresh failed; `undefined` when it did not. */
  get failure(): string | undefined {
    return this.#failure
  }

  /** Settles when no refresh is under way or due. */
  get settled(): Promise<unknown> | undefined {
    if (this.#stale.size > 0 && this.#running === undefined && this.#next === undefined) {
      return this.refresh()
    }
    return this.#next ?? this.#running
  }

  /** Asks for all lists. Rejects when one of them cannot be had, and then what was known stays. */
  refresh(): Promise<MCPToolsChange> {
    if (this.#next !== undefined) return this.#next
    if (this.#running === undefined) return this.#start(this.#sections)
    // What runs may have asked before whatever the caller knows of.
    const next = this.#running.then(ignore, ignore).then(() => {
      this.#next = undefined
      return this.#start(this.#sections)
    })
    this.#next = next
    return next
  }

  onChange(listener: (change: MCPToolsChange) => void): () => void {
    const entry = (change: MCPToolsChange): void => listener(change)
    this.#listeners.add(entry)
    return () => void this.#listeners.delete(entry)
  }

  close(): void {
    this.#isClosed = true
    this.#stopListening()
    this.#listeners.clear()
    this.#stale.clear()
    clear(this.#background)
    clear(this.#expiry)
  }

  #heed(event: MCPConnectionEvent): void {
    if (event.type === "changed") {
      this.#later(this.#sections.filter(({ kinds }) => kinds.includes(event.kind)))
    } else if (event.type === "connected" && event.isAgain) {
      this.#later(this.#sections)
    }
  }

  /** Refreshes in the background: at once, or when the last refresh is some time ago. */
  #later(sections: readonly Section[]): void {
    if (this.#isClosed || sections.length === 0) return
    for (const section of sections) this.#stale.add(section)
    if (this.#background !== undefined || this.#next !== undefined) return
    const pause = Math.min(CALM * 2 ** (2 * this.#failures), LONGEST_PAUSE)
    const wait = Math.max(0, this.#endedAt + pause - systemClock.now())
    this.#background = timer(wait, () => {
      this.#background = undefined
      this.#catchUp()
    })
  }

  #catchUp(): void {
    // Whoever connects it again makes everything stale anyway; nothing is started just to look.
    if (this.#isClosed || this.#stale.size === 0 || this.#connection.status.state !== "ready")
      return
    if (this.#running !== undefined) {
      void this.#running.then(ignore, ignore).then(() => this.#catchUp())
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
    const running = this.#run(sections).finally(() => {
      this.#running = undefined
      this.#endedAt = systemClock.now()
    })
    this.#running = running
    return running
  }

  async #run(sections: readonly Section[]): Promise<MCPToolsChange> {
    for (const section of sections) this.#stale.delete(section)
    clear(this.#expiry)
    const outcomes = await Promise.allSettled(sections.map((section) => section.update()))
    // What did arrive counts, whatever became of the rest.
    const change = this.#take()
    let shortest = Number.POSITIVE_INFINITY
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") {
        shortest = Math.min(shortest, lifetime(outcome.value.ttlMs))
      } else {
        const section = sections[index]
        if (section !== undefined && !this.#isClosed) this.#stale.add(section)
      }
    }
    this.#expire(shortest)
    const failed = outcomes.find((outcome) => outcome.status === "rejected")
    this.#failures = failed === undefined ? 0 : this.#failures + 1
    this.#failure = failed === undefined ? undefined : reasonOf(failed.reason)
    if (failed !== undefined) throw failed.reason
    return change
  }

  #take(): MCPToolsChange {
    const before = this.#operations
    if (this.#isClosed) return difference(before, before)
    this.#operations = this.#sections.flatMap(({ operations }) => operations)
    const change = difference(before, this.#operations)
    if (change.added.length + change.replaced.length + change.removed.length > 0) this.#tell(change)
    return change
  }

  #tell(change: MCPToolsChange): void {
    for (const listener of this.#listeners) {
      const about = { server: this.#connection.name }
      notify(this.#logger, "A listener for changed tools threw", () => listener(change), about)
    }
  }

  #expire(milliseconds: number): void {
    if (this.#isClosed || milliseconds === Number.POSITIVE_INFINITY) return
    this.#expiry = timer(milliseconds, () => this.#later(this.#sections))
  }
}

/** What is new, what is other than it was under the same id, and what is gone. */
function difference(
  before: readonly LazyOperation[],
  after: readonly LazyOperation[],
): MCPToolsChange {
  const old = new Map(before.map((operation) => [idOf(operation), operation]))
  const added: LazyOperation[] = []
  const replaced: LazyOperation[] = []
  for (const operation of after) {
    const id = idOf(operation)
    const known = old.get(id)
    if (known === undefined) added.push(operation)
    else if (known !== operation) replaced.push(operation)
    old.delete(id)
  }
  return { added, replaced, removed: [...old.values()] }
}

function idOf({ namespace, name }: LazyOperation): string {
  return `${namespace}.${name}`
}

/** Nothing, or nothing in particular, is no promise; everything else is taken within bounds. */
function lifetime(ttlMs: number | undefined): number {
  if (ttlMs === undefined || !(ttlMs > 0)) return Number.POSITIVE_INFINITY
  return Math.min(Math.max(ttlMs, SHORTEST_TTL), LONGEST_TTL)
}

function timer(milliseconds: number, callback: () => void): unknown {
  const handle: unknown = globalThis.setTimeout(callback, milliseconds)
  setRef(handle, false)
  return handle
}

function clear(handle: unknown): void {
  if (handle !== undefined) globalThis.clearTimeout(handle as number)
}

function ignore(): void {}
