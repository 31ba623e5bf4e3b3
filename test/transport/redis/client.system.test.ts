import { Cluster, Redis } from "ioredis"
import { describe, expect, test } from "vitest"
import { systemClock } from "../../../src/internal/clock.ts"
import { RedisBus } from "../../../src/transport/redis/bus.ts"
import { RedisChannels } from "../../../src/transport/redis/channels.ts"
import { connectionsLike } from "../../../src/transport/redis/ioredis.ts"
import type { RedisClientLike } from "../../../src/transport/redis/ioredis.ts"
import { provideRedis, startRedis } from "../../support/brokers.ts"
import { BusRecorder, connectEnd, Lines } from "./ends.ts"

const isThere = await provideRedis()

function openLike(client: RedisClientLike): { bus: RedisBus; recorder: BusRecorder; lines: Lines } {
  const recorder = new BusRecorder()
  const lines = new Lines()
  const address = crypto.randomUUID().replaceAll("-", "")
  const bus = new RedisBus({
    address,
    channels: new RedisChannels("operations", "anyone", address),
    maxPayload: 4096,
    clock: systemClock,
    logger: lines,
    make: connectionsLike(client),
    peer: "Redis",
    connectTimeout: 5000,
  })
  bus.open(recorder)
  return { bus, recorder, lines }
}

describe.skipIf(!isThere)("an existing Redis client", () => {
  test("is not changed, whatever its settings, and stays open", async () => {
    await using broker = await startRedis()
    const client = new Redis(broker.url, {
      keyPrefix: "mine:",
      stringNumbers: true,
      replyMapping: "resp3",
      db: 3,
      commandTimeout: 20_000,
      enableAutoPipelining: true,
      connectionName: "mine",
    })
    const { bus, recorder } = openLike(client)
    bus.serve(["demo.greet"])
    await expect.poll(() => bus.isConnected).toBe(true)
    await using caller = await connectEnd(broker.url)
    caller.bus.ask(caller.frame("who"), "m1")
    await expect.poll(() => recorder.calls.length).toBe(1)
    bus.control("nobodythere", `{"from":"${bus.address}","messages":[]}`, "m2")
    await expect.poll(() => recorder.noResponderIds).toEqual(["m2"])
    await bus.close()
    expect(client.status).toBe("ready")
    expect(await client.ping()).toBe("PONG")
    const list = String(await client.client("LIST"))
    expect(list.match(/name=mine/g)).toHaveLength(1)
    client.disconnect()
  })

  test("of a cluster works at any node, where an empty count says nothing", async () => {
    const config =
      "cluster-enabled yes\ncluster-config-file nodes.conf\ncluster-announce-ip 127.0.0.1"
    await using broker = await startRedis({ config })
    const admin = new Redis(broker.url)
    await admin.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
    await expect.poll(async () => String(await admin.cluster("INFO"))).toContain("cluster_state:ok")
    admin.disconnect()
    const cluster = new Cluster([{ host: "127.0.0.1", port: broker.port }], { lazyConnect: true })
    const { bus, recorder } = openLike(cluster)
    bus.serve(["demo.greet"])
    await expect.poll(() => bus.isConnected).toBe(true)
    // A plain connection to a node finds out by itself.
    await using caller = await connectEnd(broker.url)
    caller.bus.control("nobodythere", caller.frame("ping"), "m1")
    caller.bus.ask(caller.frame("who"), "m2")
    await expect.poll(() => recorder.calls.length).toBe(1)
    caller.bus.control(bus.address, caller.frame("ping"), "m3")
    await expect.poll(() => recorder.calls.length).toBe(2)
    expect(caller.recorder.noResponderIds).toEqual([])
    await bus.close()
    expect(cluster.status).toBe("ready")
    cluster.disconnect()
  })

  test("that speaks the older protocol works as well", async () => {
    await using broker = await startRedis()
    const client = new Redis(broker.url, { protocol: 2, lazyConnect: true })
    const { bus, recorder } = openLike(client)
    bus.serve(["demo.greet"])
    await expect.poll(() => bus.isConnected).toBe(true)
    await using caller = await connectEnd(broker.url, { connect: { protocol: 2 } })
    caller.bus.ask(caller.frame("who"), "m1")
    caller.bus.control("nobodythere", caller.frame("ping"), "m2")
    await expect.poll(() => recorder.calls.length).toBe(1)
    await expect.poll(() => caller.recorder.noResponderIds).toEqual(["m2"])
    // Long enough that both are asked whether they are there.
    await new Promise((resolve) => setTimeout(resolve, 3000))
    expect(recorder.story).toEqual(["connected"])
    expect(caller.recorder.story).toEqual(["connected"])
    await bus.close()
    expect(client.status).toBe("wait")
  })

  test("to a replica is warned about", async () => {
    await using main = await startRedis()
    await using broker = await startRedis({ config: `replicaof 127.0.0.1 ${main.port}` })
    await using end = await connectEnd(broker.url)
    expect(end.lines.warnings.join()).toContain("is a replica")
    end.bus.control("nobodythere", end.frame("ping"), "m1")
    end.bus.ask(end.frame("who"), "m2")
    await end.bus.close()
    expect(end.recorder.noResponderIds).toEqual([])
  })
})
