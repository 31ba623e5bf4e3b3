import type { IdempotencyStore } from "../../core/resilience.ts"
import { systemClock } from "../../internal/clock.ts"
import { validateOptions } from "../../internal/options.ts"
import type { OptionsSchema } from "../../internal/options.ts"
import { sendCommand } from "./client.ts"
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

/**
 * Creates a store for the policy `idempotency` that all processes with the same Redis share.
 *
 * The keys in Redis are hashes. The values hold results and errors of calls. It leaves the client open.
 */
export function createRedisIdempotencyStore(
  options: RedisIdempotencyStoreOptions,
): IdempotencyStore {
  validateOptions("createRedisIdempotencyStore", options, REDIS_IDEMPOTENCY_OPTIONS)
  const { client, prefix = "operations:idempotency:", timeout = 1_000 } = options
  const send = (...command: readonly [string, ...string[]]): Promise<unknown> =>
    sendCommand(client, command, { clock: systemClock, timeout })
  return {
    async begin(key, value, ttl) {
      for (;;) {
        const stored = await send("SET", prefix + key, value, "NX", "PX", String(Math.ceil(ttl)))
        if (stored !== null) return undefined
        const existing = await send("GET", prefix + key)
        // It may have expired in between.
        if (typeof existing === "string") return existing
      }
    },
    async finish(key, value, ttl) {
      await send("SET", prefix + key, value, "PX", String(Math.ceil(ttl)))
    },
    async forget(key) {
      await send("DEL", prefix + key)
    },
  }
}
