import { setTimeout as sleep } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { provideNats, startNats } from "../../support/brokers.ts"
import { hears, held, isUp, openBus, portOfNobody, until } from "./recorder.ts"

const isThere = await provideNats()

describe.skipIf(!isThere)("closing a connection to NATS", () => {
  test("sends what waits, leaves nothing, and may be done twice", async () => {
    await using broker = await startNats()
    await using listener = openBus(broker.url)
    await isUp(listener)
    const before = held()
    const both = openBus(broker.url)
    both.bus.serve(["demo.greet"])
    await isUp(both)
    await hears(listener, both)
    for (let at = 0; at < 100; at++) both.bus.announce(`${at}`)
    await Promise.all([both.bus.close(), both.bus.close()])
    await until(() => listener.recorder.fromWorkers.length === 100)
    await until(() => held() <= before)
    both.bus.announce("after the end")
    expect(both.recorder.states).toEqual(["up"])
  })

  test("leaves nothing when there never was a broker", async () => {
    const port = await portOfNobody()
    const before = held()
    const both = openBus(`127.0.0.1:${port}`)
    await until(() => both.recorder.states.length === 1)
    await both.bus.close()
    await until(() => held() <= before)
    expect(held()).toBeLessThanOrEqual(before)
  })

  test("at once leaves nothing either", async () => {
    await using broker = await startNats()
    const before = held()
    await openBus(broker.url).bus.close()
    await until(() => held() <= before)
    expect(held()).toBeLessThanOrEqual(before)
  })

  test("leaves nothing while the broker is gone", async () => {
    await using broker = await startNats()
    const before = held()
    const both = openBus(broker.url)
    await isUp(both)
    await broker.kill()
    await isUp(both, false)
    await both.bus.close()
    await until(() => held() <= before)
    expect(held()).toBeLessThanOrEqual(before)
  })

  test("leaves nothing while it dials a broker that stands still", async () => {
    await using broker = await startNats()
    const before = held()
    const both = openBus(broker.url)
    await isUp(both)
    await broker.restart()
    broker.freeze()
    // The connection is lost, and the next one is not answered.
    await isUp(both, false)
    await sleep(1000)
    await both.bus.close()
    await until(() => held() <= before)
    expect(held()).toBeLessThanOrEqual(before)
    broker.thaw()
    await sleep(200)
    expect(held()).toBeLessThanOrEqual(before)
  })
})
