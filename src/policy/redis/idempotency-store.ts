import type { IdempotencyStore } from "../../core/resilience.ts"
import { systemClock } from "../../internal/clock.ts"
import { validateOptions, type OptionsSchema } from "../../internal/options.ts"
import { withTimeout } from "../../internal/wait.ts"
import type { RedisCommandClient } from "./client.ts"

/** Options of `createRedisIdempotencyStore`. */
export interface RedisIdempotencyStoreOptions {
  readonly client: RedisCommandClient
  /** In front of all keys; `"operations:idempotency:"`. */
  readonly prefix?: string | undefined
  /** How long to wait for Redis, in milliseconds; 1,000. */
  readonly timeout?: number | undefined
}

export const REDIS_IDEMPOTENCY_OPTIONS: OptionsSchema<RedisIdempotencyStoreOptions> = {
  client: { required: { methods: ["call"], expected: "a client of ioredis" } },
  prefix: "string",
  timeout: "duration",
}

/** Stores a value, unless there is one of another attempt; the client may send it twice. Returns the other one. */
const BEGIN = `local kept = redis.call("GET", KEYS[1])
if kept and kept ~= ARGV[1] and kept ~= ARGV[3] then return kept end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
return false`

/** Replaces the own value, or a lost one; that of another process stays. Returns what there was. */
const FINISH = `local kept = redis.call("GET", KEYS[1])
if not kept or ARGV[3] == "" or kept == ARGV[3] then redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2]) end
return kept`

const FORGET = `if ARGV[1] == "" or redis.call("GET", KEYS[1]) == ARGV[1] then redis.call("DEL", KEYS[1]) end`

const MAX_UNANSWERED = 10_000

/**
 * Creates a store for the policy `idempotency` that all processes with the same Redis share.
 *
 * The keys in Redis are hashes. The values hold results and errors of calls. It leaves the client open. Redis must
 * not lose keys: use `appendonly yes` and `maxmemory-policy noeviction`.
 */
export function createRedisIdempotencyStore(
  options: RedisIdempotencyStoreOptions,
): IdempotencyStore {
  validateOptions("createRedisIdempotencyStore", options, REDIS_IDEMPOTENCY_OPTIONS)
  const { client, prefix = "operations:idempotency:", timeout = 1_000 } = options
  /** Values of keys whose calls run here. */
  const owned = new Map<string, string>()
  /** Values that were perhaps stored, and whose calls did not run, because Redis did not answer. */
  const unanswered = new Map<string, string>()
  const run = (script: string, key: string, ...args: string[]): Promise<unknown> =>
    client.call("EVAL", script, "1", prefix + key, ...args)
  const late = (): never => {
    throw new Error(`Redis did not answer within ${timeout} ms.`)
  }
  const wait = (answer: Promise<unknown>): Promise<unknown> =>
    withTimeout(answer, timeout, late, { clock: systemClock })
  return {
    async begin(key, value, ttl) {
      const earlier = unanswered.get(key) ?? ""
      const answer = run(BEGIN, key, value, String(Math.ceil(ttl)), earlier)
      let kept: unknown
      try {
        kept = await wait(answer)
      } catch (error) {
        // Its call does not run, so the next call with the key must not wait for it.
        if (unanswered.size < MAX_UNANSWERED) unanswered.set(key, value)
        const release = (): Promise<unknown> => run(FORGET, key, value)
        void answer.then(release, release).catch(() => undefined)
        throw error
      }
      unanswered.delete(key)
      if (typeof kept === "string") return kept
      owned.set(key, value)
      return undefined
    },
    async finish(key, text, ttl) {
      const value = owned.get(key) ?? ""
      owned.delete(key)
      const kept = await wait(run(FINISH, key, text, String(Math.ceil(ttl)), value))
      return value === "" || kept === value || kept === text
    },
    async forget(key) {
      const value = owned.get(key) ?? ""
      owned.delete(key)
      await wait(run(FORGET, key, value))
    },
  }
}
