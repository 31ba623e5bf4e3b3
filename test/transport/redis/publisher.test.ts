import { describe, expect, test } from "vitest"
import type { Clock } from "../../../src/internal/platform.ts"
import { Publisher } from "../../../src/transport/redis/publisher.ts"
import type { Outgoing } from "../../../src/transport/redis/publisher.ts"
import { FakeRedis } from "./fake-redis.ts"
import type { Script } from "./fake-redis.ts"

const NOPERM = new Error("NOPERM this user has no permissions")
const CLOSED = new Error("Connection is closed.")

const WITHOUT_TURNS: Clock = {
  now: () => Date.now(),
  setTimeout: (callback, milliseconds) => setTimeout(callback, milliseconds),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
}

describe("messages of one turn", () => {
  function publish(script: Script): { publisher: Publisher; fake: FakeRedis; story: string[] } {
    const fake = new FakeRedis(script)
    const story: string[] = []
    // A clock that has no way to wait for the end of a turn but a timer.
    const events = {
      received: ({ text }: Outgoing, count: number) => story.push(`${text} ${count}`),
      refused: ({ text }: Outgoing, error: Error) => story.push(`${text} ${error.message}`),
    }
    const outOfStep = (): void => void story.push("out of step")
    const publisher = new Publisher(fake, WITHOUT_TURNS, events, outOfStep)
    return { publisher, fake, story }
  }

  test("leave together, and the outcome of each is reported", async () => {
    const { publisher, fake, story } = publish({
      publish: (_channel, text) => (text === "b" ? NOPERM : 1),
    })
    for (const text of ["a", "b", "c"]) publisher.add({ channel: "x", text })
    expect(fake.sent).toEqual([])
    await publisher.drained()
    expect(fake.sent.filter(([command]) => command === "exec")).toHaveLength(1)
    await expect.poll(() => story).toEqual(["a 1", `b ${NOPERM.message}`, "c 1"])
    expect(publisher.room.used).toBe(0)
    publisher.add({ channel: "x", text: "b" })
    await expect.poll(() => story.length).toBe(4)
    await publisher.drained()
  })

  test("are not counted by answers to something else", async () => {
    const { publisher, story } = publish({ publish: () => "PONG" })
    for (const text of ["a", "b"]) publisher.add({ channel: "x", text })
    await publisher.drained()
    await expect.poll(() => story).toEqual(["out of step"])
  })

  test("are all refused where they cannot leave", async () => {
    const { publisher, story } = publish({ exec: () => CLOSED })
    for (const text of ["a", "b"]) publisher.add({ channel: "x", text })
    await publisher.drained()
    await expect.poll(() => story).toEqual([`a ${CLOSED.message}`, `b ${CLOSED.message}`])
  })

  test("are dropped when it is closed, and no sender waits", async () => {
    let answer: (() => void) | undefined
    const { publisher, story } = publish({
      publish: () =>
        new Promise<number>((resolve) => {
          answer = () => resolve(1)
        }),
    })
    publisher.add({ channel: "x", text: "a".repeat(9 * 1024 * 1024) })
    const ready = publisher.room.ready()
    const drained = publisher.drained()
    publisher.end()
    await ready
    await drained
    publisher.add({ channel: "x", text: "b" })
    answer?.()
    await publisher.drained()
    expect(story).toEqual([])
    expect(publisher.room.ready()).toBeUndefined()
  })
})
