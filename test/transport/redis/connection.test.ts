import { EventEmitter } from "node:events"
import { describe, expect, test } from "vitest"
import { RedisConnection } from "../../../src/transport/redis/connection.ts"
import type { RedisLike } from "../../../src/transport/redis/ioredis.ts"

/** A server that answers on command. */
class Fake extends EventEmitter {
  readonly status = "ready"
  readonly stream = { bytesRead: 100, destroy: () => undefined }
  pings = 0
  #answer: ((answer: unknown) => void) | undefined

  call(): Promise<unknown> {
    this.pings++
    return new Promise((resolve) => {
      this.#answer = resolve
    })
  }

  async answer(answer: unknown = "PONG"): Promise<void> {
    this.stream.bytesRead += 7
    this.#answer?.(answer)
    await Promise.resolve()
  }
}

function connect(lost: (cause: Error | undefined) => void = () => {}): {
  readonly fake: Fake
  readonly connection: RedisConnection
} {
  const fake = new Fake()
  return { fake, connection: new RedisConnection(fake as unknown as RedisLike, lost) }
}

describe("a connection that is looked at", () => {
  test("asks its server, once at a time", async () => {
    const { fake, connection } = connect()
    expect(connection.check(1000, 0, false)).toBeUndefined()
    fake.stream.bytesRead++
    connection.check(1500, 0, false)
    expect(fake.pings).toBe(1)
    await fake.answer()
    connection.check(2000, 0, false)
    connection.check(2500, 0, false)
    expect(fake.pings).toBe(2)
  })

  test.each([
    ["PONG", 0],
    [["pong", ""], 0],
    [1, 1],
    [["pmessage", "a", "b"], 1],
    [null, 1],
  ])("is given up where the answer belongs to another question: %j", async (answer, count) => {
    const lost: unknown[] = []
    const { fake, connection } = connect((cause) => lost.push(cause?.message))
    connection.check(1000, 0, false)
    await fake.answer(answer)
    expect(lost).toHaveLength(count)
    connection.breakOff(new Error("again"))
    expect(lost).toHaveLength(1)
  })

  test("gives up a server that does not answer, before a worker would be accused", () => {
    const { connection } = connect()
    const found = [0, 500, 1000, 1500, 2000, 2500].map((after) =>
      connection.check(10_000 + after, 0, false),
    )
    expect(found).toEqual([undefined, undefined, undefined, undefined, 2000, 2500])
  })

  test("gives up one that answers nothing, whatever else it sends", () => {
    const { fake, connection } = connect()
    const found = [0, 2000, 4000, 6000].map((after) => {
      fake.stream.bytesRead++
      return connection.check(10_000 + after, 0, false)
    })
    expect(found).toEqual([undefined, undefined, undefined, 6000])
  })

  test("waits longer where much is under way", () => {
    const { connection } = connect()
    connection.check(1000, 0, false)
    expect(connection.check(9000, 8192, false)).toBeUndefined()
    expect(connection.check(12_000, 8192, false)).toBe(11_000)
  })

  test("does not report a server as lost after a standstill of this process", async () => {
    const { fake, connection } = connect()
    connection.check(1000, 0, false)
    connection.check(1500, 0, false)
    expect(connection.check(60_000, 0, true)).toBeUndefined()
    await fake.answer()
    expect(connection.check(60_500, 0, false)).toBeUndefined()
  })
})
