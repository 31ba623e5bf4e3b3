import { describe, expect, test } from "vitest"
import { readWorkerFrame } from "../../../src/transport/bus/wire/wire.ts"
import { Harness } from "./worker-harness.ts"

/** A ping of a caller that received a pong after all that was sent before. */
const ping = { type: "ping", ids: ["r1"], streams: {}, heard: Number.MAX_SAFE_INTEGER } as const
const pong = { type: "pong", unknown: [], lost: [] }

describe("results", () => {
  test("a result is sent, kept, and sent again when its caller asks", async () => {
    const it = new Harness()
    await it.running()
    it.respond("r1", { sum: 3 })
    const [result] = await it.received()
    expect(result).toMatchObject({ type: "event", event: { output: { data: { sum: 3 } } } })
    await it.clock.advance(1000)
    it.say(ping)
    expect(await it.received()).toMatchObject([result, pong])
    expect(it.worker.stats()).toMatchObject({ kept: 1, resent: 1, running: 0 })
  })

  test("a result that was just sent is not sent again yet, unless the connection was lost", async () => {
    const it = new Harness()
    await it.running()
    it.respond()
    await it.received()
    await it.clock.advance(100)
    it.say({ ...ping, heard: 0 })
    expect(await it.received()).toMatchObject([pong])
    it.worker.connected()
    it.say({ ...ping, heard: 0 })
    expect(await it.received()).toMatchObject([{ type: "event" }, pong])
  })

  test("a repeated request gets the result again", async () => {
    const it = new Harness()
    await it.running()
    it.respond()
    const first = await it.received()
    it.request({}, { attempt: 2 })
    expect(await it.received()).toEqual(first)
    expect(it.runs).toEqual(["r1"])
  })

  test("a confirmed result is forgotten, and a running call is not", async () => {
    const it = new Harness()
    await it.running()
    it.say({ type: "done", ids: ["r1", "never"] })
    expect(it.worker.stats()).toMatchObject({ running: 1 })
    it.respond()
    it.say({ type: "done", ids: ["r1"] })
    expect(it.worker.stats()).toMatchObject({ kept: 0, keptBytes: 0 })
    await it.received()
    it.say(ping)
    expect(await it.received()).toMatchObject([{ type: "pong", unknown: ["r1"], lost: [] }])
  })

  test("a result is kept until 5 s after its deadline", async () => {
    const it = new Harness()
    await it.running({ timeout: 5000 })
    it.respond()
    await it.clock.advance(9400)
    expect(it.worker.stats().kept).toBe(1)
    await it.clock.advance(1100)
    expect(it.worker.stats()).toMatchObject({ kept: 0, keptBytes: 0 })
  })

  test("a result without a deadline is kept as long as its caller may be silent", async () => {
    const it = new Harness({ guard: { callerSilentMs: 3000 } })
    await it.running({ timeout: undefined })
    await it.clock.advance(2000)
    it.respond()
    const stay = (): void => it.say({ type: "ping", ids: [], streams: {} })
    for (let second = 0; second < 7; second++) {
      stay()
      await it.clock.advance(1000)
    }
    expect(it.worker.stats().kept).toBe(1)
    stay()
    await it.clock.advance(1500)
    expect(it.worker.stats().kept).toBe(0)
  })

  test("beyond maxKeptBytes the oldest results are evicted, and pings report them as unknown", async () => {
    const it = new Harness({ guard: { maxKeptBytes: 2500 } })
    for (const id of ["r1", "r2", "r3"]) {
      await it.running({ requestId: id })
      it.respond(id, "x".repeat(900))
    }
    expect(it.worker.stats().kept).toBe(2)
    expect(it.worker.stats().keptBytes).toBeLessThanOrEqual(2500)
    await it.received()
    await it.clock.advance(1000)
    it.say({ ...ping, ids: ["r1", "r2", "r3"] })
    const received = await it.received()
    expect(received.map((message) => message.type)).toMatchObject(["event", "event", "pong"])
    expect(received.at(-1)).toMatchObject({ unknown: ["r1"] })
  })

  test("a result larger than maxKeptBytes is still sent", async () => {
    const it = new Harness({ guard: { maxKeptBytes: 100 } })
    await it.running()
    it.respond("r1", "x".repeat(1000))
    expect(await it.received()).toMatchObject([{ type: "event" }])
    expect(it.worker.stats()).toMatchObject({ kept: 0, keptBytes: 0, running: 0 })
  })

  test("errors and aborts are kept like results", async () => {
    const it = new Harness()
    await it.running({ requestId: "r1" })
    await it.running({ requestId: "r2" })
    it.worker.send({ type: "call.error", requestId: "r1", code: "NOT_FOUND", message: "none" })
    it.worker.send({ type: "call.aborted", requestId: "r2", reason: "closed" })
    await it.received()
    await it.clock.advance(1000)
    it.say({ ...ping, ids: ["r1", "r2"] })
    expect(await it.received()).toMatchObject([
      { type: "event", event: { type: "call.error", code: "NOT_FOUND" } },
      { type: "event", event: { type: "call.aborted" } },
      pong,
    ])
  })

  test("progress is sent and not kept; after the end there is none", async () => {
    const it = new Harness()
    await it.running()
    it.worker.send({ type: "call.progress", requestId: "r1", progress: 0.5 })
    it.respond()
    it.worker.send({ type: "call.progress", requestId: "r1", progress: 0.7 })
    it.respond()
    expect((await it.received()).length).toBe(2)
    expect(it.worker.stats().kept).toBe(1)
  })

  test("bytes in a result arrive as bytes", async () => {
    const it = new Harness()
    await it.running()
    it.respond("r1", new Uint8Array([1, 2, 255]))
    expect(await it.received()).toMatchObject([
      { event: { output: { data: new Uint8Array([1, 2, 255]) } } },
    ])
  })

  test("answers of one turn leave in one frame, with the last reply of their caller", async () => {
    const it = new Harness()
    await it.running({ requestId: "r1" })
    await it.running({ requestId: "r2" })
    it.say({ type: "ping", ids: [], streams: {} }, { reply: "ann/caller1/latest" })
    it.respond("r1")
    it.respond("r2")
    await it.received()
    const [last] = it.bus.answers.slice(-1)
    expect(last?.reply).toBe("ann/caller1/latest")
    expect(readWorkerFrame(last?.text ?? "")?.messages).toMatchObject([
      { type: "pong" },
      { event: { type: "call.responded", requestId: "r1" } },
      { event: { type: "call.responded", requestId: "r2" } },
    ])
  })

  test("an answer that cannot leave is kept, and comes when its caller asks", async () => {
    const it = new Harness()
    await it.running()
    it.bus.fault = new Error("cut") as never
    it.respond()
    expect(await it.received()).toEqual([])
    it.bus.fault = undefined
    await it.clock.advance(1000)
    it.say(ping)
    expect(await it.received()).toMatchObject([{ type: "event" }, pong])
  })
})

describe("sizes", () => {
  test("a result that does not fit is PAYLOAD_TOO_LARGE, and its request still runs", async () => {
    const it = new Harness()
    await it.running()
    const data = "é".repeat(40_000)
    const send = (): void => it.respond("r1", data)
    expect(send).toThrow(
      expect.objectContaining({
        ...{ code: "PAYLOAD_TOO_LARGE", mayHaveExecuted: true, retryable: false },
        details: { bytes: expect.any(Number), maxPayload: 65_536 },
        message: expect.stringMatching(/"orders\.add".*65536.*stream/s),
      }),
    )
    expect(it.worker.stats()).toMatchObject({ kept: 0, running: 1 })
    it.worker.send({ type: "call.error", requestId: "r1", code: "X", message: "too large" })
    expect(await it.received()).toMatchObject([{ event: { code: "X" } }])
  })

  test("what fits to the byte is sent", async () => {
    const it = new Harness()
    await it.running({ requestId: "r1" })
    it.respond("r1", "")
    await it.received()
    const empty = it.bus.answers.at(-1)?.text.length ?? 0
    await it.running({ requestId: "r2" })
    expect(() => it.respond("r2", "x".repeat(65_537 - empty))).toThrow("65537")
    it.respond("r2", "x".repeat(65_536 - empty))
    await it.received()
    expect(it.bus.answers.at(-1)?.text.length).toBe(65_536)
  })

  test("results that do not fit together leave in several frames", async () => {
    const it = new Harness()
    for (const id of ["r1", "r2", "r3"]) await it.running({ requestId: id })
    const before = it.bus.answers.length
    for (const id of ["r1", "r2", "r3"]) it.respond(id, "x".repeat(30_000))
    expect((await it.received()).filter(({ type }) => type === "event")).toHaveLength(3)
    const frames = it.bus.answers.slice(before)
    expect(frames.length).toBeGreaterThan(1)
    for (const { text } of frames) expect(text.length).toBeLessThanOrEqual(65_536)
  })

  test("an error that does not fit goes without its details", async () => {
    const it = new Harness()
    await it.running()
    it.worker.send({
      ...{ type: "call.error", requestId: "r1", code: "X", message: "why" },
      details: "x".repeat(100_000),
    })
    const [error] = await it.received()
    expect(error).toMatchObject({ event: { code: "X", message: "why" } })
    expect(error).not.toHaveProperty("event.details")
  })
})
