import { setTimeout as sleep } from "node:timers/promises"
import { Redis } from "ioredis"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { AnyOperation } from "../../../src/index.ts"
import { failure } from "../../contract/link.ts"
import { provideRedis, startRedis } from "../../support/brokers.ts"
import type { Broker } from "../../support/brokers.ts"
import { greet, operation } from "../../support/operations.ts"
import { startCaller, startWorker } from "./calls.ts"

const isThere = await provideRedis()

/** Answers with the name of the worker, and writes down each time it ran. */
function named(name: string, runs: string[], milliseconds = 0): AnyOperation {
  return operation("demo.run", {
    handler: async (input: { readonly id: number }) => {
      runs.push(`${input.id}`)
      if (milliseconds > 0) await sleep(milliseconds)
      return name
    },
  })
}

describe.skipIf(!isThere)("calls over Redis", () => {
  let broker: Broker
  beforeAll(async () => {
    broker = await startRedis()
  })
  afterAll(async () => {
    await broker[Symbol.asyncDispose]()
  })

  test("are shared by the workers, each run once", async () => {
    const runs: string[] = []
    const options = { url: broker.url, prefix: "shared" }
    await using one = startWorker([named("one", runs, 5)], options)
    await using two = startWorker([named("two", runs, 5)], options)
    await Promise.all([one.transport.whenConnected(), two.transport.whenConnected()])
    await using caller = startCaller(options)
    const by: unknown[] = []
    // Once more until the caller knows both workers.
    const callMany = async (): Promise<number> => {
      const ids = Array.from({ length: 200 }, (_item, at) => by.length + at)
      const answers = await Promise.all(ids.map((id) => caller.map.call("demo.run", { id })))
      by.push(...answers.map(({ data }) => data))
      return Math.min(...["one", "two"].map((name) => by.filter((one_) => one_ === name).length))
    }
    await expect.poll(callMany).toBeGreaterThan(20)
    expect(runs.toSorted()).toEqual(by.map((_name, id) => String(id)).toSorted())
    expect(one.server.inFlight + two.server.inFlight).toBe(0)
  })

  test("find no worker: that is said soon, and truly", async () => {
    await using caller = startCaller({ url: broker.url, prefix: "nobody" })
    await caller.transport.whenConnected()
    const error = await failure(caller.map.call("demo.greet", { name: "Ada" }))
    expect(error).toMatchObject({ code: "UNAVAILABLE", retryable: true, mayHaveExecuted: false })
    expect(error.message).toContain("demo.greet")
    const stream = caller.map.subscribe("demo.count", { to: 1 })
    expect((await failure(stream.next())).code).toBe("UNAVAILABLE")
  })

  test("wait for a broker that is not there yet", async () => {
    const later = await startRedis()
    await later.kill()
    await using caller = startCaller({ url: later.url })
    await using worker = startWorker([greet], { url: later.url })
    expect(caller.transport.isConnected).toBe(false)
    const answer = caller.map.call("demo.greet", { name: "Ada" })
    await expect.poll(() => caller.transport.stats().calling.held).toBe(1)
    await later.restart()
    await using _broker = later
    expect((await answer).data).toEqual({ text: "Hello, Ada" })
    expect(worker.transport.isConnected).toBe(true)
  })

  test("outlive a broker that crashes and comes back, and run once", async () => {
    await using own = await startRedis()
    const runs: string[] = []
    const options = { url: own.url }
    await using one = startWorker([named("one", runs, 50)], options)
    await using two = startWorker([named("two", runs, 50)], options)
    await Promise.all([one.transport.whenConnected(), two.transport.whenConnected()])
    await using caller = startCaller(options)
    const ids = Array.from({ length: 300 }, (_item, id) => id)
    const calls = ids.map(async (id) => {
      await sleep(id * 5)
      return (await caller.map.call("demo.run", { id }, { timeout: 30_000 })).data
    })
    await sleep(500)
    await own.kill()
    await sleep(500)
    await own.restart()
    const answers = await Promise.all(calls)
    expect(answers.every((name) => name === "one" || name === "two")).toBe(true)
    expect(runs.toSorted()).toEqual(ids.map(String).toSorted())
  })

  test("outlive a broker that stands still, and accuse no worker", async () => {
    await using own = await startRedis()
    const runs: string[] = []
    await using worker = startWorker([named("one", runs, 20)], { url: own.url })
    await worker.transport.whenConnected()
    await using caller = startCaller({ url: own.url })
    await caller.map.call("demo.run", { id: -1 })
    own.freeze()
    const ids = Array.from({ length: 20 }, (_item, id) => id)
    const calls = ids.map((id) => caller.map.call("demo.run", { id }, { timeout: 30_000 }))
    await sleep(4000)
    own.thaw()
    await Promise.all(calls)
    expect(runs.length).toBe(21)
    expect(caller.transport.stats().calling.workersLost).toBe(0)
  })

  test("that are too large fail at once, and harm nothing else", async () => {
    const big = operation("demo.big", { handler: () => "x".repeat(50_000) })
    const options = { url: broker.url, prefix: "large", maxPayload: 20_000 }
    await using worker = startWorker([greet, big], options)
    await worker.transport.whenConnected()
    await using caller = startCaller(options)
    const input = { name: "x".repeat(30_000) }
    expect(await failure(caller.map.call("demo.greet", input))).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      mayHaveExecuted: false,
    })
    expect(await failure(caller.map.call("demo.big"))).toMatchObject({
      code: "PAYLOAD_TOO_LARGE",
      mayHaveExecuted: true,
    })
    const { data } = await caller.map.call("demo.greet", { name: "Ada" })
    expect(data).toEqual({ text: "Hello, Ada" })
    expect(caller.transport.isConnected).toBe(true)
    expect(worker.transport.isConnected).toBe(true)
  })

  test("are answered while others send nonsense", async () => {
    const options = { url: broker.url, prefix: "hostile" }
    await using worker = startWorker([greet], options)
    await worker.transport.whenConnected()
    await using caller = startCaller(options)
    await caller.map.call("demo.greet", { name: "Ada" })
    const redis = new Redis(broker.url)
    const channels = await redis.call("PUBSUB", "CHANNELS", "hostile:inbox:*")
    const deep = `{"from":"aaaaaaaa","messages":[${"[".repeat(100_000)}`
    const texts = ["", "null", "[]", "\u0000", deep, "x".repeat(10_000_000)]
    for (const channel of ["hostile:ask:eve", "hostile:news", ...(channels as string[])]) {
      for (const text of texts) await redis.publish(channel, text)
      await redis.publish(
        channel,
        '{"from":"aaaaaaaa","messages":[{"type":"bye"},{"__proto__":1}]}',
      )
    }
    redis.disconnect()
    const { data } = await caller.map.call("demo.greet", { name: "Bob" })
    expect(data).toEqual({ text: "Hello, Bob" })
    await expect
      .poll(() => worker.transport.stats().serving.dropped)
      .toBeGreaterThanOrEqual(texts.length)
    expect(caller.transport.stats().calling.dropped).toBeGreaterThanOrEqual(2 * texts.length)
  })

  test("of a user without the permission are denied, and others are not", async () => {
    await using own = await startRedis({
      config:
        "user default on nopass ~* &* +@all\n" +
        "user alice on >secret resetchannels -@all +ping " +
        "(+publish &operations:call:alice:*:demo.greet &operations:ctl:alice:* &operations:ask:alice) " +
        "(+subscribe &operations:inbox:alice:* &operations:news)",
    })
    const runs: string[] = []
    await using worker = startWorker([greet, named("one", runs)], { url: own.url })
    await worker.transport.whenConnected()
    const connect = { username: "alice", password: "secret" }
    await using alice = startCaller({ url: own.url, user: "alice", connect })
    expect((await alice.map.call("demo.greet", { name: "Ada" })).data).toEqual({
      text: "Hello, Ada",
    })
    expect(await failure(alice.map.call("demo.run", { id: 1 }))).toMatchObject({
      code: "ACCESS_DENIED",
      mayHaveExecuted: false,
    })
    expect(runs).toEqual([])
    await alice.map.call("demo.greet", { name: "Bob" })
  })

  test("with a wrong password fail at once", async () => {
    await using own = await startRedis({ config: "requirepass right" })
    await using caller = startCaller({ url: own.url, connect: { password: "wrong" } })
    await expect(caller.transport.whenConnected()).rejects.toMatchObject({
      code: "UNAUTHENTICATED",
    })
    expect(await failure(caller.map.call("demo.greet", { name: "Ada" }))).toMatchObject({
      code: "UNAUTHENTICATED",
      mayHaveExecuted: false,
    })
  })

  test("report their user to the worker", async () => {
    const options = { url: broker.url, prefix: "names" }
    const whoami = operation("demo.whoami", {
      handler: (_input: never, context: { readonly identity?: { readonly id: string } }) =>
        context.identity?.id ?? null,
    })
    await using worker = startWorker([whoami], {
      ...options,
      identify: (user) => ({ id: `user ${user}`, scopes: [] }),
    })
    await worker.transport.whenConnected()
    await using alice = startCaller({ ...options, user: "alice" })
    await using bob = startCaller({ ...options, user: "bob" })
    expect((await alice.map.call("demo.whoami")).data).toBe("user alice")
    expect((await bob.map.call("demo.whoami")).data).toBe("user bob")
  })
})
