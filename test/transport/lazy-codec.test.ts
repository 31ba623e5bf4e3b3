// @isolated: it asks what is loaded before the first use.
// What only bytes need is loaded with the first of them: each test starts with nothing loaded.

import { beforeEach, expect, test, vi } from "vitest"
import { systemClock } from "../../src/internal/clock.ts"
import { waitFor } from "../support/wait-for.ts"
import { Recorder, request } from "./recorder.ts"

/** A socket with no more than browsers give. */
class FakeBrowserSocket extends EventTarget {
  readyState = 1
  bufferedAmount = 0
  readonly sent: string[] = []

  send(text: string): void {
    this.sent.push(text)
  }

  close(): void {
    this.readyState = 2
  }

  receive(frame: unknown): void {
    this.dispatchEvent(Object.assign(new Event("message"), { data: JSON.stringify(frame) }))
  }

  end(): void {
    this.readyState = 3
    this.dispatchEvent(Object.assign(new Event("close"), { code: 1000, reason: "" }))
  }
}

const LIMITS = {
  maxFrameBytes: 4096,
  maxSentBytes: 4096,
  maxBufferedBytes: 4096,
  pingInterval: 0,
  stallTimeout: 500,
}
const CODEC = "../../src/core/event-codec.ts"
const meta = { source: "local", operationId: "demo.any", timestamp: 1 }

/** An answer as JSON has it; with bytes, which are in base64. */
function answer(requestId: string, hasBytes = false): object {
  const output = hasBytes ? { data: "AQI=", meta, binary: { "": "Uint8Array" } } : { data: 1, meta }
  return { type: "call.responded", requestId, output }
}

async function open() {
  const { SocketTransport } = await import("../../src/transport/websocket/socket-transport.ts")
  const { NotReady } = await import("../../src/core/not-ready.ts")
  const socket = new FakeBrowserSocket()
  const recorder = new Recorder()
  const transport = new SocketTransport({
    connect(opened) {
      opened(socket)
      return () => {}
    },
    peer: "the peer",
    limits: LIMITS,
    clock: systemClock,
  })
  transport.open(recorder)
  return { socket, recorder, transport, NotReady }
}

beforeEach(() => {
  vi.resetModules()
  vi.doUnmock(CODEC)
})

test("frames after the first one with bytes wait for it, and are handled in their order", async () => {
  const { socket, recorder } = await open()
  socket.receive(answer("before"))
  socket.receive([answer("bytes", true), answer("beside")])
  socket.receive(answer("after"))
  expect(recorder.ids).toEqual(["before"])
  await recorder.until(({ events }) => events.length === 4)

  expect(recorder.ids).toEqual(["before", "bytes", "beside", "after"])
  expect(recorder.events[1]).toMatchObject({ output: { data: new Uint8Array([1, 2]) } })
  socket.receive(answer("later", true))
  expect(recorder.ids.at(-1)).toBe("later")
})

test("a void result needs nothing more", async () => {
  const { socket, recorder } = await open()
  socket.receive({ type: "call.responded", requestId: "void", output: { meta } })

  expect(recorder.events).toStrictEqual([
    { type: "call.responded", requestId: "void", output: { data: undefined, meta } },
  ])
})

test("an answer that arrived before the connection ended counts", async () => {
  const { socket, recorder } = await open()
  socket.receive(answer("bytes", true))
  socket.end()
  await recorder.until(({ losses }) => losses.length === 1)

  expect(recorder.story).toEqual(["event", "lost"])
})

test("bytes are sent when their module was loaded; what has no form in JSON is refused", async () => {
  const { socket, transport, NotReady } = await open()
  const bytes = request("bytes", { bytes: new Uint8Array([1, 2]) })
  let thrown: unknown
  try {
    transport.send(bytes)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(NotReady)
  await (thrown as InstanceType<typeof NotReady>).load()
  transport.send(bytes)
  expect(() => transport.send(request("big", 1n))).toThrow("This has no form in JSON")
  transport.send(request("plain"))
  await waitFor(() => expect(socket.sent).toHaveLength(1))

  expect(socket.sent[0]).toContain('"bytes":"AQI="')
})

test("a connection on which bytes arrive that cannot be decoded is given up", async () => {
  vi.doMock(CODEC, () => {
    throw new Error("offline")
  })
  const { socket, recorder } = await open()
  socket.receive(answer("bytes", true))
  await recorder.until(({ losses }) => losses.length === 1)

  expect(recorder.events).toEqual([])
  expect(recorder.losses[0]).toMatchObject({ code: "UNAVAILABLE" })
})
