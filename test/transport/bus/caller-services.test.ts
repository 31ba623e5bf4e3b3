import { describe, expect, test, vi } from "vitest"
import { CallError } from "../../../src/index.ts"
import type { CallRequestedEvent } from "../../../src/index.ts"
import { CallerLab } from "./caller-harness.ts"
import type { ScriptedWorker } from "./caller-harness.ts"

function list(
  lab: CallerLab,
  input: unknown = {},
  event: Partial<CallRequestedEvent> = {},
): string {
  return lab.call("services.list", { input, ...event })
}

function entry(id: string, version = "1.0.0"): object {
  return { id, type: "query", version, description: id }
}

function answerList(worker: ScriptedWorker, id: string, entries: object[], hasMore = false): void {
  worker.answer(id, { operations: entries, hasMore })
}

function dataOf(lab: CallerLab, id: string): unknown {
  const [event] = lab.outcome(id)
  return event?.type === "call.responded" ? event.output.data : event
}

describe("services.list", () => {
  test("asks all workers, and puts together what they have", async () => {
    const lab = new CallerLab()
    const [one, other] = [lab.worker("w1", {}), lab.worker("w2", {})]
    const id = list(lab)
    expect(lab.requests(id)).toMatchObject([
      { attempt: 1, now: true, at: { to: "all", operationId: "services.list" } },
    ])
    answerList(one, id, [entry("b.x"), entry("a.x", "2.0.0")])
    answerList(other, id, [entry("a.x", "1.0.0"), entry("c.x"), entry("b.x")])
    expect(lab.outcome(id)).toEqual([])
    await lab.advance(150)
    expect(dataOf(lab, id)).toEqual({
      operations: [entry("a.x", "1.0.0"), entry("a.x", "2.0.0"), entry("b.x"), entry("c.x")],
      hasMore: false,
    })
    expect(lab.caller.has(id)).toBe(false)
  })

  test("waits for those that are known, and not longer than a second", async () => {
    const lab = new CallerLab()
    const one = lab.worker("w1", {})
    lab.worker("w2", {})
    const id = list(lab)
    answerList(one, id, [entry("a.x")])
    await lab.advance(900)
    expect(lab.outcome(id)).toEqual([])
    await lab.advance(100)
    expect(dataOf(lab, id)).toMatchObject({ operations: [{ id: "a.x" }] })
  })

  test("ends with the answer of the last one", async () => {
    const lab = new CallerLab()
    const [one, other] = [lab.worker("w1", {}), lab.worker("w2", {})]
    const id = list(lab)
    answerList(one, id, [entry("a.x")])
    await lab.advance(300)
    answerList(other, id, [entry("b.x")])
    expect(dataOf(lab, id)).toMatchObject({ operations: [{ id: "a.x" }, { id: "b.x" }] })
  })

  test("goes page by page, and leaves nothing out between workers", async () => {
    const lab = new CallerLab()
    const [one, other] = [lab.worker("w1", {}), lab.worker("w2", {})]
    const have = new Map([
      [one, ["a.1", "a.2", "a.5", "a.6"]],
      [other, ["a.2", "a.3", "a.4", "a.7"]],
    ])
    const seen: string[] = []
    let after = ""
    for (let hasMore = true; hasMore;) {
      const id = list(lab, { after, limit: 2 })
      for (const [worker, ids] of have) {
        const left = ids.filter((it) => it > after)
        const page = left.slice(0, 2).map((it) => entry(it))
        answerList(worker, id, page, left.length > 2)
      }
      await lab.advance(150)
      const data = dataOf(lab, id) as { operations: { id: string }[]; hasMore: boolean }
      expect(data.operations.length).toBeLessThanOrEqual(2)
      seen.push(...data.operations.map((it) => it.id))
      after = seen.at(-1) ?? ""
      hasMore = data.hasMore
    }
    expect(seen).toEqual(["a.1", "a.2", "a.3", "a.4", "a.5", "a.6", "a.7"])
  })

  test("keeps all versions of an id on one page", async () => {
    const lab = new CallerLab()
    const [one, other] = [lab.worker("w1", {}), lab.worker("w2", {})]
    const id = list(lab, { limit: 2 })
    answerList(one, id, [entry("a.x"), entry("b.x", "1.0.0")])
    answerList(other, id, [entry("b.x", "2.0.0")])
    await lab.advance(150)
    expect(dataOf(lab, id)).toEqual({ operations: [entry("a.x")], hasMore: true })
    const next = list(lab, { after: "a.x", limit: 1 })
    answerList(one, next, [entry("b.x", "1.0.0")])
    answerList(other, next, [entry("b.x", "2.0.0")])
    await lab.advance(150)
    expect(dataOf(lab, next)).toMatchObject({ operations: [{}, {}], hasMore: false })
  })

  test("is empty without workers", async () => {
    const lab = new CallerLab()
    const id = list(lab)
    lab.noResponders(id)
    await lab.advance(199)
    expect(lab.outcome(id)).toEqual([])
    await lab.advance(1)
    expect(lab.requests(id)).toHaveLength(2)
    lab.noResponders(id)
    expect(dataOf(lab, id)).toEqual({ operations: [], hasMore: false })
  })

  test("fails, instead of being empty, where workers do not respond", async () => {
    const lab = new CallerLab()
    lab.worker("w1", {})
    const id = list(lab)
    await lab.advance(5000)
    expect(lab.requests(id)).toHaveLength(3)
    expect(lab.error(id)).toMatchObject({ code: "UNAVAILABLE", retryable: true })
  })

  test("is what some have where others refuse, and the refusal where all do", async () => {
    const lab = new CallerLab()
    const [one, other] = [lab.worker("w1", {}), lab.worker("w2", {})]
    const [first, second] = [list(lab), list(lab)]
    one.refuse(first, "UNAVAILABLE")
    answerList(other, first, [entry("a.x")])
    one.refuse(second, "OVERLOADED")
    other.fail(second, { code: "UNAUTHENTICATED", message: "who?" })
    await lab.advance(150)
    expect(dataOf(lab, first)).toMatchObject({ operations: [{ id: "a.x" }] })
    expect(lab.error(second)).toMatchObject({ code: "UNAUTHENTICATED", message: "who?" })
  })

  test("grants it to a worker that does not run it at once", async () => {
    const lab = new CallerLab()
    const [one, other] = [lab.worker("w1", {}), lab.worker("w2", {})]
    const id = list(lab, {}, { timeout: 4000 })
    const key = one.accept(id)
    other.accept(id, { runs: true, isIdempotent: true })
    await lab.advance()
    expect(lab.sent("go")).toMatchObject([{ id, key, left: 4000, at: { worker: "w1" } }])
  })

  test("waits for the broker, and is asked again after it was gone", async () => {
    const lab = new CallerLab({ isConnected: false })
    const id = list(lab)
    expect(lab.caller.stats()).toMatchObject({ pending: 1, held: 1 })
    lab.reconnect()
    expect(lab.requests(id)).toHaveLength(1)
    await lab.advance(50)
    lab.disconnect()
    await lab.advance(5000)
    expect(lab.outcome(id)).toEqual([])
    lab.reconnect()
    const worker = lab.worker("w1", {})
    expect(lab.requests(id)).toHaveLength(2)
    answerList(worker, id, [])
    await lab.advance(150)
    expect(dataOf(lab, id)).toEqual({ operations: [], hasMore: false })
  })

  test("may be aborted, and later answers are ignored", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", {})
    const id = list(lab)
    expect(lab.caller.deliveryStatus(id)).toEqual({ mayHaveExecuted: true, retryable: true })
    lab.abort(id)
    expect(lab.caller.has(id)).toBe(false)
    answerList(worker, id, [])
    await lab.advance(2000)
    expect(lab.outcome(id)).toEqual([])
    expect(lab.caller.stats().lateAnswers).toBe(1)
  })

  test("is signed where it has an identity", async () => {
    const sign = vi.fn(() => Promise.resolve("ticket"))
    const lab = new CallerLab({ signer: { sign } })
    const identity = { id: "ann", scopes: [] }
    const id = list(lab, { after: "a" }, { identity })
    expect(lab.requests(id)).toEqual([])
    await lab.advance()
    const subject = { operationId: "services.list", requestId: id, input: { after: "a" } }
    expect(sign).toHaveBeenCalledWith(identity, expect.objectContaining(subject))
    const [request] = lab.requests(id)
    expect(request?.ticket).toBe("ticket")
    expect(request?.event.identity).toBeUndefined()
  })

  test("fails where it cannot be signed or is not permitted", async () => {
    const signer = { sign: () => Promise.reject(new Error("no key")) }
    const lab = new CallerLab({ signer })
    const id = list(lab, {}, { identity: { id: "ann", scopes: [] } })
    await lab.advance()
    expect(lab.error(id).code).toBe("UNAUTHENTICATED")
    const error = new CallError("ACCESS_DENIED", "no")
    lab.bus.fault = error
    expect(() => list(lab)).toThrow(error)
    const denied = list(lab)
    lab.caller.denied(lab.requests(denied)[0]?.at.correlationId ?? "", error)
    expect(lab.error(denied).code).toBe("ACCESS_DENIED")
    expect(lab.caller.stats().pending).toBe(0)
  })

  test("asked for as a stream is a worker's to refuse", () => {
    const lab = new CallerLab()
    lab.worker("w1", {})
    const id = lab.stream("services.list")
    lab.noResponders(id)
    expect(lab.requests(id).at(-1)).toMatchObject({ at: { to: "worker", worker: "w1" } })
  })

  test("survives invalid answers", async () => {
    const lab = new CallerLab()
    const [one, two] = [lab.worker("w1", {}), lab.worker("w2", {})]
    const id = list(lab, null)
    one.answer(id, null)
    two.answer(id, { operations: [1, null, { id: 5 }, entry("a.x")], hasMore: "yes" })
    await lab.advance(150)
    expect(dataOf(lab, id)).toEqual({ operations: [entry("a.x")], hasMore: false })
  })
})

describe("services.schema", () => {
  const spec = (name: string, version: string): object => ({ namespace: "a", name, version })

  test("returns the highest version of each, and the remaining ids", async () => {
    const lab = new CallerLab()
    const [one, other] = [lab.worker("w1", {}), lab.worker("w2", {})]
    const id = lab.call("services.schema", { input: { ids: ["a.x", "a.y", "a.z", "a.no"] } })
    one.answer(id, { specs: [spec("x", "1.9.0"), spec("y", "1.0.0")], rest: ["a.z", "a.no"] })
    other.answer(id, { specs: [spec("x", "1.10.0"), spec("z", "3.0.0")], rest: ["a.no"] })
    await lab.advance(150)
    expect(dataOf(lab, id)).toEqual({
      specs: [spec("x", "1.10.0"), spec("y", "1.0.0")],
      rest: ["a.z", "a.no"],
    })
  })

  test("is empty without workers", async () => {
    const lab = new CallerLab()
    const id = lab.call("services.schema", { input: { ids: ["a.x"] } })
    lab.noResponders(id)
    await lab.advance(200)
    lab.noResponders(id)
    expect(dataOf(lab, id)).toEqual({ specs: [], rest: [] })
  })
})

describe("services.changes", () => {
  const said = (lab: CallerLab, id: string): unknown[] =>
    lab.outcome(id).map((event) => {
      if (event.type !== "call.responded") return event
      return `${event.seq} ${(event.output.data as { type: string }).type}`
    })

  test("is ready at once, and says when workers come, change and go", async () => {
    const lab = new CallerLab()
    const id = lab.stream("services.changes")
    expect(lab.outcome(id)).toEqual([])
    await lab.advance()
    expect(said(lab, id)).toEqual(["1 ready"])
    const worker = lab.worker("w1", { "task.do": false })
    const other = lab.worker("w2", { "task.do": false })
    await lab.advance(49)
    expect(said(lab, id)).toHaveLength(1)
    await lab.advance(1)
    expect(said(lab, id)).toEqual(["1 ready", "2 reset"])
    worker.say({ type: "changed" }, { type: "here", operations: {} })
    await lab.advance(50)
    other.say({ type: "bye" })
    await lab.advance(50)
    worker.gone()
    await lab.advance(50)
    expect(said(lab, id)).toEqual(["1 ready", "2 reset", "3 reset", "4 reset", "5 reset"])
    expect(lab.bus.sent.filter(({ to }) => to === "any" || to === "worker")).toEqual([])
  })

  test("sends nothing when nothing has changed", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.stream("services.changes")
    await lab.advance(100)
    worker.here({ "task.do": false })
    const call = lab.call()
    worker.accept(call)
    worker.answer(call)
    await lab.advance(100)
    expect(said(lab, id)).toEqual(["1 ready"])
  })

  test("respects its credit, and reports many changes as one then", async () => {
    const lab = new CallerLab()
    const id = lab.stream("services.changes", { window: 1 })
    await lab.advance()
    for (const address of ["w1", "w2", "w3"]) {
      lab.worker(address, { "task.do": false })
      await lab.advance(100)
    }
    expect(said(lab, id)).toEqual(["1 ready"])
    lab.caller.send({ type: "call.credit", requestId: id, credit: 2 })
    expect(said(lab, id)).toEqual(["1 ready", "2 reset"])
    lab.caller.send({ type: "call.credit", requestId: id, credit: 9 })
    expect(said(lab, id)).toHaveLength(2)
  })

  test("reports a change after a reconnect: announcements were missed meanwhile", async () => {
    const lab = new CallerLab()
    const id = lab.stream("services.changes")
    await lab.advance(10)
    lab.disconnect()
    lab.reconnect()
    await lab.advance(50)
    expect(said(lab, id)).toEqual(["1 ready", "2 reset"])
  })

  test("reports workers that disappeared silently", async () => {
    const lab = new CallerLab()
    const alive = lab.worker("w1", { "task.do": false })
    lab.worker("w2", { "task.do": false })
    const id = lab.stream("services.changes")
    for (let passed = 0; passed < 40; passed += 10) {
      await lab.advance(10_000)
      alive.here({ "task.do": false })
    }
    expect(lab.sent("who").length).toBeGreaterThanOrEqual(3)
    expect(lab.caller.stats().workers.map(({ address }) => address)).toEqual(["w1"])
    expect(said(lab, id)).toEqual(["1 ready", "2 reset"])
  })

  test("reports a change when a worker responds again that was missing from a merged answer", async () => {
    const lab = new CallerLab()
    const [one, slow] = [lab.worker("w1", {}), lab.worker("w2", {})]
    const id = lab.stream("services.changes")
    const all = list(lab)
    answerList(one, all, [])
    await lab.advance(1100)
    expect(said(lab, id)).toEqual(["1 ready"])
    slow.pong()
    await lab.advance(50)
    expect(said(lab, id)).toEqual(["1 ready", "2 reset"])
  })

  test("leaves no timer when it is left", async () => {
    const lab = new CallerLab()
    const id = lab.stream("services.changes")
    await lab.advance(10)
    expect(lab.caller.deliveryStatus(id)).toEqual({ mayHaveExecuted: false, retryable: true })
    lab.worker("w1", { "task.do": false })
    lab.abort(id)
    await lab.advance(1000)
    expect(said(lab, id)).toEqual(["1 ready"])
    expect(lab.clock.timers).toBe(0)
    expect(lab.caller.stats().pending).toBe(0)
  })
})
