import { describe, expect, test } from "vitest"
import { systemClock } from "../../../src/internal/clock.ts"
import { RedisChannels } from "../../../src/transport/redis/channels.ts"
import { RedisSession } from "../../../src/transport/redis/session.ts"
import { FakeRedis } from "./fake-redis.ts"
import type { Script } from "./fake-redis.ts"

const NOPERM = new Error("NOPERM this user has no permissions")
const CLOSED = new Error("Connection is closed.")
const HELLO = ["server", "redis", "mode", "standalone", "role", "master"]

function sessionOver(script: Script): { session: RedisSession; story: string[] } {
  const story: string[] = []
  const session = new RedisSession(
    {
      make: async () => new FakeRedis({ hello: () => HELLO, ...script }),
      channels: new RedisChannels("operations", "alice", "address0"),
      peer: "Redis",
      connectTimeout: 5000,
      clock: systemClock,
    },
    {
      message: () => story.push("message"),
      request: () => story.push("request"),
      peers: () => story.push("peers"),
      lost: () => story.push("lost"),
      failed: () => story.push("failed"),
      received: () => story.push("received"),
      refused: () => story.push("refused"),
    },
  )
  return { session, story }
}

describe("a session", () => {
  test.each([
    ["subscribe", (channel: string) => (channel.includes("inbox") ? CLOSED : "OK")],
    ["subscribe", (channel: string) => (channel.includes("news") ? CLOSED : "OK")],
    ["psubscribe", () => CLOSED],
    ["hello", () => new Error("ERR unknown command")],
  ])("does not open when %s fails, and leaves nothing", async (command, answer) => {
    const script: Script = { [command]: answer, info: () => CLOSED }
    const { session, story } = sessionOver(script)
    session.listen(["a:*"])
    const opened = session.open().then(
      () => "open",
      (error: unknown) => (error as Error).message,
    )
    // One that cannot say what it is may be a cluster, and is used all the same.
    expect(await opened).toBe(command === "hello" ? "open" : CLOSED.message)
    expect(session.server.countsAll).toBe(command !== "hello")
    await session.end()
    expect(story).toEqual([])
  })

  test("that may not hear news is open", async () => {
    const { session } = sessionOver({
      subscribe: (channel: string) => (channel.includes("news") ? NOPERM : "OK"),
    })
    await session.open()
    expect(session.inboxDenied).toBeUndefined()
    await session.close()
  })

  test("goes back to fewer channels and to more, whatever may not be left", async () => {
    const { session, story } = sessionOver({ punsubscribe: () => NOPERM })
    session.listen(["a:*"])
    await session.open()
    session.listen(["b:*"])
    session.listen(["a:*", "b:*"])
    await new Promise<void>((resolve) => {
      session.whenListening(resolve)
    })
    session.listen(["a:*", "b:*"])
    await session.close()
    await session.close()
    expect(story).toEqual([])
  })

  test("whose connection goes while it listens anew does not fail for good", async () => {
    const { session, story } = sessionOver({
      psubscribe: (pattern: string) => (pattern === "b:*" ? CLOSED : "OK"),
    })
    await session.open()
    session.listen(["b:*"])
    await new Promise<void>((resolve) => {
      session.whenListening(resolve)
    })
    expect(story).toEqual([])
    await session.end()
  })

  test("that is ended while it is made is never used", async () => {
    const { session } = sessionOver({})
    const opened = session.open()
    const ended = session.end()
    await expect(opened).rejects.toThrow("it was closed")
    await ended
  })
})
