import { describe, expect, test } from "vitest"
import { countListeners, describeServer } from "../../../src/transport/redis/connection.ts"
import { FakeRedis } from "./fake-redis.ts"
import type { Script } from "./fake-redis.ts"

const NOPERM = new Error("NOPERM this user has no permissions")
const CLOSED = new Error("Connection is closed.")
const HELLO = ["server", "redis", "mode", "standalone", "role", "master"]

describe("what a server is", () => {
  const master = [...HELLO.slice(0, 2), "mode", "cluster", "role", "master"]
  test.each<[string, Script, object]>([
    ["one alone", { hello: () => HELLO }, { countsAll: true, isReplica: false }],
    ["one of a cluster", { hello: () => master }, { countsAll: false, isReplica: false }],
    [
      "an old one",
      { hello: () => CLOSED, info: () => "# Cluster\r\ncluster_enabled:0\r\n" },
      { countsAll: true, isReplica: false },
    ],
    [
      "an old one of a cluster",
      { hello: () => CLOSED, info: () => "# Cluster\r\ncluster_enabled:1\r\n" },
      { countsAll: false, isReplica: false },
    ],
    [
      "one that does not say",
      { hello: () => CLOSED, info: () => NOPERM },
      { countsAll: false, isReplica: false },
    ],
  ])("is found out: %s", async (_what, script, expected) => {
    const redis = new FakeRedis(script)
    await redis.connect()
    expect(await describeServer(redis)).toEqual(expected)
  })

  test("is not asked twice when it is gone", async () => {
    const redis = new FakeRedis({ hello: () => CLOSED })
    redis.disconnect()
    await expect(describeServer(redis)).rejects.toBe(CLOSED)
  })

  test("includes the number of subscribers, where the server reports it", async () => {
    expect(await countListeners(new FakeRedis({ pubsub: () => ["x", 7] }), "x")).toBe(7)
    expect(await countListeners(new FakeRedis({ pubsub: () => NOPERM }), "x")).toBeUndefined()
  })
})
