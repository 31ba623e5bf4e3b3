import { describe, expect, test } from "vitest"
import { CallError } from "../../../src/index.ts"
import { CallerLab } from "./caller-harness.ts"
import type { Sent } from "./caller-harness.ts"

/** Frames of requests, as they went out. */
async function frames(lab: CallerLab): Promise<readonly Sent[]> {
  // Those that wait for an earlier frame do so for 2 ms at most.
  await lab.advance(2)
  return lab.bus.sent.filter(({ to }) => to === "any" || to === "worker")
}

function idsIn(sent: readonly Sent[]): string[] {
  return sent.flatMap(({ messages }) =>
    messages.map((message) => (message.type === "request" ? message.event.requestId : "")),
  )
}

describe("requests of one turn", () => {
  test("go out at once as far as there is only one", async () => {
    const lab = new CallerLab()
    const id = lab.call()
    expect(idsIn(lab.bus.sent)).toEqual([id])
  })

  test("wait for each other where the turn before had many, although nothing is pending", async () => {
    const lab = new CallerLab()
    const before = Array.from({ length: 10 }, () => lab.call())
    await frames(lab)
    for (const id of before) lab.abort(id)
    lab.bus.sent.length = 0
    const ids = [lab.call(), lab.call(), lab.call()]
    expect(idsIn(lab.bus.sent.filter(({ to }) => to === "any"))).toEqual([])
    const sent = await frames(lab)
    expect(idsIn(sent)).toEqual(ids)
    expect(sent).toHaveLength(1)
  })

  test("travel together, in so small groups that many workers get some", async () => {
    const lab = new CallerLab()
    const workers = ["w1", "w2", "w3"]
    for (const address of workers) lab.worker(address, { "task.do": false })
    const ids = Array.from({ length: 600 }, () => lab.call())
    const sent = await frames(lab)
    expect(idsIn(sent).toSorted()).toEqual(ids.toSorted())
    expect(sent.length).toBeLessThan(100)
    expect(sent.length).toBeGreaterThanOrEqual(4 * workers.length)
    expect(new Set(sent.map(({ correlationId }) => correlationId)).size).toBe(sent.length)
  })

  test("go each to the address of its own operation", async () => {
    const lab = new CallerLab()
    for (let round = 0; round < 40; round++) {
      lab.call("task.do")
      lab.call("task.other")
    }
    for (const { operationId, messages } of await frames(lab)) {
      for (const message of messages) {
        expect(message.type === "request" && message.event.operationId).toBe(operationId)
      }
    }
  })

  test("go each to the worker that was chosen for it", async () => {
    let turn = 0
    const lab = new CallerLab({ hasQueues: false, random: () => (turn++ * 0.37) % 1 })
    lab.worker("w1", { "task.do": false })
    lab.worker("w2", { "task.do": false })
    const ids = Array.from({ length: 100 }, () => lab.call())
    const sent = await frames(lab)
    expect(new Set(sent.map(({ worker }) => worker))).toEqual(new Set(["w1", "w2"]))
    expect(idsIn(sent).toSorted()).toEqual(ids.toSorted())
    for (const worker of ["w1", "w2"]) {
      const calls = idsIn(sent.filter((frame) => frame.worker === worker)).length
      expect(lab.caller.stats().workers).toContainEqual(
        expect.objectContaining({ address: worker, calls }),
      )
    }
  })

  test("fit into what the broker takes", async () => {
    const lab = new CallerLab()
    lab.bus.maxPayload = 3000
    const input = "ä".repeat(500)
    const ids = Array.from({ length: 300 }, () => lab.call("task.do", { input }))
    expect(idsIn(await frames(lab)).toSorted()).toEqual(ids.toSorted())
  })

  test("that are left before it is over never leave", async () => {
    const lab = new CallerLab()
    const [first, second, third] = [lab.call(), lab.call(), lab.call()]
    lab.abort(second)
    expect(idsIn(await frames(lab))).toEqual([first, third])
  })

  test("are held where the broker goes before it is over, and sent once when it is back", async () => {
    const lab = new CallerLab()
    const ids = [lab.call(), lab.call(), lab.call()]
    lab.disconnect()
    await lab.advance(100)
    expect(idsIn(await frames(lab))).toEqual([ids[0]])
    lab.reconnect()
    await lab.advance(300)
    expect(lab.requests(ids[1] ?? "")).toHaveLength(1)
    expect(lab.requests(ids[2] ?? "")).toHaveLength(1)
  })

  test("do not leave after closing", async () => {
    const lab = new CallerLab()
    lab.call()
    lab.call()
    lab.caller.close()
    await lab.advance(100)
    expect(idsIn(lab.bus.sent)).toHaveLength(1)
    expect(lab.clock.timers).toBe(0)
  })

  test("are too large one by one, and said so to the one whose it is", async () => {
    const lab = new CallerLab()
    lab.bus.maxPayload = 1000
    const first = lab.call()
    expect(() => lab.call("task.do", { input: "x".repeat(2000) })).toThrow(
      expect.objectContaining({ code: "PAYLOAD_TOO_LARGE", mayHaveExecuted: false }),
    )
    const third = lab.call()
    expect(idsIn(await frames(lab))).toEqual([first, third])
  })
})

describe("where much is under way", () => {
  /** Twenty calls, all on their way to one worker. */
  const busy = async (): Promise<{ lab: CallerLab; ids: readonly string[] }> => {
    const lab = new CallerLab()
    lab.worker("w1", { "task.do": false })
    const ids = Array.from({ length: 20 }, () => lab.call())
    await lab.advance(2)
    expect(ids.every((id) => lab.requests(id).length === 1)).toBe(true)
    return { lab, ids }
  }

  test("requests wait until an earlier frame is accepted, and leave together", async () => {
    const { lab, ids } = await busy()
    const before = lab.bus.sent.length
    const next = lab.call()
    await lab.advance(0)
    const last = lab.call()
    await lab.advance(1)
    expect(lab.bus.sent).toHaveLength(before)

    for (const id of ids) lab.worker("w1").accept(id)
    await lab.advance(0)
    expect(lab.requests(next)[0]?.at).toBe(lab.requests(last)[0]?.at)
    expect(lab.requests(next)).toHaveLength(1)
    expect(lab.clock.time).toBe(1_000_003)
  })

  test("two frames are under way to one worker, and the next leaves with the first that is accepted", async () => {
    const { lab, ids } = await busy()
    const waiting = lab.call()
    await lab.advance(0)
    lab.worker("w1").accept(ids[0] ?? "")
    await lab.advance(0)
    expect(lab.requests(waiting)).toHaveLength(1)
  })

  test("they do not wait for long", async () => {
    const { lab } = await busy()
    const id = lab.call()
    await lab.advance(1)
    expect(lab.requests(id)).toHaveLength(0)
    await lab.advance(1)
    expect(lab.requests(id)).toHaveLength(1)
  })

  test("those whose caller left meanwhile never leave", async () => {
    const { lab, ids } = await busy()
    const id = lab.call()
    await lab.advance(1)
    lab.abort(id)
    for (const other of ids) lab.worker("w1").accept(other)
    await lab.advance(100)
    expect(lab.requests(id)).toHaveLength(0)
    expect(lab.outcome(id)).toEqual([])
  })

  test("a thousand addresses are remembered, and more are no trouble", async () => {
    const lab = new CallerLab()
    for (let at = 0; at < 1200; at++) {
      const id = lab.call(`task.n${at}`)
      await lab.advance(0)
      expect(lab.requests(id)).toHaveLength(1)
      lab.abort(id)
      lab.clear()
    }
    expect(lab.caller.stats().pending).toBe(0)
  })

  test("those of another operation do not wait for it", async () => {
    const { lab } = await busy()
    const id = lab.call("task.other")
    await lab.advance(0)
    expect(lab.requests(id)).toHaveLength(1)
  })

  test("nothing waits where the broker goes meanwhile, or the transport is closed", async () => {
    const { lab } = await busy()
    const id = lab.call()
    await lab.advance(1)
    lab.disconnect()
    await lab.advance(100)
    expect(lab.requests(id)).toHaveLength(0)
    lab.reconnect()
    await lab.advance(305)
    expect(lab.requests(id)).toHaveLength(1)
    lab.call()
    await lab.advance(1)
    lab.caller.close()
    expect(lab.clock.timers).toBe(0)
  })
})

describe("requests that travelled together", () => {
  /** Many calls, of which some are in one frame. */
  const together = async (): Promise<{
    lab: CallerLab
    ids: readonly string[]
    correlationId: string
  }> => {
    const lab = new CallerLab()
    for (let round = 0; round < 64; round++) lab.call("task.get")
    const frame = (await frames(lab)).find(({ messages }) => messages.length > 2)
    if (frame === undefined) throw new Error("no frame of several")
    return { lab, ids: idsIn([frame]), correlationId: frame.correlationId }
  }

  test("are unheard together", async () => {
    const { lab, ids, correlationId } = await together()
    lab.caller.noResponders(correlationId)
    lab.caller.noResponders(correlationId)
    await lab.advance(205)
    for (const id of ids) expect(lab.requests(id)).toHaveLength(2)
    for (const id of ids) lab.noResponders(id)
    for (const id of ids) expect(lab.error(id)).toMatchObject({ code: "UNAVAILABLE" })
  })

  test("are unheard only as far as they still wait for that", async () => {
    const { lab, ids, correlationId } = await together()
    const [first = "", ...others] = ids
    const worker = lab.worker("w1")
    worker.accept(first)
    lab.abort(others[0] ?? "")
    lab.caller.noResponders(correlationId)
    expect(lab.caller.deliveryStatus(first)?.mayHaveExecuted).toBe(true)
    worker.answer(first)
    expect(lab.outcome(first)).toMatchObject([{ type: "call.responded" }])
    expect(lab.outcome(others[0] ?? "")).toEqual([])
  })

  test("are denied together", async () => {
    const { lab, ids, correlationId } = await together()
    lab.caller.denied(correlationId, new CallError("ACCESS_DENIED", "no"))
    for (const id of ids) expect(lab.error(id).code).toBe("ACCESS_DENIED")
  })
})
