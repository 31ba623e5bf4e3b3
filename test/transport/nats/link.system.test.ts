import { setTimeout as sleep } from "node:timers/promises"
import { connect } from "@nats-io/transport-node"
import { describe, expect, test } from "vitest"
import { provideNats, startNats } from "../../support/brokers.ts"
import type { Broker } from "../../support/brokers.ts"
import { isUp, keepingLogger, openBus, portOfNobody, works } from "./recorder.ts"

const isThere = await provideNats()

describe.skipIf(!isThere)("a connection to NATS", () => {
  test("is opened when the broker appears, and its absence is reported", async () => {
    const port = await portOfNobody()
    const logger = keepingLogger()
    await using both = openBus(`nats://127.0.0.1:${port}`, { logger })
    both.bus.serve(["demo.greet"])
    await expect.poll(() => both.recorder.states).toEqual(["down"])
    expect(both.bus.isConnected).toBe(false)
    expect(logger.lines[0]).toMatch(
      `warn: NATS is unreachable at 127.0.0.1:${port}: connection refused. Reconnecting`,
    )
    // Nothing that is sent meanwhile comes later, out of the blue.
    both.bus.toAny("demo.greet", "too early", "m1")
    await using _broker = await startNats({ port })
    await isUp(both)
    await works(both)
    expect(both.recorder.fromCallers.map(({ text }) => text)).not.toContain("too early")
    expect(both.recorder.states.at(-1)).toBe("up")
    expect(both.recorder.failures).toEqual([])
    expect(logger.lines.filter((line) => line.includes("unreachable"))).toHaveLength(1)
  })

  test("comes back when the broker does, with all that is listened to", async () => {
    await using broker = await startNats()
    await using both = openBus(broker.url)
    both.bus.serve(["demo.greet"])
    await isUp(both)
    await works(both)
    await broker.kill()
    await isUp(both, false)
    both.bus.serve(["demo.late"])
    both.bus.toAny("demo.greet", "lost", "m1")
    await broker.restart()
    await isUp(both)
    await works(both, "demo.late")
    expect(both.recorder.states).toEqual(["up", "down", "up"])
    both.bus.toAny("demo.greet", "x", "m2")
    await expect.poll(() => both.recorder.unanswered).toContain("m2")
    both.bus.control(both.bus.address, "to myself", "m3")
    await expect.poll(() => both.recorder.fromCallers.at(-1)?.text).toBe("to myself")
  })

  test("survives many restarts", async () => {
    await using broker = await startNats()
    await using both = openBus(broker.url)
    both.bus.serve(["demo.greet"])
    for (let time = 0; time < 5; time++) {
      await isUp(both)
      await works(both)
      await broker.restart()
      await expect.poll(() => both.recorder.states.length).toBeGreaterThan(2 * time + 1)
    }
    await isUp(both)
    await works(both)
  })

  test("counts as lost while the broker stands still, and is back when it goes on", async () => {
    await using broker = await startNats()
    await using both = openBus(broker.url)
    both.bus.serve(["demo.greet"])
    await isUp(both)
    await works(both)
    broker.freeze()
    both.bus.toAny("demo.greet", "into the ice", "m1")
    await expect
      .poll(() => {
        both.bus.announce("anybody?")
        return both.recorder.states
      })
      .toEqual(["up", "down"])
    expect(both.bus.isConnected).toBe(false)
    broker.thaw()
    await isUp(both)
    await works(both)
    expect(both.recorder.states).toEqual(["up", "down", "up"])
  })

  test("that is idle asks the broker for nothing, and stays", async () => {
    await using broker = await startNats()
    await using both = openBus(broker.url)
    await isUp(both)
    broker.freeze()
    await sleep(2500)
    expect(both.recorder.states).toEqual(["up"])
    broker.thaw()
  })

  test("goes to another server of a cluster when its own is gone", async () => {
    await using one = await startNats()
    await using two = await startNats()
    await using both = openBus(`${one.url},${two.url}`)
    both.bus.serve(["demo.greet"])
    await isUp(both)
    await works(both)
    const gone: Broker[] = []
    for (const broker of [one, two]) {
      await broker.kill()
      gone.push(broker)
      if (gone.length === 2) await one.restart()
      await isUp(both)
      await works(both)
    }
    expect(both.recorder.failures).toEqual([])
  })
})

describe.skipIf(!isThere)("a connection of the user's own", () => {
  test("is used, and left open with nothing of ours on it", async () => {
    await using broker = await startNats()
    const own = await connect({ servers: broker.url })
    const both = openBus(own)
    both.bus.serve(["demo.greet"])
    await isUp(both)
    await works(both)
    await broker.kill()
    await isUp(both, false)
    await broker.restart()
    await isUp(both)
    await works(both)
    const before = both.recorder.fromCallers.length
    await both.bus.close()
    await both.bus.close()
    expect(own.isClosed()).toBe(false)
    const unheard = await own.request("operations.call.x.any.demo.greet", "x").catch(String)
    expect(unheard).toContain("no responders")
    expect(both.recorder.fromCallers).toHaveLength(before)
    await own.close()
    expect(both.recorder.failures).toEqual([])
  })

  test("that was closed before is reported as failed, too", async () => {
    await using broker = await startNats()
    const own = await connect({ servers: broker.url })
    await own.close()
    await using both = openBus(own)
    await expect.poll(() => both.recorder.failures).toHaveLength(1)
    expect(both.recorder.states).not.toContain("up")
  })

  test("that is closed by its owner is reported as failed", async () => {
    await using broker = await startNats()
    const own = await connect({ servers: broker.url })
    await using both = openBus(own)
    await isUp(both)
    await own.close()
    await expect.poll(() => both.recorder.failures).toHaveLength(1)
    expect(both.recorder.failures[0]).toMatchObject({ code: "UNAVAILABLE" })
    expect(both.recorder.states).toEqual(["up", "down"])
    both.bus.toAny("demo.greet", "x", "m1")
  })
})
