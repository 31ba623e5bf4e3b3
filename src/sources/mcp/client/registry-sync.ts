import { idOf, type AnyOperation } from "../../../core/define.ts"
import type { Logger } from "../../../internal/logger.ts"
import type { AnyRegistry } from "../../../engine/registry.ts"
import type { OperationSpec } from "../../../core/types.ts"

/**
 * Keeps the operations of the servers registered in one registry. It neither replaces nor removes operations
 * that others registered under the same id.
 */
export class RegistrySync {
  readonly #registry: AnyRegistry
  readonly #logger: Logger
  readonly #owned = new Map<string, Owned>()
  readonly #refused = new Set<string>()
  #isStopped = false

  constructor(registry: AnyRegistry, logger: Logger) {
    this.#registry = registry
    this.#logger = logger
  }

  /** Registers all of them, or throws and registers none. */
  start(operations: readonly AnyOperation[]): void {
    this.#registry.registerAll(operations)
    for (const operation of operations) this.#own(operation)
  }

  /** Registers and unregisters synchronously until exactly these operations are registered. */
  sync(operations: readonly AnyOperation[]): void {
    if (this.#isStopped) return
    const wanted = new Map(operations.map((operation) => [idOf(operation), operation]))
    for (const id of [...this.#owned.keys()]) if (!wanted.has(id)) this.#remove(id)
    const changed = [...wanted].filter(([id, operation]) => this.#mustRegister(id, operation))
    this.#register(changed.map(([, operation]) => operation))
  }

  /** Unregisters everything. May be called more than once. */
  stop(): void {
    this.#isStopped = true
    for (const id of [...this.#owned.keys()]) this.#remove(id)
  }

  #mustRegister(id: string, operation: AnyOperation): boolean {
    const owned = this.#owned.get(id)
    const present = this.#registry.getSpec(id)
    if (owned?.operation === operation && owned.spec === present) return false
    if (present === undefined || owned?.spec === present) return true
    if (!this.#refused.has(id)) {
      this.#refused.add(id)
      this.#logger.warn("An MCP operation was not registered: its id is taken by another", { id })
    }
    this.#owned.delete(id)
    return false
  }

  #register(operations: readonly AnyOperation[]): void {
    if (operations.length === 0) return
    try {
      this.#registry.registerAll(operations, { replace: true })
    } catch (error) {
      this.#logger.warn("MCP operations were not registered", { ids: operations.map(idOf), error })
      return
    }
    for (const operation of operations) this.#own(operation)
  }

  #own(operation: AnyOperation): void {
    const id = idOf(operation)
    this.#refused.delete(id)
    this.#owned.set(id, { operation, spec: this.#registry.getSpec(id) })
  }

  #remove(id: string): void {
    const owned = this.#owned.get(id)
    this.#owned.delete(id)
    if (owned?.spec !== undefined && this.#registry.getSpec(id) === owned.spec) {
      this.#registry.unregister(id)
    }
  }
}

/** A registered operation, and the registry's spec of it, which shows whether it is still ours. */
interface Owned {
  readonly operation: AnyOperation
  readonly spec: OperationSpec | undefined
}
