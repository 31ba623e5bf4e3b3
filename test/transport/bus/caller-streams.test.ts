import { describe, expect, test } from "vitest"
import type { CallEvent } from "../../../src/index.ts"
import { CallerLab } from "./caller-harness.ts"

function seqs(events: readonly CallEvent[]): unknown[] {
  return events.map((event) => ("seq" in event ? event.seq : event.type))
}

/** A stream that a worker was granted. */
function begin(): {
  lab: CallerLab
  worker: ReturnType<CallerLab["worker"]>
  id: string
} {
  const lab = new CallerLab()
  const worker = lab.worker("w1", { "task.watch": true })
  const id = lab.stream()
  worker.accept(id, { isIdempotent: true })
  return { lab, worker, id }
}

describe("a stream", () => {
  test("comes in order and whole, and its worker may forget it then", async () => {
    const { lab, worker, id } = begin()
    for (const seq of [1, 2, 3]) worker.item(id, seq)
    worker.complete(id, 3)
    expect(seqs(lab.outcome(id))).toEqual([1, 2, 3, 3])
    expect(lab.outcome(id).at(-1)?.type).toBe("call.completed")
    await lab.advance(500)
    expect(lab.sent("done")).toMatchObject([{ ids: [id] }])
    expect(lab.sent("ping").every(({ streams }) => Object.keys(streams).length === 0)).toBe(true)
  })

  test("may be empty", () => {
    const { lab, worker, id } = begin()
    worker.complete(id, 0)
    expect(lab.outcome(id)).toMatchObject([{ type: "call.completed" }])
    expect(lab.caller.has(id)).toBe(false)
  })

  test("is confirmed by size, without waiting for the next ping or its reader", async () => {
    const { lab, worker, id } = begin()
    const other = lab.stream()
    worker.accept(other)
    worker.item(other, 1)
    for (let seq = 1; seq <= 10; seq++) worker.item(id, seq, "x".repeat(60_000))
    await lab.advance()
    expect(lab.sent("ping").map(({ streams }) => streams)).toEqual([
      { [id]: 5, [other]: 1 },
      { [id]: 10 },
    ])
  })

  test("delivers no item twice", () => {
    const { lab, worker, id } = begin()
    for (const seq of [1, 1, 2, 1, 2, 3, 3]) worker.item(id, seq)
    expect(seqs(lab.outcome(id))).toEqual([1, 2, 3])
  })

  test("passes credit on to its worker, once there is one", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.watch": false })
    const id = lab.stream()
    lab.caller.send({ type: "call.credit", requestId: id, credit: 12 })
    await lab.advance()
    expect(lab.sent("event")).toEqual([])
    worker.accept(id)
    lab.caller.send({ type: "call.credit", requestId: id, credit: 16 })
    await lab.advance()
    expect(lab.sent("event")).toMatchObject([
      { event: { type: "call.credit", requestId: id, credit: 16 }, at: { worker: "w1" } },
    ])
    lab.caller.send({ type: "call.credit", requestId: "unknown", credit: 16 })
  })

  test("that is silent is asked about, with its credit, which may have been lost", async () => {
    const { lab, worker, id } = begin()
    worker.item(id, 1)
    lab.caller.send({ type: "call.credit", requestId: id, credit: 9 })
    await lab.advance(500)
    expect(lab.sent("ping").at(-1)?.streams).toEqual({})
    worker.pong()
    lab.clear()
    await lab.advance(500)
    expect(lab.sent("ping")).toMatchObject([{ streams: { [id]: 1 } }])
    expect(lab.sent("event")).toMatchObject([{ event: { type: "call.credit", credit: 9 } }])
  })

  test("with an id that looks like a property of objects is asked about too", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.watch": false })
    const id = lab.stream("task.watch", { requestId: "__proto__" })
    worker.accept(id)
    worker.item(id, 2)
    await lab.advance()
    expect(Object.entries(lab.sent("ping")[0]?.streams ?? {})).toEqual([["__proto__", 0]])
    await lab.advance(500)
    expect(Object.entries(lab.sent("ping").at(-1)?.streams ?? {})).toEqual([["__proto__", 0]])
  })
})

describe("a gap in a stream", () => {
  test("is asked for at once, and once, and nothing beyond it is shown before", async () => {
    const { lab, worker, id } = begin()
    worker.item(id, 1)
    await lab.advance()
    lab.clear()
    for (const seq of [3, 4, 5]) worker.item(id, seq)
    await lab.advance()
    expect(lab.sent("ping")).toMatchObject([{ ids: [], streams: { [id]: 1 } }])
    expect(seqs(lab.outcome(id))).toEqual([1])
    worker.item(id, 2)
    expect(seqs(lab.outcome(id))).toEqual([1, 2, 3, 4, 5])
    worker.item(id, 6)
    expect(seqs(lab.outcome(id))).toEqual([1, 2, 3, 4, 5, 6])
  })

  test("is asked for once more when the worker answers: what was sent before that is lost", async () => {
    const { lab, worker, id } = begin()
    worker.pong({ at: 70 })
    worker.item(id, 1)
    lab.clear()
    worker.item(id, 3)
    worker.item(id, 4)
    expect(lab.sent("ping")).toMatchObject([{ streams: { [id]: 1 }, heard: 70 }])
    lab.clear()
    worker.pong({ at: 90 })
    worker.pong({ at: 80 })
    expect(lab.sent("ping")).toMatchObject([{ ids: [], streams: { [id]: 1 }, heard: 90 }])
    worker.item(id, 2)
    expect(seqs(lab.outcome(id))).toEqual([1, 2, 3, 4])
  })

  test("is asked for again with the pings that follow", async () => {
    const { lab, worker, id } = begin()
    worker.item(id, 2)
    await lab.advance(500)
    worker.pong()
    lab.clear()
    await lab.advance(500)
    expect(lab.sent("ping")).toMatchObject([{ streams: { [id]: 0 } }])
  })

  test("before the end is filled before it ends", async () => {
    const { lab, worker, id } = begin()
    worker.item(id, 1)
    worker.complete(id, 3)
    await lab.advance()
    expect(lab.sent("ping").at(-1)?.streams).toEqual({ [id]: 1 })
    expect(lab.caller.has(id)).toBe(true)
    worker.item(id, 2)
    worker.item(id, 3)
    expect(lab.outcome(id).map(({ type }) => type)).toEqual([
      ...["call.responded", "call.responded", "call.responded", "call.completed"],
    ])
    expect(lab.caller.has(id)).toBe(false)
  })

  test("before an error is filled before the error is reported", async () => {
    const { lab, worker, id } = begin()
    worker.item(id, 1)
    const error = { type: "call.error", requestId: id, code: "BAD", message: "bad" } as const
    worker.send(error, 2)
    expect(lab.outcome(id)).toHaveLength(1)
    worker.item(id, 2)
    expect(lab.outcome(id).map(({ type }) => type)).toEqual([
      ...["call.responded", "call.responded", "call.error"],
    ])
  })

  test("that cannot be filled is DATA_LOSS, and the worker is asked to stop", async () => {
    const { lab, worker, id } = begin()
    worker.item(id, 1)
    worker.item(id, 3)
    worker.pong({ lost: [id] })
    expect(lab.error(id)).toMatchObject({
      ...{ code: "DATA_LOSS", mayHaveExecuted: true, retryable: true, details: { worker: "w1" } },
    })
    expect(lab.error(id).message).toMatch(/"task.watch" lost data: items after 1/)
    await lab.advance()
    expect(lab.sent("event")).toMatchObject([{ event: { type: "call.aborted", requestId: id } }])
  })

  test("keeps no more than the window, whatever comes", () => {
    const { lab, worker, id } = begin()
    for (let seq = 2; seq < 1000; seq++) worker.item(id, seq)
    worker.item(id, 1)
    expect(seqs(lab.outcome(id))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  })
})

describe("a stream without a reader", () => {
  test("is stopped, once for many items, and again if it continues", async () => {
    const { lab, worker, id } = begin()
    lab.abort(id)
    await lab.advance()
    lab.clear()
    for (let seq = 1; seq < 50; seq++) worker.item(id, seq)
    await lab.advance()
    expect(lab.sent("event")).toHaveLength(1)
    await lab.advance(500)
    worker.item(id, 50)
    await lab.advance()
    expect(lab.sent("event")).toHaveLength(2)
    expect(lab.outcome(id)).toEqual([])
  })

  test("without its number is not shown: it is asked for, and shown once", async () => {
    const { lab, worker, id } = begin()
    worker.item(id, 1)
    const [item] = lab.outcome(id) as [CallEvent & { type: "call.responded" }]
    worker.say({ type: "event", event: { ...item, seq: undefined } })
    expect(lab.caller.stats().dropped).toBe(1)
    worker.item(id, 3)
    expect(seqs(lab.outcome(id))).toEqual([1])
    expect(lab.sent("ping").at(-1)?.streams).toEqual({ [id]: 1 })
    worker.item(id, 2)
    expect(seqs(lab.outcome(id))).toEqual([1, 2, 3])
  })

  test("is not taken for a call: items for a call are shown, and whoever called decides", async () => {
    const lab = new CallerLab()
    const worker = lab.worker("w1", { "task.watch": false })
    const id = lab.call("task.watch")
    worker.accept(id)
    worker.item(id, 1)
    expect(lab.outcome(id)).toMatchObject([{ seq: 1 }])
    lab.abort(id)
    await lab.advance()
    expect(lab.sent("event")).toMatchObject([{ event: { type: "call.aborted" } }])
  })
})
