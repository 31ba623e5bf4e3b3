import { createServer } from "node:net"
import type { AddressInfo, Socket } from "node:net"
import { Redis } from "ioredis"
import { describe, expect, test } from "vitest"
import { reconnectDelay } from "../../../src/transport/redis/bus.ts"
import { provideRedis, startRedis } from "../../support/brokers.ts"
import type { Broker } from "../../support/brokers.ts"
import { connectEnd, connectWorker, openEnd } from "./ends.ts"
import type { End } from "./ends.ts"

const isThere = await provideRedis()

describe.skipIf(!isThere)("an unreachable broker", () => {
  test("is connected when it appears, and that is reported", async () => {
    const before = await startRedis()
    await before.kill()
    await using end = openEnd(before.url)
    end.bus.serve(["demo.greet"])
    await expect.poll(() => end.recorder.story).toEqual(["disconnected"])
    // Nothing is kept for later, and nothing is thrown.
    end.bus.ask(end.frame("who"), "m1")
    end.bus.announce(end.frame("here"))
    expect(end.bus.ready()).toBeUndefined()
    await before.restart()
    await using broker = before
    await expect.poll(() => end.recorder.story).toEqual(["disconnected", "connected"])
    await using caller = await connectEnd(broker.url)
    caller.bus.ask(caller.frame("who"), "m2")
    await expect.poll(() => end.recorder.calls.length).toBe(1)
    expect(end.lines.warnings).toHaveLength(1)
    expect(end.lines.warnings[0]).toMatch(/unreachable.*ECONNREFUSED/)
  })

  test("is connected to again after a crash, with all that was heard before", async () => {
    await using broker = await startRedis()
    await using worker = await connectWorker(broker.url)
    await using caller = await connectEnd(broker.url)
    const ends = [worker, caller]
    for (const round of [1, 2, 3]) {
      await broker.kill()
      for (const { bus } of ends) await expect.poll(() => bus.isConnected).toBe(false)
      caller.bus.control(worker.bus.address, caller.frame("lost"), "lost")
      await broker.restart()
      for (const { bus } of ends) await expect.poll(() => bus.isConnected).toBe(true)
      await expectHeard(caller, worker, round)
    }
    expect(caller.recorder.story).toEqual([
      "connected",
      ...[1, 2, 3].flatMap(() => ["disconnected", "connected"]),
    ])
    expect(worker.recorder.calls.every(({ text }) => text !== caller.frame("lost"))).toBe(true)
    expect(caller.recorder.noResponderIds).toEqual([])
  })

  test("that is frozen is noticed within seconds, and used again when it is thawed", async () => {
    await using broker = await startRedis()
    await using worker = await connectWorker(broker.url, { connectTimeout: 1000 })
    await using caller = await connectEnd(broker.url, { connectTimeout: 1000 })
    broker.freeze()
    try {
      for (const { bus } of [worker, caller]) {
        await expect.poll(() => bus.isConnected).toBe(false)
      }
      // Longer than one attempt to connect.
      await new Promise((resolve) => setTimeout(resolve, 1500))
    } finally {
      broker.thaw()
    }
    for (const { bus } of [worker, caller]) {
      await expect.poll(() => bus.isConnected).toBe(true)
    }
    await expectHeard(caller, worker, 1)
    expect(caller.lines.warnings[0]).toMatch(/has not answered for \d+ ms/)
  })

  test.each(["publish", "subscribe"])(
    "for its connection to %s only is unreachable altogether",
    async (which) => {
      await using broker = await startRedis()
      await using worker = await connectWorker(broker.url)
      await using caller = await connectEnd(broker.url)
      const redis = new Redis(broker.url)
      const type = which === "publish" ? "normal" : "pubsub"
      await redis.call("CLIENT", "KILL", "TYPE", type, "SKIPME", "yes")
      redis.disconnect()
      for (const { recorder } of [worker, caller]) {
        await expect.poll(() => recorder.story).toEqual(["connected", "disconnected", "connected"])
      }
      await expectHeard(caller, worker, 1)
      expect(await clientsOf(broker)).toBe(4)
    },
  )

  test("because too much was under way says what to look at", async () => {
    await using broker = await startRedis({
      config: "client-output-buffer-limit pubsub 256kb 0 0",
    })
    await using worker = await connectWorker(broker.url)
    await using caller = await connectEnd(broker.url)
    worker.bus.answer(caller.channels.inbox, worker.frame("x".repeat(500_000)))
    await expect
      .poll(() => caller.recorder.story)
      .toEqual(["connected", "disconnected", "connected"])
    expect(caller.lines.warnings.at(-1)).toContain("client-output-buffer-limit")
    expect(worker.recorder.story).toEqual(["connected"])
    await expectHeard(caller, worker, 1)
    // A broker that was started anew had its own reasons.
    await broker.kill()
    await expect.poll(() => caller.bus.isConnected).toBe(false)
    await broker.restart()
    await expect.poll(() => caller.bus.isConnected).toBe(true)
    expect(caller.lines.warnings).toHaveLength(2)
    expect(caller.lines.warnings.at(-1)).not.toContain("client-output-buffer-limit")
  })

  test("that accepts and does not respond is given up, and tried again", async () => {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on("error", () => {})
      socket.resume()
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    const end = openEnd(`redis://127.0.0.1:${port}`, { connectTimeout: 100 })
    await expect.poll(() => sockets.size).toBeGreaterThan(2)
    await end.bus.close()
    expect(end.recorder.story).toEqual(["disconnected"])
    expect(end.lines.warnings.join()).toMatch(/did not answer within 100 ms/)
    const open = [...sockets].filter(({ readableEnded, destroyed }) => !readableEnded && !destroyed)
    await expect
      .poll(() => open.every(({ readableEnded, destroyed }) => readableEnded || destroyed))
      .toBe(true)
    server.close()
  })

  test("that speaks nonsense is tried again, and does no harm", async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections++
      socket.on("error", () => {})
      socket.write("HTTP/1.1 400 Bad Request\r\n\r\n")
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    const end = openEnd(`redis://127.0.0.1:${port}`, { connectTimeout: 200 })
    await expect.poll(() => connections).toBeGreaterThan(2)
    await end.bus.close()
    expect(end.recorder.story).toEqual(["disconnected"])
    server.close()
  })

  test("leaves no sender waiting", async () => {
    await using broker = await startRedis()
    const size = 9 * 1024 * 1024
    await using caller = await connectEnd(broker.url, { maxPayload: 2 * size })
    broker.freeze()
    caller.bus.control("worker00", caller.frame("x".repeat(size)), "m1")
    const waiting = caller.bus.ready()
    expect(waiting).toBeInstanceOf(Promise)
    await broker.kill()
    await waiting
    await expect.poll(() => caller.bus.isConnected).toBe(false)
    expect(caller.bus.ready()).toBeUndefined()
    expect(caller.recorder.noResponderIds).toEqual([])
  })
})

describe("the pause before the next attempt", () => {
  const many = (failures: number, peers: number): number[] =>
    Array.from({ length: 200 }, () => reconnectDelay(failures, peers))

  test("is short for a few, however long the broker is away", () => {
    expect(Math.max(...many(0, 1))).toBeLessThanOrEqual(150)
    for (const failures of [3, 30, 3000]) {
      expect(Math.max(...many(failures, 3))).toBeLessThanOrEqual(800)
      expect(Math.min(...many(failures, 3))).toBeGreaterThanOrEqual(80)
    }
  })

  test("spreads two hundred over two seconds, and any number over no more than five", () => {
    const delays = many(0, 200)
    expect(Math.max(...delays) - Math.min(...delays)).toBeGreaterThan(2000)
    expect(Math.max(...many(7, 1_000_000))).toBeLessThanOrEqual(5000)
  })
})

async function expectHeard(caller: End, worker: End, round: number): Promise<void> {
  const { length } = worker.recorder.calls
  caller.bus.toWorker(worker.bus.address, "demo.greet", caller.frame(`${round}`), "m1")
  caller.bus.ask(caller.frame("who"), "m2")
  await expect.poll(() => worker.recorder.calls.length).toBe(length + 2)
  const answers = caller.recorder.answers.length
  worker.bus.answer(worker.recorder.calls[length]?.caller.reply ?? "", worker.frame("answer"))
  worker.bus.announce(worker.frame("here"))
  await expect.poll(() => caller.recorder.answers.length).toBe(answers + 2)
}

/** Connections to a broker, but for the one that asks. */
async function clientsOf({ url }: Broker): Promise<number> {
  const redis = new Redis(url)
  const list = String(await redis.client("LIST"))
  redis.disconnect()
  return list.trim().split("\n").length - 1
}
