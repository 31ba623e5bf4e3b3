import { connect } from "@nats-io/transport-node"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { tagOf } from "../../../src/transport/nats/subjects.ts"
import { provideNats, startNats } from "../../support/brokers.ts"
import type { Broker } from "../../support/brokers.ts"
import { hears, isUp, keepingLogger, openBus } from "./recorder.ts"

const isThere = await provideNats()

describe.skipIf(!isThere)("messages over NATS", () => {
  test("reach a worker by any, by its address and by all, with who sent them", async () => {
    await using broker = await startNats()
    await using worker = openBus(broker.url)
    await using caller = openBus(broker.url, { user: "ada" })
    worker.bus.serve(["demo.greet"])
    worker.recorder.onCaller = (text, { reply }) => worker.bus.answer(reply, `re: ${text}`)
    await Promise.all([isUp(worker), isUp(caller)])
    await hears(caller, worker)

    caller.bus.toAny("demo.greet", "any", "m1")
    caller.bus.toWorker(worker.bus.address, "demo.other", "one", "m2")
    caller.bus.toAll("services.list", "all", "m3")
    caller.bus.control(worker.bus.address, "control", "m4")
    caller.bus.ask("who", "m5")
    await expect.poll(() => caller.recorder.fromWorkers).toHaveLength(5)
    expect(
      worker.recorder.fromCallers.map(({ text, caller: by }) => [text, by.operationId]),
    ).toEqual([
      ["any", "demo.greet"],
      ["one", "demo.other"],
      ["all", "services.list"],
      ["control", undefined],
      ["who", undefined],
    ])
    for (const { caller: by } of worker.recorder.fromCallers) {
      expect(by).toMatchObject({ user: "ada", address: caller.bus.address })
      expect(by.reply).toMatch(new RegExp(`^_INBOX_ada\\.${caller.bus.address}\\.m[1-5]$`))
    }
    expect(caller.recorder.fromWorkers).toEqual(
      ["any", "one", "all", "control", "who"].map((text) => `re: ${text}`),
    )
    expect(caller.recorder.unanswered).toEqual([])
  })

  test("come with every letter there is", async () => {
    await using broker = await startNats()
    await using both = openBus(broker.url)
    both.bus.serve(["demo.greet"])
    await isUp(both)
    const text = "ä😀\u0000\r\nPUB x 1\r\n\u{10FFFF}"
    both.bus.toAny("demo.greet", text, "m1")
    await expect.poll(() => both.recorder.fromCallers[0]?.text).toBe(text)
  })

  test("without a responder are reported at once", async () => {
    await using broker = await startNats()
    await using caller = openBus(broker.url)
    await isUp(caller)
    caller.bus.toAny("demo.greet", "x", "m1")
    caller.bus.toWorker("nobody12345", "demo.greet", "x", "m2")
    caller.bus.toAll("services.list", "x", "m3")
    caller.bus.control("nobody12345", "x", "m4")
    caller.bus.ask("x", "m5")
    await expect.poll(() => caller.recorder.unanswered).toEqual(["m1", "m2", "m3", "m4", "m5"])
    expect(caller.recorder.fromWorkers).toEqual([])
  })

  test("to any go to one of those who serve the operation, and to each of them in the long run", async () => {
    await using broker = await startNats()
    await using one = openBus(broker.url)
    await using two = openBus(broker.url)
    await using caller = openBus(broker.url)
    one.bus.serve(["demo.greet", "demo.one"])
    two.bus.serve(["demo.greet"])
    await Promise.all([isUp(one), isUp(two), isUp(caller)])
    await hears(caller, one)
    await hears(caller, two)
    for (let at = 0; at < 200; at++) caller.bus.toAny("demo.greet", `${at}`, `m${at}`)
    const count = (): number => one.recorder.fromCallers.length + two.recorder.fromCallers.length
    await expect.poll(count).toBe(200)
    expect(one.recorder.fromCallers.length).toBeGreaterThan(20)
    expect(two.recorder.fromCallers.length).toBeGreaterThan(20)
    for (let at = 0; at < 20; at++) caller.bus.toAny("demo.one", `${at}`, `n${at}`)
    await expect.poll(count).toBe(220)
    expect(caller.recorder.unanswered).toEqual([])
  })

  test("follow what is served, and what is on its way to a worker that stops still arrives", async () => {
    await using broker = await startNats()
    await using worker = openBus(broker.url)
    await using caller = openBus(broker.url)
    await Promise.all([isUp(worker), isUp(caller)])
    const isServed = async (id: string): Promise<boolean> => {
      const before = worker.recorder.fromCallers.length + caller.recorder.unanswered.length
      caller.bus.toAny(id, "?", `m${before}`)
      const count = worker.recorder.fromCallers.length
      await expect
        .poll(() => worker.recorder.fromCallers.length + caller.recorder.unanswered.length)
        .toBe(before + 1)
      return worker.recorder.fromCallers.length > count
    }
    worker.bus.serve(["demo.a", "demo.b"])
    await expect.poll(() => isServed("demo.a")).toBe(true)
    expect(await isServed("demo.b")).toBe(true)
    worker.bus.serve(["demo.b", "demo.c"])
    await expect.poll(() => isServed("demo.c")).toBe(true)
    expect(await isServed("demo.a")).toBe(false)
    expect(await isServed("demo.b")).toBe(true)

    const before = worker.recorder.fromCallers.length + caller.recorder.unanswered.length
    for (let at = 0; at < 500; at++) {
      caller.bus.toAny("demo.b", `${at}`, `n${at}`)
      if (at === 250) worker.bus.serve(undefined)
    }
    await expect
      .poll(() => worker.recorder.fromCallers.length + caller.recorder.unanswered.length)
      .toBe(before + 500)
    expect(await isServed("demo.b")).toBe(false)
    // What is for this very worker still arrives.
    const count = worker.recorder.fromCallers.length
    caller.bus.control(worker.bus.address, "still there?", "z1")
    caller.bus.toWorker(worker.bus.address, "demo.b", "still there?", "z2")
    await expect.poll(() => worker.recorder.fromCallers.length).toBe(count + 2)
    caller.bus.ask("who", "z3")
    caller.bus.toAll("services.list", "list", "z4")
    await expect.poll(() => caller.recorder.unanswered).toContain("z4")
    expect(caller.recorder.unanswered).toContain("z3")
    // And it may serve again.
    worker.bus.serve(["demo.b"])
    await expect.poll(() => isServed("demo.b")).toBe(true)
  })

  test("that are too large are refused before they are sent, and nothing else is harmed", async () => {
    await using broker = await startNats({ config: "max_payload: 4096" })
    await using both = openBus(broker.url)
    both.bus.serve(["demo.greet"])
    expect(both.bus.maxPayload).toBe(1024 * 1024)
    await isUp(both)
    expect(both.bus.maxPayload).toBe(4096)
    const refused = (text: string) => () => both.bus.toAny("demo.greet", text, "m1")
    for (const text of ["x".repeat(4097), "ä".repeat(2049), "😀".repeat(1025)]) {
      expect(refused(text)).toThrow(
        expect.objectContaining({ code: "PAYLOAD_TOO_LARGE", mayHaveExecuted: false }),
      )
    }
    expect(refused("x".repeat(4097))).toThrow("4097 bytes")
    expect(() => both.bus.answer("_INBOX_a.b.c", "x".repeat(4097))).toThrow("max_payload")
    for (const text of ["x".repeat(4096), "ä".repeat(2048)]) {
      both.bus.toAny("demo.greet", text, "m1")
      await expect.poll(() => both.recorder.fromCallers.at(-1)?.text).toBe(text)
    }
    expect(both.recorder.states).toEqual(["up"])
  })

  test("wait when there are too many, and no longer than until they are taken", async () => {
    await using broker = await startNats()
    await using both = openBus(broker.url)
    await isUp(both)
    const text = "x".repeat(1024 * 1024 - 100)
    let promise: Promise<void> | undefined
    for (let at = 0; at < 64 && promise === undefined; at++) {
      both.bus.announce(text)
      promise = both.bus.ready?.()
    }
    expect(promise).toBeDefined()
    await promise
    await expect.poll(() => both.bus.ready?.()).toBeUndefined()
  })
})

describe.skipIf(!isThere)("ids and addresses over NATS", () => {
  const BAD = [
    "a.>",
    "a.*",
    "a b",
    "a\r\nPUB x 1",
    ">",
    "*",
    "",
    ".a",
    "a.",
    "a..b",
    "a.b\0",
    "ä.b",
  ]
  let broker: Broker
  beforeAll(async () => {
    broker = await startNats()
  })
  afterAll(async () => {
    await broker[Symbol.asyncDispose]()
  })

  test.each(BAD)("%j never gets into a subject", async (id) => {
    const eavesdropper = await connect({ servers: broker.url })
    const subjects: string[] = []
    eavesdropper.subscribe(">", { callback: (_error, { subject }) => void subjects.push(subject) })
    await eavesdropper.flush()
    const logger = keepingLogger()
    await using both = openBus(broker.url, { logger })
    await isUp(both)
    both.bus.serve([id, "demo.greet"])
    expect(logger.lines.join("\n")).toContain(JSON.stringify(id))
    for (const send of [
      () => both.bus.toAny(id, "x", "m1"),
      () => both.bus.toAll(id, "x", "m1"),
      () => both.bus.toWorker(both.bus.address, id, "x", "m1"),
    ]) {
      expect(send).toThrow(expect.objectContaining({ code: "OPERATION_NOT_FOUND" }))
    }
    for (const send of [
      () => both.bus.control(id, "x", "m1"),
      () => both.bus.toWorker(id, "demo.greet", "x", "m1"),
      () => both.bus.toAny("demo.greet", "x", id),
    ]) {
      expect(send).toThrow("is not a valid address")
    }
    both.bus.toAny("demo.greet", "x", "m2")
    await expect.poll(() => subjects).toEqual(["operations.call.anyone.any.demo.greet"])
    await eavesdropper.close()
  })

  test("an id of 300 letters is none", async () => {
    await using both = openBus(broker.url)
    expect(() => both.bus.toAny(`a.${"b".repeat(300)}`, "x", "m1")).toThrow("is not registered")
  })

  test("addresses are new for every transport, and begin with the tag of their user", async () => {
    await using one = openBus(broker.url, { user: "ada" })
    await using two = openBus(broker.url, { user: "ada" })
    expect(one.bus.address).not.toBe(two.bus.address)
    for (const { bus } of [one, two]) {
      expect(bus.address).toMatch(/^[A-Za-z0-9]{26}$/)
      expect(bus.address.startsWith(tagOf("ada"))).toBe(true)
    }
  })
})
