import { Cluster, Redis } from "ioredis"
import { describe, expect, onTestFinished, test } from "vitest"
import { PendingRequestMap, serveCalls } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { BusTransport } from "../../src/transport/bus/transport.ts"
import { createNatsTransport } from "../../src/nats.ts"
import { createRedisTransport } from "../../src/redis.ts"
import { provideNats, provideRedis, startRedis } from "../support/brokers.ts"
import type { Broker } from "../support/brokers.ts"
import { startNatsCluster, startRedisSentinel } from "../support/clusters.ts"
import { operation, quietRegistry } from "../support/operations.ts"

/** Brokers that end with their test. */
function endsWithTest(brokers: readonly Broker[]): void {
  for (const broker of brokers) onTestFinished(() => broker[Symbol.asyncDispose]())
}

/** A worker and a caller, each with a transport of its own, and what ran. */
async function system(
  make: (who: "worker" | "caller") => BusTransport,
): Promise<{ readonly call: (id: string) => Promise<unknown>; readonly runs: string[] }> {
  const runs: string[] = []
  const handler = ({ id }: { readonly id: string }): string => {
    runs.push(id)
    return `did ${id}`
  }
  const registry = quietRegistry([operation("demo.work", { type: "mutation", handler })])
  const serving = make("worker")
  const server = serveCalls(registry, { transport: serving, logger: silentLogger })
  const calling = make("caller")
  const map = new PendingRequestMap(calling, { logger: silentLogger })
  onTestFinished(async () => {
    await map.close()
    await server.close()
    await serving.close()
  })
  await Promise.all([serving.whenConnected(), calling.whenConnected()])
  const call = async (id: string): Promise<unknown> =>
    (await map.call("demo.work", { id }, { timeout: 30_000 })).data
  return { call, runs }
}

let calls = 0

/** Calls until one succeeds; what fails meanwhile says so. */
async function untilBack(call: (id: string) => Promise<unknown>): Promise<void> {
  await expect.poll(() => call(`call${calls++}`)).toMatch(/^did call/)
}

/** Nothing ran twice, whatever failed. */
function expectOnce(runs: readonly string[]): void {
  expect(runs).toHaveLength(new Set(runs).size)
}

describe.skipIf(!(await provideNats()))("a cluster of NATS servers", () => {
  test("carries calls between its servers, and survives the loss of the one in use", async () => {
    const servers = await startNatsCluster()
    endsWithTest(servers)
    const [first, second, third] = servers
    const given = { worker: [first, third], caller: [second, third] }
    const { call, runs } = await system((who) =>
      createNatsTransport({
        servers: given[who].map(({ url }) => url),
        connect: { noRandomize: true },
        logger: silentLogger,
      }),
    )
    await untilBack(call)
    expect(await call("one")).toBe("did one")
    await first.kill()
    await untilBack(call)
    await second.kill()
    await untilBack(call)
    expectOnce(runs)
  })
})

describe.skipIf(!(await provideRedis()))("Redis", () => {
  test("behind sentinels is found again after another server has taken over", async () => {
    const { main, other, sentinel } = await startRedisSentinel()
    endsWithTest([main, other, sentinel])
    const sentinels = [{ host: "127.0.0.1", port: sentinel.port }]
    const { call, runs } = await system(() =>
      createRedisTransport({ connect: { sentinels, name: "main" }, logger: silentLogger }),
    )
    expect(await call("one")).toBe("did one")
    await main.kill()
    await untilBack(call)
    expectOnce(runs)
  })

  test("as a cluster carries calls between its nodes, and survives the loss of one", async () => {
    const config =
      "cluster-enabled yes\ncluster-config-file nodes.conf\ncluster-announce-ip 127.0.0.1\n" +
      "cluster-node-timeout 1000\n"
    const start = (): Promise<Broker> => startRedis({ config })
    const nodes = [await start(), await start(), await start()]
    endsWithTest(nodes)
    const admins = nodes.map(({ port }) => new Redis(port))
    onTestFinished(() => {
      for (const admin of admins) admin.disconnect()
    })
    for (const [at, admin] of admins.entries()) {
      admin.on("error", () => undefined)
      const [from, to] = [Math.ceil((16384 / 3) * at), Math.ceil((16384 / 3) * (at + 1)) - 1]
      await admin.call("CLUSTER", "ADDSLOTSRANGE", String(from), String(to))
      await admin.call("CLUSTER", "MEET", "127.0.0.1", String(nodes[0]?.port))
    }
    for (const admin of admins) {
      await expect.poll(async () => String(await admin.cluster("INFO"))).toContain("state:ok")
      await expect
        .poll(async () => String(await admin.cluster("INFO")))
        .toContain("cluster_known_nodes:3")
    }
    const make = (prefix?: string): BusTransport => {
      const client = new Cluster(
        nodes.map(({ port }) => ({ host: "127.0.0.1", port })),
        { lazyConnect: true },
      )
      client.on("error", () => undefined)
      onTestFinished(() => client.disconnect())
      return createRedisTransport({ client, prefix, logger: silentLogger })
    }
    const { call, runs } = await system(() => make())
    await untilBack(call)
    // No node knows that nobody listens; the caller still finds out.
    const alone = new PendingRequestMap(make("elsewhere"), { logger: silentLogger })
    onTestFinished(() => alone.close())
    await expect(alone.call("demo.work", {}, { timeout: 30_000 })).rejects.toMatchObject({
      code: "UNAVAILABLE",
      mayHaveExecuted: false,
    })
    await nodes[0]?.kill()
    await untilBack(call)
    expectOnce(runs)
  })
})
