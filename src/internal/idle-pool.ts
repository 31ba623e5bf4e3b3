import type { Clock } from "./platform.ts"
import { setRef } from "./defer.ts"

/** What a pool keeps, and for how long. */
export interface IdlePoolOptions<TValue> {
  readonly clock: Clock
  /** Values at once; the one that was not used for longest makes room. */
  readonly most: number
  /** Milliseconds after which a value that nobody asks for is given up. */
  readonly idle: number
  /** Something still runs on it: it is not given up yet. */
  readonly isBusy?: ((value: TValue) => boolean) | undefined
  readonly giveUp: (value: TValue) => void
}

interface Entry<TValue> {
  readonly value: TValue
  timer: unknown
}

/** Values by key, which are made when they are first asked for, and given up when nobody does any more. */
export class IdlePool<TValue> {
  readonly #options: IdlePoolOptions<TValue>
  readonly #entries = new Map<string, Entry<TValue>>()

  constructor(options: IdlePoolOptions<TValue>) {
    this.#options = options
  }

  get(key: string, make: () => TValue): TValue {
    const known = this.#entries.get(key)
    if (known === undefined) this.#makeRoom()
    const entry = known ?? { value: make(), timer: undefined }
    // Set anew, so that the first one is always the one that was not used for longest.
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    this.#wait(key, entry)
    return entry.value
  }

  *values(): Generator<TValue, void, undefined> {
    for (const { value } of this.#entries.values()) yield value
  }

  /** Forgets all of them, and leaves it to the caller to give them up. */
  clear(): TValue[] {
    const values = [...this.values()]
    for (const { timer } of this.#entries.values()) this.#options.clock.clearTimeout(timer)
    this.#entries.clear()
    return values
  }

  #wait(key: string, entry: Entry<TValue>): void {
    const { clock, idle } = this.#options
    clock.clearTimeout(entry.timer)
    entry.timer = clock.setTimeout(() => {
      if (!this.#drop(key, entry)) this.#wait(key, entry)
    }, idle)
    setRef(entry.timer, false)
  }

  #makeRoom(): void {
    if (this.#entries.size < this.#options.most) return
    for (const [key, entry] of this.#entries) if (this.#drop(key, entry)) return
  }

  #drop(key: string, { value, timer }: Entry<TValue>): boolean {
    const { clock, isBusy, giveUp } = this.#options
    if (isBusy?.(value) === true) return false
    this.#entries.delete(key)
    clock.clearTimeout(timer)
    giveUp(value)
    return true
  }
}
