import { connect } from "@nats-io/transport-node"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { fromCall } from "../../../src/index.ts"
import { provideNats, startNats } from "../../support/brokers.ts"
import type { Broker } from "../../support/brokers.ts"
import { operation, quietRegistry } from "../../support/operations.ts"
import { failure } from "../../contract/link.ts"
import { NatsSystem } from "./system.ts"
import { TOO_LONG } from "../../support/patience.ts"

const isThere = await provideNats()

describe.skipIf(!isThere)("calls over NATS", () => {
  let broker: Broker
  let systems = 0
  beforeAll(async () => {
    broker = await startNats()
  })
  afterAll(async () => {
    await broker[Symbol.asyncDispose]()
  })
  const system = (): NatsSystem =>
    new NatsSystem({ servers: broker.url, prefix: `system${++systems}` })

  test("without any worker are UNAVAILABLE, long before their deadline", async () => {
    await using one = system()
    const { map } = one.caller()
    const started = Date.now()
    const error = await failure(map.call("demo.greet", { name: "Ada" }, { timeout: 60_000 }))
    expect(error).toMatchObject({ code: "UNAVAILABLE", retryable: true, mayHaveExecuted: false })
    expect(error.message).toContain("demo.greet")
    expect(Date.now() - started).toBeLessThan(TOO_LONG)
    const stream = map.subscribe("demo.count", { to: 3 })
    expect((await failure(stream.next())).code).toBe("UNAVAILABLE")
  })

  test("of an unknown operation are OPERATION_NOT_FOUND, with the message of a registry", async () => {
    await using one = system()
    const worker = one.worker()
    const { map } = one.caller()
    await worker.transport.whenConnected()
    const error = await failure(map.call("demo.gret", { name: "Ada" }))
    expect(error).toMatchObject({ code: "OPERATION_NOT_FOUND", mayHaveExecuted: false })
    expect(error.message).toContain(`"demo.gret" is not registered`)
  })

  test.each(["a.>", "a.*", "a b", "a\r\nPUB x 1", "*.>", ">", `a.${"b".repeat(300)}`])(
    "of %j are OPERATION_NOT_FOUND, and never become a subject",
    async (id) => {
      await using one = system()
      const worker = one.worker()
      const { map } = one.caller()
      await worker.transport.whenConnected()
      await map.call("demo.greet", { name: "Ada" })
      const eavesdropper = await connect({ servers: broker.url })
      const subjects: string[] = []
      eavesdropper.subscribe(">", {
        callback: (_error, { subject }) => void subjects.push(subject),
      })
      await eavesdropper.flush()
      expect((await failure(map.call(id, {}))).code).toBe("OPERATION_NOT_FOUND")
      expect((await failure(map.subscribe(id, {}).next())).code).toBe("OPERATION_NOT_FOUND")
      expect((await map.call("demo.greet", { name: "Ada" })).data).toEqual({ text: "Hello, Ada" })
      await eavesdropper.flush()
      for (const subject of subjects) expect(subject).toMatch(/^(system\d+\.|_INBOX_)[\w.-]+$/)
      // Names of inboxes are random, and may contain a few.
      expect(subjects.join("\n")).not.toContain("b".repeat(20))
      await eavesdropper.close()
    },
  )

  test("are shared by the workers, and each runs once", async () => {
    await using one = system()
    const workers = [one.worker(), one.worker()]
    await Promise.all(workers.map(({ transport }) => transport.whenConnected()))
    const { map } = one.caller()
    const [first = [], second = []] = workers.map(({ runs }) => runs)
    const called: string[] = []
    // Once more until the broker knows the subscriptions of both workers.
    const callMany = async (): Promise<number> => {
      const ids = Array.from({ length: 300 }, (_item, at) => `call ${called.length + at}`)
      called.push(...ids)
      const results = await Promise.all(ids.map((id) => map.call("demo.add", { id })))
      expect(results.map(({ data }) => data)).toEqual(ids)
      return Math.min(first.length, second.length)
    }
    await expect.poll(callMany).toBeGreaterThan(30)
    expect([...first, ...second].toSorted()).toEqual(called.toSorted())
  })

  test("find the one worker that has the operation", async () => {
    await using one = system()
    one.worker()
    one.worker([operation("rare.only", { handler: () => "here" })])
    one.worker()
    const { map } = one.caller()
    await expect.poll(() => map.call("rare.only").then(({ data }) => data, String)).toBe("here")
    for (let at = 0; at < 20; at++) expect((await map.call("rare.only")).data).toBe("here")
  })

  test("may go to oneself", async () => {
    await using one = system()
    const { map, transport } = one.caller()
    const worker = one.worker()
    await Promise.all([transport.whenConnected(), worker.transport.whenConnected()])
    expect((await map.call("demo.greet", { name: "Ada" })).data).toEqual({ text: "Hello, Ada" })
  })

  test("do not cross from one prefix to another", async () => {
    await using one = system()
    await using other = system()
    const worker = other.worker()
    await worker.transport.whenConnected()
    const error = await failure(one.caller().map.call("demo.greet", { name: "Ada" }))
    expect(error.code).toBe("UNAVAILABLE")
  })

  test("that are too large fail before they are sent, and affect no other call", async () => {
    await using one = system()
    const worker = one.worker()
    await worker.transport.whenConnected()
    const { map, transport } = one.caller()
    await transport.whenConnected()
    const error = await failure(map.call("demo.echo", { text: "ä".repeat(600_000) }))
    expect(error).toMatchObject({ code: "PAYLOAD_TOO_LARGE", mayHaveExecuted: false })
    expect(error.message).toMatch(/1\d{6} bytes|1\.\d+ MiB/)
    expect((await map.call("demo.greet", { name: "Ada" })).data).toBeDefined()
    expect(transport.isConnected).toBe(true)
  })

  test("with answers that are too large say that it ran", async () => {
    await using one = system()
    const worker = one.worker()
    const { map, transport } = one.caller()
    await Promise.all([transport.whenConnected(), worker.transport.whenConnected()])
    const error = await failure(map.call("demo.large", { bytes: 2_000_000 }))
    expect(error).toMatchObject({ code: "PAYLOAD_TOO_LARGE", mayHaveExecuted: true })
    expect(worker.runs).toEqual(["large"])
    const { data } = await map.call("demo.large", { bytes: 1_000_000 })
    expect(data).toHaveLength(1_000_000)
    expect(worker.transport.isConnected).toBe(true)
  })

  test("of several versions are listed side by side, and imported once", async () => {
    await using one = system()
    const add = (version: string) => [operation("math.twice", { version, handler: () => version })]
    const workers = [one.worker(add("1.2.0")), one.worker(add("2.0.0")), one.worker(add("1.10.0"))]
    await Promise.all(workers.map(({ transport }) => transport.whenConnected()))
    const { map } = one.caller()
    const versions = async (): Promise<unknown> => {
      const { data } = await map.call("services.list", {})
      const { operations } = data as { operations: { id: string; version: string }[] }
      return operations.filter(({ id }) => id === "math.twice").map(({ version }) => version)
    }
    await expect.poll(versions).toEqual(["1.2.0", "1.10.0", "2.0.0"])
    const imported = await fromCall(map)
    const ids = imported.map(({ namespace, name }) => `${namespace}.${name}`)
    expect(ids.filter((id) => id === "math.twice")).toHaveLength(1)
    expect(imported.find(({ name }) => name === "twice")?.version).toBe("2.0.0")
    const registry = quietRegistry(imported)
    expect((await registry.execute("demo.greet", { name: "Ada" })).data).toBeDefined()
    await registry.close()
  })

  test("continue without a failure while workers come and go", async () => {
    await using one = system()
    let workers = [one.worker(), one.worker(), one.worker()]
    const all = [...workers]
    await Promise.all(workers.map(({ transport }) => transport.whenConnected()))
    const { map } = one.caller()
    const calls: Promise<unknown>[] = []
    let isOver = false
    const load = (async () => {
      for (let at = 0; !isOver; at++) {
        calls.push(map.call("demo.add", { id: `call ${at}`, delay: at % 20 }))
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    })()
    for (let round = 0; round < 3; round++) {
      const [first, ...rest] = workers
      const next = one.worker()
      all.push(next)
      await next.transport.whenConnected()
      await first?.stop()
      workers = [...rest, next]
    }
    isOver = true
    await load
    const failed = (await Promise.allSettled(calls)).filter(({ status }) => status === "rejected")
    expect(failed).toEqual([])
    const runs = all.flatMap((worker) => worker.runs)
    expect(runs).toHaveLength(calls.length)
    expect(new Set(runs).size).toBe(calls.length)
  })
})
