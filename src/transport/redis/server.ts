import type { RedisLike } from "./ioredis.ts"

/** Facts about a server. */
export interface RedisServer {
  /** `PUBLISH` counts all subscribers; in a cluster it counts only those of the same node. */
  readonly countsAll: boolean
  readonly isReplica: boolean
}

/** Asks a server for its mode and role. That needs a permission only on old servers. */
export async function describeServer(redis: RedisLike): Promise<RedisServer> {
  try {
    const fields = (await redis.call("hello")) as readonly unknown[]
    const field = (name: string): unknown => fields[fields.indexOf(name) + 1]
    const isReplica = field("role") !== "master"
    return { countsAll: field("mode") === "standalone" && !isReplica, isReplica }
  } catch (error) {
    if (redis.status !== "ready") throw error
    const info = await redis.call("info", "cluster").catch(() => "")
    return { countsAll: /^cluster_enabled:0/m.test(String(info)), isReplica: false }
  }
}

/** The number of subscribers of a channel; `undefined` if the server does not report it. */
export async function countListeners(
  redis: RedisLike,
  channel: string,
): Promise<number | undefined> {
  try {
    const [, count] = (await redis.call("pubsub", "numsub", channel)) as readonly unknown[]
    return Number(count)
  } catch {
    return undefined
  }
}
