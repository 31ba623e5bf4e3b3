import { describe, expect, test } from "vitest"
import type { CallAskedEvent, CallAnsweredEvent } from "../../../src/core/events.ts"
import type { CallerMessage } from "../../../src/transport/bus/wire/messages.ts"
import { CallerLab } from "./caller-harness.ts"
import { Harness } from "./worker-harness.ts"

/** A ping of a caller that received a pong after all that was sent before. */
const ping = { type: "ping", ids: ["r1"], streams: {}, heard: Number.MAX_SAFE_INTEGER } as const
const pong = { type: "pong", unknown: [], lost: [] }

function asked(question: number, requestId = "r1", message = "Sure?"): CallAskedEvent {
  const request = { message, schema: { type: "object" } }
  return { type: "call.asked", requestId, question, request }
}

function answered(question: number, requestId = "r1", content: unknown = "yes"): CallAnsweredEvent {
  return { type: "call.answered", requestId, question, response: { action: "accept", content } }
}

function answers(question: number, requestId = "r1"): CallerMessage {
  return { type: "event", event: answered(question, requestId) }
}

describe("a worker that asks", () => {
  test("repeats what was not answered whenever its caller pings, and takes each answer once", async () => {
    const it = new Harness()
    await it.running({ canAnswer: true })
    it.worker.send(asked(1))
    it.worker.send(asked(2))
    const both = await it.received()
    expect(both).toMatchObject([{ event: { question: 1 } }, { event: { question: 2 } }])
    await it.clock.advance(1000)
    it.say(ping)
    expect(await it.received()).toMatchObject([...both, pong])
    it.say([answers(1), answers(1)])
    await it.clock.advance(1000)
    it.say(ping)
    expect(await it.received()).toMatchObject([both[1], pong])
    it.say(answers(2))
    expect(it.events.slice(1).map(({ event }) => event)).toEqual([answered(1), answered(2)])
    await it.clock.advance(1000)
    it.say(ping)
    expect(await it.received()).toMatchObject([pong])
    expect(it.worker.stats()).toMatchObject({ running: 1, kept: 0, dropped: 0 })
  })

  test("does not repeat what is under way, unless the connection was lost", async () => {
    const it = new Harness()
    await it.running({ canAnswer: true })
    it.worker.send(asked(1))
    await it.received()
    it.say(ping)
    expect(await it.received()).toMatchObject([pong])
    it.worker.connected()
    it.say(ping)
    expect(await it.received()).toMatchObject([{ event: { type: "call.asked" } }, pong])
  })

  test("takes answers of its caller alone, to questions that are open, of calls that run", async () => {
    const it = new Harness()
    await it.running({ canAnswer: true })
    it.worker.send(asked(1))
    it.say(answers(1), { address: "caller2" })
    it.say(answers(1), { user: "bob" })
    it.say([answers(2), answers(1, "r2")])
    expect(it.events).toHaveLength(1)
    it.respond()
    it.say(answers(1))
    expect(it.events).toHaveLength(1)
    await it.received()
    await it.clock.advance(1000)
    it.say(ping)
    expect(await it.received()).toMatchObject([{ event: { type: "call.responded" } }, pong])
    expect(it.worker.stats().dropped).toBe(0)
  })

  test("does not take a question of a caller", async () => {
    const it = new Harness()
    await it.running({ canAnswer: true })
    it.say({ type: "event", event: asked(1) })
    expect(it.events).toHaveLength(1)
    expect(it.worker.stats().dropped).toBe(1)
  })
})

describe("a caller that is asked", () => {
  /** A call that a worker runs. */
  function running(isIdempotent = false) {
    const lab = new CallerLab()
    const one = lab.worker("one", { "task.do": isIdempotent })
    const id = lab.call("task.do", { canAnswer: true })
    one.accept(id, { isIdempotent })
    const sent = () =>
      lab
        .sent("event")
        .filter(({ event }) => event.type === "call.answered")
        .map(({ event, at }) => [at.worker, (event as CallAnsweredEvent).question])
    return { lab, one, id, sent }
  }

  test("says that it answers", () => {
    const { lab, id } = running()
    expect(lab.requests(id)).toMatchObject([{ event: { canAnswer: true } }])
  })

  test("is asked once, and answers again what is asked again", () => {
    const { lab, one, id, sent } = running()
    one.send(asked(1, id))
    one.send(asked(1, id))
    expect(lab.outcome(id)).toEqual([asked(1, id)])
    expect(sent()).toEqual([])
    lab.caller.send(answered(1, id))
    one.send(asked(1, id))
    expect(lab.outcome(id)).toHaveLength(1)
    expect(sent()).toEqual([
      ["one", 1],
      ["one", 1],
    ])
  })

  test("is asked what was lost after what was not, under numbers that grow", () => {
    const { lab, one, id, sent } = running()
    one.send(asked(2, id, "second"))
    one.send(asked(1, id, "first"))
    expect(lab.outcome(id)).toEqual([asked(1, id, "second"), asked(2, id, "first")])
    lab.caller.send(answered(2, id))
    expect(sent()).toEqual([["one", 1]])
    one.answer(id)
    lab.caller.send(answered(1, id))
    expect(sent()).toEqual([["one", 1]])
  })

  test("is asked by the next worker anew, and each gets its own answer", async () => {
    const { lab, one, id, sent } = running(true)
    one.send(asked(1, id, "of one"))
    one.send({ type: "call.aborted", requestId: id })
    const two = lab.worker("two", { "task.do": true })
    await lab.advance(5000)
    two.accept(id, { isIdempotent: true })
    two.send(asked(1, id, "of two"))
    expect(lab.outcome(id)).toEqual([asked(1, id, "of one"), asked(2, id, "of two")])
    lab.caller.send(answered(1, id))
    expect(sent()).toEqual([["one", 1]])
    lab.caller.send(answered(2, id))
    expect(sent()).toEqual([
      ["one", 1],
      ["two", 1],
    ])
  })

  test("is not asked by a worker that does not have the call, which is told to stop", () => {
    const { lab, id } = running()
    const two = lab.worker("two", { "task.do": false })
    two.send(asked(1, id))
    two.send(asked(1, "unknown"))
    expect(lab.outcome(id)).toEqual([])
    const aborts = lab.sent("event").filter(({ at }) => at.worker === "two")
    expect(aborts).toMatchObject([
      { event: { type: "call.aborted", requestId: id } },
      { event: { type: "call.aborted", requestId: "unknown" } },
    ])
  })

  test("ignores answers to what was not asked, and refuses one that is too large", () => {
    const { lab, one, id, sent } = running()
    one.send(asked(1, id))
    for (const question of [0, 2, -1, 0.5]) lab.caller.send(answered(question, id))
    lab.caller.send(answered(1, "unknown"))
    lab.bus.maxPayload = 1000
    expect(() => lab.caller.send(answered(1, id, "x".repeat(1000)))).toThrow(
      /An answer for "task\.do" takes \d+ bytes as JSON, and the broker's limit is 1000/,
    )
    expect(sent()).toEqual([])
    lab.caller.send(answered(1, id))
    expect(sent()).toEqual([["one", 1]])
  })

  test("is asked a thousand questions in one call, and no more", () => {
    const { lab, one, id, sent } = running()
    for (let question = 1; question <= 1001; question++) one.send(asked(question, id))
    expect(lab.outcome(id)).toHaveLength(1000)
    expect(sent()).toEqual([["one", 1001]])
  })
})
