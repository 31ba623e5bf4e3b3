import { Redis } from "ioredis"
import { describe, expect, onTestFinished, test } from "vitest"
import { createRegistry } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type { ResponseEnvelope } from "../../src/index.ts"
import { createRedisIdempotencyStore, createRedisLimiter } from "../../src/redis.ts"
import type { RedisCommandClient } from "../../src/redis.ts"
import { deferred } from "../serve/http/support.ts"
import { provideRedis, startRedis } from "../support/brokers.ts"
import type { Broker } from "../support/brokers.ts"
import { operation, rejection } from "../support/operations.ts"
import { waitFor } from "../support/wait-for.ts"

const hasRedis = await provideRedis()
const limit = { perSecond: 0.001, burst: 20 }
const options = { signal: new AbortController().signal }

describe.runIf(hasRedis)("policies in Redis", () => {
  test("three clients together are granted one burst, and each its share while Redis is away", async () => {
    const broker = await startRedis()
    const clients = [1, 2, 3].map(() => new Redis(broker.url, { retryStrategy: null }))
    onTestFinished(async () => {
      for (const client of clients) client.disconnect()
      await broker[Symbol.asyncDispose]()
    })
    for (const client of clients) client.on("error", () => undefined)
    const more = { instances: 2, timeout: 10_000, logger: silentLogger }
    const limiters = clients.map((client) => createRedisLimiter({ client, ...more }))
    const strict = createRedisLimiter({ client: clients[0]!, ...more, whenAway: "refuse" })
    const takes = Array.from({ length: 60 }, async (_, index) =>
      limiters[index % 3]!.take("k", limit, options),
    )
    const granted = (await Promise.all(takes)).filter((wait) => wait === 0)
    expect(granted.length).toBe(20)
    await broker.kill()
    const alone = Array.from({ length: 30 }, () =>
      Promise.resolve(limiters[0]!.take("k", limit, options)),
    )
    expect((await Promise.all(alone)).filter((wait) => wait === 0).length).toBe(10)
    await expect(strict.take("k", limit, options)).rejects.toMatchObject({ code: "UNAVAILABLE" })
  })

  test("a key belongs to the first who begins, and has the outcome until it is forgotten", async () => {
    const broker = await startRedis()
    const client = new Redis(broker.url)
    onTestFinished(async () => {
      client.disconnect()
      await broker[Symbol.asyncDispose]()
    })
    const store = createRedisIdempotencyStore({ client, timeout: 10_000 })
    const begun = await Promise.all(
      [1, 2, 3, 4].map(async (one) => await store.begin("k", `${one}`, 60_000)),
    )
    expect(begun.filter((value) => value === undefined).length).toBe(1)
    await store.finish("k", "done", 60_000)
    expect(await store.begin("k", "x", 60_000)).toBe("done")
    await store.forget("k")
    expect(await store.begin("k", "x", 60_000)).toBeUndefined()
  })

  test("registries that share a store run a call with the same key once, and all have its outcome", async () => {
    const broker = await startRedis()
    onTestFinished(() => broker[Symbol.asyncDispose]())
    const gate = deferred()
    let runs = 0
    const registries = [1, 2].map(() => {
      const client = new Redis(broker.url)
      const store = createRedisIdempotencyStore({ client, timeout: 10_000 })
      const pay = operation("shop.pay", {
        resilience: { idempotency: { store } },
        handler: async () => {
          runs++
          await gate.promise
          return { receipt: runs }
        },
      })
      const registry = createRegistry([pay], { logger: silentLogger })
      onTestFinished(async () => {
        await registry.close()
        client.disconnect()
      })
      return registry
    })
    const pay = (index: number, input: number): Promise<ResponseEnvelope> =>
      registries[index % 2]!.execute("shop.pay", input, { idempotencyKey: "k" })

    const calls = Array.from({ length: 10 }, (_, index) => pay(index, 1))
    await waitFor(() => expect(runs).toBe(1))
    gate.resolve()
    const results = await Promise.all(calls)

    expect(results.map(({ data }) => data)).toEqual(results.map(() => ({ receipt: 1 })))
    expect(results.filter(({ meta }) => meta.replayed === true).length).toBe(9)
    for (const index of [0, 1]) {
      await expect(pay(index, 2)).rejects.toMatchObject({ code: "CONFLICT" })
    }
    expect(runs).toBe(1)
  })

  /** A registry with a mutation that waits for its gate, and its keys in a Redis. */
  function paying(
    client: RedisCommandClient,
    runs: { n: number },
    gate: Promise<unknown> = Promise.resolve(),
    timeout = 20_000,
  ): { pay: () => Promise<ResponseEnvelope>; warnings: string[] } {
    const warnings: string[] = []
    const store = createRedisIdempotencyStore({ client, timeout })
    const handler = async (): Promise<unknown> => {
      const receipt = ++runs.n
      await gate
      return { receipt }
    }
    const registry = createRegistry(
      [operation("shop.pay", { handler, resilience: { idempotency: { store } } })],
      { logger: { ...silentLogger, warn: (message) => void warnings.push(message) } },
    )
    onTestFinished(() => registry.close())
    const keyed = { idempotencyKey: "k", timeout: 30_000 }
    return { warnings, pay: () => registry.execute("shop.pay", 1, keyed) }
  }

  async function connected(count: number): Promise<{ broker: Broker; clients: Redis[] }> {
    const broker = await startRedis()
    const clients = Array.from({ length: count }, () => new Redis(broker.url))
    for (const client of clients) client.on("error", () => undefined)
    onTestFinished(async () => {
      for (const client of clients) client.disconnect()
      await broker[Symbol.asyncDispose]()
    })
    for (const client of clients) await client.ping()
    return { broker, clients }
  }

  const REFUSED = { code: "UNAVAILABLE", mayHaveExecuted: false, retryable: true }

  test.each([
    ["the same process", 0],
    ["another process", 1],
  ])(
    "a key can be used in %s after a call that was refused because Redis was frozen",
    async (_, other) => {
      const { broker, clients } = await connected(2)
      const runs = { n: 0 }
      const processes = clients.map((client) => paying(client, runs, undefined, 1000))
      broker.freeze()
      expect(await rejection(processes[0]!.pay())).toMatchObject(REFUSED)
      broker.thaw()
      expect(await processes[other]!.pay()).toMatchObject({ data: { receipt: 1 } })
      expect(runs.n).toBe(1)
    },
  )

  test.each([
    ["and the client sends the command again", false],
    ["and the client gives up", true],
  ])("a key can be used after the reply to its first command was lost, %s", async (_, givesUp) => {
    const { clients } = await connected(1)
    const client = clients[0]!
    let isLost = false
    const losing: RedisCommandClient = {
      async call(command, ...args) {
        const answer = await client.call(command, ...args)
        if (isLost) return answer
        isLost = true
        if (givesUp) throw new Error("Connection is closed.")
        return await client.call(command, ...args)
      },
    }
    const runs = { n: 0 }
    const { pay } = paying(losing, runs)
    const first = await pay().catch((error: unknown) => error)
    expect(first).toMatchObject(givesUp ? REFUSED : { data: { receipt: 1 } })
    expect(await pay()).toMatchObject({ data: { receipt: 1 } })
    expect(runs.n).toBe(1)
  })

  test("a Redis that restarts empty causes no second run in the process that knows the key, and is logged", async () => {
    const { broker, clients } = await connected(1)
    const gate = deferred()
    const runs = { n: 0 }
    const { pay, warnings } = paying(clients[0]!, runs, gate.promise)
    const running = pay()
    await waitFor(() => expect(runs.n).toBe(1))
    await broker.restart()
    await waitFor(async () => expect(await clients[0]!.ping()).toBe("PONG"))
    const repeated = pay()
    gate.resolve()
    expect(await running).toMatchObject({ data: { receipt: 1 } })
    expect(await repeated).toMatchObject({ data: { receipt: 1 }, meta: { replayed: true } })
    expect(warnings).toMatchObject([expect.stringContaining("lost a key while its call ran")])

    await broker.restart()
    expect(await pay()).toMatchObject({ data: { receipt: 1 }, meta: { replayed: true } })
    expect(runs.n).toBe(1)
  })
})
