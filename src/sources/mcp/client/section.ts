import { idOf } from "../../../core/define.ts"
import type { LazyOperation } from "../../../core/lazy-operation.ts"
import type { ResolvedServer } from "../config.ts"
import type { MCPConnection } from "./connection.ts"
import type { MCPListKind } from "./model.ts"

/** An operation, and what is needed to run it. */
interface Entry {
  readonly operation: LazyOperation
}

/** An entry, and a text that identifies its definition. */
interface Made<TEntry> {
  readonly text: string
  readonly entry: TEntry
}

/** The tools, resources or prompts of a server. */
export abstract class Section<TEntry extends Entry = Entry> {
  /** The lists that it is made from. */
  abstract readonly kinds: readonly MCPListKind[]
  operations: readonly LazyOperation[] = []
  warnings: readonly string[] = []
  protected readonly server: ResolvedServer
  protected readonly connection: MCPConnection
  #kept: ReadonlyMap<string, Made<TEntry>> = new Map()

  constructor(server: ResolvedServer, connection: MCPConnection) {
    this.server = server
    this.connection = connection
  }

  /** Fetches the lists and applies them. When it rejects, nothing has changed. */
  abstract update(): Promise<{ readonly ttlMs: number | undefined }>

  /**
   * Replaces the entries. An operation stays the same object as long as its definition stays the same, so that
   * comparing operations shows what has changed. Of two with the same id the first is used, and `onTwice`
   * receives the second.
   */
  protected replace(
    made: readonly Made<TEntry>[],
    onTwice: (entry: TEntry, id: string) => void,
  ): readonly TEntry[] {
    const kept = new Map<string, Made<TEntry>>()
    for (const one of made) {
      const id = idOf(one.entry.operation)
      const before = this.#kept.get(id)
      if (kept.has(id)) onTwice(one.entry, id)
      else kept.set(id, before?.text === one.text ? before : one)
    }
    this.#kept = kept
    const entries = Array.from(kept.values(), ({ entry }) => entry)
    this.operations = entries.map(({ operation }) => operation)
    return entries
  }
}
