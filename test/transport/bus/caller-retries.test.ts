import { describe, expect, test } from "vitest"
import { CallerLab } from "./caller-harness.ts"

const ACCEPT = 520

describe("a call that no worker accepts", () => {
  test("is sent again to a live worker, unchanged except for its remaining time", async () => {
    const lab = new CallerLab()
    lab.worker("w1", { "task.do": false })
    const input = { text: "as it was" }
    const id = lab.call("task.do", { input, timeout: 9000 })
    input.text = "changed since"
    await lab.advance(499)
    expect(lab.requests(id)).toHaveLength(1)
    await lab.advance(30)
    const [first, second, ...more] = lab.requests(id)
    expect(more).toEqual([])
    expect(first?.event.input).toEqual({ text: "as it was" })
    expect(second).toMatchObject({
      ...{ attempt: 2, at: { to: "worker", worker: "w1", operationId: "task.do" } },
      event: { requestId: id, input: { text: "as it was" } },
    })
    expect(second?.event.timeout).toBeLessThanOrEqual(8500)
    expect(second?.event.timeout).toBeGreaterThan(8400)
    expect(lab.caller.stats()).toMatchObject({ repeats: 1, directed: 1, retryBudget: 99 })
  })

  test("is sent to the queue again if no worker is known", async () => {
    const lab = new CallerLab()
    const id = lab.call()
    await lab.advance(ACCEPT)
    expect(lab.requests(id).map(({ at }) => at.to)).toEqual(["any", "any"])
  })

  test("fails after maxAttempts, and was not run", async () => {
    const lab = new CallerLab({ guard: { maxAttempts: 3 } })
    const id = lab.call()
    await lab.advance(5000)
    expect(lab.requests(id)).toHaveLength(3)
    expect(lab.error(id)).toMatchObject({
      ...{ code: "UNAVAILABLE", retryable: true, mayHaveExecuted: false, details: { attempt: 3 } },
    })
    expect(lab.error(id).message).toMatch(/No worker accepted "task.do".*3 times/)
  })

  test("is waited for longer where workers are slow to accept", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    for (let round = 0; round < 10; round++) {
      const id = lab.call()
      await lab.advance(300)
      worker.accept(id)
      worker.answer(id)
    }
    const id = lab.call()
    await lab.advance(900)
    expect(lab.requests(id)).toHaveLength(1)
    await lab.advance(500)
    expect(lab.requests(id)).toHaveLength(2)
  })

  test("is not sent again at once because this process stood still", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    lab.stall(5000)
    await lab.advance(1)
    expect(lab.requests(id)).toHaveLength(1)
    // What had come meanwhile is read now.
    worker.accept(id, { attempt: 1 })
    await lab.advance(1)
    expect(lab.sent("go")).toHaveLength(1)
  })

  test("has its own workers watched, so that the silent one is found", async () => {
    const lab = new CallerLab()
    lab.worker("w1", { "task.do": false })
    lab.worker("w2", { "task.do": false })
    lab.worker("w3", { "task.other": false })
    lab.call()
    await lab.advance(ACCEPT + 500)
    expect(new Set(lab.sent("ping").map(({ at }) => at.worker))).toEqual(new Set(["w1", "w2"]))
  })

  test("ends at its deadline", async () => {
    const lab = new CallerLab()
    const id = lab.call("task.do", { timeout: 510 })
    await lab.advance(2000)
    expect(lab.error(id)).toMatchObject({ code: "TIMEOUT", mayHaveExecuted: false })
  })
})

describe("the budget for repeats", () => {
  test("keeps calls waiting when it is empty, but for ten a second, and is filled by successes", async () => {
    const lab = new CallerLab({ guard: { retryBudget: 2, maxAttempts: 9 } })
    const worker = lab.worker("w1", { "task.do": false })
    const ids = Array.from({ length: 5 }, () => lab.call())
    await lab.advance(ACCEPT)
    expect(lab.caller.stats()).toMatchObject({ repeats: 2, retryBudget: 0, budgetDenied: 3 })
    await lab.advance(90)
    expect(lab.caller.stats().repeats).toBe(2)
    await lab.advance(ACCEPT)
    expect(lab.caller.stats().repeats).toBeGreaterThan(2)
    expect(lab.caller.stats().repeats).toBeLessThanOrEqual(2 + (90 + ACCEPT) / 100)
    for (const id of ids) worker.accept(id, { attempt: 1 })
    for (const id of ids) worker.answer(id)
    for (let more = 0; more < 5; more++) {
      const id = lab.call()
      worker.accept(id)
      worker.answer(id)
    }
    expect(lab.caller.stats().retryBudget).toBe(1)
    // Said once, not with every call.
    expect(
      lab.warnings.filter(({ message }) => message.includes("retry budget is used up")),
    ).toHaveLength(1)
  })

  test("does not grow beyond what it was", () => {
    const lab = new CallerLab({ guard: { retryBudget: 1 } })
    const worker = lab.worker("w1")
    for (let round = 0; round < 30; round++) {
      const id = lab.call()
      worker.accept(id)
      worker.answer(id)
    }
    expect(lab.caller.stats().retryBudget).toBe(1)
  })

  test("of nothing repeats nothing: the call waits for its worker", async () => {
    const lab = new CallerLab({ guard: { retryBudget: 0 } })
    const worker = lab.worker("w1")
    const id = lab.call()
    await lab.advance(10_000)
    expect(lab.requests(id)).toHaveLength(1)
    worker.accept(id)
    worker.answer(id)
    expect(lab.outcome(id)).toMatchObject([{ type: "call.responded" }])
  })

  test("of zero does not keep a call without a deadline waiting forever", async () => {
    const lab = new CallerLab({ guard: { retryBudget: 0 } })
    const id = lab.stream()
    await lab.advance(29_000)
    expect(lab.outcome(id)).toEqual([])
    await lab.advance(3000)
    expect(lab.error(id)).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: false })
  })
})

describe("choosing a worker", () => {
  test("avoids a silent worker, already at the first attempt", async () => {
    const lab = new CallerLab()
    const frozen = lab.worker("w1", { "task.do": false })
    const alive = lab.worker("w2", { "task.do": false })
    const first = lab.call()
    frozen.accept(first)
    for (let tick = 0; tick < 4; tick++) {
      await lab.advance(500)
      alive.pong()
    }
    const id = lab.call()
    expect(lab.requests(id)).toMatchObject([{ at: { to: "worker", worker: "w2" } }])
    expect(lab.caller.stats().workers).toMatchObject([
      { address: "w1", calls: 1, state: "silent" },
      { address: "w2", calls: 1, state: "alive" },
    ])
    // Other operations are none of its business.
    expect(lab.requests(lab.call("task.other"))[0]?.at.to).toBe("any")
    frozen.pong()
    await lab.advance(100)
    expect(lab.requests(lab.call())[0]?.at.to).toBe("any")
  })

  test("takes the one with fewer calls, of two by chance", () => {
    let turn = 0
    const lab = new CallerLab({ hasQueues: false, random: () => (turn++ % 2 === 0 ? 0 : 0.99) })
    lab.worker("w1", { "task.do": false })
    lab.worker("w2", { "task.do": false })
    const targets = Array.from({ length: 6 }, () => lab.requests(lab.call())[0]?.at.worker)
    expect(targets.filter((worker) => worker === "w1")).toHaveLength(3)
    expect(targets.filter((worker) => worker === "w2")).toHaveLength(3)
  })

  test("takes no worker that leaves, is gone or does not serve it", async () => {
    const lab = new CallerLab({ hasQueues: false })
    const leaving = lab.worker("w1", { "task.do": false })
    const gone = lab.worker("w2", { "task.do": false })
    lab.worker("w3", { "task.other": false })
    lab.worker("w4", { "task.do": false })
    const kept = lab.call()
    leaving.accept(kept)
    leaving.say({ type: "bye" })
    gone.gone()
    for (let round = 0; round < 8; round++) {
      expect(lab.requests(lab.call())[0]?.at.worker).toBe("w4")
    }
  })

  test("takes a silent worker if there is no other and the broker does not choose", async () => {
    const lab = new CallerLab({ hasQueues: false })
    lab.worker("w1", { "task.do": false })
    const first = lab.call()
    await lab.advance(1700)
    expect(lab.caller.stats().workers).toMatchObject([{ state: "silent" }])
    lab.abort(first)
    expect(lab.requests(lab.call())[0]?.at.worker).toBe("w1")
  })

  test("forgets what a worker does not serve any more", () => {
    const lab = new CallerLab({ hasQueues: false })
    const worker = lab.worker("w1", { "task.do": false, "task.other": false })
    lab.worker("w2", { "task.do": false })
    worker.here({ "task.other": false })
    for (let round = 0; round < 5; round++) {
      expect(lab.requests(lab.call())[0]?.at.worker).toBe("w2")
    }
  })

  test("asks a worker again whose offer has changed, unless it says so itself", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    worker.say({ type: "changed" })
    await lab.advance()
    expect(lab.sent("who")).toMatchObject([{ at: { to: "control", worker: "w1" } }])
    lab.clear()
    worker.say({ type: "changed" }, { type: "here", operations: {} })
    await lab.advance()
    expect(lab.sent("who")).toEqual([])
  })

  test("asks an unknown worker what it serves", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w9")
    const id = lab.call()
    worker.accept(id)
    worker.answer(id)
    await lab.advance()
    expect(lab.sent("who")).toHaveLength(1)
  })
})

describe("an operation that brings workers down", () => {
  const lose = async (lab: CallerLab, address: string): Promise<void> => {
    const worker = lab.worker(address, { "task.bomb": false })
    const id = lab.call("task.bomb")
    worker.accept(id)
    for (let tick = 0; tick < 4; tick++) {
      worker.gone()
      await lab.advance(500)
    }
    worker.gone()
    expect(lab.error(id).code).toBe("WORKER_LOST")
  }

  test("is left alone after the third within 30 s, for 10 s", async () => {
    const lab = new CallerLab()
    await lose(lab, "w1")
    await lose(lab, "w2")
    expect(lab.caller.has(lab.call("task.bomb"))).toBe(true)
    await lose(lab, "w3")
    lab.worker("w4", { "task.bomb": false, "task.do": false })
    const id = lab.call("task.bomb")
    expect(lab.requests(id)).toEqual([])
    const error = lab.error(id)
    expect(error).toMatchObject({ code: "UNAVAILABLE", mayHaveExecuted: false, retryable: true })
    expect(error.retryAfterMs).toBeGreaterThan(9000)
    expect(error.retryAfterMs).toBeLessThanOrEqual(10_000)
    expect(lab.warnings.some(({ message }) => message.includes("is suspended for now"))).toBe(true)
    // Others are not touched.
    expect(lab.requests(lab.call("task.do"))).toHaveLength(1)
    await lab.advance(10_000)
    expect(lab.requests(lab.call("task.bomb"))).toHaveLength(1)
  })

  test("is not blamed where it is run well in between", async () => {
    const lab = new CallerLab()
    const good = lab.worker("w0", { "task.bomb": false })
    await lose(lab, "w1")
    await lose(lab, "w2")
    const id = lab.call("task.bomb")
    good.accept(id)
    good.answer(id)
    await lose(lab, "w3")
    expect(lab.requests(lab.call("task.bomb"))).toHaveLength(1)
  })

  test("is not blamed for workers that go together", async () => {
    const lab = new CallerLab()
    const workers = ["w1", "w2", "w3", "w4"].map((address) =>
      lab.worker(address, { "task.do": false }),
    )
    const ids = workers.map((worker) => {
      const id = lab.call()
      worker.accept(id)
      return id
    })
    for (let tick = 0; tick < 5; tick++) {
      for (const worker of workers) worker.gone()
      await lab.advance(500)
    }
    for (const id of ids) expect(lab.error(id).code).toBe("WORKER_LOST")
    lab.worker("w5", { "task.do": false })
    expect(lab.requests(lab.call())).toHaveLength(1)
  })

  test("is not blamed for silence, nor for what is long past", async () => {
    const lab = new CallerLab()
    for (const address of ["w1", "w2", "w3", "w4"]) {
      const worker = lab.worker(address, { "task.do": false })
      const id = lab.call()
      worker.accept(id)
      await lab.advance(4000)
      expect(lab.error(id).code).toBe("WORKER_LOST")
    }
    await lose(lab, "w5")
    await lab.advance(20_000)
    await lose(lab, "w6")
    await lab.advance(20_000)
    await lose(lab, "w7")
    lab.worker("w8", { "task.bomb": false, "task.do": false })
    expect(lab.requests(lab.call("task.bomb"))).toHaveLength(1)
    expect(lab.requests(lab.call("task.do"))).toHaveLength(1)
  })
})
