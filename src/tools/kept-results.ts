import type { Clock } from "../internal/platform.ts"
import { setRef } from "../internal/defer.ts"

/** A result of which a part was shown. */
export interface KeptResult {
  /** The whole result, as JSON. */
  readonly json: string
  /** Where it was cut. */
  readonly path: readonly string[]
}

interface Entry extends KeptResult {
  readonly caller: string
  readonly expires: number
}

const KEPT_MS = 5 * 60_000
const MAX_PER_CALLER = 8
/** Characters of all results together. */
const MAX_TOTAL = 32 * 1024 * 1024

/** Results of which callers saw a part, for some minutes and for the same caller. */
export class KeptResults {
  readonly #clock: Clock
  readonly #entries = new Map<string, Entry>()
  #total = 0
  #timer: unknown

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether there is something to read. */
  get isEmpty(): boolean {
    return this.#entries.size === 0
  }

  /** Keeps a result, and returns the id to read it by; `undefined` if it is too large to keep. */
  keep(caller: string, result: KeptResult): string | undefined {
    if (result.json.length > MAX_TOTAL / 2) return undefined
    const own = [...this.#entries].filter(([, entry]) => entry.caller === caller)
    if (own.length >= MAX_PER_CALLER) this.#drop(own[0]?.[0])
    while (this.#total + result.json.length > MAX_TOTAL)
      this.#drop(this.#entries.keys().next().value)
    const id = newId()
    this.#entries.set(id, { ...result, caller, expires: this.#clock.now() + KEPT_MS })
    this.#total += result.json.length
    this.#wait()
    return id
  }

  find(caller: string, id: string): KeptResult | undefined {
    const entry = this.#entries.get(id)
    const isOwn = entry?.caller === caller && entry.expires > this.#clock.now()
    return isOwn ? entry : undefined
  }

  clear(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#entries.clear()
    this.#total = 0
  }

  #wait(): void {
    this.#clock.clearTimeout(this.#timer)
    const [first] = this.#entries.values()
    if (first === undefined) return
    this.#timer = this.#clock.setTimeout(
      () => {
        const now = this.#clock.now()
        for (const [id, { expires }] of this.#entries) if (expires <= now) this.#drop(id)
        this.#wait()
      },
      Math.max(first.expires - this.#clock.now(), 1),
    )
    setRef(this.#timer, false)
  }

  #drop(id: string | undefined): void {
    const entry = id === undefined ? undefined : this.#entries.get(id)
    if (id === undefined || entry === undefined) return
    this.#entries.delete(id)
    this.#total -= entry.json.length
  }
}

/** An id that cannot be guessed: anonymous callers are one caller. */
function newId(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(12))
  return Array.from(bytes, (byte) => byte.toString(36).padStart(2, "0")).join("")
}
