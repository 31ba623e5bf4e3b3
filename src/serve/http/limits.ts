import { refusal } from "../../errors.ts"
import type { CallError } from "../../errors.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import type { Clock } from "../../platform.ts"

/** How many calls each caller may make, over time. */
export interface RateLimitOptions {
  readonly perSecond: number
  /** How many at once after a rest; as many as in a second, at least 1. */
  readonly burst?: number | undefined
}

export const RATE_LIMIT_OPTIONS: OptionsSchema<RateLimitOptions> = {
  perSecond: { required: { min: 0 } },
  burst: "count",
}

/** What each caller may use. */
export interface LimitOptions {
  /** No limit, when left out. */
  readonly rateLimit?: RateLimitOptions | undefined
  /** Requests of a caller at the same time: 100. */
  readonly maxConcurrency?: number | undefined
  /** Streams of a caller at the same time: 20. */
  readonly maxStreams?: number | undefined
}

/** What a caller uses at the moment. */
export interface Usage {
  tokens: number
  /** When `tokens` was true. */
  at: number
  running: number
  streams: number
}

// So many callers are remembered before those who rest are forgotten.
const MANY = 10_000
const SLOT_RETRY_MS = 1000

/** Counts what callers use: a bucket of tokens, requests and streams for each. */
export class Limits {
  readonly #callers = new Map<string, Usage>()
  readonly #clock: Clock
  readonly #perMs: number
  readonly #burst: number
  readonly #maxConcurrency: number
  readonly #maxStreams: number
  #sweepAt = MANY

  constructor(options: LimitOptions, clock: Clock) {
    const { rateLimit, maxConcurrency = 100, maxStreams = 20 } = options
    this.#clock = clock
    this.#maxConcurrency = maxConcurrency
    this.#maxStreams = maxStreams
    const { perSecond, burst } = rateLimit ?? { perSecond: Number.POSITIVE_INFINITY }
    if (rateLimit !== undefined && !(Number.isFinite(perSecond) && perSecond > 0)) {
      throw new TypeError(
        "rateLimit.perSecond must be a number above 0; leave rateLimit out for none.",
      )
    }
    this.#perMs = perSecond / 1000
    this.#burst = burst ?? Math.max(1, Math.ceil(perSecond))
  }

  /** Callers that are remembered. */
  get size(): number {
    return this.#callers.size
  }

  /** What a caller uses; the same object as long as anything of it counts. */
  usageOf(key: string): Usage {
    const known = this.#callers.get(key)
    if (known !== undefined) return known
    if (this.#callers.size >= this.#sweepAt) this.#sweep()
    const usage: Usage = { tokens: this.#burst, at: this.#clock.now(), running: 0, streams: 0 }
    this.#callers.set(key, usage)
    return usage
  }

  /** Pays for calls, or says when there will be enough to pay with. */
  charge(usage: Usage, calls: number): CallError | undefined {
    if (this.#perMs === Number.POSITIVE_INFINITY) return undefined
    this.#refill(usage)
    if (usage.tokens >= calls) {
      usage.tokens -= calls
      return undefined
    }
    const retryAfterMs = Math.ceil((Math.min(calls, this.#burst) - usage.tokens) / this.#perMs)
    const perSecond = this.#perMs * 1000
    return refusal("RATE_LIMITED", `More than ${perSecond} calls per second. Wait a little.`, {
      retryAfterMs: Math.max(1, retryAfterMs),
    })
  }

  /** Takes a slot for a request. Whoever took it gives it back with `running--`. */
  enter(usage: Usage): CallError | undefined {
    if (usage.running >= this.#maxConcurrency) {
      return busy(`${this.#maxConcurrency} requests are running already. Wait for one of them.`)
    }
    const unpaid = this.charge(usage, 1)
    if (unpaid === undefined) usage.running++
    return unpaid
  }

  /** Takes a slot for a stream. Whoever took it gives it back with `streams--`. */
  openStream(usage: Usage): CallError | undefined {
    if (usage.streams >= this.#maxStreams) {
      return busy(`${this.#maxStreams} streams are open already. Close one of them.`)
    }
    usage.streams++
    return undefined
  }

  #refill(usage: Usage): void {
    const now = this.#clock.now()
    // A clock that is set back gives nothing, and takes nothing.
    const elapsed = Math.max(0, now - usage.at)
    usage.tokens = Math.min(this.#burst, usage.tokens + elapsed * this.#perMs)
    usage.at = now
  }

  #sweep(): void {
    for (const [key, usage] of this.#callers) {
      if (usage.running > 0 || usage.streams > 0) continue
      if (this.#perMs !== Number.POSITIVE_INFINITY) this.#refill(usage)
      if (usage.tokens >= this.#burst) this.#callers.delete(key)
    }
    // Where nearly all are busy, looking at each of them for each new one would be slow.
    this.#sweepAt = Math.max(MANY, this.#callers.size * 2)
  }
}

function busy(message: string): CallError {
  return refusal("RATE_LIMITED", message, { retryAfterMs: SLOT_RETRY_MS })
}
