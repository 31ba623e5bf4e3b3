import { EventEmitter } from "node:events"
import { describe, expect, test, vi } from "vitest"
import type { Clock } from "../../src/platform.ts"
import { chooseProtocol } from "../../src/serve/gate.ts"
import { SocketTransport } from "../../src/transport/socket-transport.ts"
import type { SocketTransportSettings } from "../../src/transport/socket-transport.ts"
import { nextTurn, Recorder, request } from "./recorder.ts"

/** A socket of `ws` that goes nowhere. */
class FakeSocket extends EventEmitter {
  readyState = 1
  bufferedAmount = 0
  readonly sent: string[] = []
  readonly calls: string[] = []
  addEventListener = (): void => {}
  removeEventListener = (): void => {}

  send(text: string): void {
    this.sent.push(text)
  }

  ping(): void {
    this.calls.push("ping")
  }

  close(code: number): void {
    this.calls.push(`close ${code}`)
    this.readyState = 2
  }

  terminate(): void {
    this.calls.push("terminate")
    this.readyState = 3
    this.emit("close", 1006, "")
  }
}

/** Time that passes when it is told to. */
class FakeClock implements Clock {
  time = 0
  readonly timers = new Map<number, { at: number; callback: () => void }>()
  #next = 1

  now(): number {
    return this.time
  }

  setTimeout(callback: () => void, milliseconds: number): number {
    this.timers.set(this.#next, { at: this.time + milliseconds, callback })
    return this.#next++
  }

  clearTimeout(timer: unknown): void {
    this.timers.delete(timer as number)
  }

  pass(milliseconds: number): void {
    const end = this.time + milliseconds
    for (;;) {
      const due = [...this.timers].filter(([, { at }]) => at <= end)
      const [first] = due.toSorted(([, a], [, b]) => a.at - b.at)
      if (first === undefined) break
      this.timers.delete(first[0])
      this.time = first[1].at
      first[1].callback()
    }
    this.time = end
  }
}

const LIMITS = {
  maxFrameBytes: 4096,
  maxBufferedBytes: 4096,
  pingInterval: 1000,
  stallTimeout: 500,
}

function open(settings: Partial<SocketTransportSettings> = {}): {
  socket: FakeSocket
  clock: FakeClock
  recorder: Recorder
  transport: SocketTransport
} {
  const socket = new FakeSocket()
  const clock = new FakeClock()
  const recorder = new Recorder()
  const transport = new SocketTransport({
    connect(opened) {
      opened(socket)
      return () => {}
    },
    peer: "the peer",
    limits: LIMITS,
    clock,
    ...settings,
  })
  transport.open(recorder)
  return { socket, clock, recorder, transport }
}

describe("one socket", () => {
  test("that throws when it is written to is lost, and what it did not take is undelivered", async () => {
    const { socket, recorder, transport } = open()
    socket.send = () => {
      throw new Error("broken pipe")
    }

    transport.send(request("a"))
    transport.send(request("b"))
    await nextTurn()

    expect(recorder.failed.map(({ event }) => event.requestId)).toEqual(["a", "b"])
    expect(recorder.losses[0]?.message).toContain("broken pipe")
    expect(recorder.losses).toHaveLength(1)
  })

  test("that throws something odd is lost as well", async () => {
    const { socket, recorder, transport } = open()
    socket.send = () => {
      // oxlint-disable-next-line typescript/only-throw-error -- whatever a socket may do
      throw "odd"
    }

    transport.send(request("a"))
    await nextTurn()

    expect(recorder.losses[0]?.message).toContain("odd")
  })

  test("whose peer is closing takes nothing, and is not pinged", async () => {
    const { socket, clock, recorder, transport } = open()
    socket.readyState = 2

    transport.send(request("a"))
    await nextTurn()
    clock.pass(1000)
    socket.emit("close", 1001, "bye")

    expect(recorder.story).toEqual(["undelivered", "lost"])
    expect(socket.calls).toEqual([])
    expect(clock.timers.size).toBe(0)
    expect(socket.eventNames()).toEqual([])
  })

  test("that closed before anyone listened is a loss", () => {
    const socket = new FakeSocket()
    socket.readyState = 3
    const { recorder, transport, clock } = open({
      connect(opened) {
        opened(socket)
        return () => {}
      },
    })

    expect(recorder.story).toEqual(["lost"])
    expect(transport.state).toBe("closed")
    expect(clock.timers.size).toBe(0)
  })

  test("that is stalled is told so once, and cut when it does not answer", () => {
    const { socket, clock, recorder, transport } = open()
    socket.bufferedAmount = 2000

    const waiting = transport.ready()
    expect(waiting).toBeInstanceOf(Promise)
    clock.pass(600)
    expect(recorder.losses).toMatchObject([{ code: "SLOW_CONSUMER" }])
    expect(socket.calls).toEqual(["close 1013"])
    socket.emit("ping")
    socket.emit("message", "{}", false)
    socket.emit("error", new Error("later"))
    clock.pass(1000)

    expect(socket.calls).toEqual(["close 1013", "terminate"])
    expect(recorder.story).toEqual(["lost"])
    expect(clock.timers.size).toBe(0)
  })

  test("that drains slowly is left alone", () => {
    const { socket, clock, recorder, transport } = open()
    socket.bufferedAmount = 4000

    void transport.ready()
    for (let at = 0; at < 20; at++) {
      socket.bufferedAmount -= 100
      clock.pass(400)
      socket.emit("pong")
    }

    expect(recorder.story).toEqual([])
  })

  test("of which the operating system takes a large frame bit by bit is left alone", () => {
    const { socket, clock, recorder, transport } = open()
    const handle = { writeQueueSize: 100_000 }
    Object.assign(socket, { _socket: { _handle: handle } })
    socket.bufferedAmount = 4000

    void transport.ready()
    for (let at = 0; at < 20; at++) {
      handle.writeQueueSize -= 100
      clock.pass(400)
      socket.emit("pong")
    }
    expect(recorder.story).toEqual([])
    clock.pass(700)
    expect(recorder.losses).toMatchObject([{ code: "SLOW_CONSUMER" }])
  })

  test("that was given up is waited for by close()", async () => {
    const { socket, transport } = open()
    socket.emit("message", "not json", false)
    expect(socket.calls).toEqual(["close 1007"])
    const settled = vi.fn<() => void>()

    const closing = transport.close().then(settled)
    await nextTurn()
    expect(settled).not.toHaveBeenCalled()
    socket.emit("close", 1007, "")
    await closing

    expect(settled).toHaveBeenCalledOnce()
  })

  test("that is gone already is not waited for", async () => {
    const { socket, transport } = open()
    socket.terminate()

    await expect(transport.close()).resolves.toBeUndefined()
  })
})

describe("a transport that connects again", () => {
  test("starts over with short pauses after a connection that lasted", () => {
    const sockets: FakeSocket[] = []
    const { clock, recorder, transport } = open({
      reconnect: { minDelay: 100, maxDelay: 800 },
      connect(opened) {
        const socket = new FakeSocket()
        sockets.push(socket)
        opened(socket)
        return () => {}
      },
    })
    const breakDown = (): number => {
      const start = clock.time
      sockets.at(-1)?.terminate()
      expect(transport.state).toBe("waiting")
      while (transport.state === "waiting") clock.pass(5)
      return clock.time - start
    }

    const pauses = Array.from({ length: 6 }, breakDown)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(805)
    expect(pauses.at(-1)).toBeGreaterThanOrEqual(400)
    sockets.at(-1)?.emit("pong")
    clock.pass(900)
    expect(breakDown()).toBeLessThanOrEqual(105)
    sockets.at(-1)?.emit("message", "{}", false)
    expect(breakDown()).toBeLessThanOrEqual(105)
    expect(recorder.restorations).toBe(8)
  })

  test("what does not fit into the new connection is undelivered", () => {
    let opened: ((socket: FakeSocket) => void) | undefined
    const { recorder, transport } = open({
      connect(callback) {
        opened = callback
        return () => {}
      },
    })
    transport.send(request("a", "x".repeat(2000)))
    transport.send(request("b", "x".repeat(2000)))
    const socket = new FakeSocket()
    socket.bufferedAmount = 5000

    opened?.(socket)

    expect(recorder.failed).toMatchObject([
      { event: { requestId: "a" }, error: { code: "OVERLOADED" } },
      { event: { requestId: "b" }, error: { code: "OVERLOADED" } },
    ])
  })
})

describe("chooseProtocol", () => {
  test.each([
    [["alkdev.bearer.x"], false],
    [["alkdev.bearer.x", "mine"], "mine"],
    [["mine", "alkdev.operations"], "alkdev.operations"],
  ])("of %j is %j", (offered, chosen) => {
    expect(chooseProtocol(new Set(offered))).toBe(chosen)
  })
})
