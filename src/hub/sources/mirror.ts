import { setRef } from "../../internal/defer.ts"
import type { Clock } from "../../internal/platform.ts"
import { Listeners } from "../../internal/listeners.ts"
import type { AnyRegistry } from "../../engine/registry.ts"
import type { RawReport } from "../model.ts"
import { idOf, isSameImport, type AnyOperation } from "../../core/define.ts"

/** How long operations stay after their peer removed them. */
export interface Linger {
  readonly clock: Clock
  readonly ms: number
}

/** The part of a registry that following a peer needs: it stores definitions unchanged. */
export class Mirror implements Pick<AnyRegistry, "registerAll" | "unregister"> {
  readonly originId: string
  readonly #operations = new Map<string, AnyOperation>()
  readonly #listeners = new Listeners()
  readonly #linger: Linger | undefined
  /** Timers of operations that the peer no longer has, and that will be removed. */
  readonly #leaving = new Map<string, unknown>()
  #isNotifyScheduled = false
  #isClosed = false

  /** `originId` is that of the registry that the operations are for. */
  constructor(originId: string, linger?: Linger) {
    this.originId = originId
    this.#linger = linger
  }

  get operations(): readonly AnyOperation[] {
    return [...this.#operations.values()]
  }

  /** The peer has no operations. */
  get isAbandoned(): boolean {
    return this.#leaving.size === this.#operations.size
  }

  /** A report in which every operation is kept. */
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
      if (this.#cancelRemoval(id)) this.#notifyChanged()
      const current = this.#operations.get(id)
      // A peer that came back is listed again; unchanged operations keep their object, so they are no change.
      if (current !== undefined && isSameImport(current, operation)) continue
      this.#operations.set(id, operation)
      this.#notifyChanged()
    }
  }

  unregister(id: string): boolean {
    if (!this.#operations.has(id)) return false
    if (this.#linger === undefined || this.#isClosed) this.#operations.delete(id)
    else this.#removeLater(id, this.#linger)
    this.#notifyChanged()
    return true
  }

  onChange(listener: () => void): () => void {
    return this.#listeners.add(listener)
  }

  close(): void {
    this.#isClosed = true
    this.#listeners.clear()
    for (const id of [...this.#leaving.keys()]) this.#cancelRemoval(id)
  }

  #removeLater(id: string, { clock, ms }: Linger): void {
    this.#cancelRemoval(id)
    const timer = clock.setTimeout(() => {
      // Without any worker we cannot know that the operation is gone for good.
      if (this.isAbandoned) return this.#removeLater(id, { clock, ms })
      this.#leaving.delete(id)
      this.#operations.delete(id)
      this.#notifyChanged()
    }, ms)
    setRef(timer, false)
    this.#leaving.set(id, timer)
  }

  /** Cancels a removal; `false` when none was pending. */
  #cancelRemoval(id: string): boolean {
    if (!this.#leaving.has(id)) return false
    this.#linger?.clock.clearTimeout(this.#leaving.get(id))
    return this.#leaving.delete(id)
  }

  /** Notifies listeners once for all changes of one turn. */
  #notifyChanged(): void {
    if (this.#isNotifyScheduled) return
    this.#isNotifyScheduled = true
    queueMicrotask(() => {
      this.#isNotifyScheduled = false
      this.#listeners.notify()
    })
  }
}
