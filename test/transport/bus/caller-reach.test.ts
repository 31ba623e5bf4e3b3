import { describe, expect, test } from "vitest"
import { CallError } from "../../../src/index.ts"
import { CallerLab } from "./caller-harness.ts"
import type { ScriptedWorker } from "./caller-harness.ts"

const QUEUES = [{ hasQueues: true }, { hasQueues: false }]

describe("without a broker", () => {
  test("calls are held, and go out when it is there", async () => {
    const lab = new CallerLab({ isConnected: false })
    const ids = [lab.call(), lab.call()]
    await lab.advance(10_000)
    expect(lab.bus.sent).toEqual([])
    expect(lab.caller.stats()).toMatchObject({ pending: 2, held: 2 })
    expect(lab.caller.deliveryStatus(ids[0] ?? "")).toEqual({
      mayHaveExecuted: false,
      retryable: true,
    })
    lab.reconnect()
    await lab.advance()
    expect(ids.flatMap((id) => lab.requests(id))).toHaveLength(2)
    expect(lab.requests(ids[0] ?? "")[0]?.event.timeout).toBe(20_000)
    expect(lab.caller.stats()).toMatchObject({ held: 0, repeats: 0, retryBudget: 100 })
  })

  test("what was sent and not accepted is sent again, free of charge and not all at once", async () => {
    const lab = new CallerLab({ guard: { retryBudget: 0, maxAttempts: 1 } })
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    await lab.advance(400)
    lab.disconnect()
    expect(lab.caller.stats().held).toBe(1)
    await lab.advance(3000)
    expect(lab.requests(id)).toHaveLength(1)
    lab.reconnect()
    expect(lab.requests(id)).toHaveLength(1)
    await lab.advance(149)
    expect(lab.requests(id)).toHaveLength(1)
    await lab.advance(1)
    expect(lab.requests(id)).toMatchObject([{ attempt: 1 }, { attempt: 2, at: { to: "any" } }])
    worker.accept(id)
    worker.answer(id)
    expect(lab.outcome(id)).toMatchObject([{ type: "call.responded" }])
    expect(lab.caller.stats()).toMatchObject({ repeats: 0, budgetDenied: 0 })
  })

  test("all granted calls are asked about after a reconnect, and no worker is given up", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false, "task.watch": false })
    const [id, stream] = [lab.call(), lab.stream()]
    worker.accept(id)
    worker.accept(stream)
    worker.item(stream, 1)
    lab.caller.send({ type: "call.credit", requestId: stream, credit: 9 })
    lab.disconnect()
    await lab.advance(20_000)
    expect(lab.events).toHaveLength(1)
    lab.clear()
    lab.reconnect()
    await lab.advance()
    expect(lab.sent("ping")).toMatchObject([{ ids: [id], streams: { [stream]: 1 } }])
    expect(lab.sent("event")).toMatchObject([{ event: { type: "call.credit", credit: 9 } }])
    // Once more when it answers: what it had said before that was lost.
    lab.clear()
    worker.pong({ at: 5 })
    worker.pong({ at: 6 })
    expect(lab.sent("ping")).toMatchObject([{ ids: [id], streams: { [stream]: 1 }, heard: 5 }])
    // Workers have to find back too.
    worker.gone()
    await lab.advance(2900)
    worker.gone()
    expect(lab.caller.stats().workersLost).toBe(0)
    worker.answer(id)
    expect(lab.outcome(id)).toMatchObject([{ type: "call.responded" }])
  })

  test("a worker that does not find back is given up after a while", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    worker.accept(id)
    lab.disconnect()
    lab.reconnect()
    await lab.advance(2500)
    expect(lab.outcome(id)).toEqual([])
    await lab.advance(1500)
    expect(lab.error(id).code).toBe("WORKER_LOST")
  })

  test("an attempt that was accepted all the same is not run twice", async () => {
    const lab = new CallerLab()
    const [one, other] = [lab.worker("w1"), lab.worker("w2")]
    const id = lab.call()
    lab.disconnect()
    lab.reconnect()
    await lab.advance(300)
    expect(lab.requests(id)).toHaveLength(2)
    one.accept(id, { attempt: 1 })
    other.accept(id, { attempt: 2 })
    await lab.advance()
    expect(lab.sent("go").map(({ at }) => at.worker)).toEqual(["w1"])
    expect(lab.sent("nogo").map(({ at }) => at.worker)).toEqual(["w2"])
  })

  test("a message that does not leave because it just went away is held", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    lab.bus.isConnected = false
    worker.refuse(id, "OVERLOADED")
    await lab.advance(1000)
    expect(lab.caller.stats().held).toBe(1)
    lab.reconnect()
    await lab.advance(300)
    expect(lab.requests(id)).toHaveLength(2)
  })

  test("calls wait longer for workers after it was gone, because they have to come back too", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    lab.disconnect()
    const id = lab.call()
    lab.reconnect()
    await lab.advance(300)
    for (let round = 0; round < 10; round++) {
      lab.noResponders(id)
      lab.nobodyThere()
      await lab.advance(200)
    }
    expect(lab.outcome(id)).toEqual([])
    worker.here({ "task.do": false })
    await lab.advance(200)
    worker.accept(id)
    worker.answer(id)
    expect(lab.outcome(id)).toMatchObject([{ type: "call.responded" }])
  })
})

describe.each(QUEUES)("without workers (hasQueues: $hasQueues)", ({ hasQueues }) => {
  /** Every message finds nobody. */
  const nobody = async (lab: CallerLab, id: string, milliseconds: number): Promise<void> => {
    for (let passed = 0; passed < milliseconds; passed += 10) {
      const [last] = lab.requests(id).slice(-1)
      if (last !== undefined) lab.caller.noResponders(last.at.correlationId)
      lab.nobodyThere()
      await lab.advance(10)
    }
  }

  test("a call fails within half a second, after a second look", async () => {
    const lab = new CallerLab({ hasQueues })
    const id = lab.call()
    await nobody(lab, id, 190)
    expect(lab.outcome(id)).toEqual([])
    await nobody(lab, id, 310)
    expect(lab.error(id)).toMatchObject({
      ...{ code: "UNAVAILABLE", retryable: true, mayHaveExecuted: false },
    })
    expect(lab.error(id).message).toMatch(/^No worker serves "task.do" now\. Start one/)
    expect(lab.caller.stats()).toMatchObject({ pending: 0, retryBudget: 100 })
    expect(lab.requests(id)).toHaveLength(hasQueues ? 2 : 0)
  })

  test("a worker that starts meanwhile gets the call", async () => {
    const lab = new CallerLab({ hasQueues })
    const id = lab.call()
    await nobody(lab, id, 100)
    const worker = lab.worker("w1", { "task.do": false })
    await lab.advance(20)
    expect(lab.requests(id).at(-1)).toMatchObject({ at: { to: "worker", worker: "w1" } })
    worker.accept(id)
    worker.answer(id)
    expect(lab.outcome(id)).toMatchObject([{ type: "call.responded" }])
  })

  test("a call that could run at once is not reported as mayHaveExecuted", async () => {
    const lab = new CallerLab({ hasQueues })
    const worker = lab.worker("w1", { "task.get": true })
    const id = lab.call("task.get")
    expect(lab.requests(id)[0]?.now).toBe(true)
    worker.gone()
    await nobody(lab, id, 500)
    expect(lab.error(id)).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: false })
  })

  test("an operation that once was served is missing for now", async () => {
    const lab = new CallerLab({ hasQueues })
    const worker = lab.worker("w1", { "task.do": false })
    worker.say({ type: "bye" })
    lab.worker("w2", { "task.other": false })
    const id = lab.call()
    for (let passed = 0; passed < 500; passed += 50) {
      lab.noResponders(id)
      await lab.advance(50)
    }
    expect(lab.error(id)).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: false })
  })

  test("an operation that was never served is sent to any worker, which rejects it", async () => {
    const lab = new CallerLab({ hasQueues })
    const worker = lab.worker("w1", { "task.other": false })
    const id = lab.call("task.typo")
    if (hasQueues) lab.noResponders(id)
    await lab.advance(450)
    const request = lab.requests(id).at(-1)
    expect(request).toMatchObject({ at: { to: "worker", worker: "w1", operationId: "task.typo" } })
    worker.accept(id)
    await lab.advance()
    expect(lab.sent("go")).toHaveLength(1)
    const message = 'Operation "task.typo" is not registered.'
    worker.fail(id, { code: "OPERATION_NOT_FOUND", message, mayHaveExecuted: false })
    expect(lab.error(id)).toMatchObject({ code: "OPERATION_NOT_FOUND", message })
    // It has not become one that is served by that.
    const again = lab.call("task.typo")
    if (hasQueues) lab.noResponders(again)
    await lab.advance(450)
    expect(lab.requests(again).at(-1)).toMatchObject({ at: { worker: "w1" } })
  })

  test("one that was asked in vain gives way to one that serves it, and came later", async () => {
    const lab = new CallerLab({ hasQueues })
    const stranger = lab.worker("w1", { "task.other": false })
    const id = lab.call()
    if (hasQueues) lab.noResponders(id)
    await lab.advance(450)
    stranger.accept(id)
    const worker = lab.worker("w2", { "task.do": false })
    stranger.fail(id, { code: "OPERATION_NOT_FOUND", mayHaveExecuted: false })
    expect(lab.outcome(id)).toEqual([])
    expect(lab.requests(id).at(-1)?.at.worker).toBe("w2")
    expect(lab.caller.deliveryStatus(id)?.mayHaveExecuted).toBe(false)
    worker.accept(id)
    // Of one that serves it, it is the answer.
    worker.fail(id, { code: "OPERATION_NOT_FOUND", mayHaveExecuted: false })
    expect(lab.error(id).code).toBe("OPERATION_NOT_FOUND")
  })

  test("just after an outage a call does not go to a worker that does not serve it: others may come back", async () => {
    const lab = new CallerLab({ hasQueues })
    lab.disconnect()
    const id = lab.call()
    lab.reconnect()
    lab.worker("w1", { "task.other": false })
    for (let passed = 0; passed < 2500; passed += 100) {
      await lab.advance(100)
      if (hasQueues) lab.noResponders(id)
    }
    expect(lab.requests(id).filter(({ at }) => at.to === "worker")).toEqual([])
    const worker = lab.worker("w2", { "task.do": false })
    await lab.advance(300)
    expect(lab.requests(id).at(-1)?.at.worker).toBe("w2")
    worker.accept(id)
    worker.answer(id)
    expect(lab.outcome(id)).toMatchObject([{ type: "call.responded" }])
  })

  test("a worker that is gone is not asked twice, and the call continues", async () => {
    const lab = new CallerLab({ hasQueues })
    for (const address of ["w1", "w2", "w3"]) lab.worker(address, { "task.do": false })
    const id = lab.call()
    lab.worker("w0")
    if (hasQueues) lab.noResponders(id)
    const seen = [lab.requests(id).at(-1)?.at.worker]
    lab.noResponders(id)
    if (hasQueues) lab.noResponders(id)
    seen.push(lab.requests(id).at(-1)?.at.worker)
    expect(new Set(seen).size).toBe(2)
    expect(lab.caller.deliveryStatus(id)?.mayHaveExecuted).toBe(false)
    expect(lab.outcome(id)).toEqual([])
  })

  test("many calls discover workers once", async () => {
    const lab = new CallerLab({ hasQueues })
    const ids = Array.from({ length: 50 }, () => lab.call())
    if (hasQueues) for (const id of ids) lab.noResponders(id)
    await lab.advance(1)
    expect(lab.sent("who").length).toBeLessThanOrEqual(1)
  })
})

describe("a queue with an unknown member that never responds", () => {
  /** Calls that all known workers would answer at once; gives how many the broker chose for. */
  async function calls(lab: CallerLab, worker: ScriptedWorker, count: number): Promise<number> {
    let toAny = 0
    for (let index = 0; index < count; index++) {
      const id = lab.call()
      const [request] = lab.requests(id)
      if (request?.at.to === "any") toAny++
      worker.accept(id)
      worker.answer(id)
      await lab.advance(10)
      worker.pong()
    }
    return toAny
  }

  test("costs the calls of the first moment a repeat, and later ones nothing", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const lost = lab.call()
    expect(lab.requests(lost)).toMatchObject([{ at: { to: "any" } }])
    await lab.advance(700)
    expect(lab.requests(lost)).toMatchObject([{}, { at: { to: "worker", worker: "w1" } }])
    worker.accept(lost)
    expect(await calls(lab, worker, 300)).toBe(0)
  })

  test("is tried again with single calls, and trusted after ten of them", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    lab.call()
    await lab.advance(700)
    await calls(lab, worker, 484)
    // One at a time.
    const probe = lab.call()
    expect(lab.requests(probe)).toMatchObject([{ at: { to: "any" } }])
    expect(lab.requests(lab.call())).toMatchObject([{ at: { to: "worker" } }])
    // It is not answered: it goes to a worker, and others do for twice as long.
    await lab.advance(700)
    expect(lab.requests(probe)).toHaveLength(2)
    worker.accept(probe)
    expect(await calls(lab, worker, 900)).toBe(0)
    await calls(lab, worker, 200)
    expect(await calls(lab, worker, 20)).toBe(20)
  })
})

describe("where callers choose", () => {
  test("the only worker is not asked again at once that does not want it just now", async () => {
    const lab = new CallerLab({ hasQueues: false })
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    worker.refuse(id, "UNAVAILABLE")
    expect(lab.requests(id)).toHaveLength(1)
    await lab.advance(900)
    expect(lab.requests(id)).toHaveLength(1)
    expect(lab.sent("who").length).toBeGreaterThan(1)
    await lab.advance(400)
    expect(lab.requests(id)).toHaveLength(2)
  })

  test("workers that answer slowly are waited for", async () => {
    const lab = new CallerLab({ hasQueues: false })
    const id = lab.call()
    await lab.advance(1500)
    expect(lab.outcome(id)).toEqual([])
    const worker = lab.worker("w1", { "task.do": false })
    await lab.advance(20)
    expect(lab.requests(id)).toMatchObject([{ at: { worker: "w1" } }])
    worker.accept(id)
  })

  test("a missing worker is detected in time, however long a message takes", async () => {
    const lab = new CallerLab({ hasQueues: false })
    const id = lab.call()
    const unheard = new Map<string, number>()
    for (let passed = 0; passed < 900; passed += 10) {
      for (const { at } of lab.sent("who"))
        if (!unheard.has(at.correlationId)) unheard.set(at.correlationId, passed)
      // It takes 300 ms until the broker says that nobody listened.
      for (const [correlationId, when] of unheard)
        if (passed === when + 300) lab.caller.noResponders(correlationId)
      await lab.advance(10)
    }
    expect(lab.error(id)).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: false })
  })

  test("workers that never respond are not waited for forever", async () => {
    const lab = new CallerLab({ hasQueues: false })
    const id = lab.call()
    await lab.advance(3500)
    expect(lab.error(id)).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: false })
  })

  test("the first to answer is not taken for the only one that there is", async () => {
    const lab = new CallerLab({ hasQueues: false })
    const id = lab.call()
    await lab.advance(190)
    lab.worker("w1", { "task.other": false })
    await lab.advance(60)
    lab.worker("w2", { "task.do": false })
    await lab.advance(20)
    expect(lab.requests(id)).toMatchObject([{ at: { worker: "w2" } }])
  })
})

describe("discovering workers", () => {
  test("without responders does not affect workers that came later", async () => {
    const lab = new CallerLab()
    await lab.advance(100)
    lab.worker("w1", { "task.do": false })
    await lab.advance(100)
    const id = lab.call("task.other")
    lab.call("task.get")
    lab.disconnect()
    lab.reconnect()
    const correlationId = lab.sent("who").at(-1)?.at.correlationId ?? ""
    await lab.advance(5)
    lab.worker("w2", { "task.do": false })
    lab.caller.noResponders(correlationId)
    lab.caller.noResponders(correlationId)
    expect(lab.caller.stats().workers.map(({ address }) => address)).toEqual(["w2"])
    expect(lab.outcome(id)).toEqual([])
  })

  test("is not done by a caller that never calls", () => {
    const lab = new CallerLab({ isNew: true })
    lab.worker("w1", { "task.do": false })
    expect(lab.bus.sent).toEqual([])
    expect(lab.caller.stats().workers).toEqual([])
  })

  test("is done with the first call, and when the broker is back", async () => {
    const lab = new CallerLab({ isNew: true })
    lab.call()
    expect(lab.sent("who")).toMatchObject([{ at: { to: "ask" } }])
    lab.disconnect()
    await lab.advance(1000)
    lab.reconnect()
    expect(lab.sent("who")).toHaveLength(2)
  })
})

describe("a message that cannot leave", () => {
  test("that is too large fails at once, and nothing is left", async () => {
    const lab = new CallerLab()
    lab.bus.maxPayload = 1000
    const send = (): string => lab.call("task.do", { input: "x".repeat(2000) })
    expect(send).toThrow(expect.objectContaining({ code: "PAYLOAD_TOO_LARGE" }))
    expect(lab.caller.stats().pending).toBe(0)
    await lab.advance(1000)
    expect(lab.clock.timers).toBe(0)
    expect(lab.events).toEqual([])
  })

  test("is too large, as turns out when the broker is there", async () => {
    const lab = new CallerLab({ isConnected: false })
    lab.bus.maxPayload = 1000
    const id = lab.call("task.do", { input: "x".repeat(2000) })
    lab.reconnect()
    await lab.advance()
    expect(lab.error(id)).toMatchObject({
      ...{ code: "PAYLOAD_TOO_LARGE", mayHaveExecuted: false, retryable: false },
      details: { maxPayload: 1000 },
    })
  })

  test("has no JSON form", () => {
    const lab = new CallerLab()
    expect(() => lab.call("task.do", { input: { big: 1n } })).toThrow(CallError)
    expect(lab.caller.stats().pending).toBe(0)
  })

  test("is not permitted, as the bus says at once or later", () => {
    const lab = new CallerLab()
    const error = new CallError("ACCESS_DENIED", "The broker does not permit it.")
    lab.bus.fault = error
    expect(() => lab.call()).toThrow(error)
    const id = lab.call()
    lab.caller.denied(lab.requests(id)[0]?.at.correlationId ?? "", error)
    expect(lab.error(id)).toMatchObject({
      ...{ code: "ACCESS_DENIED", mayHaveExecuted: false, retryable: false },
    })
    lab.caller.denied("nothing", error)
  })

  test("is not permitted to one worker: others are asked, and any", () => {
    const lab = new CallerLab()
    const error = new CallError("ACCESS_DENIED", "The broker does not permit it.")
    const liar = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    const other = lab.worker("w2", { "task.do": false })
    liar.refuse(id, "UNAVAILABLE")
    expect(lab.requests(id).at(-1)?.at.worker).toBe("w2")
    lab.caller.denied(lab.requests(id).at(-1)?.at.correlationId ?? "", error)
    expect(lab.requests(id).at(-1)?.at.to).toBe("any")
    other.accept(id)
    other.answer(id)
    expect(lab.outcome(id)).toMatchObject([{ type: "call.responded" }])
    // One that was only asked because nobody serves it says nothing about permission.
    const typo = lab.call("task.typo")
    lab.noResponders(typo)
    lab.caller.denied(lab.requests(typo).at(-1)?.at.correlationId ?? "", error)
    expect(lab.error(typo)).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: false })
  })

  test("fails for whatever reason", () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    lab.bus.fault = "odd"
    worker.refuse(id, "UNAVAILABLE")
    expect(lab.error(id)).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: false })
  })

  test.each([
    "a b.c",
    "a.>",
    "a.*",
    "nodots",
    ".a",
    "a.",
    "a..b",
    "a.b\r\nPUB x 1",
    "a.ä",
    "",
    "a:b.c",
  ])("has an id that must not get into an address: %j", (operationId) => {
    const lab = new CallerLab()
    expect(() => lab.call(operationId)).toThrow(
      expect.objectContaining({ code: "OPERATION_NOT_FOUND", mayHaveExecuted: false }),
    )
    expect(lab.bus.sent).toEqual([])
    expect(lab.caller.stats().pending).toBe(0)
  })

  test("has an id that is far too long", () => {
    const lab = new CallerLab()
    expect(() => lab.call(`a.${"x".repeat(300)}`)).toThrow(/is not registered/)
    expect(lab.bus.sent).toEqual([])
  })
})
