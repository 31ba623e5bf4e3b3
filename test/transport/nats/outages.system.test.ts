import { describe, expect, test } from "vitest"
import { failure } from "../../contract/link.ts"
import { provideNats, startNats } from "../../support/brokers.ts"
import { held, portOfNobody, until } from "./recorder.ts"
import { NatsSystem } from "./system.ts"

const isThere = await provideNats()

describe.skipIf(!isThere)("calls over a NATS server that is not there", () => {
  test("wait for it when it starts later", async () => {
    const port = await portOfNobody()
    await using system = new NatsSystem({ servers: `nats://127.0.0.1:${port}` })
    const worker = system.worker()
    const { map, transport } = system.caller()
    const health: (string | undefined)[] = []
    transport.onHealth((reason) => health.push(reason))
    const call = map.call("demo.add", { id: "early" }, { timeout: 30_000 })
    await expect.poll(() => health.length).toBe(1)
    expect(health[0]).toBe("The broker is unreachable.")
    await using _broker = await startNats({ port })
    expect((await call).data).toBe("early")
    await transport.whenConnected()
    expect(health.at(-1)).toBeUndefined()
    expect(worker.runs).toEqual(["early"])
  })

  test("end at their deadline, and say that nothing ran", async () => {
    const port = await portOfNobody()
    await using system = new NatsSystem({ servers: `nats://127.0.0.1:${port}` })
    const { map, transport } = system.caller()
    expect(transport.isConnected).toBe(false)
    const error = await failure(map.call("demo.add", { id: "never" }, { timeout: 300 }))
    expect(error).toMatchObject({ code: "TIMEOUT", mayHaveExecuted: false, retryable: true })
  })

  test("all succeed when it is killed under them and comes back, and none runs twice", async () => {
    await using broker = await startNats()
    await using system = new NatsSystem({ servers: broker.url })
    const workers = [system.worker(), system.worker()]
    const { map, transport } = system.caller()
    await Promise.all([...workers, { transport }].map((one) => one.transport.whenConnected()))
    const ids = Array.from({ length: 200 }, (_item, at) => `call ${at}`)
    const calls = ids.map((id, at) =>
      map.call("demo.add", { id, delay: (at % 10) * 100 }, { timeout: 60_000 }),
    )
    await expect.poll(() => workers.flatMap(({ runs }) => runs).length).toBe(200)
    await broker.kill()
    const during = ids.map((id) =>
      map.call("demo.add", { id: `during ${id}` }, { timeout: 60_000 }),
    )
    await broker.restart()
    const results = await Promise.all([...calls, ...during])
    expect(results).toHaveLength(400)
    const runs = workers.flatMap((worker) => worker.runs)
    expect(new Set(runs).size).toBe(400)
    expect(runs).toHaveLength(400)
  })

  test("are held while it stands still, and no worker is blamed for it", async () => {
    await using broker = await startNats()
    await using system = new NatsSystem({ servers: broker.url })
    const worker = system.worker()
    const { map, transport } = system.caller()
    await Promise.all([transport.whenConnected(), worker.transport.whenConnected()])
    await map.call("demo.add", { id: "before" })
    const running = map.call("demo.add", { id: "running", delay: 1000 }, { timeout: 60_000 })
    await expect.poll(() => worker.runs).toContain("running")
    broker.freeze()
    const during = map.call("demo.add", { id: "during" }, { timeout: 60_000 })
    await new Promise((resolve) => setTimeout(resolve, 5000))
    broker.thaw()
    expect((await running).data).toBe("running")
    expect((await during).data).toBe("during")
    expect(worker.runs).toEqual(["before", "running", "during"])
    expect(transport.stats().calling.workersLost).toBe(0)
  })

  test("fail at once and for good with credentials that it refuses", async () => {
    await using broker = await startNats({ config: `authorization { user: a, password: b }` })
    await using system = new NatsSystem({ servers: broker.url, connect: { user: "a", pass: "c" } })
    const { map, transport } = system.caller()
    const waiting = failure(map.call("demo.greet", { name: "Ada" }, { timeout: 60_000 }))
    expect(await failure(transport.whenConnected())).toMatchObject({ code: "UNAUTHENTICATED" })
    const error = await waiting
    expect(error).toMatchObject({ code: "UNAUTHENTICATED", mayHaveExecuted: false })
    expect(error.message).toContain("refuses the credentials")
    const later = await failure(map.call("demo.greet", { name: "Ada" }))
    expect(later.code).toBe("UNAUTHENTICATED")
    expect(await failure(transport.whenConnected())).toMatchObject({ code: "UNAUTHENTICATED" })
  })

  test("that are not permitted are ACCESS_DENIED, and say what is missing", async () => {
    await using broker = await startNats({
      config: `authorization { users: [
        { user: worker, password: w }
        { user: ada, password: a, permissions: {
          publish: ["operations.call.ada.any.demo.greet", "operations.ask.ada", "operations.ctl.ada.>"]
          subscribe: ["_INBOX_ada.>", "operations.news"] } }
      ] }`,
    })
    await using system = new NatsSystem({ servers: broker.url })
    const worker = system.worker([], { user: "worker", connect: { user: "worker", pass: "w" } })
    const { map } = system.caller({ user: "ada", connect: { user: "ada", pass: "a" } })
    await worker.transport.whenConnected()
    expect((await map.call("demo.greet", { name: "Ada" })).data).toEqual({ text: "Hello, Ada" })
    const error = await failure(map.call("demo.add", { id: "x" }, { timeout: 60_000 }))
    expect(error).toMatchObject({ code: "ACCESS_DENIED", mayHaveExecuted: false })
    expect(error.message).toContain("operations.call.ada.any.demo.add")
    expect(worker.runs).toEqual([])
  })

  test("leave nothing when all is closed, whatever was going on", async () => {
    await using broker = await startNats()
    const before = held()
    const system = new NatsSystem({ servers: broker.url })
    const worker = system.worker()
    const { map, transport } = system.caller()
    await Promise.all([transport.whenConnected(), worker.transport.whenConnected()])
    await map.call("demo.greet", { name: "Ada" })
    const stream = map.subscribe("demo.count", { to: 1e9 })
    await stream.next()
    const waiting = failure(map.call("demo.add", { id: "slow", delay: 100 }))
    await map.close()
    expect((await waiting).code).toBe("ABORTED")
    await system[Symbol.asyncDispose]()
    await until(() => held() <= before)
  })
})
