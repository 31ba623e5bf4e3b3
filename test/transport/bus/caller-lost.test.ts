import { describe, expect, test } from "vitest"
import { CallerLab } from "./caller-harness.ts"
import type { ScriptedWorker } from "./caller-harness.ts"

/** Lets ticks go by in which these answer. */
async function pass(lab: CallerLab, ticks: number, ...alive: ScriptedWorker[]): Promise<void> {
  for (let tick = 0; tick < ticks; tick++) {
    await lab.advance(500)
    for (const worker of alive) worker.pong()
  }
}

describe("pinging", () => {
  test("is one ping for a worker however many calls it has, and names those that take long", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const ids = Array.from({ length: 20 }, () => lab.call())
    for (const id of ids) worker.accept(id)
    await lab.advance(500)
    expect(lab.sent("ping")).toMatchObject([{ ids: [], at: { worker: "w1" } }])
    worker.pong()
    lab.clear()
    await lab.advance(500)
    expect(lab.sent("ping")).toHaveLength(1)
    expect(lab.sent("ping")[0]?.ids).toEqual(ids)
  })

  test("continues for 30 s after a worker was used, and then stops", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    await lab.advance(1000)
    expect(lab.clock.timers).toBe(0)
    const id = lab.call()
    worker.accept(id)
    worker.answer(id)
    await pass(lab, 59, worker)
    lab.clear()
    await lab.advance(500)
    expect(lab.sent("ping")).toHaveLength(1)
    worker.pong()
    await pass(lab, 5, worker)
    lab.clear()
    await lab.advance(60_000)
    expect(lab.sent("ping")).toEqual([])
    expect(lab.clock.timers).toBe(0)
    // It is still known, and as good as any.
    expect(lab.caller.stats().workers).toMatchObject([{ address: "w1", state: "alive" }])
  })

  test("is split where it would not fit", async () => {
    const lab = new CallerLab()
    lab.bus.maxPayload = 20_000
    const worker = lab.worker("w1", { "task.do": false })
    const ids = Array.from({ length: 1200 }, (_, at) => `${at}-`.padEnd(20, "x"))
    for (const requestId of ids) lab.call("task.do", { requestId })
    for (const id of ids) worker.accept(id, { attempt: 1 })
    await lab.advance(500)
    worker.pong()
    await lab.advance(500)
    const asked = lab.sent("ping").flatMap((ping) => ping.ids)
    expect(asked.toSorted()).toEqual(ids.toSorted())
  })

  test("requests a lost result, at increasing intervals", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call("task.do", { timeout: 100_000 })
    worker.accept(id)
    await pass(lab, 80, worker)
    const asked = lab.sent("ping").filter(({ ids }) => ids.includes(id))
    expect(asked.length).toBeGreaterThan(8)
    expect(asked.length).toBeLessThan(30)
    worker.answer(id)
    expect(lab.outcome(id)).toMatchObject([{ type: "call.responded" }])
  })
})

describe("a worker that is gone", () => {
  test("is given up after goneMs, with what it had", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    worker.accept(id)
    await lab.advance(500)
    worker.gone()
    await lab.advance(1000)
    worker.gone()
    expect(lab.outcome(id)).toEqual([])
    await lab.advance(500)
    expect(lab.error(id)).toMatchObject({
      ...{ code: "WORKER_LOST", mayHaveExecuted: true, retryable: false },
      details: { attempt: 1, worker: "w1" },
    })
    expect(lab.error(id).message).toMatch(/"task.do".*is gone/)
    expect(lab.caller.stats()).toMatchObject({ workersLost: 1, workers: [], pending: 0 })
    expect(lab.warnings).toMatchObject([{ fields: { address: "w1", calls: 1 } }])
  })

  test("that responds again in time is not given up", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    worker.accept(id)
    for (let round = 0; round < 6; round++) {
      await lab.advance(500)
      worker.gone()
      await lab.advance(400)
      worker.pong()
    }
    worker.answer(id)
    expect(lab.outcome(id)).toMatchObject([{ type: "call.responded" }])
    expect(lab.caller.stats().workersLost).toBe(0)
  })

  test("without calls is forgotten at once", () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    worker.gone()
    expect(lab.caller.stats()).toMatchObject({ workers: [], workersLost: 0 })
  })
})

describe("a silent worker", () => {
  test("is given up after silentMs, and those of others go on", async () => {
    const lab = new CallerLab()
    const frozen = lab.worker("w1", { "task.do": false })
    const alive = lab.worker("w2", { "task.do": false })
    const [one, other] = [lab.call(), lab.call()]
    frozen.accept(one)
    alive.accept(other)
    await pass(lab, 5, alive)
    expect(lab.outcome(one)).toEqual([])
    await pass(lab, 2, alive)
    expect(lab.error(one)).toMatchObject({ code: "WORKER_LOST", mayHaveExecuted: true })
    expect(lab.error(one).message).toMatch(/has not responded for \d+ ms/)
    expect(lab.outcome(other)).toEqual([])
    // It is asked to stop, should it wake up.
    expect(lab.sent("event")).toMatchObject([
      { event: { type: "call.aborted", requestId: one }, at: { worker: "w1" } },
    ])
    expect(lab.warnings.map(({ message }) => message)).toEqual([
      "A worker does not respond",
      "A worker was lost, with the calls that it had",
    ])
  })

  test("and wakes up is given something again, and starts nothing it was not granted", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    const key = worker.accept(id)
    await lab.advance(4000)
    expect(lab.error(id).code).toBe("WORKER_LOST")
    await lab.advance()
    lab.clear()
    worker.accept(id, { key, attempt: 1 })
    await lab.advance()
    expect(lab.sent("go")).toEqual([])
    expect(lab.sent("nogo")).toHaveLength(1)
    expect(lab.caller.stats().workers).toMatchObject([{ state: "alive" }])
  })

  test("for good is forgotten in the end where callers choose, and not taken for one that is there", async () => {
    const lab = new CallerLab({ hasQueues: false })
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    worker.accept(id)
    await lab.advance(45_000)
    expect(lab.caller.stats().workers).toEqual([])
    expect(lab.clock.timers).toBe(0)
  })

  test("is remembered where the broker chooses, until it answers", async () => {
    const lab = new CallerLab()
    const frozen = lab.worker("w1", { "task.do": false })
    const alive = lab.worker("w2", { "task.do": false })
    frozen.accept(lab.call())
    await pass(lab, 600, alive)
    for (let call = 0; call < 20; call++) {
      const id = lab.call()
      await lab.advance(1)
      expect(lab.requests(id)).toMatchObject([{ at: { to: "worker", worker: "w2" } }])
      alive.accept(id)
      alive.answer(id)
    }
    frozen.pong()
    await lab.advance(200)
    const id = lab.call()
    await lab.advance(1)
    expect(lab.requests(id)).toMatchObject([{ at: { to: "any" } }])
  })

  test("is remembered where the broker chooses, until it is gone", async () => {
    const lab = new CallerLab()
    const frozen = lab.worker("w1", { "task.do": false })
    const alive = lab.worker("w2", { "task.do": false })
    frozen.accept(lab.call())
    await pass(lab, 200, alive)
    lab.clear()
    await pass(lab, 40, alive)
    // Seldom by then.
    expect(lab.sent("ping").filter(({ at }) => at.worker === "w1").length).toBeLessThan(12)
    frozen.gone()
    expect(lab.caller.stats().workers).toMatchObject([{ address: "w2" }])
    await lab.advance(200)
    expect(lab.requests(lab.call())).toMatchObject([{ at: { to: "any" } }])
  })

  test("may say anything at all to be alive", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    worker.accept(id)
    for (let round = 0; round < 10; round++) {
      await lab.advance(1000)
      worker.send({ type: "call.progress", requestId: id, progress: round })
    }
    worker.answer(id)
    expect(lab.outcome(id).at(-1)).toMatchObject({ type: "call.responded" })
  })
})

describe("when this process itself stood still", () => {
  test("no worker is given up, and the stall is counted", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    worker.accept(id)
    await pass(lab, 2, worker)
    lab.stall(15_000)
    await lab.advance(1)
    expect(lab.outcome(id)).toEqual([])
    expect(lab.caller.stats()).toMatchObject({ stalls: 1, workersLost: 0 })
    await pass(lab, 4, worker)
    worker.answer(id)
    expect(lab.outcome(id)).toMatchObject([{ type: "call.responded" }])
  })

  test("that nobody listened before it says nothing about after", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    worker.accept(id)
    await lab.advance(500)
    worker.gone()
    lab.stall(15_000)
    // What had come meanwhile is read before any timer.
    worker.gone()
    expect(lab.outcome(id)).toEqual([])
    await lab.advance(500)
    worker.gone()
    await lab.advance(900)
    expect(lab.outcome(id)).toEqual([])
    await lab.advance(1000)
    worker.gone()
    expect(lab.error(id).code).toBe("WORKER_LOST")
  })

  test("one that really is gone is still found", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    worker.accept(id)
    lab.stall(15_000)
    await lab.advance(4000)
    expect(lab.error(id).code).toBe("WORKER_LOST")
  })
})

describe("the calls of a worker that is lost", () => {
  test("are given to another one, where a second run does no harm", async () => {
    const lab = new CallerLab()
    const frozen = lab.worker("w1", { "task.get": true })
    const alive = lab.worker("w2", { "task.get": true })
    const id = lab.call("task.get")
    frozen.accept(id, { isIdempotent: true, runs: true })
    await pass(lab, 7, alive)
    expect(lab.requests(id)[1]).toMatchObject({ attempt: 2, now: true, at: { worker: "w2" } })
    expect(lab.caller.stats()).toMatchObject({ repeats: 1, retryBudget: 99 })
    alive.answer(id)
    expect(lab.outcome(id)).toMatchObject([{ type: "call.responded" }])
    // The first one receives an abort.
    await lab.advance()
    expect(lab.sent("event")).toMatchObject([
      { event: { type: "call.aborted" }, at: { worker: "w1" } },
    ])
  })

  test("may still be answered by it, if it wakes up first", async () => {
    const lab = new CallerLab()
    const frozen = lab.worker("w1", { "task.get": true })
    const alive = lab.worker("w2", { "task.get": true })
    const id = lab.call("task.get")
    frozen.accept(id, { isIdempotent: true })
    await pass(lab, 7, alive)
    frozen.answer(id, "at last")
    expect(lab.outcome(id)).toMatchObject([{ output: { data: "at last" } }])
  })

  test("wait for the budget, and are not failed by it", async () => {
    const lab = new CallerLab({ guard: { retryBudget: 0 } })
    const frozen = lab.worker("w1", { "task.get": true })
    const alive = lab.worker("w2", { "task.get": true, "task.do": false })
    const id = lab.call("task.get")
    frozen.accept(id, { isIdempotent: true })
    await pass(lab, 7, alive)
    expect(lab.requests(id)).toHaveLength(1)
    expect(lab.outcome(id)).toEqual([])
    expect(lab.caller.deliveryStatus(id)).toEqual({ mayHaveExecuted: true, retryable: true })
    expect(lab.caller.stats().budgetDenied).toBeGreaterThan(0)
    frozen.answer(id)
    expect(lab.outcome(id)).toMatchObject([{ type: "call.responded" }])
  })

  test("fail at last, and may then be repeated by whoever called", async () => {
    const lab = new CallerLab({ guard: { maxAttempts: 2 } })
    const one = lab.worker("w1", { "task.get": true })
    const other = lab.worker("w2", { "task.get": true })
    const id = lab.call("task.get")
    one.accept(id, { isIdempotent: true })
    await pass(lab, 7, other)
    other.accept(id, { isIdempotent: true })
    await lab.advance(4000)
    expect(lab.error(id)).toMatchObject({
      ...{ code: "WORKER_LOST", mayHaveExecuted: true, retryable: true },
    })
  })

  test("fail at once where they are streams, repeatable or not", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.watch": true })
    lab.worker("w2", { "task.watch": true })
    const id = lab.stream()
    worker.accept(id, { isIdempotent: true })
    worker.item(id, 1)
    await lab.advance(4000)
    expect(lab.error(id)).toMatchObject({
      ...{ code: "WORKER_LOST", mayHaveExecuted: true, retryable: true },
    })
    expect(lab.requests(id)).toHaveLength(1)
  })

  test("that it was sent and never accepted go elsewhere, whatever they do", async () => {
    const lab = new CallerLab({ hasQueues: false, guard: { acceptMs: 60_000 } })
    lab.worker("w1", { "task.do": false })
    const id = lab.call()
    const alive = lab.worker("w2", { "task.do": false })
    await pass(lab, 8, alive)
    expect(lab.requests(id).map(({ at }) => at.worker)).toEqual(["w1", "w2"])
    expect(lab.caller.deliveryStatus(id)?.mayHaveExecuted).toBe(false)
  })

  test("are lost one by one, where the worker does not know them any more", () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const other = lab.worker("w2", { "task.do": false })
    const [one, two] = [lab.call(), lab.call()]
    worker.accept(one)
    worker.accept(two)
    // Nobody else can say so.
    other.pong({ unknown: [one, two], lost: [one] })
    expect(lab.events).toEqual([])
    worker.pong({ unknown: [one, "never"], lost: ["never"] })
    expect(lab.error(one)).toMatchObject({ code: "WORKER_LOST", mayHaveExecuted: true })
    expect(lab.outcome(two)).toEqual([])
  })
})

describe("a worker that leaves", () => {
  test("finishes what it has, and gets nothing more", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    worker.accept(id)
    worker.say({ type: "bye" })
    expect(lab.caller.stats().workers).toMatchObject([{ state: "leaving", calls: 1 }])
    worker.answer(id)
    expect(lab.outcome(id)).toMatchObject([{ type: "call.responded" }])
    // Its confirmation is sent all the same.
    await lab.advance(500)
    expect(lab.sent("done")).toMatchObject([{ ids: [id] }])
    worker.gone()
    expect(lab.caller.stats().workers).toEqual([])
  })

  test("with nothing is forgotten at once", () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    worker.say({ type: "bye" })
    expect(lab.caller.stats().workers).toEqual([])
  })
})
