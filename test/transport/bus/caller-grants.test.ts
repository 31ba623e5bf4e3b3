import { describe, expect, test } from "vitest"
import type { CallErrorEvent } from "../../../src/index.ts"
import { CallerLab } from "./caller-harness.ts"

describe("a call that is new", () => {
  test("goes to any worker, once, with its time and nothing that runs it", () => {
    const lab = new CallerLab()
    const id = lab.call("task.do", { input: { text: "ä 🎉" }, timeout: 5000 })
    const [request, ...more] = lab.requests(id)
    expect(more).toEqual([])
    expect(request?.at).toMatchObject({ to: "any", operationId: "task.do" })
    expect(request?.at.correlationId).toMatch(/^[A-Za-z0-9]+$/)
    expect(request).toMatchObject({ attempt: 1, now: false, ticket: undefined })
    expect(request?.event).toEqual({
      ...{ type: "call.requested", requestId: id, operationId: "task.do", kind: "call" },
      ...{ input: { text: "ä 🎉" }, timeout: 5000 },
    })
    expect(lab.caller.deliveryStatus(id)).toEqual({ mayHaveExecuted: false, retryable: true })
  })

  test("keeps bytes in its input", () => {
    const lab = new CallerLab()
    const id = lab.call("task.do", { input: { bytes: new Uint8Array([1, 2, 255]) } })
    expect(lab.requests(id)[0]?.event.input).toEqual({ bytes: new Uint8Array([1, 2, 255]) })
  })

  test("is pending at this end until it is over", () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call()
    expect(lab.caller.has(id)).toBe(true)
    expect(lab.caller.stats()).toMatchObject({ pending: 1, held: 0 })
    worker.accept(id)
    worker.answer(id)
    expect(lab.caller.has(id)).toBe(false)
    expect(lab.caller.stats()).toMatchObject({ pending: 0 })
  })

  test("is refused if its id is that of a pending call", () => {
    const lab = new CallerLab()
    lab.call("task.do", { requestId: "same" })
    expect(() => lab.call("task.do", { requestId: "same" })).toThrow(/"same" is still pending/)
    expect(lab.caller.stats().pending).toBe(1)
  })

  test("may have an id that looks like a property of objects", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call("task.do", { requestId: "__proto__" })
    worker.accept(id)
    worker.answer(id, "fine")
    expect(lab.outcome(id)).toMatchObject([{ output: { data: "fine" } }])
  })
})

describe("a grant", () => {
  test("is given to the worker that accepts, with its key and the time that is left", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call("task.do", { timeout: 5000 })
    await lab.advance(100)
    const key = worker.accept(id)
    await lab.advance()
    expect(lab.sent("go")).toMatchObject([
      { id, key, left: 4900, at: { to: "control", worker: "w1" } },
    ])
    expect(lab.caller.deliveryStatus(id)).toEqual({ mayHaveExecuted: true, retryable: false })
  })

  test("travels with others to the same worker in one frame", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const ids = [lab.call(), lab.call(), lab.call()]
    await lab.advance()
    for (const id of ids) worker.accept(id, { attempt: 1 })
    await lab.advance()
    const frames = lab.bus.sent.filter(({ to }) => to === "control")
    expect(frames).toHaveLength(1)
    expect(lab.sent("go").map(({ id }) => id)).toEqual(ids)
  })

  test("has a time that JSON can say, also without a deadline", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.stream("task.watch", { timeout: undefined })
    expect(lab.requests(id)[0]?.event).not.toHaveProperty("timeout")
    worker.accept(id)
    await lab.advance()
    expect(lab.sent("go")[0]?.left).toBe(Number.MAX_SAFE_INTEGER)
  })

  test("is not given a second time when a worker accepts twice and runs it", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call()
    const key = worker.accept(id)
    worker.accept(id, { key, runs: true })
    await lab.advance()
    expect(lab.sent("go")).toHaveLength(1)
    expect(lab.sent("nogo")).toEqual([])
  })

  test("that got lost is given again to the same worker with the same key", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call()
    const key = worker.accept(id)
    await lab.advance(1000)
    worker.accept(id, { key })
    await lab.advance()
    expect(lab.sent("go")).toMatchObject([{ key }, { key, left: 29_000 }])
  })

  test("goes to one worker only: a second one that accepts is rejected", async () => {
    const lab = new CallerLab()
    const [one, other] = [lab.worker("w1"), lab.worker("w2")]
    const id = lab.call()
    one.accept(id)
    const key = other.accept(id)
    await lab.advance()
    expect(lab.sent("go")).toMatchObject([{ at: { worker: "w1" } }])
    expect(lab.sent("nogo")).toMatchObject([{ id, key, at: { worker: "w2" } }])
  })

  test("is for one key only: the same worker that accepts with another key is rejected", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call()
    worker.accept(id, { key: "first" })
    worker.accept(id, { key: "second" })
    await lab.advance()
    expect(lab.sent("go")).toMatchObject([{ key: "first" }])
    expect(lab.sent("nogo")).toMatchObject([{ key: "second" }])
  })

  test("is not given for a call that is over, or that never was", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call()
    worker.accept(id)
    worker.answer(id)
    await lab.advance()
    lab.clear()
    worker.accept(id, { attempt: 1 })
    worker.accept("never", { attempt: 1, key: "k" })
    worker.accept("stopped", { attempt: 1, key: "k", runs: true })
    await lab.advance()
    expect(lab.sent("go")).toEqual([])
    expect(lab.sent("nogo").map((message) => message.id)).toEqual([id, "never"])
    // What runs for nobody is stopped.
    expect(lab.sent("event")).toMatchObject([
      { event: { type: "call.aborted", requestId: "stopped" } },
    ])
  })

  test("is not given when the time is over", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call("task.do", { timeout: 100 })
    lab.stall(100)
    worker.accept(id)
    await lab.advance()
    expect(lab.sent("go")).toEqual([])
    expect(lab.sent("nogo")).toHaveLength(1)
    expect(lab.caller.deliveryStatus(id)?.mayHaveExecuted).toBe(false)
  })

  test("may go to the worker of an earlier attempt, if that is the first to accept", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call()
    await lab.advance(600)
    expect(lab.requests(id).map(({ attempt }) => attempt)).toEqual([1, 2])
    worker.accept(id, { attempt: 1 })
    await lab.advance()
    expect(lab.sent("go")).toHaveLength(1)
  })
})

describe("an operation that may be run twice", () => {
  test("is run without a grant, and answered without an acceptance", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.get": true })
    const id = lab.call("task.get")
    expect(lab.requests(id)[0]).toMatchObject({ now: true, at: { to: "any" } })
    expect(lab.caller.deliveryStatus(id)).toEqual({ mayHaveExecuted: true, retryable: true })
    worker.answer(id, 5)
    expect(lab.outcome(id)).toMatchObject([{ output: { data: 5 } }])
    await lab.advance()
    expect(lab.sent("go")).toEqual([])
  })

  test("is confirmed, and whoever ran it is watched, without an acceptance too", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.get": true })
    const id = lab.call("task.get")
    worker.answer(id)
    await lab.advance(500)
    expect(lab.sent("done")).toMatchObject([{ ids: [id], at: { worker: "w1" } }])
    expect(lab.sent("ping")).toHaveLength(1)
  })

  test("is not run at once as a stream, nor where one of its workers disagrees", () => {
    const lab = new CallerLab()
    lab.worker("w1", { "task.get": true, "task.watch": true })
    const stream = lab.stream("task.watch")
    lab.worker("w2", { "task.get": false })
    const call = lab.call("task.get")
    expect(lab.requests(stream)[0]?.now).toBe(false)
    expect(lab.requests(call)[0]?.now).toBe(false)
  })

  test("needs a grant where the worker that got it thinks otherwise", async () => {
    const lab = new CallerLab()
    lab.worker("w1", { "task.get": true })
    const stranger = lab.worker("w2")
    const id = lab.call("task.get")
    const key = stranger.accept(id, { isIdempotent: false })
    await lab.advance()
    expect(lab.sent("go")).toMatchObject([{ id, key }])
    expect(lab.caller.deliveryStatus(id)).toEqual({ mayHaveExecuted: true, retryable: false })
  })

  test("is not run a second time by one who says that this does harm", async () => {
    const lab = new CallerLab()
    lab.worker("w1", { "task.get": true })
    const stranger = lab.worker("w2")
    const id = lab.call("task.get")
    await lab.advance(600)
    // The first attempt may run somewhere by now.
    stranger.accept(id, { isIdempotent: false })
    await lab.advance()
    expect(lab.sent("go")).toEqual([])
    expect(lab.sent("nogo")).toHaveLength(1)
    expect(lab.error(id)).toMatchObject({
      ...{ code: "WORKER_LOST", mayHaveExecuted: true, retryable: false },
    })
  })

  test("is answered by the first worker, and the others are aborted", async () => {
    const lab = new CallerLab({ hasQueues: false })
    const one = lab.worker("w1", { "task.get": true })
    const other = lab.worker("w2", { "task.get": true })
    const id = lab.call("task.get")
    await lab.advance(600)
    const [first, second] = lab.requests(id).map(({ at }) => at.worker)
    expect(new Set([first, second])).toEqual(new Set(["w1", "w2"]))
    const slow = first === "w1" ? one : other
    lab.clear()
    slow.answer(id, "late but right")
    await lab.advance()
    expect(lab.outcome(id)).toMatchObject([{ output: { data: "late but right" } }])
    expect(lab.sent("event")).toMatchObject([
      { event: { type: "call.aborted", requestId: id }, at: { worker: second } },
    ])
  })

  test("says that it runs, and is bound to that worker", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.get": true })
    const id = lab.call("task.get")
    worker.accept(id, { isIdempotent: true, runs: true })
    await lab.advance(2000)
    // Accepted: nobody else is asked.
    expect(lab.requests(id)).toHaveLength(1)
    expect(lab.sent("go")).toEqual([])
    expect(lab.sent("ping").some(({ ids }) => ids.includes(id))).toBe(true)
  })
})

describe("an answer", () => {
  test("counts from the worker that was granted, and from no other", async () => {
    const lab = new CallerLab()
    const [one, other] = [lab.worker("w1"), lab.worker("w2")]
    const id = lab.call()
    other.answer(id, "forged")
    one.accept(id)
    other.answer(id, "forged")
    other.fail(id)
    expect(lab.outcome(id)).toEqual([])
    expect(lab.caller.stats().lateAnswers).toBe(3)
    one.answer(id, "true")
    expect(lab.outcome(id)).toMatchObject([{ output: { data: "true" } }])
  })

  test("that comes twice or late is counted, and its worker may forget it", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call()
    worker.accept(id)
    worker.answer(id)
    worker.answer(id)
    await lab.advance(500)
    expect(lab.outcome(id)).toHaveLength(1)
    expect(lab.caller.stats().lateAnswers).toBe(1)
    expect(lab.sent("done").flatMap(({ ids }) => ids)).toContain(id)
  })

  test("is confirmed with what is sent next, or with the next ping", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const [one, other] = [lab.call(), lab.call()]
    worker.accept(one)
    worker.answer(one)
    await lab.advance()
    lab.clear()
    worker.accept(other)
    await lab.advance()
    const [frame] = lab.bus.sent
    expect(frame?.messages.map(({ type }) => type)).toEqual(["done", "go"])
    worker.answer(other)
    lab.clear()
    await lab.advance(500)
    expect(lab.sent("done")).toMatchObject([{ ids: [other] }])
  })

  test("with an error is the worker's own word", () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call()
    worker.accept(id)
    const said = { code: "NOT_FOUND", message: "no such task", mayHaveExecuted: false }
    worker.fail(id, { ...said, retryable: false, details: { id: 7 } })
    expect(lab.error(id)).toMatchObject({ ...said, details: { id: 7 } })
  })

  test("comes after its progress", () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call()
    worker.accept(id)
    worker.send({ type: "call.progress", requestId: id, progress: 1, total: 2 })
    worker.answer(id)
    expect(lab.outcome(id).map(({ type }) => type)).toEqual(["call.progress", "call.responded"])
  })

  test("of a worker that gave a call up is passed on, if it must not be run again", () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call()
    worker.accept(id)
    worker.send({ type: "call.aborted", requestId: id, reason: "closed" })
    expect(lab.outcome(id)).toEqual([{ type: "call.aborted", requestId: id, reason: "closed" }])
  })

  test("of a worker that gave a call up has another one run it, if that does no harm", async () => {
    const lab = new CallerLab()
    const [one, other] = [lab.worker("w1"), lab.worker("w2")]
    const id = lab.call("task.get")
    one.accept(id, { isIdempotent: true })
    one.send({ type: "call.aborted", requestId: id })
    expect(lab.outcome(id)).toEqual([])
    expect(lab.requests(id)).toHaveLength(2)
    other.answer(id)
    expect(lab.outcome(id)).toHaveLength(0)
    other.accept(id, { isIdempotent: true })
    other.answer(id)
    expect(lab.outcome(id)).toHaveLength(1)
  })

  test("that is invalid is dropped and counted, and does no harm", () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call()
    worker.accept(id)
    for (const text of [
      "",
      "{",
      "null",
      "[]",
      `{"from":"w 1","messages":[]}`,
      "\u0000",
      "[".repeat(5000),
    ]) {
      lab.caller.fromWorker(text)
    }
    lab.caller.fromWorker(`{"from":"w1","messages":[1,{"type":"accepted"},{"type":"__proto__"}]}`)
    worker.send({ type: "call.credit", requestId: id, credit: 5 })
    expect(lab.caller.stats().dropped).toBe(7 + 3 + 1)
    worker.answer(id)
    expect(lab.outcome(id)).toHaveLength(1)
  })
})

describe("a refusal", () => {
  test("of a full worker sends the call elsewhere after a moment", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const other = lab.worker("w2", { "task.do": false })
    const id = lab.call()
    worker.refuse(id, "OVERLOADED")
    expect(lab.requests(id)).toHaveLength(1)
    await lab.advance(19)
    expect(lab.requests(id)).toHaveLength(1)
    await lab.advance(40)
    expect(lab.requests(id)[1]).toMatchObject({ attempt: 2, at: { to: "worker", worker: "w2" } })
    other.accept(id)
    other.answer(id)
    expect(lab.outcome(id)).toMatchObject([{ type: "call.responded" }])
  })

  test("of all workers, again and again, fails the call", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    for (let attempt = 1; attempt <= 5; attempt++) {
      worker.refuse(id, "OVERLOADED")
      await lab.advance(400)
    }
    expect(lab.requests(id)).toHaveLength(5)
    expect(lab.error(id)).toMatchObject({
      ...{ code: "OVERLOADED", retryable: true, mayHaveExecuted: false, retryAfterMs: 700 },
      details: { attempt: 5, worker: "w1" },
    })
    expect(lab.error(id).message).toContain('"task.do"')
  })

  test("of a worker that leaves costs nothing, and the call moves on at once", () => {
    const lab = new CallerLab({ guard: { retryBudget: 0, maxAttempts: 1 } })
    const worker = lab.worker("w1", { "task.do": false })
    lab.worker("w2", { "task.do": false })
    const id = lab.call()
    worker.refuse(id, "UNAVAILABLE")
    expect(lab.requests(id)[1]).toMatchObject({ attempt: 2, at: { worker: "w2" } })
    expect(lab.caller.stats()).toMatchObject({ repeats: 0, directed: 1 })
  })

  test("of an earlier attempt is ignored", async () => {
    const lab = new CallerLab()
    const [one, other] = [lab.worker("w1"), lab.worker("w2")]
    const id = lab.call()
    await lab.advance(600)
    expect(lab.requests(id)).toHaveLength(2)
    one.refuse(id, "OVERLOADED", { attempt: 1 })
    one.refuse(id, "UNAUTHENTICATED", { attempt: 1, elsewhere: false })
    expect(lab.requests(id)).toHaveLength(2)
    other.accept(id)
    one.refuse(id, "UNAUTHENTICATED", { attempt: 2, elsewhere: false })
    one.refuse(id, "UNAVAILABLE", { attempt: 2, key: "w2-other" })
    expect(lab.outcome(id)).toEqual([])
    other.answer(id)
    expect(lab.outcome(id)).toMatchObject([{ type: "call.responded" }])
  })

  test("by the worker that was granted undoes the grant: it never ran", async () => {
    const lab = new CallerLab()
    const one = lab.worker("w1", { "task.do": false })
    const other = lab.worker("w2", { "task.do": false })
    const id = lab.call()
    const key = one.accept(id)
    expect(lab.caller.deliveryStatus(id)?.mayHaveExecuted).toBe(true)
    one.refuse(id, "UNAVAILABLE", { key })
    expect(lab.caller.deliveryStatus(id)).toEqual({ mayHaveExecuted: false, retryable: true })
    expect(lab.requests(id)[1]).toMatchObject({ at: { worker: "w2" } })
    other.accept(id)
    await lab.advance()
    expect(lab.sent("go").map(({ at }) => at.worker)).toEqual(["w1", "w2"])
  })

  test("by the worker that was granted counts only with the key of the grant", () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call()
    worker.accept(id)
    worker.refuse(id, "UNAVAILABLE", { key: "another" })
    worker.refuse(id, "UNAVAILABLE")
    expect(lab.caller.deliveryStatus(id)?.mayHaveExecuted).toBe(true)
    expect(lab.requests(id)).toHaveLength(1)
  })

  test("for good is the answer, with what the worker says", () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call()
    const error: CallErrorEvent = {
      ...{ type: "call.error", requestId: id, code: "UNAUTHENTICATED", message: "who are you?" },
      ...{ retryable: false, mayHaveExecuted: false, details: { why: "ticket" } },
    }
    worker.refuse(id, "", { elsewhere: false, error })
    expect(lab.error(id)).toMatchObject({
      ...{ code: "UNAUTHENTICATED", message: "who are you?", retryable: false },
      ...{ mayHaveExecuted: false, details: { why: "ticket", attempt: 1, worker: "w1" } },
    })
  })

  test("that repeats does not redirect a call forever", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    for (let round = 0; round < 30 && lab.caller.has(id); round++) {
      worker.refuse(id, "UNAVAILABLE")
      await lab.advance(1000)
    }
    expect(lab.error(id)).toMatchObject({ code: "OVERLOADED", mayHaveExecuted: false })
    expect(lab.requests(id).length).toBeLessThan(20)
  })
})

describe("mayHaveExecuted of a call", () => {
  test("stays true, whatever a later worker reports", async () => {
    const lab = new CallerLab()
    const one = lab.worker("w1", { "task.get": true })
    const other = lab.worker("w2", { "task.get": true })
    const id = lab.call("task.get", { kind: "call" })
    one.accept(id, { isIdempotent: true })
    one.pong({ unknown: [id] })
    expect(lab.requests(id)).toHaveLength(2)
    other.accept(id, { isIdempotent: true })
    other.fail(id, { code: "VALIDATION_ERROR", mayHaveExecuted: false, retryable: false })
    expect(lab.error(id)).toMatchObject({ code: "VALIDATION_ERROR", mayHaveExecuted: true })
  })

  test("stays true when a later worker refuses", async () => {
    const lab = new CallerLab()
    const one = lab.worker("w1", { "task.get": true })
    const other = lab.worker("w2", { "task.get": true })
    const id = lab.call("task.get")
    one.accept(id, { isIdempotent: true })
    one.pong({ unknown: [id] })
    other.refuse(id, "UNAUTHENTICATED", { elsewhere: false })
    expect(lab.error(id)).toMatchObject({ code: "UNAUTHENTICATED", mayHaveExecuted: true })
  })

  test("is false if a worker refused the call that it could have run at once", () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.get": true })
    const id = lab.call("task.get")
    expect(lab.caller.deliveryStatus(id)?.mayHaveExecuted).toBe(true)
    worker.refuse(id, "UNAUTHENTICATED", { elsewhere: false })
    expect(lab.error(id)).toMatchObject({ mayHaveExecuted: false })
  })

  test("is false if the worker reports that the call did not run", () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.get": true })
    const id = lab.call("task.get")
    worker.accept(id, { isIdempotent: true, runs: true })
    worker.fail(id, { code: "VALIDATION_ERROR", mayHaveExecuted: false })
    expect(lab.error(id).mayHaveExecuted).toBe(false)
  })
})
