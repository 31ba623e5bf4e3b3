import { Redis } from "ioredis"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { silentLogger } from "../../../src/testing.ts"
import { createRedisTransport } from "../../../src/redis.ts"
import { provideRedis } from "../../support/brokers.ts"
import { redisLab, settled } from "./lab.ts"
import type { Lab } from "./lab.ts"
import { requestText, Stage } from "./stage.ts"
import { testHostile } from "./suite/hostile.ts"
import { testIdentity } from "./suite/identity.ts"
import { testImpostors } from "./suite/impostors.ts"
import { testPermitted } from "./suite/permitted.ts"

const isThere = await provideRedis()

describe.skipIf(!isThere)("Redis with the permissions of the guide", () => {
  let lab: Lab

  beforeAll(async () => {
    lab = await redisLab()
  })

  afterAll(() => lab[Symbol.asyncDispose]())

  testPermitted(() => lab)
  testImpostors(() => lab)
  testIdentity(() => lab)
  testHostile(() => lab)

  describe("names of channels with more in them than they seem to have", () => {
    test.each([
      ["admin.drop:task.whoami"],
      ["task.whoami:admin.drop"],
      ["admin.drop\ntask.whoami"],
      ["task.whoami\r\n"],
      ["task.whoami:"],
      [":task.whoami"],
      ["task."],
      ["task.*"],
      ["task.whoami admin.drop"],
    ])("run nothing: %j", async (operation) => {
      await using stage = await Stage.set(lab)
      const raw = await stage.raw("alice")
      const from = "a".repeat(32)
      for (const operationId of [operation, "task.whoami", "admin.drop"]) {
        const text = requestText(from, operationId, `odd-${operationId}`, { now: true })
        for (const worker of [stage.address, "all", `x:${stage.address}`, `${stage.address}:x`]) {
          // Whether the server permits it or not.
          await raw.publish(`ops:call:alice:${worker}:${operation}`, text)
        }
      }
      await stage.alice.call("task.list")
      await settled()

      expect(stage.runs).toEqual(["task.list"])
    })
  })

  describe("everything else that a server can do", () => {
    test.each([["alice"], ["mallory"], ["w1"], ["hub"]])("is not for %s", async (account) => {
      await using stage = await Stage.set(lab)
      const raw = await stage.raw(account)

      for (const words of COMMANDS) {
        const refused = await raw.run?.(words)
        expect({ words, refused }).toEqual({
          words,
          refused: expect.stringMatching(/^NOPERM/) as string,
        })
      }
    })
  })

  describe("a client without credentials", () => {
    test("does not get in", async () => {
      const client = new Redis({
        ...{ port: lab.broker.port, host: "127.0.0.1", lazyConnect: true },
        ...{ enableReadyCheck: false, maxRetriesPerRequest: 0, retryStrategy: () => null },
      })
      client.on("error", () => undefined)
      const said = await client.publish("ops:news", "x").catch((error: Error) => error.message)
      client.disconnect()

      expect(said).toMatch(/NOAUTH|NOPERM/)
    })

    test("gets an error that says what to check", async () => {
      const transport = createRedisTransport({
        ...{ url: lab.broker.url, prefix: "ops", user: "alice", logger: silentLogger },
        connect: { username: "alice", password: "wrong-canary" },
      })
      transport.open({ event() {}, undelivered() {}, lost() {}, restored() {} })
      const error: unknown = await transport.whenConnected().catch((thrown: unknown) => thrown)
      await transport.close()

      expect(error).toMatchObject({ code: "UNAUTHENTICATED" })
      expect(String(error)).not.toContain("canary")
    })
  })
})

const COMMANDS: readonly (readonly [string, ...string[]])[] = [
  ["GET", "ops"],
  ["SET", "ops", "1"],
  ["KEYS", "*"],
  ["SCAN", "0"],
  ["DBSIZE"],
  ["INFO"],
  ["MONITOR"],
  ["CONFIG", "GET", "*"],
  ["CLIENT", "LIST"],
  ["CLIENT", "KILL", "TYPE", "pubsub"],
  ["CLIENT", "NO-EVICT", "on"],
  ["PUBSUB", "CHANNELS"],
  ["PUBSUB", "NUMPAT"],
  ["ACL", "LIST"],
  ["ACL", "SETUSER", "mallory", "allchannels"],
  ["EVAL", "return redis.call('publish','ops:news','x')", "0"],
  ["FCALL", "x", "0"],
  ["SPUBLISH", "ops:news", "x"],
  ["SSUBSCRIBE", "ops:news"],
  ["SHUTDOWN", "NOSAVE"],
  ["FLUSHALL"],
  ["SLOWLOG", "GET"],
  ["LATENCY", "LATEST"],
  ["REPLICAOF", "NO", "ONE"],
  ["MODULE", "LIST"],
  ["SELECT", "1"],
  ["XADD", "ops", "*", "a", "b"],
]
