import type { AnyOperation } from "../../core/define.ts"
import { setRef } from "../../internal/defer.ts"
import type { Clock } from "../../internal/platform.ts"
import type { AnyRegistry } from "../../engine/registry.ts"
import type { RawReport } from "../model.ts"
import { idOf } from "../shape.ts"

/** How long operations stay after their peer took them back; not at all when left out. */
export interface Linger {
  readonly clock: Clock
  readonly ms: number
}

/** As much of a registry as following a peer takes: it keeps definitions as they come. */
export class Mirror implements Pick<AnyRegistry, "registerAll" | "unregister"> {
  readonly #operations = new Map<string, AnyOperation>()
  readonly #listeners = new Set<() => void>()
  readonly #linger: Linger | undefined
  /** Those that the peer no longer has, with what takes them out in the end. */
  readonly #leaving = new Map<string, unknown>()
  #isTold = false
  #isClosed = false

  constructor(linger?: Linger) {
    this.#linger = linger
  }

  get operations(): readonly AnyOperation[] {
    return [...this.#operations.values()]
  }

  /** The peer has none of them, any more or at all. */
  get isDeserted(): boolean {
    return this.#leaving.size === this.#operations.size
  }

  /** What a source of these says of itself: all of them are kept, as they are. */
  report(): RawReport {
    const items = this.operations.map((operation) => {
      const id = idOf(operation)
      return { id, origin: id, status: "kept" as const, notes: [] }
    })
    return { items, warnings: [] }
  }

  registerAll(operations: readonly AnyOperation[]): void {
    for (const operation of operations) {
      const id = idOf(operation)
      if (this.#stay(id)) this.#changed()
      const known = this.#operations.get(id)
      // A peer that came back is listed anew; what is as it was stays, for whoever looks for changes.
      if (known !== undefined && JSON.stringify(known) === JSON.stringify(operation)) continue
      this.#operations.set(id, operation)
      this.#changed()
    }
  }

  unregister(id: string): boolean {
    if (!this.#operations.has(id)) return false
    if (this.#linger === undefined || this.#isClosed) this.#operations.delete(id)
    else this.#leave(id, this.#linger)
    this.#changed()
    return true
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  close(): void {
    this.#isClosed = true
    this.#listeners.clear()
    for (const id of [...this.#leaving.keys()]) this.#stay(id)
  }

  #leave(id: string, { clock, ms }: Linger): void {
    this.#stay(id)
    const timer = clock.setTimeout(() => {
      // While nobody is there, nobody can say that it is gone for good.
      if (this.isDeserted) return this.#leave(id, { clock, ms })
      this.#leaving.delete(id)
      this.#operations.delete(id)
      this.#changed()
    }, ms)
    setRef(timer, false)
    this.#leaving.set(id, timer)
  }

  /** Whether it had been about to leave. */
  #stay(id: string): boolean {
    if (!this.#leaving.has(id)) return false
    this.#linger?.clock.clearTimeout(this.#leaving.get(id))
    return this.#leaving.delete(id)
  }

  /** Changes of one turn are told once. */
  #changed(): void {
    if (this.#isTold) return
    this.#isTold = true
    queueMicrotask(() => {
      this.#isTold = false
      for (const listener of this.#listeners) listener()
    })
  }
}
