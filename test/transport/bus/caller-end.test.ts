import { describe, expect, test } from "vitest"
import { CallError } from "../../../src/index.ts"
import type { Identity } from "../../../src/index.ts"
import type { TicketSubject } from "../../../src/transport/bus/tickets/model.ts"
import { CallerLab } from "./caller-harness.ts"

const ANN: Identity = { id: "ann", scopes: ["read"] }

describe("a call that its caller aborts", () => {
  test("before it was sent is dropped silently", async () => {
    const lab = new CallerLab({ isConnected: false })
    const id = lab.call()
    lab.abort(id)
    lab.reconnect()
    await lab.advance(1000)
    expect(lab.requests(id)).toEqual([])
    expect(lab.caller.stats().pending).toBe(0)
  })

  test("while a worker is searched ends the search", async () => {
    const lab = new CallerLab()
    const id = lab.call()
    lab.noResponders(id)
    lab.abort(id)
    lab.worker("w1", { "task.do": false })
    await lab.advance(1000)
    expect(lab.requests(id)).toHaveLength(1)
    expect(lab.outcome(id)).toEqual([])
  })

  test("between two attempts is not attempted again", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const id = lab.call()
    worker.refuse(id, "OVERLOADED")
    lab.abort(id)
    await lab.advance(1000)
    expect(lab.requests(id)).toHaveLength(1)
  })

  test("before a worker accepted it is not granted to one", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call()
    lab.abort(id)
    worker.accept(id)
    await lab.advance(1000)
    expect(lab.sent("go")).toEqual([])
    expect(lab.sent("nogo")).toHaveLength(1)
    expect(lab.requests(id)).toHaveLength(1)
  })

  test("after it was sent to one worker is aborted there", async () => {
    const lab = new CallerLab({ hasQueues: false })
    lab.worker("w1", { "task.do": false })
    const id = lab.call()
    lab.caller.send({ type: "call.aborted", requestId: id, reason: "enough" })
    await lab.advance()
    expect(lab.sent("event")).toMatchObject([
      { event: { type: "call.aborted", requestId: id, reason: "enough" }, at: { worker: "w1" } },
    ])
  })

  test("after it was granted is stopped where it runs", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call()
    worker.accept(id)
    lab.caller.send({ type: "call.aborted", requestId: id, reason: "enough" })
    await lab.advance()
    expect(lab.sent("event")).toMatchObject([
      { event: { type: "call.aborted", requestId: id, reason: "enough" }, at: { worker: "w1" } },
    ])
    worker.answer(id)
    expect(lab.outcome(id)).toEqual([])
    expect(lab.caller.stats()).toMatchObject({ pending: 0, lateAnswers: 1 })
  })

  test("twice, or an unknown one, is fine", () => {
    const lab = new CallerLab()
    const id = lab.call()
    lab.abort(id)
    lab.abort(id)
    lab.abort("never")
    expect(lab.caller.has(id)).toBe(false)
  })
})

describe("the delivery status of a call that is given up", () => {
  test("follows the call through all of its states", async () => {
    const lab = new CallerLab({ isConnected: false })
    const status = (): unknown => lab.caller.deliveryStatus(id)
    const notRun = { mayHaveExecuted: false, retryable: true }
    const id = lab.call()
    expect(status()).toEqual(notRun)
    lab.reconnect()
    await lab.advance()
    expect(status()).toEqual(notRun)
    lab.noResponders(id)
    expect(status()).toEqual(notRun)
    const one = lab.worker("w1", { "task.do": false })
    await lab.advance(300)
    expect(status()).toEqual(notRun)
    one.accept(id)
    expect(status()).toEqual({ mayHaveExecuted: true, retryable: false })
    lab.disconnect()
    expect(status()).toEqual({ mayHaveExecuted: true, retryable: false })
    lab.reconnect()
    one.answer(id)
    expect(status()).toBeUndefined()
  })

  test("is retryable for an idempotent operation", () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1")
    const id = lab.call("task.get")
    worker.accept(id, { isIdempotent: true })
    expect(lab.caller.deliveryStatus(id)).toEqual({ mayHaveExecuted: true, retryable: true })
  })
})

describe("a ticket", () => {
  const signing = (): { subjects: TicketSubject[]; lab: CallerLab } => {
    const subjects: TicketSubject[] = []
    const signer = {
      sign: (identity: Identity, subject: TicketSubject) => {
        subjects.push(subject)
        return Promise.resolve(`signed for ${identity.id}`)
      },
    }
    return { subjects, lab: new CallerLab({ signer }) }
  }

  test("is signed for the identity of a call, and replaces it in the request", async () => {
    const { subjects, lab } = signing()
    const id = lab.call("task.do", { identity: ANN, timeout: 5000 })
    expect(lab.requests(id)).toEqual([])
    expect(lab.caller.has(id)).toBe(true)
    await lab.advance()
    expect(subjects).toEqual([
      { operationId: "task.do", requestId: id, timeout: 5000, input: { n: 1 } },
    ])
    const [request] = lab.requests(id)
    expect(request?.ticket).toBe("signed for ann")
    expect(request?.event).not.toHaveProperty("identity")
  })

  test("is signed once, however often a call is sent", async () => {
    const { subjects, lab } = signing()
    const id = lab.call("task.do", { identity: ANN })
    await lab.advance(1200)
    expect(lab.requests(id).length).toBeGreaterThan(1)
    expect(lab.requests(id).every(({ ticket }) => ticket === "signed for ann")).toBe(true)
    expect(subjects).toHaveLength(1)
  })

  test("is not signed for an anonymous call", () => {
    const { subjects, lab } = signing()
    const id = lab.call()
    expect(lab.requests(id)).toMatchObject([{ ticket: undefined }])
    expect(subjects).toEqual([])
  })

  test("that cannot be made fails the call, with the signer's error or one of ours", async () => {
    const thrown: unknown[] = [new Error("secret"), new CallError("UNAVAILABLE", "no key yet")]
    const lab = new CallerLab({ signer: { sign: () => Promise.reject(thrown.shift()) } })
    const [one, other] = [
      lab.call("task.do", { identity: ANN }),
      lab.call("task.do", { identity: ANN }),
    ]
    await lab.advance()
    expect(lab.error(one)).toMatchObject({ code: "UNAUTHENTICATED", mayHaveExecuted: false })
    expect(lab.error(one).message).not.toContain("secret")
    expect(lab.error(other)).toMatchObject({ code: "UNAVAILABLE", message: "no key yet" })
    expect(lab.bus.sent.filter(({ to }) => to === "any")).toEqual([])
  })

  test("that comes too late is thrown away", async () => {
    const { lab } = signing()
    const id = lab.call("task.do", { identity: ANN })
    lab.abort(id)
    await lab.advance()
    expect(lab.requests(id)).toEqual([])
  })

  test("that comes while the broker is away is used when it is back", async () => {
    const { lab } = signing()
    const id = lab.call("task.do", { identity: ANN })
    lab.disconnect()
    await lab.advance(10)
    expect(lab.requests(id)).toEqual([])
    lab.reconnect()
    await lab.advance(300)
    expect(lab.requests(id)).toMatchObject([{ ticket: "signed for ann" }])
  })

  test("without a signer leaves the claim as it is", () => {
    const lab = new CallerLab()
    const id = lab.call("task.do", { identity: ANN })
    expect(lab.requests(id)[0]?.event.identity).toEqual(ANN)
  })
})

describe("closing a caller", () => {
  test("leaves no timer, sends queued messages, and may be done twice", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false })
    const [answered, granted, sent] = [lab.call(), lab.call(), lab.call()]
    const changes = lab.stream("services.changes")
    lab.call("services.list")
    worker.accept(answered)
    worker.accept(granted)
    worker.answer(answered)
    await lab.advance(10)
    lab.clear()
    lab.abort(granted)
    lab.caller.close()
    lab.caller.close()
    const types = lab.bus.sent.flatMap(({ messages }) => messages.map(({ type }) => type))
    expect(types).toEqual(["done", "event"])
    await lab.advance(0)
    expect(lab.clock.timers).toBe(0)
    lab.events.length = 0
    lab.clear()
    worker.accept(sent)
    worker.answer(sent)
    lab.caller.noResponders("q")
    lab.caller.noResponders("ww1")
    lab.caller.denied("r1", new CallError("ACCESS_DENIED", "no"))
    lab.caller.connected()
    lab.caller.disconnected()
    await lab.advance(60_000)
    expect(lab.events).toEqual([])
    expect(lab.bus.sent).toEqual([])
    expect(lab.caller.has(changes)).toBe(false)
    expect(lab.caller.stats()).toMatchObject({ pending: 0, held: 0, workers: [] })
  })

  test("reports unsent calls as undelivered, and accepts no more", () => {
    const lab = new CallerLab({ isConnected: false })
    const id = lab.call()
    lab.caller.close()
    expect(lab.undelivered).toMatchObject([{ requestId: id }])
    expect(() => lab.call()).toThrow(
      expect.objectContaining({ code: "UNAVAILABLE", mayHaveExecuted: false }),
    )
  })

  test("leaves no timer in any state of a call", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.do": false, "task.get": true })
    const full = lab.call()
    worker.refuse(full, "OVERLOADED")
    const nowhere = lab.call("task.nowhere")
    lab.noResponders(nowhere)
    lab.call("task.get")
    const stream = lab.stream("task.do")
    worker.accept(stream)
    lab.caller.close()
    await lab.advance(0)
    expect(lab.clock.timers).toBe(0)
  })
})

describe("a warning", () => {
  test("is logged once, then at increasing intervals, with the number of suppressed ones", async () => {
    const lab = new CallerLab({ guard: { retryBudget: 0 } })
    lab.call("task.do", { timeout: 1_000_000 })
    await lab.advance(120_000)
    const fields = lab.warnings.map((line) => line.fields)
    expect(lab.warnings.length).toBeLessThan(6)
    expect(fields[0]).toEqual({ operationId: "task.do" })
    expect(fields[1]?.["alsoSince"]).toBeGreaterThan(5)
  })
})
