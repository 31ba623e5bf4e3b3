import type { OperationRegistry } from "../engine/registry.ts"
import { addToList } from "../internal/lists.ts"
import { reasonOf } from "../internal/message-text.ts"
import { idOf, type AnyOperation } from "../core/define.ts"

/** An operation of a source that is not registered, and why. */
export interface Unregistered {
  readonly id: string
  readonly reason: string
}

interface Claim {
  readonly source: string
  readonly operation: AnyOperation
}

/**
 * Decides which source owns each operation id. If several claim an id, the first one in the configuration
 * wins, whichever was opened first. When it goes away, the next one takes over.
 */
export class SourceOwnership {
  readonly #registry: OperationRegistry
  readonly #order = new Map<string, number>()
  readonly #claims = new Map<string, Claim[]>()
  readonly #bySource = new Map<string, ReadonlyMap<string, AnyOperation>>()
  /** Operations that this class registered; the program may have registered others. */
  readonly #registered = new Map<string, Claim>()
  readonly #invalid = new WeakMap<AnyOperation, string>()

  constructor(registry: OperationRegistry) {
    this.#registry = registry
  }

  get originId(): string {
    return this.#registry.originId
  }

  /** Sets the order of precedence of the sources. */
  setOrder(names: readonly string[]): void {
    const before = new Map(this.#order)
    this.#order.clear()
    names.forEach((name, index) => this.#order.set(name, index))
    const moved = [...this.#claims].filter(([, claims]) => claims.length > 1)
    if (moved.length > 0 && !sameOrder(before, names)) this.#reconcile(moved.map(([id]) => id))
  }

  /** Replaces the operations of a source. Running calls continue. */
  set(source: string, operations: readonly AnyOperation[]): void {
    const before = this.#bySource.get(source) ?? new Map<string, AnyOperation>()
    const after = new Map<string, AnyOperation>()
    // If an id occurs twice, the first operation wins, as between sources.
    for (const operation of operations) {
      const id = idOf(operation)
      if (!after.has(id)) after.set(id, operation)
    }
    if (after.size === 0) this.#bySource.delete(source)
    else this.#bySource.set(source, after)
    const touched: string[] = []
    for (const id of before.keys()) {
      if (after.has(id)) continue
      this.#drop(source, id)
      touched.push(id)
    }
    for (const [id, operation] of after) {
      if (before.get(id) === operation) continue
      this.#drop(source, id)
      addToList(this.#claims, id, { source, operation })
      touched.push(id)
    }
    this.#reconcile(touched)
  }

  /** The source of an operation; `undefined` for one that was registered by other code. */
  sourceOf(id: string): string | undefined {
    return this.#registered.get(id)?.source
  }

  /** How many operations of a source are registered. */
  count(source: string): number {
    let count = 0
    for (const id of this.#bySource.get(source)?.keys() ?? []) {
      if (this.#registered.get(id)?.source === source) count++
    }
    return count
  }

  /** The operations of a source that are not registered, and why. */
  unregistered(source: string): Unregistered[] {
    const unregistered: Unregistered[] = []
    for (const [id, operation] of this.#bySource.get(source) ?? []) {
      const registered = this.#registered.get(id)
      if (registered?.source === source) continue
      unregistered.push({ id, reason: this.#reasonFor(id, operation, registered) })
    }
    return unregistered
  }

  #reasonFor(id: string, operation: AnyOperation, registered: Claim | undefined): string {
    const problem = this.#invalid.get(operation)
    if (problem !== undefined) return problem
    return registered === undefined
      ? `"${id}" was registered by the program itself; rename this one`
      : `source "${registered.source}" has "${id}" too, and comes first; rename one of them, or give one another namespace`
  }

  #drop(source: string, id: string): void {
    const claims = this.#claims.get(id)?.filter((claim) => claim.source !== source) ?? []
    if (claims.length === 0) this.#claims.delete(id)
    else this.#claims.set(id, claims)
  }

  /** Registers the winner of each id, and removes ids without one, in one turn. */
  #reconcile(ids: readonly string[]): void {
    const wanted: [string, Claim][] = []
    for (const id of ids) {
      const winner = this.#winner(id)
      const registered = this.#registered.get(id)
      if (winner === undefined) this.#remove(id)
      else if (registered?.operation === winner.operation) this.#registered.set(id, winner)
      else if (registered !== undefined || !this.#registry.has(id)) wanted.push([id, winner])
    }
    if (wanted.length > 0) this.#register(wanted)
  }

  #winner(id: string): Claim | undefined {
    let best: Claim | undefined
    for (const claim of this.#claims.get(id) ?? []) {
      if (this.#invalid.has(claim.operation)) continue
      if (best === undefined || this.#rank(claim) < this.#rank(best)) best = claim
    }
    return best
  }

  #rank({ source }: Claim): number {
    return this.#order.get(source) ?? Number.POSITIVE_INFINITY
  }

  #remove(id: string): void {
    if (this.#registered.delete(id)) this.#registry.unregister(id)
  }

  #register(wanted: readonly (readonly [string, Claim])[]): void {
    try {
      this.#registry.registerAll(
        wanted.map(([, { operation }]) => operation),
        { replace: true },
      )
      for (const [id, claim] of wanted) this.#registered.set(id, claim)
    } catch (error) {
      // An invalid operation must not keep the others out.
      if (wanted.length > 1) {
        for (const one of wanted) this.#register([one])
        return
      }
      const [[id, { operation }]] = wanted as [readonly [string, Claim]]
      this.#invalid.set(operation, reasonOf(error))
      if (this.#winner(id) === undefined) this.#remove(id)
      else this.#reconcile([id])
    }
  }
}

function sameOrder(before: ReadonlyMap<string, number>, names: readonly string[]): boolean {
  return before.size === names.length && names.every((name, index) => before.get(name) === index)
}
