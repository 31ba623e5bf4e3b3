import { describe, expect, test } from "vitest"
import { Harness, overloaded } from "./worker-harness.ts"

describe("accept and grant", () => {
  test("a request is accepted, and runs when it is granted with the key", async () => {
    const it = new Harness()
    it.request()
    const [accepted, ...others] = await it.received()
    expect(others).toEqual([])
    expect(accepted).toMatchObject({
      ...{ type: "accepted", id: "r1", attempt: 1, isIdempotent: false, runs: false },
    })
    expect(it.runs).toEqual([])
    const { key } = accepted as { key: string }
    it.say({ type: "go", id: "r1", key, left: 1234 })
    expect(it.events).toEqual([
      {
        event: {
          ...{ type: "call.requested", requestId: "r1", operationId: "orders.add" },
          ...{ input: { item: "tea" }, timeout: 1234 },
        },
        peer: { identity: undefined, user: "ann" },
      },
    ])
  })

  test("a grant with another key runs nothing, and is answered with silence", async () => {
    const it = new Harness()
    const key = await it.accepted()
    it.say({ type: "go", id: "r1", key: `${key}x`, left: 1000 })
    it.say({ type: "go", id: "r2", key, left: 1000 })
    expect(it.runs).toEqual([])
    expect(await it.received()).toEqual([])
  })

  test("granted twice it runs once", async () => {
    const it = new Harness()
    const key = await it.running()
    it.say({ type: "go", id: "r1", key, left: 1000 })
    it.respond()
    it.say({ type: "go", id: "r1", key, left: 1000 })
    expect(it.runs).toEqual(["r1"])
  })

  test("the request said twice is accepted again with the same key, and runs once", async () => {
    const it = new Harness()
    const key = await it.accepted()
    it.request({}, { attempt: 2 })
    expect(await it.received()).toMatchObject([{ type: "accepted", attempt: 2, key, runs: false }])
    it.say({ type: "go", id: "r1", key, left: 1000 })
    it.request({}, { attempt: 3 })
    expect(await it.received()).toMatchObject([{ type: "accepted", attempt: 3, key, runs: true }])
    expect(it.runs).toEqual(["r1"])
  })

  test("what waits for its grant is said again, less and less often", async () => {
    const it = new Harness()
    const key = await it.accepted({ timeout: 60_000 })
    const times: number[] = []
    for (let tick = 0; tick < 40; tick++) {
      it.say({ type: "ping", ids: [], streams: {} })
      await it.clock.advance(500)
      const again = (await it.received()).filter(({ type }) => type === "accepted")
      for (const message of again) {
        expect(message).toMatchObject({ id: "r1", attempt: 1, key, runs: false })
        times.push(it.clock.now())
      }
    }
    expect(times).toEqual([1000, 3000, 7000, 15_000])
    it.say({ type: "go", id: "r1", key, left: 1000 })
    await it.clock.advance(20_000)
    expect((await it.received()).filter(({ type }) => type === "accepted")).toEqual([])
  })

  test("what is not granted is forgotten: it never runs with its old key", async () => {
    const it = new Harness()
    const key = await it.accepted()
    it.say({ type: "nogo", id: "r1", key })
    it.say({ type: "go", id: "r1", key, left: 1000 })
    expect(it.runs).toEqual([])
    expect(it.worker.stats()).toMatchObject({ waiting: 0, notGranted: 1 })
    const other = await it.accepted()
    expect(other).not.toBe(key)
    it.say({ type: "go", id: "r1", key, left: 1000 })
    expect(it.runs).toEqual([])
    it.say({ type: "go", id: "r1", key: other, left: 1000 })
    expect(it.runs).toEqual(["r1"])
  })

  test("nogo with another key, or for what runs, changes nothing", async () => {
    const it = new Harness()
    const key = await it.accepted()
    it.say({ type: "nogo", id: "r1", key: "other" })
    it.say({ type: "go", id: "r1", key, left: 1000 })
    it.say({ type: "nogo", id: "r1", key })
    expect(it.worker.stats()).toMatchObject({ running: 1, notGranted: 0 })
    expect(it.aborts).toEqual([])
  })

  test("grant, nogo, abort and credit of another caller touch nothing", async () => {
    const it = new Harness()
    const key = await it.accepted()
    for (const from of [{ address: "caller2" }, { user: "eve" }]) {
      it.say({ type: "go", id: "r1", key, left: 1000 }, from)
      it.say({ type: "nogo", id: "r1", key }, from)
      it.say({ type: "event", event: { type: "call.aborted", requestId: "r1" } }, from)
      it.say({ type: "done", ids: ["r1"] }, from)
    }
    expect(it.runs).toEqual([])
    expect(it.worker.stats()).toMatchObject({ waiting: 1, notGranted: 0 })
    it.say({ type: "ping", ids: ["r1"], streams: {} }, { user: "eve" })
    expect(await it.received()).toMatchObject([{ type: "pong", unknown: ["r1"], lost: [] }])
  })

  test("an id that another caller has is refused", async () => {
    const it = new Harness()
    await it.running()
    it.request({}, { user: "eve" })
    expect(await it.received()).toMatchObject([
      { type: "refused", id: "r1", elsewhere: false, error: { code: "VALIDATION_ERROR" } },
    ])
    expect(it.runs).toEqual(["r1"])
    it.respond()
    const [answer] = it.bus.answers.slice(-1)
    await it.received()
    expect(it.bus.answers.at(-1)?.reply).toBe("ann/caller1")
    expect(answer?.reply).toBe("eve/caller1")
  })
})

describe("time", () => {
  test("a request whose time is over is dropped", async () => {
    const it = new Harness()
    it.request({ timeout: 0 })
    it.request({ requestId: "r2", timeout: -1 })
    expect(await it.received()).toEqual([])
    expect(it.worker.stats()).toMatchObject({ waiting: 0, dropped: 2 })
  })

  test("what waits past its time is forgotten, and a late grant runs nothing", async () => {
    const it = new Harness()
    const key = await it.accepted({ timeout: 900 })
    await it.clock.advance(1000)
    expect(it.worker.stats()).toMatchObject({ waiting: 0, notGranted: 1 })
    it.say({ type: "go", id: "r1", key, left: 1000 })
    expect(it.runs).toEqual([])
  })

  test("a grant gives no more time than the request had, and none at all is no grant", async () => {
    const it = new Harness()
    const key = await it.accepted({ timeout: 900 })
    await it.clock.advance(400)
    it.say({ type: "go", id: "r1", key, left: 100_000 })
    expect(it.events[0]?.event).toMatchObject({ timeout: 500 })
    const second = await it.accepted({ requestId: "r2" })
    it.say({ type: "go", id: "r2", key: second, left: 0 })
    expect(it.runs).toEqual(["r1"])
  })

  test("without a limit there is none after the grant either", async () => {
    const it = new Harness()
    const key = await it.accepted({ timeout: undefined })
    it.say({ type: "go", id: "r1", key, left: Number.MAX_SAFE_INTEGER })
    expect(it.events[0]?.event).not.toHaveProperty("timeout", Number.MAX_SAFE_INTEGER)
  })

  test("absurd times do no harm", async () => {
    const it = new Harness()
    const key = await it.accepted({ timeout: 1e300 })
    it.say({ type: "go", id: "r1", key, left: 1e308 })
    expect(it.events[0]?.event).toMatchObject({ timeout: 1e300 })
  })
})

describe("now", () => {
  test("what is idempotent here runs at once; when the answer is as fast it is all that is said", async () => {
    const it = new Harness()
    it.request({ operationId: "orders.get" }, { now: true })
    expect(it.runs).toEqual(["r1"])
    it.respond()
    expect(await it.received()).toMatchObject([
      { type: "event", event: { type: "call.responded" } },
    ])
  })

  test("when it takes longer, the caller hears who runs it", async () => {
    const it = new Harness()
    it.request({ operationId: "orders.get" }, { now: true })
    expect(await it.received()).toMatchObject([{ type: "accepted", id: "r1", runs: true }])
    it.respond()
    expect(await it.received()).toMatchObject([{ type: "event" }])
  })

  test("what is not idempotent here waits for its grant", async () => {
    const it = new Harness()
    const key = await it.accepted({ operationId: "orders.add" }, { now: true })
    expect(it.runs).toEqual([])
    it.say({ type: "go", id: "r1", key, left: 1000 })
    expect(it.runs).toEqual(["r1"])
  })

  test("a stream waits for its grant, whatever it is", async () => {
    const it = new Harness()
    await it.accepted({ operationId: "orders.get", kind: "stream" }, { now: true })
    expect(it.runs).toEqual([])
  })

  test("what every registry has runs at once too, and an unknown operation does not", async () => {
    const it = new Harness()
    it.request({ operationId: "services.list" }, { now: true })
    it.request({ requestId: "r2", operationId: "no.such" }, { now: true })
    expect(it.runs).toEqual(["r1"])
  })

  test("said with now after it was said without, it runs; said twice it runs once", async () => {
    const it = new Harness()
    const key = await it.accepted({ operationId: "orders.get" })
    it.request({ operationId: "orders.get" }, { now: true, attempt: 2 })
    it.request({ operationId: "orders.get" }, { now: true, attempt: 3 })
    it.say({ type: "go", id: "r1", key, left: 1000 })
    expect(it.runs).toEqual(["r1"])
  })
})

describe("a request that was refused", () => {
  test("and arrives once more is not run at once, because its caller was informed that it was not run", async () => {
    const it = new Harness()
    it.offered.error = overloaded()
    it.request({ operationId: "orders.get" }, { now: true })
    expect(await it.received()).toMatchObject([{ type: "refused" }])
    it.offered.error = undefined
    const key = await it.accepted({ operationId: "orders.get" }, { now: true })
    it.request({ operationId: "orders.get" }, { now: true })
    expect(it.runs).toEqual([])
    // Its caller may mean it after all.
    it.say({ type: "go", id: "r1", key, left: 1000 })
    expect(it.runs).toEqual(["r1"])
  })
})

describe("room", () => {
  test("a full worker refuses, and another may take it", async () => {
    const it = new Harness()
    it.offered.error = overloaded()
    it.request()
    expect(await it.received()).toMatchObject([
      {
        ...{ type: "refused", id: "r1", attempt: 1, elsewhere: true },
        error: { code: "OVERLOADED", retryAfterMs: 1000, mayHaveExecuted: false },
      },
    ])
    expect(it.worker.stats()).toMatchObject({ refused: 1, waiting: 0 })
  })

  test("one that got full since disowns what it is granted, with its key", async () => {
    const it = new Harness()
    const key = await it.accepted()
    it.offered.error = overloaded()
    it.say({ type: "go", id: "r1", key, left: 1000 })
    expect(await it.received()).toMatchObject([{ type: "refused", id: "r1", key, elsewhere: true }])
    it.offered.error = undefined
    it.say({ type: "go", id: "r1", key, left: 1000 })
    expect(it.runs).toEqual([])
  })

  test("waiting requests may take a limited number of bytes; running ones do not count", async () => {
    const it = new Harness({ guard: { maxKeptBytes: 3000 } })
    const input = "x".repeat(2000)
    const keys = [
      await it.accepted({ requestId: "r1", input }),
      await it.accepted({ requestId: "r2", input }),
    ]
    it.request({ requestId: "r3", input })
    expect(await it.received()).toMatchObject([
      { type: "refused", elsewhere: true, error: { code: "OVERLOADED" } },
    ])
    it.say({ type: "go", id: "r1", key: keys[0] ?? "", left: 1000 })
    it.say({ type: "nogo", id: "r2", key: keys[1] ?? "" })
    await it.accepted({ requestId: "r3", input })
  })

  test("who serves nothing sends requests elsewhere, and does not say that it is here", async () => {
    const it = new Harness({ isIdle: true })
    it.request()
    it.say({ type: "who" })
    it.worker.connected()
    expect(await it.received()).toMatchObject([
      { type: "refused", elsewhere: true, error: { code: "UNAVAILABLE", retryable: true } },
    ])
    expect(it.bus.announced).toEqual([])
  })
})
