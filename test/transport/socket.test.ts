import { EventEmitter } from "node:events"
import { describe, expect, test, vi } from "vitest"
import { Deadlines } from "../../src/internal/deadlines.ts"
import type { Clock } from "../../src/internal/platform.ts"
import { chooseProtocol } from "../../src/serve/gate.ts"
import { SocketTransport } from "../../src/transport/websocket/socket-transport.ts"
import type { SocketTransportSettings } from "../../src/transport/websocket/socket-transport.ts"
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

/** Time that passes on command. */
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
  maxSentBytes: 4096,
  maxBufferedBytes: 4096,
  pingInterval: 1000,
  stallTimeout: 500,
}

/** A socket with no more than browsers give: it cannot ping, and nobody sees the pings it answers. */
class FakeBrowserSocket extends EventTarget {
  readyState = 1
  bufferedAmount = 0
  readonly sent: string[] = []
  readonly calls: string[] = []

  send(text: string): void {
    this.sent.push(text)
  }

  close(code: number): void {
    this.calls.push(`close ${code}`)
    this.readyState = 2
  }

  receive(data: string): void {
    this.dispatchEvent(Object.assign(new Event("message"), { data }))
  }
}

function open(settings: Partial<SocketTransportSettings> = {}): {
  socket: FakeSocket
  clock: FakeClock
  recorder: Recorder
  transport: SocketTransport
} {
  const socket = new FakeSocket()
  const clock = (settings.clock as FakeClock | undefined) ?? new FakeClock()
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

  test("that throws an unusual value is lost as well", async () => {
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

  test("hands over frames in their order, whenever they are parsed, and before it is lost", async () => {
    const parsing = new Map<string, () => void>()
    const { socket, recorder } = open({
      parse: (text) => {
        if (!text.includes("late")) return JSON.parse(text) as unknown
        return new Promise((resolve) => parsing.set(text, () => resolve(JSON.parse(text))))
      },
    })
    const receive = (requestId: string): void => {
      socket.emit("message", Buffer.from(JSON.stringify(request(requestId))), false)
    }

    receive("first")
    receive("late 1")
    receive("late 2")
    receive("last")
    socket.emit("close", 1001, "bye")
    const [one, two] = [...parsing.values()]
    two?.()
    await nextTurn()
    expect(recorder.ids).toEqual(["first"])
    one?.()
    await nextTurn()

    expect(recorder.ids).toEqual(["first", "late 1", "late 2", "last"])
    expect(recorder.story.at(-1)).toBe("lost")
  })

  test("whose frame turns out to be no JSON while it is parsed is closed, and frames after it are dropped", async () => {
    const parse = async (text: string): Promise<unknown> => {
      await nextTurn()
      return JSON.parse(text) as unknown
    }
    const { socket, recorder } = open({ parse })
    socket.emit("message", Buffer.from("{"), false)
    socket.emit("message", Buffer.from(JSON.stringify(request("a"))), false)
    await nextTurn()
    await nextTurn()

    expect(recorder.story).toEqual(["lost"])
    expect(recorder.losses[0]?.message).toContain("not JSON")
    expect(socket.calls).toEqual(["close 1007"])
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

  test("that is stalled is closed once, and cut when it does not answer", () => {
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

describe("signs of life", () => {
  const announced = { ...request("a"), answersPings: true }
  const answers = (socket: FakeSocket): void => void socket.emit("message", "[]", false)

  test("a program that announced that it answers is asked itself, and gone when only its socket answers", () => {
    const { socket, clock, recorder } = open()
    socket.emit("message", JSON.stringify(announced), false)

    for (let at = 0; at < 3; at++) {
      clock.pass(1000)
      socket.emit("ping")
      socket.emit("pong")
    }

    expect(socket.sent).toEqual(['"ping"', '"ping"'])
    expect(socket.calls).toEqual(["terminate"])
    expect(recorder.losses[0]?.message).toContain("nothing came from it for 2000 ms")
    expect(clock.timers.size).toBe(0)
  })

  test("a program that answers pings stays connected, and its answers are not events", () => {
    const { socket, clock, recorder } = open()
    socket.emit("message", JSON.stringify([announced, request("b")]), false)

    for (let at = 0; at < 20; at++) {
      clock.pass(1000)
      answers(socket)
    }

    expect(recorder.story).toEqual(["event", "event"])
    expect(recorder.events).toEqual([request("a"), request("b")])
  })

  test("a peer that announced nothing is asked at its socket only, and its answers count", async () => {
    const { socket, clock, recorder, transport } = open({ announces: true })
    transport.send(request("a"))
    await nextTurn()
    socket.emit("message", JSON.stringify(request("b")), false)

    for (let at = 0; at < 20; at++) {
      clock.pass(1000)
      socket.emit("pong")
    }

    expect(socket.sent).toHaveLength(1)
    expect(recorder.losses).toEqual([])
  })

  test("an end announces once that it answers, in the first event for which there is room", async () => {
    const { socket, transport } = open({ announces: true })
    const padding = 4096 - JSON.stringify(request("a", "")).length

    for (const event of [request("a", "x".repeat(padding)), request("b"), request("c")]) {
      transport.send(event)
      await nextTurn()
    }
    socket.emit("message", '"ping"', false)

    expect(socket.sent.map((text) => JSON.parse(text) as unknown)).toEqual([
      request("a", "x".repeat(padding)),
      { ...request("b"), answersPings: true },
      request("c"),
      [],
    ])
  })

  test("an end that waits for the other announces nothing before the other did", async () => {
    const { socket, transport } = open()
    transport.send(request("a"))
    await nextTurn()
    socket.emit("message", "[]", false)
    transport.send(request("b"))
    await nextTurn()
    socket.emit("message", JSON.stringify(announced), false)
    transport.send(request("c"))
    transport.send(request("d"))
    await nextTurn()

    expect(socket.sent.map((text) => JSON.parse(text) as unknown)).toEqual([
      request("a"),
      request("b"),
      [{ ...request("c"), answersPings: true }, request("d")],
    ])
  })

  test("a peer that sends pings and does not read the answers is dropped", () => {
    const { socket, recorder } = open()
    socket.emit("message", '"ping"', false)
    socket.bufferedAmount = 5000
    socket.emit("message", '"ping"', false)

    expect(socket.sent).toEqual(["[]"])
    expect(socket.calls).toEqual(["close 1013"])
    expect(recorder.losses).toMatchObject([{ code: "SLOW_CONSUMER" }])
  })

  test("a browser finds out that a server stopped, once that has sent a ping", () => {
    const socket = new FakeBrowserSocket()
    const { clock, recorder } = open({
      announces: true,
      connect(opened) {
        opened(socket)
        return () => {}
      },
    })

    clock.pass(20_000)
    expect(recorder.story).toEqual([])
    socket.receive('"ping"')
    clock.pass(2500)
    expect(recorder.story).toEqual([])
    clock.pass(500)

    expect(socket.sent).toEqual(["[]", '"ping"', '"ping"'])
    expect(recorder.losses[0]?.message).toContain("nothing came from it for 2000 ms")
    expect(socket.calls).toEqual(["close 4001"])
    clock.pass(1000)
    expect(clock.timers.size).toBe(0)
  })

  test("a socket that throws when it is pinged is lost", () => {
    const { socket, clock, recorder } = open()
    socket.emit("message", JSON.stringify(announced), false)
    socket.send = () => {
      throw new Error("broken pipe")
    }

    clock.pass(1000)

    expect(recorder.losses[0]?.message).toContain("broken pipe")
  })

  test("connections of one server share a timer, and the last one takes it along", async () => {
    const clock = new FakeClock()
    const pings = new Deadlines(clock)
    const first = open({ clock, pings })
    clock.pass(300)
    const second = open({ clock, pings })

    expect(clock.timers.size).toBe(1)
    clock.pass(900)
    expect([first.socket.calls, second.socket.calls]).toEqual([["ping"], []])
    first.socket.terminate()
    clock.pass(100)
    expect(second.socket.calls).toEqual(["ping"])
    expect(clock.timers.size).toBe(1)
    second.socket.terminate()
    expect(clock.timers.size).toBe(0)
  })

  test("no timer runs when there are no pings", () => {
    const { clock } = open({ limits: { ...LIMITS, pingInterval: 0 } })

    expect(clock.timers.size).toBe(0)
  })
})

describe("a transport that connects again", () => {
  test("is one of many: their first attempts are spread over more than a second", () => {
    const pauses = Array.from({ length: 200 }, () => {
      let socket: FakeSocket | undefined
      const { clock, transport } = open({
        reconnect: { minDelay: 100, maxDelay: 5000, spread: 1500 },
        connect(opened) {
          socket = new FakeSocket()
          opened(socket)
          return () => {}
        },
      })
      const start = clock.time
      socket?.terminate()
      while (transport.state === "waiting") clock.pass(5)
      return clock.time - start
    })
    const inFirstHalf = pauses.filter((pause) => pause < 750).length
    expect(Math.max(...pauses) - Math.min(...pauses)).toBeGreaterThan(1000)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1505)
    expect(inFirstHalf).toBeGreaterThan(40)
    expect(inFirstHalf).toBeLessThan(160)
  })

  test("starts over with short pauses after a connection that lasted", () => {
    const sockets: FakeSocket[] = []
    const { clock, recorder, transport } = open({
      reconnect: { minDelay: 100, maxDelay: 800, spread: 0 },
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
