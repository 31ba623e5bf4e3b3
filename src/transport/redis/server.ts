import type { RedisLike } from "./ioredis.ts"

/** What has to be known of a server. */
export interface RedisServer {
  /** `PUBLISH` counts all that listen; in a cluster it counts those at the same node only. */
  readonly countsAll: boolean
  readonly isReplica: boolean
}

/** Asks a server what it is. Nobody needs a permission for that, but for old servers. */
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

/** How many listen to a channel; `undefined` where that is not told. */
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
