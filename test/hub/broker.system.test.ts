// Hubs over real brokers, with workers in processes of their own.
import { generateKeyPairSync } from "node:crypto"
import { once } from "node:events"
import { setTimeout as setTimeoutPromise } from "node:timers/promises"
import type { ChildProcess } from "node:child_process"
import { beforeAll, describe, expect, onTestFinished, test } from "vitest"
import type { Clock } from "../../src/internal/platform.ts"
import type { RemoteSource } from "../../src/config.ts"
import type { Hub, HubOptions } from "../../src/hub/model.ts"
import { serveHub } from "../../src/hub/serve-hub.ts"
import { provideNats, provideRedis, startNats, startRedis } from "../support/brokers.ts"
import type { Broker, BrokerOptions } from "../support/brokers.ts"
import type { BusWorkerSettings } from "./bus-worker.ts"
import { startBusWorker } from "./bus-workers.ts"
import { hubOf, kill, sourceOf, untilSource } from "./support.ts"

const ENGINES = [
  { engine: "NATS", provide: provideNats, starting: startNats },
  { engine: "Redis", provide: provideRedis, starting: startRedis },
] as const

describe.each(ENGINES)("a hub over $engine", ({ provide, starting }) => {
  let isThere = false
  beforeAll(async () => {
    isThere = await provide()
  }, 600_000)

  /** A broker that is gone after its test. */
  async function brokerOf(options?: BrokerOptions): Promise<Broker> {
    const broker = await starting(options)
    onTestFinished(() => broker[Symbol.asyncDispose]())
    return broker
  }

  test("lists and calls operations of workers, and follows their streams", async ({ skip }) => {
    skip(!isThere)
    const broker = await brokerOf()
    await workerOf(broker, { name: "a" })
    const hub = await openOver(broker)

    expect(statusOf(hub)).toMatchObject({ state: "ready", origin: broker.url, operations: 3 })
    expect(await dataOf(hub, "far.who.answers")).toBe("a")
    expect(await dataOf(hub, "far.who.asks")).toBeNull()
    const counted: unknown[] = []
    for await (const { data } of hub.registry.subscribe("far.who.counts", {})) {
      counted.push(data)
      if (counted.length === 300) break
    }
    expect(counted).toEqual(Array.from({ length: 300 }, (_, at) => at + 1))
    expect(hub.report("far")).toMatchObject({ kept: 3, skipped: 0 })
    const served = await serveHub(hub, { port: 0, mcp: false, websocket: false, console: false })
    onTestFinished(() => served.close())
    expect(await (await fetch(`${served.url}/hub/sources/far`)).json()).toMatchObject({
      workers: [{ calls: 0, state: "alive" }],
    })
    // What needs a scope is not shown to a hub that has none.
    await expect(hub.registry.execute("far.who.knows", {})).rejects.toMatchObject({
      code: "OPERATION_NOT_FOUND",
    })
  })

  test("reports a missing broker, and connects when it appears", async ({ skip }) => {
    skip(!isThere)
    const broker = await brokerOf()
    await broker.kill()
    const hub = await openOver(broker)

    expect(statusOf(hub)).toMatchObject({ state: "failed", operations: 0 })
    expect(statusOf(hub)?.reason).toContain(`Source "far": `)
    expect(statusOf(hub)?.reason).toMatch(/-server running there\? Start it, or correct "remote"\./)
    await broker.restart()
    await workerOf(broker, { name: "a" })
    await untilSource(hub, "far", ({ state, operations }) => state === "ready" && operations === 3)
    expect(await dataOf(hub, "far.who.answers")).toBe("a")
  })

  test("reports that there is no worker, and finds the first one", async ({ skip }) => {
    skip(!isThere)
    const broker = await brokerOf()
    const once_ = await openOver(broker, {}, { retry: false })
    expect(statusOf(once_)).toMatchObject({ state: "failed" })
    expect(statusOf(once_)?.reason).toContain(`No worker at ${broker.url} serves anything`)

    const hub = await openOver(broker)
    const status = await untilSource(hub, "far", ({ state }) => state === "lost")
    expect(status.reason).toContain(`No worker at ${broker.url} serves anything`)
    expect(status.operations).toBe(0)
    await workerOf(broker, { name: "a" })
    await untilSource(hub, "far", ({ state, operations }) => state === "ready" && operations === 3)
    expect(await dataOf(hub, "far.who.answers")).toBe("a")
  })

  test("continues when a worker is killed, and reports when it was the last", async ({ skip }) => {
    skip(!isThere)
    const broker = await brokerOf()
    const first = await workerOf(broker, { name: "a" })
    const second = await workerOf(broker, { name: "b" })
    const hub = await openOver(broker)
    await expect.poll(() => answersOf(hub, 60)).toEqual(["a", "b"])

    await kill(first)
    expect(await answersOf(hub, 20)).toEqual(["b"])
    await kill(second)
    await expect(hub.registry.execute("far.who.answers", {})).rejects.toMatchObject({
      code: "UNAVAILABLE",
      retryable: true,
    })
    const lost = await untilSource(hub, "far", ({ state }) => state === "lost")
    // They are not unknown: somebody may serve them again any moment.
    expect(lost.operations).toBe(3)

    await workerOf(broker, { name: "c", more: ["new.one"] })
    await untilSource(hub, "far", ({ state, operations }) => state === "ready" && operations === 4)
    expect(await answersOf(hub, 5)).toEqual(["c"])
    expect(await dataOf(hub, "far.new.one")).toBe("new.one")
  })

  test("leaves no timer behind when it is closed while it lists operations", async ({ skip }) => {
    skip(!isThere)
    const broker = await brokerOf()
    const leaving = await workerOf(broker, { name: "a" })
    await workerOf(broker, { name: "b" })
    const timers = new Map<unknown, number>()
    const clock: Clock = {
      now: () => performance.now(),
      wallTime: () => Date.now(),
      setTimeout(callback, milliseconds) {
        const timer = setTimeout(() => {
          timers.delete(timer)
          callback()
        }, milliseconds)
        timers.set(timer, milliseconds)
        return timer
      },
      clearTimeout(timer) {
        timers.delete(timer)
        clearTimeout(timer as NodeJS.Timeout)
      },
    }
    const hub = await openOver(broker, {}, { clock })
    await kill(leaving)
    const restarted = await workerOf(broker, { name: "c", more: ["new.one"] })
    // The listing waits for a worker that is still known, and does not answer.
    restarted.kill("SIGSTOP")
    onTestFinished(() => void restarted.kill("SIGCONT"))
    await setTimeoutPromise(120)
    await hub.close()
    expect([...timers.values()]).toEqual([])
  })

  test("no call fails while all workers are replaced", async ({ skip }) => {
    skip(!isThere)
    const broker = await brokerOf()
    let worker = await workerOf(broker, { name: "a" })
    const hub = await openOver(broker)
    let isOver = false
    const callers = Array.from({ length: 4 }, async () => {
      let count = 0
      for (; !isOver; count++) await hub.registry.execute("far.who.answers", {})
      return count
    })

    for (const name of ["b", "c", "d"]) {
      const next = await workerOf(broker, { name })
      worker.kill("SIGTERM")
      await once(worker, "exit")
      worker = next
    }
    isOver = true
    const counts = await Promise.all(callers)

    expect(Math.min(...counts)).toBeGreaterThan(0)
    expect(await answersOf(hub, 5)).toEqual(["d"])
    expect(statusOf(hub)).toMatchObject({ state: "ready", operations: 3 })
  })

  test("waits for a restarting broker, and is not ready meanwhile", async ({ skip }) => {
    skip(!isThere)
    const broker = await brokerOf()
    await workerOf(broker, { name: "a" })
    const hub = await openOver(broker)
    const served = await serveHub(hub, { port: 0, mcp: false, websocket: false, console: false })
    onTestFinished(() => served.close())
    const statusAt = async (path: string): Promise<number> =>
      (await fetch(`${served.url}${path}`)).status
    expect([await statusAt("/livez"), await statusAt("/readyz")]).toEqual([200, 200])

    await broker.kill()
    const lost = await untilSource(hub, "far", ({ state }) => state === "lost")
    expect(lost.reason).toContain(`${broker.url} is out of reach`)
    expect([await statusAt("/livez"), await statusAt("/readyz")]).toEqual([200, 503])
    await expect(
      hub.registry.execute("far.who.answers", {}, { timeout: 200 }),
    ).rejects.toMatchObject({ code: "TIMEOUT", retryable: true, mayHaveExecuted: false })
    const held = hub.registry.execute("far.who.answers", {}, { timeout: 20_000 })
    await broker.restart()

    expect((await held).data).toBe("a")
    await untilSource(hub, "far", ({ state }) => state === "ready")
    expect([await statusAt("/livez"), await statusAt("/readyz")]).toEqual([200, 200])
    await workerOf(broker, { name: "b", more: ["new.one"] })
    await untilSource(hub, "far", ({ operations }) => operations === 4)
  })

  test("sends the signed identity of callers to workers", async ({ skip }) => {
    skip(!isThere)
    const { privateKey, publicKey } = generateKeyPairSync("ed25519", {
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
      publicKeyEncoding: { type: "spki", format: "pem" },
    })
    const broker = await brokerOf()
    await workerOf(broker, { name: "a", publicKey })
    const ticket = { issuer: "hub", audience: "workers", key: "${env:KEY}", scopes: ["secrets"] }
    const hub = await openOver(broker, { user: "hub", ticket }, { env: { KEY: privateKey } })
    const ada = { id: "ada", scopes: ["secrets", "more"] }

    expect(statusOf(hub)).toMatchObject({ state: "ready", operations: 4 })
    const asked = await hub.registry.execute("far.who.asks", {}, { identity: ada })
    expect(asked.data).toEqual(ada)
    const known = await hub.registry.execute("far.who.knows", {}, { identity: ada })
    expect(known.data).toBe("ada")
    expect(await dataOf(hub, "far.who.asks")).toBeNull()
    // Both check it, each by itself.
    const eve = { id: "eve", scopes: [] }
    await expect(
      hub.registry.execute("far.who.knows", {}, { identity: eve }),
    ).rejects.toMatchObject({ code: "ACCESS_DENIED" })

    const other = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" })
    const forged = await openOver(broker, { ticket }, { env: { KEY: String(other) }, retry: false })
    expect(statusOf(forged)).toMatchObject({ state: "failed" })
    expect(statusOf(forged)?.reason).toContain('See to its "ticket"')
    expect(JSON.stringify(forged.sources)).not.toContain("PRIVATE")
  })

  test("systems with different prefixes are separate", async ({ skip }) => {
    skip(!isThere)
    const broker = await brokerOf()
    await workerOf(broker, { name: "a", prefix: "shop" })
    await workerOf(broker, { name: "b" })
    const shop = await openOver(broker, { prefix: "shop" })
    const hub = await openOver(broker)

    expect([await answersOf(shop, 10), await answersOf(hub, 10)]).toEqual([["a"], ["b"]])
  })
})

describe("errors of a hub about a broker", () => {
  test("a remote broker needs TLS and credentials", async () => {
    for (const remote of ["nats://203.0.113.1:4222", "redis://203.0.113.1:6379"]) {
      const hub = hubOf([sourceOf("far", { remote })], { retry: false })
      await hub.ready()

      const { state, reason } = statusOf(hub) ?? {}
      expect(state).toBe("failed")
      expect(reason).toContain("203.0.113.1")
      expect(reason).toContain('"insecure": true')
    }
  })

  test("refused credentials are reported by their fields, and never shown", async ({ skip }) => {
    skip(!(await provideNats()) || !(await provideRedis()))
    const nats = await startNats({
      config: `authorization { users: [{ user: hub, password: "right" }] }`,
    })
    onTestFinished(() => nats[Symbol.asyncDispose]())
    const redis = await startRedis({ config: "requirepass right" })
    onTestFinished(() => redis[Symbol.asyncDispose]())
    for (const { url } of [nats, redis]) {
      const source = { remote: url, user: "hub", password: "${env:PASSWORD}" }
      const hub = hubOf([sourceOf("far", source)], {
        retry: false,
        env: { PASSWORD: "canary-5521" },
      })
      await hub.ready()

      const { state, reason } = statusOf(hub) ?? {}
      expect(state).toBe("failed")
      expect(reason).toMatch(/Give "user" and "password"/)
      expect(JSON.stringify(hub.sources)).not.toContain("canary")
    }
  })

  test("temporarily refused credentials fail calls with the source's name, until they are accepted", async ({
    skip,
  }) => {
    skip(!(await provideNats()))
    const config = `authorization { users: [{ user: hub, password: "right" }] }`
    const nats = await startNats({ config })
    onTestFinished(() => nats[Symbol.asyncDispose]())
    const { port } = nats
    const address = nats.url.replace("//", "//hub:right@")
    await workerOf({ url: address }, { name: "a" })
    const hub = await openOver({ url: address })
    expect(await dataOf(hub, "far.who.answers")).toBe("a")
    await nats.kill()
    const other = await startNats({ port, config: config.replace("right", "wrong") })
    onTestFinished(() => other[Symbol.asyncDispose]())
    await untilSource(hub, "far", ({ reason = "" }) => reason.includes("refuses the credentials"))
    await expect(hub.registry.execute("far.who.answers", {})).rejects.toMatchObject({
      code: "UNAVAILABLE",
      retryable: true,
      mayHaveExecuted: false,
      message: expect.stringContaining(`Source "far" is unavailable: `),
    })
    expect(JSON.stringify(hub.sources)).not.toContain("right")
    await other[Symbol.asyncDispose]()
    await nats.restart()
    await untilSource(hub, "far", ({ state }) => state === "ready")
    // The worker comes back on its own.
    await expect.poll(() => dataOf(hub, "far.who.answers").catch(String)).toBe("a")
  })

  test("a secret address is accepted, and never shown", async ({ skip }) => {
    skip(!(await provideNats()))
    const nats = await startNats({
      config: `authorization { users: [{ user: hub, password: "canary-77" }] }`,
    })
    onTestFinished(() => nats[Symbol.asyncDispose]())
    const address = nats.url.replace("//", "//hub:canary-77@")
    await workerOf({ url: address }, { name: "a" })
    const hub = hubOf([sourceOf("far", { remote: "${env:BROKER}" })], { env: { BROKER: address } })
    await hub.ready()

    expect(statusOf(hub)).toMatchObject({ state: "ready" })
    await nats.kill()
    await untilSource(hub, "far", ({ state }) => state === "lost")
    expect(JSON.stringify(hub.sources)).not.toContain("canary")
  })
})

async function openOver(
  { url }: Pick<Broker, "url">,
  fields: Partial<RemoteSource> = {},
  options: HubOptions = {},
): Promise<Hub> {
  const hub = hubOf([sourceOf("far", { remote: url, ...fields })], options)
  await hub.ready()
  return hub
}

async function workerOf(
  { url }: Pick<Broker, "url">,
  settings: BusWorkerSettings,
): Promise<ChildProcess> {
  return await startBusWorker(url, settings)
}

function statusOf(hub: Hub): Hub["sources"][number] | undefined {
  return hub.sources.find(({ name }) => name === "far")
}

async function dataOf(hub: Hub, id: string): Promise<unknown> {
  return (await hub.registry.execute(id, {})).data
}

/** Who answered so many calls. */
async function answersOf(hub: Hub, count: number): Promise<unknown[]> {
  const answers = await Promise.all(
    Array.from({ length: count }, () => dataOf(hub, "far.who.answers")),
  )
  return [...new Set(answers.map(String))].toSorted()
}
