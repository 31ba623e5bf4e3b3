import { beforeEach, describe, expect, test } from "vitest"
import { Pulse } from "../../../src/transport/nats/pulse.ts"
import { VirtualClock } from "../../support/virtual-clock.ts"

const MIB = 1024 * 1024

describe("whether a broker takes what it is sent", () => {
  let clock: VirtualClock
  let pulse: Pulse
  let events: string[]
  let questions: (() => void)[]
  const answerAll = async (): Promise<void> => {
    for (const answer of questions.splice(0)) answer()
    await clock.runTo(clock.time)
  }
  beforeEach(() => {
    clock = new VirtualClock()
    events = []
    questions = []
    pulse = new Pulse(clock, {
      silent: () => void events.push("silent"),
      alive: () => void events.push("alive"),
    })
    clock.time = 1000
    pulse.start(() => new Promise((resolve) => questions.push(resolve)))
  })

  test("is asked with what is sent, and at most every half second", async () => {
    expect(questions).toHaveLength(0)
    for (let at = 0; at < 100; at++) pulse.sent(10)
    expect(questions).toHaveLength(1)
    await answerAll()
    pulse.sent(10)
    expect(questions).toHaveLength(0)
    clock.time += 500
    pulse.sent(10)
    expect(questions).toHaveLength(1)
    await answerAll()
    // Nothing is sent: nothing is asked, and silence means nothing.
    await clock.runTo(100_000)
    expect(questions).toHaveLength(0)
    expect(events).toEqual([])
  })

  test("is doubted after two seconds of silence, and believed again by its first word", async () => {
    pulse.sent(10)
    await clock.runTo(2999)
    expect(events).toEqual([])
    await clock.runTo(3000)
    expect(events).toEqual(["silent"])
    pulse.received()
    expect(events).toEqual(["silent", "alive"])
    // It still owes an answer.
    await clock.runTo(5000)
    expect(events).toEqual(["silent", "alive", "silent"])
    await answerAll()
    expect(events.at(-1)).toBe("alive")
    await clock.runTo(100_000)
    expect(events).toHaveLength(4)
  })

  test("is not doubted while it says anything at all", async () => {
    pulse.sent(10)
    for (let time = 2000; time <= 20_000; time += 1000) {
      await clock.runTo(time)
      pulse.received()
    }
    expect(events).toEqual([])
  })

  test("is not blamed when it was this process that stood still", async () => {
    pulse.sent(10)
    // The timer comes ten seconds too late, and what came meanwhile is read only now.
    clock.time += 12_000
    await clock.runTo(clock.time)
    expect(events).toEqual([])
    await answerAll()
    await clock.runTo(100_000)
    expect(events).toEqual([])
  })

  test("lets those wait who send too much", async () => {
    pulse.sent(8 * MIB)
    expect(pulse.ready()).toBeUndefined()
    pulse.sent(1)
    const room = pulse.ready()
    expect(room).toBeDefined()
    expect(pulse.ready()).toBe(room)
    await answerAll()
    await room
    expect(pulse.ready()).toBeUndefined()
  })

  test("does not wait for a connection that is gone", async () => {
    pulse.sent(9 * MIB)
    const room = pulse.ready()
    pulse.stop()
    await room
    expect(pulse.ready()).toBeUndefined()
    // Its answers do not count for the next one.
    pulse.start(() => new Promise((resolve) => questions.push(resolve)))
    pulse.sent(9 * MIB)
    const next = pulse.ready()
    questions.shift()?.()
    await clock.runTo(clock.time)
    expect(pulse.ready()).toBe(next)
    await answerAll()
    expect(pulse.ready()).toBeUndefined()
    pulse.stop()
    await clock.runTo(100_000)
    expect(events).toEqual([])
  })

  test("is not reported when the connection was lost during a flush", async () => {
    pulse.start(() => Promise.reject(new Error("gone")))
    pulse.sent(10)
    await clock.runTo(clock.time)
    pulse.stop()
    await clock.runTo(100_000)
    expect(events).toEqual([])
  })
})
