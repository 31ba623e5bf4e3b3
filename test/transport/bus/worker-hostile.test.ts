import { describe, expect, test } from "vitest"
import { Harness, requestOf } from "./worker-harness.ts"

function frame(...messages: unknown[]): string {
  return JSON.stringify({ from: "caller1", messages })
}

/** A request that is not valid. */
function badly(event: object = {}): object {
  return { ...requestOf(), kind: "other", ...event }
}

const request = ["r", 1, 0, requestOf()]
const NO_FRAMES: Record<string, string> = {
  nothing: "",
  "no JSON": "{",
  "a number": "1",
  null: "null",
  "a list": "[]",
  "no sender": `{"messages":[]}`,
  "a sender that is no address": `{"from":"a.b","messages":[]}`,
  "a sender that is an object": `{"from":{},"messages":[]}`,
  "a long sender": JSON.stringify({ from: "a".repeat(65), messages: [] }),
  "no messages": `{"from":"caller1"}`,
  "messages that are none": `{"from":"caller1","messages":{"length":1}}`,
  "too many messages": JSON.stringify({ from: "a", messages: Array(10_001).fill(0) }),
  "10 MB": frame(["r", 1, 0, requestOf({ input: "x".repeat(10_000_000) })]),
  "10 MB of brackets": "[".repeat(10_000_000),
}

const NO_MESSAGES: Record<string, unknown> = {
  nothing: null,
  "a text": "go",
  "a list": ["go"],
  "no type": {},
  "an unknown type": { type: "run" },
  "a type of Object": { type: "constructor" },
  "an answer": { type: "pong", unknown: [], lost: [] },
  "an empty list": [],
  "a list of a list": [["g", "r1", "k", 1]],
  "a grant as an object": { type: "go", id: "r1", key: "k", left: 1 },
  "a request as an object": { type: "request", attempt: 1, event: requestOf() },
  "a grant of nothing": ["g"],
  "a grant without time": ["g", "r1", "k"],
  "a grant with a key that is a number": ["g", "r1", 1, 1],
  "a grant whose time is null": ["g", "r1", "k", null],
  "a grant with a time that is a text": ["g", "r1", "k", "1"],
  "a grant of less than no time": ["g", "r1", "k", -1],
  "a grant of an object": ["g", {}, "k", 1],
  "an id of 300 letters": { type: "nogo", id: "x".repeat(300), key: "k" },
  "an empty id": { type: "nogo", id: "", key: "k" },
  "results that have no ids": ["d"],
  "results with ids that are none": ["d", "r1", {}],
  "results as an object": { type: "done", ids: ["r1"] },
  "ids that are none": { type: "ping", ids: [{}], streams: {} },
  "ids that are a text": { type: "ping", ids: "r1", streams: {} },
  "a ping without streams": { type: "ping", ids: [] },
  "a ping with odd counts": { type: "ping", ids: [], streams: { s1: -1 } },
  "a ping with counts that are texts": { type: "ping", ids: [], streams: { s1: "1" } },
  "a request without an event": ["r", 1, 0],
  "a request without an attempt": ["r", null, 0, requestOf()],
  "a request with an answer in it": ["r", 1, 0, { type: "call.completed", requestId: "r1" }],
  "calls of which there are none": ["c", "orders.add", 1, 0],
  "a request with an id of 300 letters": ["r", 1, 0, badly({ requestId: "x".repeat(300) })],
  "a request with an empty id": ["r", 1, 0, badly({ requestId: "" })],
  "a request with an id that is an object": ["r", 1, 0, badly({ requestId: { toString: 1 } })],
  "a request with less than no attempts": ["r", -1, 0, badly()],
  "a call that is cut off": ["c", "orders.add", 1, 0, "r9", 1000],
  "a call without an id": ["c", "orders.add", 1, 0, null, 1000, {}, 0],
  "a call with a long id": ["c", "orders.add", 1, 0, "x".repeat(300), 1000, {}, 0],
  "a call without an attempt": ["c", "orders.add", null, 0, "r9", 1000, {}, 0],
  "an event that is none": ["e", { type: "call.credit", requestId: "s1" }],
  "a request as an event": ["e", requestOf()],
  "a result as an event": ["e", { type: "call.completed", requestId: "r1" }],
  "a result": ["v", "orders.add", "r1", 1, {}],
  "that something was accepted": ["a", 1, 0, 0, "r1", "k"],
}

const SECRET = "<b>hunter2</b>"

/** Requests and calls whose id and attempt are valid, but nothing else. */
const INVALID_REQUESTS: Record<string, unknown> = {
  "without an operation": ["r", 2, 0, { type: "call.requested", requestId: "r9" }],
  "with an operation that is an object": ["r", 2, 0, badly({ requestId: "r9", operationId: {} })],
  "of an unknown kind": ["r", 2, 0, badly({ requestId: "r9", kind: SECRET })],
  "that may run now": ["r", 2, 1, badly({ requestId: "r9" })],
  "with a time that is a text": [
    "r",
    2,
    0,
    requestOf({ requestId: "r9", timeout: SECRET as never }),
  ],
  "with a ticket that is none": ["r", 2, 0, requestOf({ requestId: "r9" }), [SECRET]],
  "that says it has bytes": ["r", 2, 0, { ...requestOf({ requestId: "r9" }), binary: [SECRET] }],
  "with a huge field": ["r", 2, 0, badly({ requestId: "r9", kind: SECRET.repeat(2000) })],
  "with fields of Object": ["r", 2, 0, badly({ requestId: "r9", constructor: 1, toJSON: SECRET })],
  "in short form, of nothing": ["c", null, 2, 0, "r9", 1000, {}, 0],
  "in short form, with a time that is a text": ["c", "orders.add", 2, 0, "r9", SECRET, {}, 0],
  "in short form, with a ticket that is none": ["c", "orders.add", 2, 0, "r9", 1000, {}, 1],
}

const REFUSED = {
  type: "refused",
  id: "r9",
  attempt: 2,
  elsewhere: false,
  error: { type: "call.error", requestId: "r9", code: "VALIDATION_ERROR", mayHaveExecuted: false },
}

describe("an invalid request is refused and counted", () => {
  test.each(Object.entries(INVALID_REQUESTS))("%s", async (_, message) => {
    const it = new Harness()
    it.raw(frame(message, request), { operationId: "orders.add" })
    expect(await it.received()).toMatchObject([REFUSED, { type: "accepted", id: "r1" }])
    expect(it.worker.stats()).toMatchObject({ dropped: 1, refused: 1, waiting: 1 })
    expect(it.runs).toEqual([])
    const sent = it.bus.answers.map(({ text }) => text).join()
    expect(sent).not.toContain("hunter2")
    expect(sent.length).toBeLessThan(500)
  })

  test.each(["waiting", "running", "done"])(
    "but not one with the id of a call that is %s",
    async (state) => {
      const it = new Harness()
      if (state === "waiting") await it.accepted()
      else await it.running()
      if (state === "done") it.respond()
      await it.received()
      it.raw(frame(["r", 1, 0, badly()]), { operationId: "orders.add" })
      expect(await it.received()).toEqual([])
      expect(it.worker.stats()).toMatchObject({ dropped: 1, refused: 0 })
    },
  )

  test("and its id does not run without a grant later", async () => {
    const it = new Harness()
    const id = { requestId: "r9", operationId: "orders.get" }
    it.raw(frame(["r", 1, 1, badly(id)]), { operationId: "orders.get" })
    await it.received()
    it.request(id, { now: true })
    expect(await it.received()).toMatchObject([{ type: "accepted", runs: false }])
    expect(it.runs).toEqual([])
  })

  test("at the reply address of its sender alone, who is not kept", async () => {
    const it = new Harness()
    await it.accepted()
    it.raw(frame(["r", 2, 0, badly({ requestId: "r1" })]), { user: "eve", reply: "to-eve" })
    await it.received()
    expect(it.bus.answers.map(({ reply }) => reply)).toEqual(["ann/caller1", "to-eve"])
    expect(it.worker.stats()).toMatchObject({ callers: 1, waiting: 1, refused: 1 })
  })
})

describe("an invalid message is dropped and counted", () => {
  test.each(Object.entries(NO_FRAMES))("a frame: %s", async (_, text) => {
    const it = new Harness()
    it.raw(text, { operationId: "orders.add" })
    expect(await it.received()).toEqual([])
    expect(it.worker.stats()).toMatchObject({ dropped: 1, waiting: 0, callers: 0 })
    expect(it.logged).toHaveLength(1)
    await it.accepted()
  })

  test.each(Object.entries(NO_MESSAGES))("a message: %s", async (_, message) => {
    const it = new Harness()
    it.raw(frame(message, request, message), { operationId: "orders.add" })
    expect(await it.received()).toMatchObject([{ type: "accepted", id: "r1" }])
    expect(it.worker.stats()).toMatchObject({ dropped: 2, waiting: 1 })
    expect(it.runs).toEqual([])
    expect(it.logged).toHaveLength(1)
  })

  test("a frame of 100,000 levels is alive or dropped, never a crash", async () => {
    const it = new Harness()
    it.bus.maxPayload = 8 * 1024 * 1024
    const deep = "[".repeat(100_000) + "]".repeat(100_000)
    it.raw(deep)
    it.raw(`{"from":"caller1","messages":[${deep}]}`)
    expect(it.worker.stats().dropped).toBe(2)
    const text = frame(["r", 1, 0, requestOf({ input: "DEEP" })])
    it.raw(text.replace(`"DEEP"`, deep), { operationId: "orders.add" })
    await it.received()
    await it.accepted({ requestId: "r2" })
  })
})

describe("operations and their addresses", () => {
  test.each([undefined, "orders.get", "orders.add2", ""])(
    "a request that came by the address of %j is refused",
    async (operationId) => {
      const it = new Harness()
      it.say({ type: "request", attempt: 1, event: requestOf(), now: true }, { operationId })
      expect(await it.received()).toMatchObject([
        {
          ...{ type: "refused", elsewhere: false },
          error: { code: "VALIDATION_ERROR", message: expect.stringContaining(`"orders.add"`) },
        },
      ])
      expect(it.worker.stats()).toMatchObject({ waiting: 0, callers: 0 })
    },
  )

  test("names that every object has are names like others", async () => {
    const it = new Harness()
    for (const name of ["__proto__", "constructor", "toString"]) {
      const key = await it.accepted({ requestId: name, operationId: name })
      it.say({ type: "go", id: name, key, left: 1000 })
      it.worker.send({ type: "call.error", requestId: name, code: "X", message: "no" })
      expect(await it.received()).toMatchObject([{ event: { requestId: name } }])
      it.say({ type: "done", ids: [name] })
    }
    expect(it.worker.stats()).toMatchObject({ kept: 0, dropped: 0 })
    expect(Object.prototype).not.toHaveProperty("kept")
  })
})

describe("a flood", () => {
  test("of unknown ids in a ping is answered in pieces that fit", async () => {
    const it = new Harness()
    const ids = Array.from({ length: 1200 }, (_, n) => `id${n}`)
    it.say({ type: "ping", ids, streams: {} })
    const received = await it.received()
    expect(received.length).toBe(3)
    expect(received.flatMap((pong) => (pong.type === "pong" ? pong.unknown : []))).toEqual(ids)
  })

  test("of invalid requests in one frame is answered once each, and leaves nothing behind", async () => {
    const it = new Harness()
    it.bus.maxPayload = 16 * 1024 * 1024
    const calls = Array.from({ length: 10_001 }, (_, n) => [`r${n}`, "", {}, 0]).flat()
    it.raw(frame(["c", "orders.add", 1, 0, ...calls]), { operationId: "orders.add" })
    expect((await it.received()).length).toBe(10_000)
    const nothing = { waiting: 0, running: 0, kept: 0, callers: 0 }
    expect(it.worker.stats()).toMatchObject({ dropped: 10_001, ...nothing })
  })

  test("of messages in one frame leaves nothing behind", async () => {
    const it = new Harness()
    it.bus.maxPayload = 16 * 1024 * 1024
    const calls = Array.from({ length: 10_001 }, (_, n) => [`r${n}`, 100, {}, 0]).flat()
    it.raw(frame(["c", "orders.add", 1, 0, ...calls]), { operationId: "orders.add" })
    expect((await it.received()).length).toBe(10_000)
    expect(it.worker.stats().dropped).toBe(1)
    await it.clock.advance(1000)
    expect(it.worker.stats()).toMatchObject({ waiting: 0, notGranted: 10_000 })
  })
})
