import { Redis } from "ioredis"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { provideRedis, startRedis } from "../../support/brokers.ts"
import type { Broker } from "../../support/brokers.ts"
import { connectEnd, connectWorker, openEnd } from "./ends.ts"

const isThere = await provideRedis()

describe.skipIf(!isThere)("a bus on Redis", () => {
  let broker: Broker
  beforeAll(async () => {
    broker = await startRedis()
  })
  afterAll(async () => {
    await broker[Symbol.asyncDispose]()
  })

  test("takes a request to a worker, and its answer back", async () => {
    await using worker = await connectWorker(broker.url, { user: "workers" })
    await using caller = await connectEnd(broker.url, { user: "alice" })
    const text = caller.frame("request")
    caller.bus.toWorker(worker.bus.address, "demo.greet", text, "m1")
    await expect
      .poll(() => worker.recorder.calls)
      .toEqual([
        {
          text,
          caller: {
            user: "alice",
            address: caller.bus.address,
            reply: `operations:inbox:alice:${caller.bus.address}`,
            operationId: "demo.greet",
          },
        },
      ])
    const reply = worker.recorder.calls[0]?.caller.reply ?? ""
    worker.bus.answer(reply, worker.frame("answer"))
    await expect.poll(() => caller.recorder.answers).toEqual([worker.frame("answer")])
    expect(caller.recorder.noResponderIds).toEqual([])
  })

  test("keeps the order, and characters beyond ASCII", async () => {
    await using worker = await connectWorker(broker.url)
    await using caller = await connectEnd(broker.url)
    const texts = Array.from({ length: 500 }, (_item, at) => caller.frame(`${at} 🦊 \u0000 é`))
    for (const text of texts) caller.bus.control(worker.bus.address, text, "m")
    await expect.poll(() => worker.recorder.calls.length).toBe(500)
    expect(worker.recorder.calls.map(({ text }) => text)).toEqual(texts)
    expect(worker.recorder.calls[0]?.caller.operationId).toBeUndefined()
  })

  test("reaches all workers, and no worker of another prefix", async () => {
    await using one = await connectWorker(broker.url)
    await using two = await connectWorker(broker.url)
    await using other = await connectWorker(broker.url, { prefix: "other" })
    await using caller = await connectEnd(broker.url)
    caller.bus.toAll("services.list", caller.frame("list"), "m1")
    caller.bus.ask(caller.frame("who"), "m2")
    for (const worker of [one, two]) {
      await expect.poll(() => worker.recorder.calls.length).toBe(2)
      expect(worker.recorder.calls.map(({ caller: { operationId } }) => operationId)).toEqual([
        "services.list",
        undefined,
      ])
    }
    expect(other.recorder.calls).toEqual([])
  })

  test("reports at once that there are no listeners", async () => {
    await using caller = await connectEnd(broker.url, { prefix: "empty" })
    caller.bus.toWorker("nobodythere", "demo.greet", caller.frame("request"), "m1")
    caller.bus.control("nobodythere", caller.frame("ping"), "m2")
    caller.bus.toAll("services.list", caller.frame("list"), "m3")
    caller.bus.ask(caller.frame("who"), "m4")
    await expect.poll(() => caller.recorder.noResponderIds).toEqual(["m1", "m2", "m3", "m4"])
  })

  test("announces only when the worker that does can be asked", async () => {
    await using worker = await connectEnd(broker.url, { prefix: "news" })
    await using caller = await connectEnd(broker.url, { prefix: "news" })
    worker.bus.serve(["demo.greet"])
    worker.bus.announce(worker.frame("changed"))
    await expect.poll(() => caller.recorder.answers).toEqual([worker.frame("changed")])
    caller.bus.ask(caller.frame("who"), "m1")
    await expect.poll(() => worker.recorder.calls.length).toBe(1)
    expect(caller.recorder.noResponderIds).toEqual([])
  })

  test("that leaves hears what is for it, and nothing that is for all", async () => {
    await using worker = await connectWorker(broker.url, { prefix: "leaves" })
    await using caller = await connectEnd(broker.url, { prefix: "leaves" })
    worker.bus.serve(undefined)
    worker.bus.announce(worker.frame("bye"))
    await expect.poll(() => caller.recorder.answers.length).toBe(1)
    caller.bus.ask(caller.frame("who"), "m1")
    caller.bus.toAll("services.list", caller.frame("list"), "m2")
    caller.bus.control(worker.bus.address, caller.frame("go"), "m3")
    caller.bus.toWorker(worker.bus.address, "demo.greet", caller.frame("request"), "m4")
    await expect.poll(() => worker.recorder.calls.length).toBe(2)
    expect(worker.recorder.calls.map(({ text }) => text)).toEqual([
      caller.frame("go"),
      caller.frame("request"),
    ])
    expect(caller.recorder.noResponderIds).toEqual(["m1", "m2"])
  })

  test("finds no worker by itself", async () => {
    await using caller = openEnd(broker.url)
    expect(caller.bus.hasQueues).toBe(false)
    expect(() => caller.bus.toAny("demo.greet")).toThrow(/callers choose/)
  })

  test("rejects messages that are too large before they are sent, and continues", async () => {
    await using worker = await connectWorker(broker.url, { maxPayload: 4096 })
    await using caller = await connectEnd(broker.url, { maxPayload: 4096 })
    const { address } = worker.bus
    const send = (what: string): void =>
      caller.bus.toWorker(address, "demo.greet", caller.frame(what), "m1")
    expect(() => send("x".repeat(5000))).toThrow(
      expect.objectContaining({
        code: "PAYLOAD_TOO_LARGE",
        mayHaveExecuted: false,
        details: { bytes: 5059, maxPayload: 4096 },
      }),
    )
    // Characters are not bytes.
    expect(() => send("€".repeat(1400))).toThrow(/maxPayload/)
    expect(() => worker.bus.answer("operations:inbox:a:b", "x".repeat(5000))).toThrow(
      expect.objectContaining({ code: "PAYLOAD_TOO_LARGE", mayHaveExecuted: true }),
    )
    send("x".repeat(4000))
    await expect.poll(() => worker.recorder.calls.length).toBe(1)
  })

  test.each([
    "a.>",
    "a.*",
    "a b",
    "a:b.c",
    "a.b:c",
    "greet",
    "",
    "a.b\r\nPUBLISH x 1",
    "ä.b",
    `a.${"b".repeat(300)}`,
  ])("lets no operation %j into the name of a channel", async (operationId) => {
    await using caller = openEnd(broker.url)
    expect(() => caller.bus.toWorker("worker00", operationId, "{}", "m1")).toThrow(
      expect.objectContaining({ code: "OPERATION_NOT_FOUND" }),
    )
  })

  test("drops and logs hostile messages, and continues", async () => {
    await using worker = await connectWorker(broker.url, { maxPayload: 4096 })
    const { address } = worker.bus
    const frame = (from: string): string => `{"from":"${from}","messages":[]}`
    const redis = new Redis(broker.url)
    const hostile: [string, string][] = [
      [`operations:call:alice:${address}:demo.greet`, "no JSON"],
      [`operations:call:alice:${address}:demo.greet`, ""],
      [`operations:call:alice:${address}:demo.greet`, frame("../../x")],
      [`operations:call:alice:${address}:demo.greet`, frame("all")],
      [`operations:call:alice:${address}:demo.greet`, frame("a".repeat(65))],
      [`operations:call:alice:${address}:demo.greet`, frame("aaaaaaaa") + " ".repeat(5000)],
      [`operations:call:alice:${address}:admin.x:demo.greet`, frame("aaaaaaaa")],
      [`operations:call:alice:x:${address}:demo.greet`, frame("aaaaaaaa")],
      [`operations:call:a*:${address}:demo.greet`, frame("aaaaaaaa")],
      [`operations:call::${address}:demo.greet`, frame("aaaaaaaa")],
      [`operations:call:alice:${address}:`, frame("aaaaaaaa")],
      [`operations:call:alice:${address}:greet`, frame("aaaaaaaa")],
      [`operations:ctl:alice:bob:${address}`, frame("aaaaaaaa")],
      [`operations:ask:alice:bob`, frame("aaaaaaaa")],
      [`operations:ask:`, frame("aaaaaaaa")],
    ]
    for (const [channel, text] of hostile) expect(await redis.publish(channel, text)).toBe(1)
    expect(await redis.publish(worker.channels.inbox, "no JSON")).toBe(1)
    expect(await redis.publish(worker.channels.inbox, frame("all"))).toBe(1)
    await redis.publish(`operations:ctl:alice:${address}`, frame("aaaaaaaa"))
    redis.disconnect()
    await expect.poll(() => worker.recorder.calls.length).toBe(hostile.length + 1)
    const texts = worker.recorder.calls.map(({ text }) => text)
    expect(texts.slice(0, -1).every((text) => text === "")).toBe(true)
    expect(texts.at(-1)).toBe(frame("aaaaaaaa"))
    expect(worker.recorder.answers).toEqual(["", ""])
  })

  test("waits while too much is under way, and no longer", async () => {
    await using worker = await connectWorker(broker.url, { maxPayload: 16 * 1024 * 1024 })
    await using caller = await connectEnd(broker.url, { maxPayload: 16 * 1024 * 1024 })
    expect(caller.bus.ready()).toBeUndefined()
    caller.bus.control(worker.bus.address, caller.frame("x".repeat(9 * 1024 * 1024)), "m1")
    const waiting = caller.bus.ready()
    expect(waiting).toBeInstanceOf(Promise)
    expect(caller.bus.ready()).toBe(waiting)
    await waiting
    expect(caller.bus.ready()).toBeUndefined()
    await expect.poll(() => worker.recorder.calls.length).toBe(1)
  })

  test("sends what waits when it is closed, and nothing after that", async () => {
    await using worker = await connectWorker(broker.url)
    const caller = await connectEnd(broker.url)
    caller.bus.control(worker.bus.address, caller.frame("last words"), "m1")
    await Promise.all([caller.bus.close(), caller.bus.close()])
    await expect.poll(() => worker.recorder.calls.length).toBe(1)
    caller.bus.control(worker.bus.address, caller.frame("more"), "m2")
    expect(caller.bus.isConnected).toBe(false)
    expect(caller.bus.ready()).toBeUndefined()
    await caller.bus.close()
    expect(worker.recorder.calls).toHaveLength(1)
    expect(caller.recorder.story).toEqual(["connected"])
  })

  test("closed at any moment of connecting leaves nothing and logs nothing", async () => {
    for (const wait of [0, 0, 1, 2, 3, 5, 8]) {
      const end = openEnd(broker.url)
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
      await end.bus.close()
      expect(end.recorder.story.filter((what) => what !== "connected")).toEqual([])
    }
    const redis = new Redis(broker.url)
    await expect
      .poll(
        async () =>
          String(await redis.client("LIST"))
            .trim()
            .split("\n").length,
      )
      .toBe(1)
    redis.disconnect()
  })
})
