import { describe, expect, test } from "vitest"
import { hashOperationId, readWorkerFrame } from "../../../src/transport/bus/wire/wire.ts"
import { Harness, streamOf } from "./worker-harness.ts"

const alive = { type: "ping", ids: [], streams: {} } as const

describe("callers that go", () => {
  test("a caller that leaves stops its running calls, and its waiting ones are forgotten", async () => {
    const it = new Harness()
    await it.running({ requestId: "r1" })
    const key = await it.accepted({ requestId: "r2" })
    for (const requestId of ["r1", "r2", "r3"]) {
      it.say({ type: "event", event: { type: "call.aborted", requestId } })
    }
    expect(it.aborts).toEqual(["r1"])
    it.say({ type: "go", id: "r2", key, left: 1000 })
    expect(it.runs).toEqual(["r1"])
    it.respond("r1")
    expect(await it.received()).toEqual([])
    expect(it.worker.stats()).toMatchObject({ waiting: 0, running: 0, kept: 0, dropped: 0 })
  })

  test("a silent caller is given up with all of its calls, others are not", async () => {
    const it = new Harness({ guard: { callerSilentMs: 3000 } })
    await it.running({ requestId: "r1", timeout: 60_000 })
    await it.accepted({ requestId: "r2", timeout: 60_000 })
    const other = { address: "caller2" }
    await it.running({ requestId: "r3", timeout: 60_000 }, other)
    for (let second = 0; second < 5; second++) {
      it.say(alive, other)
      await it.clock.advance(1000)
    }
    expect(it.aborts).toEqual(["r1"])
    expect(it.worker.stats()).toMatchObject({ running: 1, waiting: 0, callers: 1, callersLost: 1 })
  })

  test("a stream that a living caller no longer asks about ends: the news of its end was lost", async () => {
    const it = new Harness({ guard: { callerSilentMs: 3000 } })
    await it.running(streamOf({ requestId: "s1", timeout: 600_000 }))
    await it.running(streamOf({ requestId: "s2", timeout: 600_000 }))
    it.item(1, "s1")
    // A reader that is slower than any idle timeout still asks.
    const wait = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second++) {
        it.say({ type: "ping", ids: [], streams: { s1: 1 } })
        await it.clock.advance(1000)
      }
    }
    await wait(5)
    expect(it.aborts).toEqual([])
    await wait(25)
    expect(it.aborts).toEqual(["s2"])
  })

  test("a stream stays while the worker cannot receive, or stands still", async () => {
    const it = new Harness({ guard: { callerSilentMs: 3000 } })
    await it.running(streamOf({ requestId: "s1", timeout: 600_000 }))
    it.bus.isConnected = false
    await it.clock.advance(60_000)
    it.bus.isConnected = true
    it.say(alive)
    await it.clock.advance(1000)
    it.clock.time += 100_000
    it.say(alive)
    await it.clock.advance(1000)
    expect(it.aborts).toEqual([])
  })

  test("a caller without calls is forgotten silently, and the worker's ticker stops", async () => {
    const it = new Harness({ guard: { callerSilentMs: 3000 } })
    await it.running()
    it.respond()
    it.say({ type: "done", ids: ["r1"] })
    expect(it.worker.stats().callers).toBe(1)
    await it.clock.advance(4000)
    expect(it.worker.stats()).toMatchObject({ callers: 0, callersLost: 0 })
    await it.clock.advance(1000)
    expect(it.clock.timers).toBe(0)
    await it.accepted()
  })

  test("a caller that only asks what is served is not remembered", async () => {
    const it = new Harness()
    for (let caller = 0; caller < 100; caller++) it.say(alive, { address: `c${caller}` })
    expect((await it.received()).length).toBe(100)
    expect(it.worker.stats().callers).toBe(0)
    expect(it.clock.timers).toBe(0)
  })

  test("a standstill of the worker does not count as silence of its callers", async () => {
    const it = new Harness({ guard: { callerSilentMs: 3000 } })
    await it.running({ timeout: 600_000 })
    await it.clock.advance(1500)
    it.clock.time += 100_000
    await it.clock.advance(500)
    expect(it.aborts).toEqual([])
    expect(it.worker.stats()).toMatchObject({ stalls: 1, callersLost: 0 })
    await it.clock.advance(3000)
    expect(it.aborts).toEqual(["r1"])
  })

  test("no caller counts as silent while the broker is unreachable", async () => {
    const it = new Harness({ guard: { callerSilentMs: 3000 } })
    await it.running({ timeout: 600_000 })
    it.bus.isConnected = false
    await it.clock.advance(60_000)
    expect(it.aborts).toEqual([])
    it.bus.isConnected = true
    it.worker.connected()
    await it.clock.advance(2900)
    expect(it.aborts).toEqual([])
    await it.clock.advance(1000)
    expect(it.aborts).toEqual(["r1"])
  })

  test("a call that runs past its deadline is stopped", async () => {
    const it = new Harness()
    await it.running({ timeout: 1000 })
    await it.clock.advance(7000)
    expect(it.aborts).toEqual(["r1"])
    expect(it.worker.stats().running).toBe(0)
  })
})

describe("a worker that stood still", () => {
  test("starts nothing that was accepted before: its caller may have given up", async () => {
    const it = new Harness()
    const key = await it.accepted({ timeout: 60_000 })
    it.clock.time += 8000
    it.say({ type: "go", id: "r1", key, left: 50_000 })
    expect(it.runs).toEqual([])
    expect(await it.received()).toMatchObject([
      {
        ...{ type: "refused", id: "r1", key, elsewhere: true },
        error: { code: "UNAVAILABLE", mayHaveExecuted: false },
      },
    ])
    expect(it.worker.stats()).toMatchObject({ stalls: 1, waiting: 0 })
  })

  test("between two grants that came together starts only the first", async () => {
    const it = new Harness()
    const grants = []
    for (const id of ["r1", "r2", "r3"]) {
      const key = await it.accepted({ requestId: id, timeout: 60_000 })
      grants.push({ type: "go", id, key, left: 50_000 } as const)
    }
    it.whenReceived = () => (it.clock.time += 8000)
    it.say(grants)
    expect(it.runs).toEqual(["r1"])
    const refused = await it.received()
    expect(refused).toMatchObject(["r2", "r3"].map((id) => ({ type: "refused", id })))
  })

  test("a short standstill changes nothing", async () => {
    const it = new Harness()
    const key = await it.accepted({ timeout: 60_000 })
    it.clock.time += 1500
    it.say({ type: "go", id: "r1", key, left: 50_000 })
    expect(it.runs).toEqual(["r1"])
    expect(it.worker.stats()).toMatchObject({ stalls: 1 })
  })
})

describe("a worker that leaves", () => {
  test("accepts no requests, hands back waiting ones, and completes running ones", async () => {
    const it = new Harness()
    await it.running({ requestId: "r1" })
    const key = await it.accepted({ requestId: "r2" })
    it.worker.leave()
    expect(it.bus.served.at(-1)).toBeUndefined()
    expect(it.bus.announced.at(-1)).toEqual([{ type: "bye" }])
    it.say({ type: "go", id: "r2", key, left: 1000 })
    it.request({ requestId: "r3" })
    it.respond("r1")
    expect(await it.received()).toMatchObject([
      { type: "refused", id: "r2", key, elsewhere: true, error: { code: "UNAVAILABLE" } },
      { type: "refused", id: "r3", elsewhere: true },
      { type: "event", event: { requestId: "r1" } },
    ])
    expect(it.runs).toEqual(["r1"])
    it.worker.leave()
    expect(it.bus.announced.filter(([first]) => first?.type === "bye")).toHaveLength(1)
  })

  test("still handles credit, pings and aborts", async () => {
    const it = new Harness()
    await it.running(streamOf())
    it.worker.leave()
    it.say({ type: "event", event: { type: "call.credit", requestId: "s1", credit: 9 } })
    it.say({ type: "ping", ids: [], streams: { s1: 0 } })
    it.say({ type: "who" })
    expect(await it.received()).toMatchObject([
      { type: "pong", unknown: [], lost: [] },
      { type: "bye" },
    ])
    it.say({ type: "event", event: { type: "call.aborted", requestId: "s1" } })
    expect(it.events.map(({ event }) => event.type)).toEqual([
      ...["call.requested", "call.credit", "call.aborted"],
    ])
  })

  test("announces no changes until it serves again", async () => {
    const it = new Harness()
    it.worker.leave()
    expect(it.offered.listeners.size).toBe(0)
    it.worker.connected()
    expect(it.bus.announced.at(-1)).toEqual([{ type: "bye" }])
    const before = it.bus.announced.length
    it.worker.serve(it.offered)
    expect(it.bus.announced.slice(before)).toMatchObject([[{ type: "here" }]])
    await it.accepted()
  })

  test("sends queued messages, hands back requests and leaves nothing behind when it is closed", async () => {
    const it = new Harness()
    await it.running({ requestId: "r1" })
    await it.accepted({ requestId: "r2" })
    it.respond("r1")
    it.worker.close()
    it.worker.close()
    expect(readWorkerFrame(it.bus.answers.at(-1)?.text ?? "")?.messages).toMatchObject([
      { event: { type: "call.responded", requestId: "r1" } },
      { type: "refused", id: "r2" },
    ])
    expect(it.offered.listeners.size).toBe(0)
    await it.clock.advance(0)
    expect(it.clock.timers).toBe(0)
    const before = it.bus.answers.length
    it.request({ requestId: "r4" })
    it.worker.serve(it.offered)
    it.respond("r1")
    await it.received()
    expect(it.bus.answers.length).toBe(before)
    expect(it.worker.stats()).toMatchObject({ waiting: 0, running: 0, kept: 0, callers: 0 })
  })
})

describe("the operations of a worker", () => {
  const here = {
    type: "here",
    operations: {
      ...{
        [hashOperationId("orders.add")]: 0,
        [hashOperationId("orders.get")]: 1,
        [hashOperationId("orders.watch")]: 0,
      },
    },
  }

  test("are announced to the bus, to all callers, and to a caller that asks", async () => {
    const it = new Harness()
    expect(it.bus.served).toEqual([["orders.add", "orders.get", "orders.watch"]])
    expect(it.bus.announced).toEqual([[here]])
    it.say({ type: "who" })
    expect(await it.received()).toEqual([here])
    it.worker.connected()
    expect(it.bus.announced).toEqual([[here], [here]])
  })

  test("that change in one turn are announced once", async () => {
    const it = new Harness()
    it.offered.operations = [{ id: "orders.drop", isIdempotent: true }]
    for (const listener of it.offered.listeners) for (let n = 0; n < 50; n++) listener()
    await it.clock.advance(0)
    expect(it.bus.served.slice(1)).toEqual([["orders.drop"]])
    expect(it.bus.announced.slice(1)).toEqual([
      [{ type: "changed" }, { type: "here", operations: { [hashOperationId("orders.drop")]: 1 } }],
    ])
    it.request({ operationId: "orders.drop" }, { now: true })
    expect(it.runs).toEqual(["r1"])
  })

  test("are announced once the broker is connected", async () => {
    const it = new Harness({ isIdle: true })
    it.bus.isConnected = false
    it.worker.serve(it.offered)
    expect(it.bus.announced).toEqual([])
    it.bus.isConnected = true
    it.worker.connected()
    expect(it.bus.announced).toEqual([[here]])
  })

  test("that do not fit into one message are announced as far as they fit", async () => {
    const it = new Harness({ isIdle: true })
    it.offered.operations = Array.from({ length: 20_000 }, (_, n) => ({
      ...{ id: `many.operation${n}`, isIdempotent: true },
    }))
    it.worker.serve(it.offered)
    it.say({ type: "who" })
    const [answer] = await it.received()
    const count = Object.keys((answer as { operations: object }).operations).length
    expect(count).toBeGreaterThan(2000)
    expect(it.bus.answers[0]?.text.length).toBeLessThanOrEqual(it.bus.maxPayload)
    expect(it.bus.served[0]).toHaveLength(20_000)
  })
})
