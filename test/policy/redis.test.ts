import { Redis } from "ioredis"
import { describe, expect, onTestFinished, test } from "vitest"
import { createRegistry, silentLogger } from "../../src/index.ts"
import type { ResponseEnvelope } from "../../src/index.ts"
import { createRedisIdempotencyStore, createRedisLimiter } from "../../src/redis.ts"
import { deferred } from "../serve/http/support.ts"
import { provideRedis, startRedis } from "../support/brokers.ts"
import { operation } from "../support/operations.ts"
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
})
