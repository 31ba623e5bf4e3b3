import { CallError } from "../../core/errors.ts"
import type { RateLimiter } from "../../core/resilience.ts"
import { systemClock } from "../../internal/clock.ts"
import { reasonOf } from "../../internal/message-text.ts"
import { consoleLogger, type Logger } from "../../internal/logger.ts"
import { validateOptions, type OptionsSchema } from "../../internal/options.ts"
import type { Clock } from "../../internal/platform.ts"
import { TokenBuckets } from "../token-buckets.ts"
import { sendCommand, type RedisCommandClient } from "./client.ts"

/** Options of `createRedisLimiter`. */
export interface RedisLimiterOptions {
  readonly client: RedisCommandClient
  /** In front of all keys; `"operations:limit:"`. */
  readonly prefix?: string | undefined
  /**
   * While Redis does not answer: `share` (the default) limits each process to its share; `refuse` rejects all
   * calls.
   */
  readonly whenAway?: "share" | "refuse" | undefined
  /** How many processes share the limit, for their shares; 1. */
  readonly instances?: number | undefined
  /** How long to wait for Redis, in milliseconds; 250. */
  readonly timeout?: number | undefined
  readonly logger?: Logger | undefined
  readonly clock?: Clock | undefined
}

export const REDIS_LIMITER_OPTIONS: OptionsSchema<RedisLimiterOptions> = {
  client: { required: { methods: ["call"], expected: "a client of ioredis" } },
  prefix: "string",
  whenAway: { oneOf: ["share", "refuse"] },
  instances: "count",
  timeout: "duration",
  logger: "logger",
  clock: "clock",
}

/**
 * Stores a bucket as the time at which it is full again, by the clock of Redis. Returns the milliseconds until
 * there is a token.
 */
const SCRIPT = `local time = redis.call("TIME")
local now = time[1] * 1000 + time[2] / 1000
local full = tonumber(redis.call("GET", KEYS[1]) or 0)
local wait = full - tonumber(ARGV[2]) - now
if wait > 0 then return string.format("%.3f", wait) end
full = math.max(full, now) + tonumber(ARGV[1])
redis.call("SET", KEYS[1], string.format("%.3f", full), "PX", math.ceil(full - now))
return "0"`

/** How long no request is sent to Redis after it did not respond, in milliseconds. */
const AWAY_MS = 1_000
const MAX_LIMITS = 1_000

/**
 * Creates a limiter for the policy `rateLimit`: one limit for all processes that use the same Redis.
 *
 * Every decision is one round trip. It leaves the client open.
 */
export function createRedisLimiter(options: RedisLimiterOptions): RateLimiter {
  validateOptions("createRedisLimiter", options, REDIS_LIMITER_OPTIONS)
  return new RedisLimiter(options)
}

class RedisLimiter implements RateLimiter {
  readonly #options: RedisLimiterOptions
  readonly #clock: Clock
  /** For each limit, the share of this process. */
  readonly #shares = new Map<string, TokenBuckets>()
  #awayUntil = Number.NEGATIVE_INFINITY
  #isAway = false

  constructor(options: RedisLimiterOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  async take(key: string, limit: { perSecond: number; burst: number }): Promise<number> {
    if (this.#clock.now() < this.#awayUntil) return this.#takeAlone(key, limit)
    const { client, prefix = "operations:limit:", timeout = 250 } = this.#options
    const interval = 1000 / limit.perSecond
    const tolerance = interval * (limit.burst - 1)
    try {
      const answer = await sendCommand(
        client,
        ["EVAL", SCRIPT, "1", `${prefix}${key}`, String(interval), String(tolerance)],
        { clock: this.#clock, timeout },
      )
      this.#isAway = false
      const wait = Number(answer)
      return wait > 0 ? wait : 0
    } catch (error) {
      this.#goneAway(error)
      return this.#takeAlone(key, limit)
    }
  }

  #goneAway(error: unknown): void {
    this.#awayUntil = this.#clock.now() + AWAY_MS
    if (this.#isAway) return
    this.#isAway = true
    const { logger = consoleLogger, whenAway = "share" } = this.#options
    const effect =
      whenAway === "refuse" ? "all calls are rejected" : "each process is limited to its share"
    logger.warn(`Redis does not answer; until it does, ${effect}`, { reason: reasonOf(error) })
  }

  #takeAlone(key: string, { perSecond, burst }: { perSecond: number; burst: number }): number {
    const { whenAway = "share", instances = 1 } = this.#options
    if (whenAway === "refuse") {
      throw new CallError("UNAVAILABLE", "The rate limit cannot be checked: Redis does not answer.")
    }
    const name = `${perSecond} ${burst}`
    let share = this.#shares.get(name)
    if (share === undefined) {
      if (this.#shares.size >= MAX_LIMITS) this.#shares.clear()
      share = new TokenBuckets(perSecond / instances, Math.max(burst / instances, 1))
      this.#shares.set(name, share)
    }
    return Math.max(-share.take(key, this.#clock.now(), 0), 0)
  }
}
