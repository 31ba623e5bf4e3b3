import type { ResponseEnvelope } from "../core/envelope.ts"
import type { Clock } from "../internal/platform.ts"
import type { SharedCall } from "./shared-call.ts"

/** What a process knows of a key: the call that runs, or its outcome until a time of the clock. */
export type KnownKey = { readonly input: string } & (
  | { readonly running: SharedCall<Replayable>; readonly requestId: string }
  | { readonly running?: undefined; readonly value: string; readonly until: number }
)

/** The result of a call with a key. */
export interface Replayable {
  readonly envelope: ResponseEnvelope
  /** It is that of an earlier call. */
  readonly isReplay: boolean
}

/** How many keys a caller may have; beyond it, the oldest outcome of that caller is removed. */
const MAX_OF_CALLER = 10_000
/** The same for all callers; beyond it, the oldest outcome of the caller that was active least recently is removed. */
const MAX_KEYS = 100_000

/** The idempotency keys of all operations of a registry: calls that run, which are never removed, and outcomes. */
export class KnownKeys {
  readonly #clock: Clock
  /** The caller that was active last is at the end, and so is its last outcome. */
  readonly #callers = new Map<string, Map<string, KnownKey>>()
  #size = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get(caller: string, key: string): KnownKey | undefined {
    const known = this.#callers.get(caller)?.get(key)
    if (known === undefined || known.running !== undefined) return known
    return known.until > this.#clock.now() ? known : undefined
  }

  /** Makes room for one more key of a caller; `false` if all that it has are running. */
  makeRoom(caller: string): boolean {
    const own = this.#callers.get(caller)
    return own === undefined || own.size < MAX_OF_CALLER || this.#dropOldest(caller, own)
  }

  set(caller: string, key: string, known: KnownKey): void {
    this.delete(caller, key)
    const own = this.#callers.get(caller) ?? new Map<string, KnownKey>()
    this.#callers.delete(caller)
    this.#callers.set(caller, own.set(key, known))
    if (++this.#size <= MAX_KEYS) return
    for (const [one, keys] of this.#callers) if (this.#dropOldest(one, keys)) return
  }

  delete(caller: string, key: string): void {
    const own = this.#callers.get(caller)
    if (own?.delete(key) !== true) return
    this.#size--
    if (own.size === 0) this.#callers.delete(caller)
  }

  #dropOldest(caller: string, keys: ReadonlyMap<string, KnownKey>): boolean {
    for (const [key, { running }] of keys) {
      if (running !== undefined) continue
      this.delete(caller, key)
      return true
    }
    return false
  }
}
