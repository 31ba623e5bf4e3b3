import { once } from "node:events"
import { connect, createServer } from "node:net"
import type { AddressInfo, Server, Socket } from "node:net"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { FaultProxy } from "../../tools/faults/proxy.ts"

let server: Server
let proxy: FaultProxy
const sockets = new Set<Socket>()

/** A server that sends back what comes. */
beforeEach(async () => {
  server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.on("error", () => undefined)
    socket.pipe(socket)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  proxy = await FaultProxy.start((server.address() as AddressInfo).port, () => 0.25)
})

afterEach(async () => {
  await proxy.close()
  for (const socket of sockets) socket.destroy()
  sockets.clear()
  server.close()
  await once(server, "close")
})

/** A connection through the proxy, with all that it got. */
async function dial(): Promise<{ socket: Socket; got: () => string; closed: Promise<void> }> {
  const socket = connect({ port: proxy.port, host: "127.0.0.1", allowHalfOpen: true })
  sockets.add(socket)
  const chunks: Buffer[] = []
  socket.on("error", () => undefined)
  socket.on("data", (bytes: Buffer) => chunks.push(bytes))
  socket.on("end", () => socket.end())
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()))
  await once(socket, "connect")
  return { socket, got: () => String(Buffer.concat(chunks)), closed }
}

/** Waits until it holds; a test that hangs here is ended by its runner. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe("a fault proxy", () => {
  test("that has no fault hands on what comes, both ways, in order, and the end of it", async () => {
    const { socket, got, closed } = await dial()
    const parts = Array.from({ length: 200 }, (_, at) => `${at}:${"é".repeat(at * 20)}\n`)
    for (const part of parts) socket.write(part)
    socket.end()
    await closed
    // Compared here: a difference would be pages of it.
    expect(got() === parts.join("")).toBe(true)
    await until(() => proxy.connections === 0)
    expect(proxy).toMatchObject({ accepted: 1, cuts: 0 })
  })

  test("hands on megabytes to one who reads slowly, and does not keep them", async () => {
    const { socket, got } = await dial()
    const text = "0123456789abcdef".repeat(256 * 1024)
    socket.pause()
    socket.write(text)
    await new Promise((resolve) => setTimeout(resolve, 50))
    socket.resume()
    await until(() => got().length >= text.length)
    expect(got() === text).toBe(true)
  })

  test("delays in both directions, and none overtakes another", async () => {
    const { socket, got } = await dial()
    proxy.set({ delay: 40, jitter: 40 })
    const began = performance.now()
    const parts = Array.from({ length: 50 }, (_, at) => `${at},`)
    for (const part of parts) {
      socket.write(part)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await until(() => got().length === parts.join("").length)
    expect(got()).toBe(parts.join(""))
    // 20 ms each way with this chance; never less than that, however busy the machine is.
    expect(performance.now() - began).toBeGreaterThan(35)
  })

  test.each(["up", "down", "both"] as const)(
    "stalls %s, and loses nothing by it",
    async (stall) => {
      const { socket, got } = await dial()
      proxy.set({ stall })
      socket.write("waits")
      await new Promise((resolve) => setTimeout(resolve, 60))
      expect(got()).toBe("")
      const peer = [...sockets].find((one) => one !== socket)
      expect(peer?.bytesRead ?? 0).toBe(stall === "down" ? 5 : 0)
      proxy.set({})
      await until(() => got() === "waits")
    },
  )

  test("stalls connections that come later, too", async () => {
    proxy.set({ stall: "both" })
    const { socket, got } = await dial()
    socket.write("later")
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(got()).toBe("")
    proxy.set({})
    await until(() => got() === "later")
  })

  test.each([
    ["a reset", () => 0.25],
    ["an end", () => 0.75],
  ])("cuts in the middle with %s, after the bytes that it was told", async (_how, random) => {
    await proxy.close()
    proxy = await FaultProxy.start((server.address() as AddressInfo).port, random)
    proxy.set({ cutAfter: 1000 })
    const { socket, got, closed } = await dial()
    for (let at = 0; at < 40; at++) socket.write("0123456789".repeat(10))
    await closed
    expect(got().length).toBeLessThan(1000)
    expect(proxy.cuts).toBe(1)
    await until(() => proxy.connections === 0)
  })

  test("cuts each connection, and stops on command", async () => {
    proxy.set({ cutAfter: 10 })
    for (let at = 0; at < 3; at++) {
      const { socket, closed } = await dial()
      socket.write("0123456789ab")
      await closed
    }
    expect(proxy.cuts).toBe(3)
    proxy.set({})
    const { socket, got } = await dial()
    socket.write("0123456789ab")
    await until(() => got() === "0123456789ab")
  })

  test("resets all connections at once, also stalled ones", async () => {
    const [one, other] = [await dial(), await dial()]
    proxy.set({ stall: "both" })
    one.socket.write("lost")
    proxy.reset()
    await Promise.all([one.closed, other.closed])
    expect(proxy.connections).toBe(0)
    proxy.set({})
    expect(one.got()).toBe("")
  })

  test("throttles", async () => {
    const { socket, got } = await dial()
    proxy.set({ bytesPerSecond: 20_000 })
    const began = performance.now()
    for (let at = 0; at < 10; at++) {
      socket.write("x".repeat(100))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await until(() => got().length === 1000)
    expect(performance.now() - began).toBeGreaterThan(45)
  })

  test("refuses, and takes connections again", async () => {
    proxy.set({ refuse: true })
    const refused = connect(proxy.port, "127.0.0.1")
    refused.on("error", () => undefined)
    await new Promise<void>((resolve) => refused.once("close", () => resolve()))
    proxy.set({})
    const { socket, got } = await dial()
    socket.write("again")
    await until(() => got() === "again")
    expect(proxy.accepted).toBe(2)
  })

  test("ends a connection whose target is gone", async () => {
    const empty = createServer()
    empty.listen(0, "127.0.0.1")
    await once(empty, "listening")
    const { port } = empty.address() as AddressInfo
    empty.close()
    await once(empty, "close")
    await using lost = await FaultProxy.start(port)
    const socket = connect(lost.port, "127.0.0.1")
    socket.on("error", () => undefined)
    await new Promise<void>((resolve) => socket.once("close", () => resolve()))
    await until(() => lost.connections === 0)
    expect(lost.accepted).toBe(1)
  })

  test("can be closed twice, with connections open", async () => {
    const { closed } = await dial()
    await Promise.all([proxy.close(), closed])
    await proxy.close()
    expect(proxy.connections).toBe(0)
  })
})
