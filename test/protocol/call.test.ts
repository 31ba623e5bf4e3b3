import { describe, expect, test, vi } from "vitest"
import {
  buildCallHandler,
  CallError,
  localEnvelope,
  PendingRequestMap,
  serveCalls,
} from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type {
  CallEvent,
  CallRequestedEvent,
  Identity,
  Transport,
  TransportReceiver,
} from "../../src/index.ts"
import { count, greet, operation, quietRegistry, rejection, thrown } from "../support/operations.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import { waitFor } from "../support/wait-for.ts"

const hello = localEnvelope({ text: "hi" }, "demo.greet")

/** A transport that the test plays the peer of. */
class HandDriven implements Transport {
  readonly sent: CallEvent[] = []
  receiver!: TransportReceiver
  isClosed = false
  readonly isTrusted: boolean | undefined
  readonly mayRepeat: boolean | undefined
  readonly identity: Identity | undefined
  failing: unknown

  constructor(parts: Partial<Pick<Transport, "isTrusted" | "mayRepeat" | "identity">> = {}) {
    this.isTrusted = parts.isTrusted
    this.mayRepeat = parts.mayRepeat
    this.identity = parts.identity
  }

  open(receiver: TransportReceiver): void {
    this.receiver = receiver
  }

  send(event: CallEvent): void {
    if (this.failing !== undefined) throw this.failing
    this.sent.push(event)
  }

  async close(): Promise<void> {
    this.isClosed = true
  }

  of<TType extends CallEvent["type"]>(type: TType): Extract<CallEvent, { type: TType }>[] {
    return this.sent.filter((event) => event.type === type) as Extract<CallEvent, { type: TType }>[]
  }
}

function handDriven(
  parts?: ConstructorParameters<typeof HandDriven>[0],
  options?: ConstructorParameters<typeof PendingRequestMap>[1],
): { link: HandDriven; map: PendingRequestMap } {
  const link = new HandDriven(parts)
  return { link, map: new PendingRequestMap(link, { logger: silentLogger, ...options }) }
}

describe("PendingRequestMap.call", () => {
  test("returns a promise with the request id, which settles with the response", async () => {
    const map = new PendingRequestMap()
    const call = map.call("demo.greet", { name: "Ada" })

    expect(call).toBeInstanceOf(Promise)
    expect(call.requestId).toEqual(expect.any(String))
    expect(map.getPendingCount()).toBe(1)
    map.respond(call.requestId, hello)

    expect(await call).toBe(hello)
    expect(map.getPendingCount()).toBe(0)
  })

  test("respond takes envelopes only, and says how to make one", () => {
    const map = new PendingRequestMap()

    expect(() => map.respond("r", { text: "raw" } as never)).toThrow(TypeError)
    expect(() => map.respond("r", undefined as never)).toThrow("localEnvelope()")
  })

  test("is found by its id among others, in any order, whatever else arrives", async () => {
    const map = new PendingRequestMap()
    const calls = Array.from({ length: 50 }, (_, at) => map.call("demo.n", at))
    map.respond("unknown", hello)
    map.complete("unknown")
    map.emitError("unknown", "X", "x")
    for (const [at, call] of [...calls.entries()].toReversed()) {
      map.respond(call.requestId, localEnvelope(at, "demo.n"))
      map.respond(call.requestId, localEnvelope(-1, "demo.n"))
      map.emitError(call.requestId, "LATE", "late")
    }

    const results = await Promise.all(calls)

    expect(results.map(({ data }) => data)).toEqual(calls.map((_, at) => at))
  })

  test("rejects with the error that was emitted, and all it says", async () => {
    const map = new PendingRequestMap()
    const call = map.call("task.create", {})
    map.emitError(
      call.requestId,
      new CallError("TITLE_TAKEN", "There is one", {
        details: { title: "Milk" },
        retryable: true,
        mayHaveExecuted: false,
        retryAfterMs: 5,
      }),
    )
    const plain = map.call("task.create", {})
    map.emitError(plain.requestId, "NOT_NOW", "Later", { when: 1 })

    expect(await rejection(call)).toMatchObject({
      code: "TITLE_TAKEN",
      message: "There is one",
      details: { title: "Milk" },
      retryable: true,
      mayHaveExecuted: false,
      retryAfterMs: 5,
      operationId: "task.create",
      requestId: call.requestId,
    })
    expect(await rejection(plain)).toMatchObject({ code: "NOT_NOW", details: { when: 1 } })
  })

  test("completed without a response, or answered by a stream, is an error", async () => {
    const { link, map } = handDriven()
    const empty = map.call("a.b")
    map.complete(empty.requestId)
    link.receiver.event({ type: "call.completed", requestId: empty.requestId })
    const stream = map.call("a.b")
    link.receiver.event({
      type: "call.responded",
      requestId: stream.requestId,
      output: hello,
      seq: 1,
    })

    expect(await rejection(empty)).toMatchObject({ code: "ABORTED" })
    expect(await rejection(stream)).toMatchObject({ code: "INVALID_OPERATION_TYPE" })
    expect(link.of("call.aborted")).toMatchObject([{ requestId: stream.requestId }])
  })

  test("abort ends it here and there; a second one says nothing", async () => {
    const { link, map } = handDriven()
    const first = map.call("a.b")
    const second = map.call("a.b")
    first.abort("not needed")
    first.abort()
    map.abort(second.requestId)
    map.abort("unknown")

    expect(await rejection(first)).toMatchObject({
      code: "ABORTED",
      mayHaveExecuted: true,
      message: '"a.b" was aborted: not needed',
    })
    expect(await rejection(second)).toMatchObject({ code: "ABORTED" })
    expect(link.of("call.aborted")).toEqual([
      { type: "call.aborted", requestId: first.requestId, reason: "not needed" },
      { type: "call.aborted", requestId: second.requestId },
    ])
  })

  test("a signal ends it, with its reason as the cause; one that fired before sends nothing", async () => {
    const { link, map } = handDriven()
    const controller = new AbortController()
    const call = map.call("a.b", {}, { signal: controller.signal })
    controller.abort(new Error("gone"))
    const late = map.call("a.b", {}, { signal: controller.signal })

    expect(await rejection(call)).toMatchObject({
      code: "ABORTED",
      cause: new Error("gone"),
      mayHaveExecuted: true,
    })
    expect(await rejection(late)).toMatchObject({ code: "ABORTED", mayHaveExecuted: false })
    expect(link.sent.map(({ type }) => type)).toEqual(["call.requested", "call.aborted"])
  })

  test("the deadline passes: TIMEOUT here, call.aborted there", async () => {
    const clock = new VirtualClock()
    const { link, map } = handDriven({}, { clock })
    const given = map.call("a.b", {}, { deadline: clock.now() + 100 })
    const relative = map.call("a.b", {}, { timeout: 50 })
    const standard = map.call("a.b")
    const outcomes = [given, relative, standard].map((call) => rejection(call))
    await clock.advance(99)
    expect(map.getPendingCount()).toBe(2)
    await clock.advance(30_000)

    expect(await Promise.all(outcomes)).toMatchObject([
      { code: "TIMEOUT", message: expect.stringContaining("within 100 ms") },
      { code: "TIMEOUT", message: expect.stringContaining("within 50 ms") },
      { code: "TIMEOUT", message: expect.stringContaining("within 30000 ms") },
    ])
    expect(link.of("call.requested").map(({ timeout }) => timeout)).toEqual([100, 50, 30_000])
    expect(link.of("call.aborted")).toHaveLength(3)
    expect(clock.timers).toBe(0)
  })

  test("a deadline in the past, of a year and of never", async () => {
    const clock = new VirtualClock()
    const { link, map } = handDriven({}, { clock })

    expect(await rejection(map.call("a.b", {}, { deadline: clock.now() - 1 }))).toMatchObject({
      code: "TIMEOUT",
      mayHaveExecuted: false,
      retryable: true,
    })
    expect(await rejection(map.call("a.b", {}, { timeout: 0 }))).toMatchObject({
      code: "TIMEOUT",
      retryable: true,
    })
    expect(link.sent).toEqual([])
    void map.call("a.b", {}, { deadline: Number.POSITIVE_INFINITY }).catch(() => undefined)
    expect(link.of("call.requested")[0]?.timeout).toBe(Number.MAX_SAFE_INTEGER)
    await map.close()
  })

  test("a link that throws harms only the call it was to send", async () => {
    const { link, map } = handDriven()
    const fine = map.call("a.b")
    link.failing = new Error("wire cut")
    const lost = map.call("a.c")
    link.failing = new CallError("PAYLOAD_TOO_LARGE", "too much")
    const large = map.call("a.d")
    // Nor does an abort that cannot be sent.
    const aborted = rejection(fine)
    fine.abort()

    expect(await rejection(lost)).toMatchObject({
      code: "UNAVAILABLE",
      message: '"a.c" could not be sent: wire cut',
      retryable: true,
      mayHaveExecuted: false,
    })
    expect(await rejection(large)).toMatchObject({ code: "PAYLOAD_TOO_LARGE" })
    expect(await aborted).toMatchObject({ code: "ABORTED" })
    expect(map.getPendingCount()).toBe(0)
  })

  test.each([
    [{ deadline: Number.NaN }, "deadline"],
    [{ timeout: "5" }, "timeout"],
    [{ signal: {} }, "signal"],
    [{ idleTimeout: 0 }, "idleTimeout"],
    [{ window: 0.5 }, "window"],
    [{ traceparent: 1 }, "traceparent"],
    [{ metadata: 1 }, "metadata"],
    ["options", "object"],
  ])("options that make no sense are refused: %o", async (options, word) => {
    const { link, map } = handDriven()

    for (const outcome of [
      map.call("a.b", {}, options as never),
      map.subscribe("a.b", {}, options as never).next(),
    ]) {
      const error = await rejection(outcome)
      expect(error).toMatchObject({ code: "VALIDATION_ERROR" })
      expect((error as Error).message).toContain(word)
    }
    expect(link.sent).toEqual([])
  })

  test("options and ids that cannot be read or are none", async () => {
    const map = new PendingRequestMap()
    const trap = {
      get deadline(): number {
        throw new Error("no")
      },
    }

    expect(await rejection(map.call("a.b", {}, trap))).toMatchObject({ code: "VALIDATION_ERROR" })
    for (const id of [undefined, "", 7, "x".repeat(513)]) {
      expect(await rejection(map.call(id as string))).toMatchObject({ code: "OPERATION_NOT_FOUND" })
    }
  })

  test("what the caller says travels with the request", () => {
    const { link, map } = handDriven()
    const identity = { id: "ada", scopes: ["x"] }
    const call = map.call(
      "a.b",
      { n: 1 },
      { identity, parentRequestId: "p", metadata: { m: 1 }, traceparent: "00-1", timeout: 9 },
    )
    call.catch(() => undefined)

    expect(link.sent).toEqual([
      {
        type: "call.requested",
        requestId: call.requestId,
        operationId: "a.b",
        input: { n: 1 },
        kind: "call",
        timeout: 9,
        identity,
        parentRequestId: "p",
        metadata: { m: 1 },
        traceparent: "00-1",
      },
    ])
    call.abort()
  })

  test("a lost peer fails everything with UNAVAILABLE", async () => {
    const { link, map } = handDriven()
    const call = rejection(map.call("a.b"))
    const item = rejection(map.subscribe("a.s").next())
    link.receiver.lost(new CallError("UNAVAILABLE", "The line is dead."))

    for (const error of [await call, await item]) {
      expect(error).toMatchObject({
        code: "UNAVAILABLE",
        mayHaveExecuted: true,
        retryable: false,
        message: expect.stringContaining("The line is dead."),
      })
    }
    expect(map.getPendingCount()).toBe(0)
  })

  test("a request that did not leave fails with what the transport says", async () => {
    const { link, map } = handDriven()
    const call = map.call("a.b")
    const refused = new CallError("UNAVAILABLE", "Connection refused")
    link.receiver.undelivered(link.sent[0] as CallEvent, refused)
    link.receiver.undelivered({ type: "call.credit", requestId: "x", credit: 1 }, refused)

    expect(await rejection(call)).toMatchObject({
      code: "UNAVAILABLE",
      message: '"a.b" was not sent: Connection refused',
      operationId: "a.b",
      requestId: call.requestId,
      cause: refused,
    })
  })

  test("close ends pending calls, notifies the peer and closes the transport; later calls fail", async () => {
    const { link, map } = handDriven()
    const call = rejection(map.call("a.b"))
    const stream = rejection(map.subscribe("a.s").next())
    await map.close()
    await map.close()

    expect(await call).toMatchObject({ code: "ABORTED" })
    expect(await stream).toMatchObject({ code: "ABORTED" })
    expect(link.of("call.aborted")).toHaveLength(2)
    expect(link.isClosed).toBe(true)
    expect(await rejection(map.call("a.b"))).toMatchObject({
      code: "UNAVAILABLE",
      mayHaveExecuted: false,
    })
    await using unused = new PendingRequestMap()
    expect(unused.getPendingCount()).toBe(0)
  })

  test("an event that does not fit is dropped, counted and logged once", () => {
    const logger = { ...silentLogger, warn: vi.fn() }
    const { link, map } = handDriven({}, { logger })
    const trap = Object.defineProperty({}, "type", {
      get() {
        throw new Error("no")
      },
    })
    for (const event of [
      undefined,
      null,
      "call.responded",
      [],
      {},
      trap,
      { type: "call.responded", requestId: "r", output: { data: 1 } },
      { type: "call.requested", requestId: "r" },
      { type: "call.stolen", requestId: "r", secret: "canary" },
      { type: "call.requested", requestId: "r", operationId: "a.b", identity: { id: 1 } },
    ]) {
      link.receiver.event(event)
    }

    expect(map.droppedCount).toBe(10)
    expect(logger.warn).toHaveBeenCalledTimes(1)
  })

  test("a progress listener that throws has no effect on the call", async () => {
    const { link, map } = handDriven()
    const call = map.call(
      "a.b",
      {},
      {
        progress() {
          throw new Error("listener")
        },
      },
    )
    const { requestId } = call
    link.receiver.event({ type: "call.progress", requestId, progress: 1 })
    link.receiver.event({ type: "call.responded", requestId, output: hello })

    expect(await call).toBe(hello)
  })

  test.each([
    [7, "link must be"],
    [{}, "link must be"],
    [null, "link must be"],
  ])("a link that is none is refused: %o", (link, words) => {
    expect(() => new PendingRequestMap(link as never)).toThrow(words)
  })

  test("settings that make no sense are refused", () => {
    expect(() => new PendingRequestMap(undefined, { timeout: 0 })).toThrow("timeout")
    expect(() => new PendingRequestMap(undefined, { window: 0 })).toThrow("window")
  })
})

describe("PendingRequestMap.subscribe", () => {
  const item = (requestId: string, seq: number): CallEvent => ({
    type: "call.responded",
    requestId,
    output: localEnvelope(seq, "a.s"),
    seq,
  })

  test("sends its request with the first pull, and a window", async () => {
    const { link, map } = handDriven({}, { window: 4 })
    const stream = map.subscribe("a.s", { n: 1 })
    expect(link.sent).toEqual([])
    expect(map.getPendingCount()).toBe(0)
    const first = stream.next()
    link.receiver.event(item(stream.requestId, 1))

    expect(link.sent).toMatchObject([{ kind: "stream", window: 4, operationId: "a.s" }])
    expect(await first).toMatchObject({ done: false, value: { data: 1 } })
    await stream.return()
  })

  test("keeps the order, takes items before the end, and grants credit at half of the window", async () => {
    const { link, map } = handDriven({}, { window: 4 })
    const stream = map.subscribe("a.s")
    const { requestId } = stream
    const first = stream.next()
    for (const seq of [1, 2, 2, 3, 1, 4]) link.receiver.event(item(requestId, seq))
    link.receiver.event({ type: "call.completed", requestId, seq: 4 })
    link.receiver.event(item(requestId, 5))
    const rest: unknown[] = []
    for await (const { data } of stream) rest.push(data)

    expect(await first).toMatchObject({ value: { data: 1 } })
    expect(rest).toEqual([2, 3, 4])
    expect(await stream.next()).toEqual({ done: true, value: undefined })
  })

  test("grants credit while it runs", async () => {
    const { link, map } = handDriven()
    const stream = map.subscribe("a.s", {}, { window: 4 })
    for (let seq = 1; seq <= 6; seq++) {
      const next = stream.next()
      link.receiver.event(item(stream.requestId, seq))
      await next
    }

    expect(link.of("call.credit").map(({ credit }) => credit)).toEqual([6, 8, 10])
    await stream[Symbol.asyncDispose]()
  })

  test("an error comes after the items before it", async () => {
    const { link, map } = handDriven()
    const stream = map.subscribe("a.s")
    const { requestId } = stream
    const first = stream.next()
    link.receiver.event(item(requestId, 1))
    link.receiver.event(item(requestId, 2))
    link.receiver.event({ type: "call.error", requestId, code: "BROKEN", message: "It broke" })

    expect(await first).toMatchObject({ value: { data: 1 } })
    expect(await stream.next()).toMatchObject({ value: { data: 2 } })
    expect(await rejection(stream.next())).toMatchObject({ code: "BROKEN" })
    expect(await stream.next()).toMatchObject({ done: true })
  })

  test.each([
    ["a gap", [1, 3], undefined],
    ["an early end", [1], 3],
    ["a late end", [1, 2], 1],
  ])("%s is DATA_LOSS, and the peer is asked to stop", async (_name, seqs, end) => {
    const { link, map } = handDriven()
    const stream = map.subscribe("a.s")
    const { requestId } = stream
    const first = stream.next()
    for (const seq of seqs) link.receiver.event(item(requestId, seq))
    if (end !== undefined) link.receiver.event({ type: "call.completed", requestId, seq: end })
    await first
    const ended = async (): Promise<void> => {
      for await (const { data } of stream) void data
    }

    expect(await rejection(ended())).toMatchObject({ code: "DATA_LOSS" })
    expect(link.of("call.aborted")).toHaveLength(1)
    expect(map.getPendingCount()).toBe(0)
  })

  test("a peer that sends more than it was granted is cut off", async () => {
    const { link, map } = handDriven()
    const stream = map.subscribe("a.s", {}, { window: 2 })
    const first = stream.next()
    for (let seq = 1; seq <= 10; seq++) link.receiver.event(item(stream.requestId, seq))
    await first
    const seen: unknown[] = []
    const read = async (): Promise<void> => {
      for await (const { data } of stream) seen.push(data)
    }

    expect(await rejection(read())).toMatchObject({ code: "SLOW_CONSUMER" })
    expect(seen).toEqual([2, 3])
  })

  test("leaving a stream notifies the peer and ends pending reads", async () => {
    const { link, map } = handDriven()
    const stream = map.subscribe("a.s")
    const waiting = [stream.next(), stream.next()]
    await stream.return()
    await stream.return()

    expect(await Promise.all(waiting)).toMatchObject([{ done: true }, { done: true }])
    expect(link.of("call.aborted")).toHaveLength(1)
    // A stream that never began has no peer to notify.
    await map.subscribe("a.s").return()
    expect(link.sent).toHaveLength(2)
  })

  test("abort() and the peer's call.aborted end it with ABORTED", async () => {
    const { link, map } = handDriven()
    const mine = map.subscribe("a.s")
    const theirs = map.subscribe("a.s")
    const outcomes = [rejection(mine.next()), rejection(theirs.next())]
    mine.abort("enough")
    link.receiver.event({
      type: "call.aborted",
      requestId: theirs.requestId,
      reason: "shutting down",
    })

    expect(await Promise.all(outcomes)).toMatchObject([
      { code: "ABORTED", message: expect.stringContaining("enough") },
      { code: "ABORTED", message: expect.stringContaining("shutting down") },
    ])
  })

  test("an idle timeout counts while someone waits, from item to item", async () => {
    const clock = new VirtualClock()
    const { link, map } = handDriven({}, { clock })
    const stream = map.subscribe("a.s", {}, { idleTimeout: 100 })
    const first = stream.next()
    await clock.advance(90)
    link.receiver.event(item(stream.requestId, 1))
    await first
    // Nobody waits: nothing is late.
    await clock.advance(1000)
    const second = stream.next()
    const third = rejection(stream.next())
    await clock.advance(90)
    link.receiver.event(item(stream.requestId, 2))
    await second
    await clock.advance(99)
    expect(map.getPendingCount()).toBe(1)
    await clock.advance(1)

    expect(await third).toMatchObject({ code: "TIMEOUT", details: { idleTimeout: 100 } })
    expect(link.of("call.requested")[0]).toMatchObject({ idleTimeout: 100 })
    expect(link.of("call.aborted")).toHaveLength(1)
    expect(clock.timers).toBe(0)
  })

  test("several who wait are served in turn, and one of them hears of the end", async () => {
    const { link, map } = handDriven()
    const stream = map.subscribe("a.s")
    const { requestId } = stream
    const waiting = [stream.next(), stream.next(), stream.next()]
    link.receiver.event(item(requestId, 1))
    link.receiver.event({ type: "call.error", requestId, code: "BROKEN", message: "It broke" })
    const outcomes = await Promise.allSettled(waiting)

    expect(outcomes).toMatchObject([
      { value: { value: { data: 1 } } },
      { reason: { code: "BROKEN" } },
      { value: { done: true } },
    ])
  })
})

describe("over an EventTarget", () => {
  test("events are CustomEvents of their type, with the event as detail", async () => {
    const target = new EventTarget()
    const seen: CallEvent[] = []
    for (const type of ["call.requested", "call.responded"]) {
      target.addEventListener(type, (event) => seen.push((event as CustomEvent<CallEvent>).detail))
    }
    const server = new PendingRequestMap(target)
    serveCalls(quietRegistry([greet]), { callMap: server })
    const client = new PendingRequestMap(target)
    const { data } = await client.call("demo.greet", { name: "Ada" })

    expect(data).toEqual({ text: "Hello, Ada" })
    expect(seen).toMatchObject([
      { type: "call.requested", operationId: "demo.greet", input: { name: "Ada" } },
      { type: "call.responded", output: { data: { text: "Hello, Ada" } } },
    ])
  })

  test("a listener of someone else that throws, and events of someone else, do no harm", async () => {
    const target = new EventTarget()
    const map = new PendingRequestMap(target, { logger: silentLogger })
    serveCalls(quietRegistry([greet]), { callMap: map })
    target.dispatchEvent(new Event("call.responded"))
    target.dispatchEvent(new CustomEvent("call.requested", { detail: { evil: true } }))

    expect((await map.call("demo.greet", { name: "x" })).data).toEqual({ text: "Hello, x" })
    expect(map.droppedCount).toBe(2)
  })

  test("close takes every listener away", async () => {
    const target = new EventTarget()
    const added = vi.spyOn(target, "addEventListener")
    const removed = vi.spyOn(target, "removeEventListener")
    await new PendingRequestMap(target).close()

    expect(removed.mock.calls).toEqual(added.mock.calls)
  })
})

describe("buildCallHandler", () => {
  test("answers a request that is handed to it, and settles when that is over", async () => {
    const { link, map } = handDriven()
    const handle = buildCallHandler({ registry: quietRegistry([greet, count]), callMap: map })
    await handle({
      type: "call.requested",
      requestId: "1",
      operationId: "demo.greet",
      input: { name: "Ada" },
    })
    await handle({ requestId: "2", operationId: "demo.count", input: { to: 2 } } as never)
    await handle(
      new CustomEvent("call.requested", { detail: { requestId: "3", operationId: "demo.none" } }),
    )

    expect(link.sent).toMatchObject([
      { type: "call.responded", requestId: "1", output: { data: { text: "Hello, Ada" } } },
      { type: "call.responded", requestId: "2", output: { data: { at: 1 } }, seq: 1 },
      { type: "call.responded", requestId: "2", output: { data: { at: 2 } }, seq: 2 },
      { type: "call.completed", requestId: "2", seq: 2 },
      { type: "call.error", requestId: "3", code: "OPERATION_NOT_FOUND" },
    ])
  })

  test("rejects events that are not requests", async () => {
    const { map } = handDriven()
    const handle = buildCallHandler({ registry: quietRegistry([greet]), callMap: map })

    await expect(handle({ type: "call.completed", requestId: "1" } as never)).rejects.toThrow(
      TypeError,
    )
    await expect(handle(undefined as never)).rejects.toThrow("call.requested")
  })

  test.each([
    [{ registry: {} }, "registry"],
    [{ callMap: {} }, "callMap"],
    [{ resolveIdentity: 1 }, "resolveIdentity"],
    [{ maxInFlight: 0 }, "maxInFlight"],
    [{ maxQueued: -1 }, "maxQueued"],
  ])("bad options are named: %o", (wrong, word) => {
    const options = { registry: quietRegistry(), callMap: new PendingRequestMap(), ...wrong }

    expect(() => buildCallHandler(options as never)).toThrow(word)
  })
})

describe("serveCalls", () => {
  const request = (requestId: string, parts: Partial<CallRequestedEvent>): CallEvent => ({
    type: "call.requested",
    requestId,
    operationId: "demo.who",
    ...parts,
  })
  const who = operation("demo.who", {
    handler: (_input: never, context: { identity?: Identity }) => context.identity?.id ?? "nobody",
  })

  test("needs a way by which calls arrive, and serves it once", () => {
    const registry = quietRegistry()
    const callMap = new PendingRequestMap()
    serveCalls(registry, { callMap })

    expect(thrown(() => serveCalls(registry, {}))).toBeInstanceOf(TypeError)
    expect(() => serveCalls(registry, { callMap })).toThrow("served already")
  })

  test.each([
    ["a plain peer's claim counts for nothing", {}, "nobody"],
    ["a trusted peer's claim counts", { isTrusted: true }, "root"],
    ["the transport knows who it is", { identity: { id: "ada", scopes: [] } }, "ada"],
  ])("identity: %s", async (_name, parts, expected) => {
    const { link, map } = handDriven(parts)
    serveCalls(quietRegistry([who]), { callMap: map })
    link.receiver.event(request("1", { identity: { id: "root", scopes: ["*"] } }))
    await waitFor(() => expect(link.sent).toHaveLength(1))

    expect(link.sent).toMatchObject([{ output: { data: expected } }])
  })

  test("resolveIdentity decides, also against claims; what it throws is UNAUTHENTICATED", async () => {
    const { link, map } = handDriven({ isTrusted: true, identity: { id: "ada", scopes: [] } })
    serveCalls(quietRegistry([who]), {
      callMap: map,
      async resolveIdentity({ metadata }, peer) {
        if (metadata === undefined) throw new Error("secret reason")
        if (metadata["as"] === "busy") throw new CallError("RATE_LIMITED", "slowly")
        return metadata["as"] === "peer" ? peer.identity : undefined
      },
    })
    const claim = { id: "root", scopes: ["*"] }
    link.receiver.event(request("1", { identity: claim }))
    link.receiver.event(request("2", { identity: claim, metadata: { as: "peer" } }))
    link.receiver.event(request("3", { identity: claim, metadata: { as: "none" } }))
    link.receiver.event(request("4", { metadata: { as: "busy" } }))
    await waitFor(() => expect(link.sent).toHaveLength(4))
    const byId = (id: string): unknown => link.sent.find(({ requestId }) => requestId === id)

    expect(byId("1")).toMatchObject({ code: "UNAUTHENTICATED" })
    expect(JSON.stringify(byId("1"))).not.toContain("secret reason")
    expect(byId("2")).toMatchObject({ output: { data: "ada" } })
    expect(byId("3")).toMatchObject({ output: { data: "nobody" } })
    expect(byId("4")).toMatchObject({ code: "RATE_LIMITED" })
  })

  test("a caller that leaves while it is being identified is not served", async () => {
    const { link, map } = handDriven()
    let release!: () => void
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const handler = vi.fn()
    const server = serveCalls(quietRegistry([operation("demo.who", { handler })]), {
      callMap: map,
      resolveIdentity: async () => {
        await held
        return undefined
      },
    })
    link.receiver.event(request("1", {}))
    link.receiver.event({ type: "call.aborted", requestId: "1" })
    release()
    await held

    expect(server.inFlight).toBe(0)
    expect(handler).not.toHaveBeenCalled()
    expect(link.sent).toEqual([])
  })

  test("a request that is said twice runs once", async () => {
    for (const mayRepeat of [false, true]) {
      const { link, map } = handDriven({ mayRepeat })
      const handler = vi.fn(async () => "done")
      serveCalls(quietRegistry([operation("demo.who", { handler })]), {
        callMap: map,
      })
      link.receiver.event(request("1", {}))
      link.receiver.event(request("1", {}))
      await waitFor(() => expect(link.sent).toHaveLength(1))
      if (mayRepeat) link.receiver.event(request("1", {}))
      expect(handler).toHaveBeenCalledTimes(1)
    }
  })

  test("calls past the limit wait, past the queue they are refused; streams have their own limit", async () => {
    const { link, map } = handDriven()
    const running: (() => void)[] = []
    const wait = operation("demo.who", {
      handler: () => new Promise<void>((resolve) => running.push(resolve)),
    })
    const ticks = operation("demo.ticks", {
      type: "subscription",
      async *handler(_input: never, { signal }: { signal: AbortSignal }) {
        yield await new Promise((resolve) => signal.addEventListener("abort", resolve))
      },
    })
    const server = serveCalls(quietRegistry([wait, ticks]), {
      callMap: map,
      maxInFlight: 2,
      maxQueued: 2,
      maxStreams: 1,
    })
    for (const id of ["1", "2", "3", "4", "5"]) link.receiver.event(request(id, {}))
    for (const id of ["s1", "s2"]) link.receiver.event(request(id, { operationId: "demo.ticks" }))

    expect(running).toHaveLength(2)
    expect(server.inFlight).toBe(5)
    expect(link.sent).toMatchObject([
      { requestId: "5", code: "OVERLOADED", retryAfterMs: 1000, retryable: true },
      { requestId: "s2", code: "OVERLOADED" },
    ])
    // One that leaves the queue never runs.
    link.receiver.event({ type: "call.aborted", requestId: "3" })
    running[0]?.()
    await waitFor(() => expect(running).toHaveLength(3))
    running[1]?.()
    running[2]?.()
    await waitFor(() => expect(link.of("call.responded")).toHaveLength(3))

    expect(link.of("call.responded").map(({ requestId }) => requestId)).toEqual(["1", "2", "4"])
    await server.close()
    expect(server.inFlight).toBe(0)
    expect(link.sent.at(-1)).toMatchObject({ requestId: "s1", code: "UNAVAILABLE" })
    link.receiver.event(request("6", {}))
    expect(link.sent.at(-1)).toMatchObject({
      requestId: "6",
      code: "UNAVAILABLE",
      mayHaveExecuted: false,
    })
    await serveCalls(quietRegistry(), { callMap: map }).close()
  })

  test("streams wait for credit, and for room on the link", async () => {
    const { link, map } = handDriven()
    let room: Promise<void> | undefined
    let release!: () => void
    Object.assign(link, { ready: () => room })
    serveCalls(quietRegistry([count]), { callMap: map })
    link.receiver.event(
      request("1", { operationId: "demo.count", input: { to: 5 }, window: 2, kind: "stream" }),
    )
    await waitFor(() => expect(link.sent).toHaveLength(2))
    link.receiver.event({ type: "call.credit", requestId: "unknown", credit: 5 })
    room = new Promise((resolve) => {
      release = resolve
    })
    link.receiver.event({ type: "call.credit", requestId: "1", credit: 9 })
    await new Promise(setImmediate)
    expect(link.sent).toHaveLength(2)
    room = undefined
    release()
    await waitFor(() => expect(link.sent).toHaveLength(6))

    expect(link.sent.at(-1)).toEqual({ type: "call.completed", requestId: "1", seq: 5 })
  })

  test("streams give the event loop a turn, however many items they have", async () => {
    const { link, map } = handDriven()
    serveCalls(quietRegistry([count]), { callMap: map })
    const streams = ["1", "2", "3", "4"]
    for (const id of streams) {
      link.receiver.event(
        request(id, { operationId: "demo.count", input: { to: 500 }, kind: "stream" }),
      )
    }
    for (let before = 0; link.of("call.completed").length < 4; before = link.sent.length) {
      await new Promise(setImmediate)
      // 64, and what each stream had already asked for.
      expect(link.sent.length - before).toBeLessThanOrEqual(64 + streams.length)
    }
  })

  test("a result that cannot be sent is an error that says the handler ran", async () => {
    const { link, map } = handDriven()
    const send = link.send.bind(link)
    link.send = (event) => {
      if (event.type === "call.responded") throw new CallError("PAYLOAD_TOO_LARGE", "too much")
      send(event)
    }
    serveCalls(quietRegistry([who, count]), { callMap: map })
    link.receiver.event(request("1", {}))
    link.receiver.event(request("2", { operationId: "demo.count", input: { to: 2 } }))
    await waitFor(() => expect(link.sent).toHaveLength(2))

    expect(link.sent).toMatchObject([
      { requestId: "1", code: "PAYLOAD_TOO_LARGE", mayHaveExecuted: true, retryable: false },
      { requestId: "2", code: "PAYLOAD_TOO_LARGE" },
    ])
  })

  test("a lost caller, an abort and a result that did not leave stop the handler", async () => {
    const reasons: unknown[] = []
    const hang = operation("demo.who", {
      handler: (_input: never, { signal }: { signal: AbortSignal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            reasons.push((signal.reason as CallError).code)
            resolve(undefined)
          })
        }),
    })
    const { link, map } = handDriven()
    const server = serveCalls(quietRegistry([hang]), { callMap: map })
    for (const id of ["1", "2", "3"]) link.receiver.event(request(id, {}))
    link.receiver.event({ type: "call.aborted", requestId: "1", reason: "bye" })
    map.abort("2", "enough")
    link.receiver.lost(new CallError("UNAVAILABLE", "dead"))

    expect(reasons).toEqual(["ABORTED", "ABORTED", "ABORTED"])
    expect(server.inFlight).toBe(0)
    await new Promise(setImmediate)
    expect(link.sent).toEqual([{ type: "call.aborted", requestId: "2", reason: "enough" }])
    link.receiver.undelivered(
      { type: "call.responded", requestId: "9", output: hello },
      new CallError("EXECUTION_ERROR", "cannot be cloned"),
    )
    expect(link.sent.at(-1)).toMatchObject({ type: "call.error", requestId: "9" })
  })

  test("what waits for a place is not started for a caller that is gone", async () => {
    for (const end of ["lost", "close", "server"] as const) {
      const { link, map } = handDriven()
      const handler = vi.fn(() => new Promise(() => undefined))
      const registry = quietRegistry([operation("demo.who", { handler })])
      const server = serveCalls(registry, { callMap: map, maxInFlight: 1 })
      for (const id of ["1", "2", "3"]) link.receiver.event(request(id, {}))
      if (end === "lost") link.receiver.lost(new CallError("UNAVAILABLE", "dead"))
      else await (end === "close" ? map : server).close()

      expect(handler).toHaveBeenCalledTimes(1)
      expect(server.inFlight).toBe(0)
    }
  })

  test("closing a map ends the calls that it serves, and notifies callers", async () => {
    const target = new EventTarget()
    const hang = operation("demo.who", { handler: () => new Promise(() => undefined) })
    const callMap = new PendingRequestMap(target)
    const handle = buildCallHandler({ registry: quietRegistry([hang]), callMap })
    target.addEventListener("call.requested", (event) => void handle(event))
    const other = new EventTarget()
    const server = serveCalls(quietRegistry([hang]), { transport: other })
    const outcomes = [target, other].map((link) =>
      rejection(new PendingRequestMap(link).call("demo.who")),
    )
    await callMap.close()
    await server.callMap.close()

    expect(await Promise.all(outcomes)).toMatchObject([
      { code: "ABORTED" },
      { code: "UNAVAILABLE" },
    ])
  })

  test("internal operations and unknown ones are the same to a wire, to the byte", async () => {
    const { link, map } = handDriven()
    const registry = quietRegistry([operation("demo.hidden", { visibility: "internal" })])
    serveCalls(registry, { callMap: map })
    link.receiver.event(request("1", { operationId: "demo.hidden" }))
    registry.unregister("demo.hidden")
    link.receiver.event(request("1", { operationId: "demo.hidden" }))
    const [hidden, unknown] = link.sent.map((event) => JSON.stringify(event))

    expect(hidden).toBe(unknown)
  })

  test("traceparent, metadata and progress reach the handler and its caller", async () => {
    const { link, map } = handDriven()
    const seen: unknown[] = []
    const works = operation("demo.who", {
      handler(
        _input: never,
        context: { metadata: unknown; progress(value: object): void; parentRequestId: string },
      ) {
        seen.push(context.metadata, context.parentRequestId)
        context.progress({ progress: 1, total: 2, message: "half" })
        context.progress({ progress: 2 })
      },
    })
    serveCalls(quietRegistry([works]), { callMap: map })
    link.receiver.event(
      request("1", {
        traceparent: "00-1",
        metadata: { m: 1 },
        progress: true,
        parentRequestId: "p",
      }),
    )
    await waitFor(() => expect(link.sent).toHaveLength(3))

    expect(seen).toEqual([{ traceparent: "00-1", m: 1 }, "p"])
    expect(link.sent.slice(0, 2)).toEqual([
      { type: "call.progress", requestId: "1", progress: 1, total: 2, message: "half" },
      { type: "call.progress", requestId: "1", progress: 2 },
    ])
  })

  test("a foreign registry is served through its public methods", async () => {
    const own = quietRegistry([who])
    const foreign = {
      execute: own.execute.bind(own),
      subscribe: own.subscribe.bind(own),
      getSpec: own.getSpec.bind(own),
    }
    const map = new PendingRequestMap()
    serveCalls(foreign as never, { callMap: map })

    expect((await map.call("demo.who")).data).toBe("nobody")
    expect(await rejection(map.call("demo.none"))).toMatchObject({
      code: "OPERATION_NOT_FOUND",
      message: 'Operation "demo.none" is not registered.',
    })
  })
})
