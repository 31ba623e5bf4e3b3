import { describe, expect, test } from "vitest"
import type { WorkerMessage } from "../../../src/transport/bus/wire/messages.ts"
import { Harness, streamOf } from "./worker-harness.ts"

function sequences(messages: readonly WorkerMessage[]): unknown[] {
  return messages.map((message) => {
    if (message.type !== "event") return message.type
    const { event } = message
    return event.type === "call.responded" ? event.seq : event.type
  })
}

async function started(request = streamOf()): Promise<Harness> {
  const it = new Harness()
  await it.running(request)
  return it
}

function credit(it: Harness, last: number): void {
  it.say({ type: "event", event: { type: "call.credit", requestId: "s1", credit: last } })
}

/** A ping of a caller that has received a pong just now, unless it says otherwise. */
function ping(it: Harness, seq: number, heard: number | undefined = it.clock.now()): void {
  it.say({ type: "ping", ids: [], streams: { s1: seq }, heard })
}

describe("streams", () => {
  test("one that waits for its grant is said to be here again when its caller asks", async () => {
    const it = new Harness()
    const key = await it.accepted(streamOf())
    ping(it, 0)
    expect(await it.received()).toMatchObject([
      { type: "accepted", id: "s1", key },
      { type: "pong" },
    ])
  })

  test("credit goes to the handler, and what it says was consumed is not kept", async () => {
    const it = await started()
    for (const seq of [1, 2, 3, 4]) it.item(seq)
    expect(it.worker.stats().kept).toBe(4)
    credit(it, 6)
    expect(it.events.at(-1)?.event).toEqual({ type: "call.credit", requestId: "s1", credit: 6 })
    expect(it.worker.stats().kept).toBe(2)
    credit(it, 6)
    credit(it, 5)
    expect(it.worker.stats().kept).toBe(2)
  })

  test("what followed the last item that came is sent again, in order", async () => {
    const it = await started()
    for (const seq of [1, 2, 3, 4]) it.item(seq)
    expect(sequences(await it.received())).toEqual([1, 2, 3, 4])
    await it.clock.advance(500)
    ping(it, 1)
    expect(sequences(await it.received())).toEqual([2, 3, 4, "pong"])
    expect(it.worker.stats()).toMatchObject({ kept: 3, resent: 3 })
  })

  test("before the first pong came nothing counts as lost, however long ago it left", async () => {
    const it = await started()
    for (const seq of [1, 2]) it.item(seq)
    await it.received()
    for (let round = 0; round < 3; round++) {
      await it.clock.advance(1000)
      it.say({ type: "ping", ids: [], streams: { s1: 0 } })
      expect(sequences(await it.received())).toEqual(["pong"])
    }
    expect(it.worker.stats().resent).toBe(0)
    ping(it, 0)
    expect(sequences(await it.received())).toEqual([1, 2, "pong"])
  })

  test("a connection that was lost is evidence of loss, also before the first pong", async () => {
    const it = await started()
    it.item(1)
    await it.received()
    it.worker.connected()
    it.say({ type: "ping", ids: [], streams: { s1: 0 } })
    expect(sequences(await it.received())).toEqual([1, "pong"])
  })

  test("what left before a pong that came, and did not come itself, is lost: only that is sent again", async () => {
    const it = await started()
    it.item(1)
    it.item(2)
    await it.clock.advance(10)
    it.say({ type: "ping", ids: [], streams: { s1: 0 } })
    const pong = (await it.received()).at(-1)
    const heard = pong?.type === "pong" ? pong.at : undefined
    expect(heard).toBe(it.clock.now())
    it.item(3)
    await it.clock.advance(1000)
    it.item(4)
    await it.received()
    it.say({ type: "ping", ids: [], streams: { s1: 0 }, heard })
    expect(sequences(await it.received())).toEqual([1, 2, "pong"])
    // However long ago something left, it may be on a slow way.
    await it.clock.advance(1000)
    it.say({ type: "ping", ids: [], streams: { s1: 2 }, heard })
    expect(sequences(await it.received())).toEqual(["pong"])
    it.say({ type: "ping", ids: [], streams: { s1: 2 }, heard: it.clock.now() })
    expect(sequences(await it.received())).toEqual([3, 4, "pong"])
  })

  test("a time of a pong that is none is not believed", async () => {
    const it = await started()
    await it.clock.advance(1000)
    it.item(1)
    await it.received()
    it.say({ type: "ping", ids: [], streams: { s1: 0 }, heard: Number.MAX_SAFE_INTEGER })
    expect(sequences(await it.received())).toEqual(["pong"])
  })

  test("an error says how many items came before it, also when it is said again", async () => {
    const it = await started()
    it.item(1)
    it.item(2)
    const error = { type: "call.error", requestId: "s1", code: "BAD", message: "bad" } as const
    it.worker.send(error)
    expect((await it.received()).at(-1)).toEqual({ type: "event", event: error, after: 2 })
    await it.clock.advance(500)
    ping(it, 2)
    expect((await it.received())[0]).toEqual({ type: "event", event: error, after: 2 })
  })

  test("a ping that was overtaken asks for nothing that its caller has", async () => {
    const it = await started()
    for (const seq of [1, 2, 3, 4]) it.item(seq)
    await it.received()
    await it.clock.advance(500)
    ping(it, 3)
    await it.received()
    await it.clock.advance(500)
    ping(it, 1)
    const received = await it.received()
    expect(sequences(received)).toEqual([4, "pong"])
    expect(received.at(-1)).toMatchObject({ type: "pong", unknown: [], lost: [] })
  })

  test("the end comes again after the items", async () => {
    const it = await started()
    for (const seq of [1, 2]) it.item(seq)
    it.worker.send({ type: "call.completed", requestId: "s1", seq: 2 })
    await it.received()
    await it.clock.advance(500)
    ping(it, 1)
    expect(sequences(await it.received())).toEqual([2, "call.completed", "pong"])
    await it.clock.advance(500)
    it.say({ type: "ping", ids: ["s1"], streams: { s1: 2 }, heard: it.clock.now() })
    expect(sequences(await it.received())).toEqual(["call.completed", "pong"])
    it.say({ type: "done", ids: ["s1"] })
    expect(it.worker.stats()).toMatchObject({ kept: 0, keptBytes: 0 })
  })

  test("credit for a stream that is over only says what was consumed", async () => {
    const it = await started()
    for (const seq of [1, 2]) it.item(seq)
    it.worker.send({ type: "call.completed", requestId: "s1", seq: 2 })
    const before = it.events.length
    credit(it, 6)
    expect(it.events.length).toBe(before)
    expect(it.worker.stats().kept).toBe(1)
  })

  test("items that had to go are lost, and the caller hears that", async () => {
    const it = new Harness({ guard: { maxKeptBytes: 1700 } })
    await it.running(streamOf())
    for (const seq of [1, 2, 3]) it.item(seq, "s1", "x".repeat(600))
    await it.received()
    await it.clock.advance(500)
    ping(it, 0)
    expect(await it.received()).toMatchObject([{ type: "pong", unknown: [], lost: ["s1"] }])
    ping(it, 1)
    expect(sequences(await it.received())).toEqual([2, 3, "pong"])
  })

  test("without a window, what arrived is forgotten by pings alone", async () => {
    const it = await started(streamOf({ window: undefined }))
    for (let seq = 1; seq <= 1000; seq++) it.item(seq)
    credit(it, 2000)
    expect(it.worker.stats().kept).toBe(1000)
    ping(it, 990)
    expect(it.worker.stats().kept).toBe(10)
    ping(it, Number.MAX_SAFE_INTEGER)
    expect(it.worker.stats()).toMatchObject({ kept: 0, keptBytes: 0 })
    it.item(1001)
    expect(it.worker.stats().kept).toBe(1)
  })

  test("a long stream with credit keeps no more than its window", async () => {
    const it = await started()
    for (let seq = 1; seq <= 1000; seq++) {
      it.item(seq)
      if (seq % 2 === 0) credit(it, seq + 4)
      expect(it.worker.stats().kept).toBeLessThanOrEqual(4)
    }
    await it.received()
    await it.clock.advance(500)
    it.item(1001)
    await it.clock.advance(500)
    ping(it, 1000)
    expect(sequences(await it.received())).toEqual([1001, 1001, "pong"])
  })

  test("items wait while their caller has 2 MiB to receive, of all its streams, until it has received half", async () => {
    const it = await started(streamOf({ window: 1000 }))
    await it.running(streamOf({ requestId: "s2", window: 1000 }))
    await it.running(streamOf({ requestId: "s3", window: 1000 }), { address: "caller2" })
    let sent = 0
    for (; it.worker.ready("s1") === undefined; sent++) it.item(sent + 1, "s1", "x".repeat(60_000))
    expect(sent).toBe(35)
    expect(it.worker.ready("s2")).toBeInstanceOf(Promise)
    expect(it.worker.ready("s3")).toBeUndefined()
    ping(it, 17)
    expect(it.worker.ready("s2")).toBeInstanceOf(Promise)
    ping(it, 20)
    expect(it.worker.ready("s2")).toBeUndefined()
  })

  test.each(["leaves", "is lost"])("items do not wait for a caller that %s", async (what) => {
    const it = await started(streamOf({ window: 1000, timeout: 60_000 }))
    for (let seq = 1; seq <= 40; seq++) it.item(seq, "s1", "x".repeat(60_000))
    const room = it.worker.ready("s1")
    const event = { type: "call.aborted", requestId: "s1" } as const
    if (what === "leaves") it.say({ type: "event", event })
    else await it.clock.advance(60_000)
    await expect(room).resolves.toBeUndefined()
    expect(it.worker.stats()).toMatchObject({ running: 0, kept: 0 })
  })

  test("an item that does not fit is PAYLOAD_TOO_LARGE", async () => {
    const it = await started()
    expect(() => it.item(1, "s1", "x".repeat(70_000))).toThrow("maxPayload")
    expect(it.worker.stats().kept).toBe(0)
  })

  test("unknown streams are reported as unknown, whatever their ids", async () => {
    const it = new Harness()
    const text = `{"from":"caller1","messages":[{"type":"ping","ids":[],"streams":{"__proto__":1,"no":2}}]}`
    it.raw(text)
    expect(await it.received()).toMatchObject([
      { type: "pong", unknown: ["__proto__", "no"], lost: [] },
    ])
  })

  test("a caller that leaves stops its stream", async () => {
    const it = await started()
    it.item(1)
    it.say({
      ...{ type: "event" },
      event: { type: "call.aborted", requestId: "s1", reason: "enough" },
    } as never)
    expect(it.events.at(-1)?.event).toEqual({
      ...{ type: "call.aborted", requestId: "s1", reason: "enough" },
    })
    expect(it.worker.stats()).toMatchObject({ running: 0, kept: 0 })
    it.item(2)
    expect(sequences(await it.received())).toEqual([1])
  })
})
