import { once } from "node:events"
import { MessageChannel, Worker } from "node:worker_threads"
import { afterEach, describe, expect, expectTypeOf, test } from "vitest"
import type { CallEvent } from "../../src/core/events.ts"
import { createWorkerTransport } from "../../src/worker.ts"
import type { PortLike } from "../../src/worker.ts"
import { thrown } from "../support/operations.ts"
import { nextTurn, Recorder, request } from "./recorder.ts"
import { TOO_LONG } from "../support/patience.ts"

const workers: Worker[] = []
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.terminate()))
})

/** A thread that sends back whatever comes. `stop` ends it in the way it names. */
function echoWorker(): Worker {
  const worker = new Worker(
    `const { parentPort } = require("node:worker_threads")
     parentPort.on("message", (message) => {
       const [first] = [message].flat()
       if (first?.requestId === "exit") process.exit(3)
       if (first?.requestId === "throw") throw new Error("the worker broke")
       if (first?.requestId === "close") parentPort.close()
       if (first?.type === "transport.closed") process.exit(7)
       parentPort.postMessage(message)
     })`,
    { eval: true },
  )
  workers.push(worker)
  return worker
}

function openPair(): {
  ports: MessageChannel
  a: ReturnType<typeof createWorkerTransport>
  b: ReturnType<typeof createWorkerTransport>
  atA: Recorder
  atB: Recorder
} {
  const ports = new MessageChannel()
  const [atA, atB] = [new Recorder(), new Recorder()]
  const [a, b] = [createWorkerTransport(ports.port1), createWorkerTransport(ports.port2)]
  a.open(atA)
  b.open(atB)
  return { ports, a, b, atA, atB }
}

describe("a transport to a worker thread", () => {
  test("carries events both ways, in order and as they are", async () => {
    const recorder = new Recorder()
    await using transport = createWorkerTransport(echoWorker(), { terminate: true })
    transport.open(recorder)
    const inputs = [new Uint8Array([1, 2, 3]), new Date(0), new Map([["a", 1n]]), undefined, "text"]

    inputs.forEach((input, at) => transport.send({ ...request(`r${at}`), input }))
    await recorder.until(({ events }) => events.length === inputs.length)
    transport.send(request("late"))
    await recorder.until(({ events }) => events.length > inputs.length)

    expect(recorder.ids).toEqual(["r0", "r1", "r2", "r3", "r4", "late"])
    expect(recorder.events.map((event) => (event as { input: unknown }).input)).toEqual([
      ...inputs,
      null,
    ])
  })

  test.each([
    ["terminate()", undefined, "ended (exit code 1)"],
    ["process.exit()", "exit", "ended (exit code 3)"],
    ["an uncaught error", "throw", "failed"],
  ])("is lost within 200 ms of %s", async (_, word, message) => {
    const worker = echoWorker()
    const recorder = new Recorder()
    await using transport = createWorkerTransport(worker)
    transport.open(recorder)
    transport.send(request("first"))
    await recorder.until(({ events }) => events.length === 1)

    const start = performance.now()
    if (word === undefined) void worker.terminate()
    else transport.send(request(word))
    await recorder.until(({ losses }) => losses.length > 0)

    expect(performance.now() - start).toBeLessThan(TOO_LONG)
    expect(recorder.losses).toEqual([
      expect.objectContaining({ code: "UNAVAILABLE", mayHaveExecuted: true, retryable: false }),
    ])
    expect(recorder.losses[0]?.message).toContain(message)
    expect(() => transport.send(request("after"))).toThrow(
      expect.objectContaining({ code: "UNAVAILABLE", mayHaveExecuted: false }),
    )
  })

  test("an uncaught error of the worker is the cause", async () => {
    const recorder = new Recorder()
    await using transport = createWorkerTransport(echoWorker())
    transport.open(recorder)
    transport.send(request("throw"))
    await recorder.until(({ losses }) => losses.length > 0)

    expect(recorder.losses[0]?.cause).toMatchObject({ message: "the worker broke" })
  })

  test("close() notifies the worker, leaves it running and removes every listener", async () => {
    const worker = echoWorker()
    const before = worker.eventNames()
    const transport = createWorkerTransport(worker)
    transport.open(new Recorder())

    await transport.close()
    await transport.close()

    expect(worker.eventNames()).toEqual(before)
    // The echo script exits with 7 when it is notified.
    expect(await once(worker, "exit")).toEqual([7])
  })

  test("close() with terminate ends the worker", async () => {
    const worker = echoWorker()
    const transport = createWorkerTransport(worker, { terminate: true })
    transport.open(new Recorder())
    const exited = once(worker, "exit")

    await transport.close()

    expect((await exited).length).toBe(1)
  })
})

describe("a transport over a MessagePort", () => {
  test("what is sent before the other end opens is not lost", async () => {
    const { port1, port2 } = new MessageChannel()
    await using a = createWorkerTransport(port1)
    await using b = createWorkerTransport(port2)
    a.open(new Recorder())
    a.send(request("early"))
    await nextTurn()
    const recorder = new Recorder()

    b.open(recorder)
    await recorder.until(({ events }) => events.length === 1)

    expect(recorder.ids).toEqual(["early"])
  })

  test("an event that cannot be cloned is refused, and its neighbours arrive", async () => {
    const { a, b, atB } = openPair()
    const input = (): void => {}

    a.send(request("before"))
    expect(thrown(() => a.send(request("broken", input)))).toMatchObject({
      code: "VALIDATION_ERROR",
      operationId: "demo.echo",
      mayHaveExecuted: false,
      message: expect.stringMatching(
        /^Input for "demo.echo" cannot be sent to another thread: .*could not be cloned/,
      ),
    })
    a.send(request("after"))
    await atB.until(({ events }) => events.length === 2)
    expect(atB.ids).toEqual(["before", "after"])

    const output = { data: input, meta: { source: "local", operationId: "x", timestamp: 0 } }
    const response = { type: "call.responded", requestId: "broken", output } as unknown as CallEvent
    expect(thrown(() => b.send(response))).toMatchObject({
      code: "EXECUTION_ERROR",
      requestId: "broken",
    })
    await Promise.all([a.close(), b.close()])
  })

  test("an input that throws when it is read is refused too", async () => {
    const { a, b } = openPair()
    const input = {
      get boom(): never {
        // oxlint-disable-next-line no-throw-literal -- the nastiest thing that a getter may do
        throw "no reason"
      },
    }

    expect(() => a.send(request("broken", input))).toThrow("no reason")
    await Promise.all([a.close(), b.close()])
  })

  test("what is sent is what it was when it was sent", async () => {
    const { a, b, atB } = openPair()
    const input = { n: 0 }
    for (input.n = 1; input.n <= 3; input.n++) a.send(request(`r${input.n}`, input))
    await atB.until(({ events }) => events.length === 3)

    expect(atB.events).toMatchObject([1, 2, 3].map((n) => ({ input: { n } })))
    await Promise.all([a.close(), b.close()])
  })

  test("bytes arrive without what lies beside them in memory", async () => {
    const { a, b, atB } = openPair()
    const shared = new Uint8Array(64).fill(7)
    const view = shared.subarray(8, 12)
    const whole = new Uint8Array([1, 2])
    const values = { view, list: [view, 1], deep: { whole }, map: new Map([["kept", 1]]) }
    a.send(request("in", values))
    const meta = { source: "local", operationId: "x", timestamp: 0 } as const
    a.send({ type: "call.responded", requestId: "out", output: { data: view, meta } })
    a.send({ type: "call.responded", requestId: "same", output: { data: { whole }, meta } })
    a.send({ type: "call.aborted", requestId: "none" })
    await atB.until(({ events }) => events.length === 4)
    const [request1, response] = atB.events as [
      { input: typeof values },
      { output: { data: Uint8Array } },
    ]

    expect(request1.input).toEqual(values)
    const views = [request1.input.view, request1.input.list[0] as Uint8Array, response.output.data]
    expect(views.map((bytes) => bytes.buffer.byteLength)).toEqual([4, 4, 4])
    await Promise.all([a.close(), b.close()])
  })

  test("close() reaches the other end at once, after what was sent before it", async () => {
    const { a, b, atA, atB } = openPair()

    a.send(request("last"))
    const start = performance.now()
    await a.close()
    await atB.until(({ losses }) => losses.length > 0)

    expect(performance.now() - start).toBeLessThan(TOO_LONG)
    expect(atB.story).toEqual(["event", "lost"])
    expect(atB.losses[0]?.message).toContain("closed its end")
    expect(atA.story).toEqual(["lost"])
    expect(() => a.send(request("x"))).toThrow("this transport was closed")
    expect(() => b.send(request("x"))).toThrow("closed its end")
    await b.close()
  })

  test("a port that is just closed is a loss as well", async () => {
    const { ports, b, atB } = openPair()

    ports.port1.close()
    await atB.until(({ losses }) => losses.length > 0)

    expect(atB.losses).toHaveLength(1)
    await b.close()
  })

  test("messages that are not events are passed on", async () => {
    const { ports, b, a, atB } = openPair()

    for (const message of [null, undefined, 7, "text", {}, [], [null, [1]], { type: 1 }]) {
      ports.port1.postMessage(message)
    }
    ports.port1.postMessage(request("sound"))
    await atB.until(({ ids }) => ids.includes("sound"))

    expect(atB.events.slice(0, -1)).toEqual([
      null,
      undefined,
      7,
      "text",
      {},
      null,
      [1],
      { type: 1 },
    ])
    expect(atB.losses).toEqual([])
    await Promise.all([a.close(), b.close()])
  })

  test("nothing arrives after the receiver has closed it in the middle of things", async () => {
    const { a, b, atB } = openPair()
    atB.onEvent = () => void b.close()

    a.send(request("first"))
    a.send(request("second"))
    await atB.until(({ events }) => events.length > 0)
    await nextTurn()

    expect(atB.ids).toEqual(["first"])
    await a.close()
  })

  test("thousands arrive in order", async () => {
    const { a, b, atB } = openPair()

    for (let at = 0; at < 3000; at++) a.send(request(`r${at}`))
    await atB.until(({ events }) => events.length === 3000)

    expect(atB.ids).toEqual(Array.from({ length: 3000 }, (_, at) => `r${at}`))
    await Promise.all([a.close(), b.close()])
  })

  test("a message that this thread cannot read is a loss, of which the other end hears", async () => {
    const { ports, a, b, atA, atB } = openPair()

    ports.port1.emit("messageerror", new Error("unreadable"))
    await atB.until(({ losses }) => losses.length > 0)

    expect(atA.losses[0]?.message).toContain("cannot read")
    expect(atB.losses[0]?.message).toContain("closed its end")
    ports.port1.emit("messageerror", new Error("again"))
    expect(atA.losses).toHaveLength(1)
    await Promise.all([a.close(), b.close()])
  })

  test("is opened once", async () => {
    const { a, b } = openPair()

    expect(() => a.open(new Recorder())).toThrow(TypeError)
    await Promise.all([a.close(), b.close()])
  })

  test("may be closed before it is opened, and listens to nothing then", async () => {
    const { port1 } = new MessageChannel()
    const transport = createWorkerTransport(port1)
    await transport.close()
    transport.open(new Recorder())

    expect(port1.listenerCount("message")).toBe(0)
    expect(() => transport.send(request("x"))).toThrow("closed")
  })

  test("trusts no peer unless isTrusted is set", () => {
    const { port1 } = new MessageChannel()

    expect(createWorkerTransport(port1).isTrusted).toBe(false)
    expect(createWorkerTransport(port1, { isTrusted: true }).isTrusted).toBe(true)
  })

  test.each([null, undefined, {}, { postMessage() {} }])("refuses %s as a port", (port) => {
    expect(() => createWorkerTransport(port as PortLike)).toThrow(/must be a Worker, a MessagePort/)
  })
})

/** A port as browsers have it: events, no emitter. */
class WebPort extends EventTarget {
  readonly posted: unknown[] = []
  readonly calls: string[] = []
  start?: () => void
  close: () => void = () => void this.calls.push("close")
  terminate?: () => void

  postMessage(message: unknown): void {
    this.posted.push(message)
  }

  receive(data: unknown): void {
    this.dispatchEvent(Object.assign(new Event("message"), { data }))
  }
}

describe("a transport over the platform's own ports", () => {
  test("starts and closes a MessagePort", async () => {
    const port = new WebPort()
    port.start = () => void port.calls.push("start")
    const recorder = new Recorder()
    const transport = createWorkerTransport(port)

    transport.open(recorder)
    port.receive([request("a"), request("b")])
    transport.send(request("c"))
    await transport.close()
    port.receive(request("after"))

    expect(recorder.ids).toEqual(["a", "b"])
    expect(port.posted).toEqual([request("c"), { type: "transport.closed" }])
    expect(port.calls).toEqual(["start", "close"])
  })

  test("does not end the worker whose self it is given, nor take its errors for the peer's", async () => {
    const self = new WebPort()
    const recorder = new Recorder()
    const transport = createWorkerTransport(self)
    transport.open(recorder)

    self.dispatchEvent(Object.assign(new Event("error"), { error: new Error("own") }))
    expect(recorder.story).toEqual([])
    await transport.close()

    expect(self.calls).toEqual([])
  })

  test.each([
    ["error", { error: new Error("inside") }, "failed"],
    ["error", { message: "script not found" }, "failed"],
    ["messageerror", {}, "cannot read"],
    ["close", {}, "closed its port"],
  ])("is lost when a Worker reports %s", (type, fields, message) => {
    const worker = new WebPort()
    worker.terminate = () => {}
    const recorder = new Recorder()
    createWorkerTransport(worker).open(recorder)

    worker.dispatchEvent(Object.assign(new Event(type), fields))
    worker.dispatchEvent(Object.assign(new Event(type), fields))

    expect(recorder.losses).toHaveLength(1)
    expect(recorder.losses[0]?.message).toContain(message)
  })

  test("a port that cannot be written to any more can still be closed", async () => {
    const port = new WebPort()
    port.postMessage = () => {
      throw new Error("InvalidStateError")
    }
    const transport = createWorkerTransport(port)
    transport.open(new Recorder())

    await expect(transport.close()).resolves.toBeUndefined()
  })

  test("the types of both platforms fit", () => {
    expectTypeOf<Worker>().toExtend<PortLike>()
    expectTypeOf<MessageChannel["port1"]>().toExtend<PortLike>()
    expectTypeOf<InstanceType<typeof globalThis.MessagePort>>().toExtend<PortLike>()
    expectTypeOf<InstanceType<typeof globalThis.Worker>>().toExtend<PortLike>()
    expectTypeOf<typeof globalThis>().toExtend<PortLike>()
  })
})
