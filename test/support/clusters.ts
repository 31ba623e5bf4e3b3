/** Brokers that stand in for each other, on loopback. Whoever starts them ends them. */
import { setTimeout as sleep } from "node:timers/promises"
import { Redis } from "ioredis"
import { startNats, startRedis } from "./brokers.ts"
import type { Broker } from "./brokers.ts"
import { freePort } from "./free-port.ts"
import { PATIENCE } from "./patience.ts"

/** Three NATS servers that know each other. */
export async function startNatsCluster(): Promise<[Broker, Broker, Broker]> {
  const ports = [await freePort(), await freePort(), await freePort()] as const
  const routes = ports.map((port) => `"nats://127.0.0.1:${port}"`).join(", ")
  const start = (port: number): Promise<Broker> =>
    startNats({
      config: `cluster { name: "test", listen: "127.0.0.1:${port}", routes: [${routes}] }\n`,
    })
  return await Promise.all([start(ports[0]), start(ports[1]), start(ports[2])])
}

/** A Redis server called "main", another that can replace it, and the sentinel that sees to that. */
export async function startRedisSentinel(): Promise<{
  readonly main: Broker
  readonly other: Broker
  readonly sentinel: Broker
}> {
  const main = await startRedis()
  const other = await startRedis({ config: `replicaof 127.0.0.1 ${main.port}\n` })
  const monitor = `sentinel monitor main 127.0.0.1 ${main.port} 1`
  const times = "sentinel down-after-milliseconds main 500\nsentinel failover-timeout main 5000"
  const sentinel = await startRedis({ config: `${monitor}\n${times}\n`, args: ["--sentinel"] })
  // A sentinel has to know the other server before it can choose it.
  const admin = new Redis(sentinel.port)
  const knows = async (): Promise<boolean> =>
    JSON.stringify(await admin.call("sentinel", "replicas", "main")).includes(String(other.port))
  try {
    for (const until = performance.now() + PATIENCE; !(await knows()); await sleep(20)) {
      if (performance.now() > until) throw new Error("The sentinel does not find the other server.")
    }
  } finally {
    admin.disconnect()
  }
  return { main, other, sentinel }
}
