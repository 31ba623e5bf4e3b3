import { Redis } from "ioredis"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { provideRedis, startRedis } from "../../support/brokers.ts"
import type { Broker } from "../../support/brokers.ts"
import { connectEnd, connectWorker, openEnd } from "./ends.ts"
import type { EndOptions } from "./ends.ts"

const isThere = await provideRedis()

/** A caller that may call "demo.greet" alone, a worker that may not call, and some who may too little. */
const USERS = `
user default off
user admin on >admin-secret ~* &* +@all
user alice on >alice-secret resetchannels -@all (+publish &operations:call:alice:*:demo.greet &operations:ctl:alice:* &operations:ask:alice) (+subscribe &operations:inbox:alice:* &operations:news)
user work on >work-secret resetchannels -@all (+psubscribe allchannels) (+publish &operations:inbox:* &operations:news)
user deaf on >deaf-secret resetchannels -@all (+publish &operations:*)
`

describe.skipIf(!isThere)("a Redis server with access control", () => {
  let broker: Broker
  beforeAll(async () => {
    broker = await startRedis({ config: USERS })
  })
  afterAll(async () => {
    await broker[Symbol.asyncDispose]()
  })
  const as = (user: string, password = `${user}-secret`): EndOptions => ({
    user,
    connect: { username: user, password },
  })

  test.each([
    ["a wrong password", as("alice", "canary-password"), /refuses this user or password/],
    ["an unknown user", as("mallory"), /refuses this user or password/],
    ["no password", { connect: {} }, /requires a password, and there is none/],
  ])("refuses %s for good, in words that help", async (_what, options, message) => {
    await using end = openEnd(broker.url, options)
    await expect
      .poll(() => end.recorder.error)
      .toMatchObject({
        code: "UNAUTHENTICATED",
        retryable: false,
        mayHaveExecuted: false,
        message: expect.stringMatching(message),
      })
    expect(end.recorder.error?.message).toContain('Give "username" and "password"')
    expect(JSON.stringify([end.recorder.error, end.lines])).not.toMatch(/canary-password|secret/)
    expect(end.recorder.story).toEqual(["failed"])
    expect(end.bus.isConnected).toBe(false)
  })

  test("lets a caller and a worker do what they are there for, and no more", async () => {
    await using worker = await connectWorker(broker.url, as("work"))
    await using alice = await connectEnd(broker.url, as("alice"))
    const { address } = worker.bus
    alice.bus.ask(alice.frame("who"), "m1")
    alice.bus.control(address, alice.frame("ping"), "m2")
    alice.bus.toWorker(address, "demo.greet", alice.frame("greet"), "m3")
    await expect.poll(() => worker.recorder.calls.length).toBe(3)
    worker.bus.answer(alice.channels.inbox, worker.frame("answer"))
    worker.bus.announce(worker.frame("here"))
    await expect.poll(() => alice.recorder.answers.length).toBe(2)
    expect(alice.lines.warnings).toEqual([])
    expect(alice.recorder.denials).toEqual([])

    alice.bus.toWorker(address, "demo.secret", alice.frame("secret"), "m4")
    await expect
      .poll(() => alice.recorder.denials)
      .toEqual([{ correlationId: "m4", error: expect.objectContaining({ code: "ACCESS_DENIED" }) }])
    expect(alice.recorder.denials[0]?.error).toMatchObject({
      operationId: "demo.secret",
      mayHaveExecuted: false,
      message: expect.stringContaining('publish to "operations:call:alice:'),
    })
    alice.bus.toWorker(address, "demo.secret", alice.frame("secret"), "m5")
    await expect.poll(() => alice.recorder.denials.length).toBe(2)
    // One line says it.
    expect(alice.lines.warnings).toHaveLength(1)
    expect(alice.lines.warnings[0]).toContain("operations:call:alice")
    expect(worker.recorder.calls).toHaveLength(3)
    expect(alice.recorder.noResponderIds).toEqual([])
  })

  test("does not let a user publish as another", async () => {
    await using worker = await connectWorker(broker.url, as("work"))
    await using mallory = openEnd(broker.url, { ...as("alice"), user: "bob" })
    await expect.poll(() => mallory.recorder.error).toMatchObject({ code: "ACCESS_DENIED" })
    await using alice = await connectEnd(broker.url, as("alice"))
    // An answer to another one's inbox.
    alice.bus.answer("operations:inbox:bob:aaaaaaaa", alice.frame("forged"))
    await expect.poll(() => alice.lines.warnings.length).toBe(1)
    expect(worker.recorder.calls).toEqual([])
  })

  test("that lets a worker not call keeps it serving, and says why a call fails", async () => {
    await using worker = await connectWorker(broker.url, as("work"))
    expect(() => worker.bus.toWorker("worker00", "demo.greet", "{}", "m1")).toThrow(
      expect.objectContaining({
        code: "ACCESS_DENIED",
        message: expect.stringMatching(/subscribe to "operations:inbox:work:.*ACL SETUSER/),
      }),
    )
    expect(worker.recorder.story).toEqual(["connected"])
  })

  test("that lets a caller not hear its answers fails it for good", async () => {
    await using end = openEnd(broker.url, as("deaf"))
    await expect
      .poll(() => end.recorder.error)
      .toMatchObject({
        code: "ACCESS_DENIED",
        message: expect.stringContaining("(+subscribe &operations:inbox:deaf:*)"),
      })
  })

  test.each([
    ["from the start", "deaf", false],
    ["later", "alice", true],
  ])("that lets a worker not listen fails it for good, %s", async (_when, user, isLater) => {
    await using end = openEnd(broker.url, as(user))
    await expect.poll(() => end.bus.isConnected).toBe(isLater)
    end.bus.serve(["demo.greet"])
    await expect
      .poll(() => end.recorder.error)
      .toMatchObject({
        code: "ACCESS_DENIED",
        message: expect.stringMatching(/cannot serve.*\(\+psubscribe allchannels\)/),
      })
    expect(end.bus.isConnected).toBe(false)
  })
})

describe.skipIf(!isThere)("a broker that forgot its users", () => {
  test("is asked again by those it once let in, until it knows them again", async () => {
    await using broker = await startRedis({ config: "requirepass right" })
    const connect = { password: "right" }
    await using end = await connectEnd(broker.url, { connect })
    const redis = new Redis(broker.url, connect)
    await redis.config("SET", "requirepass", "other")
    await redis.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    await expect.poll(() => end.recorder.story.at(-1)).toBe("refused: UNAVAILABLE")
    expect(end.bus.isConnected).toBe(false)
    await redis.config("SET", "requirepass", "right")
    redis.disconnect()
    await expect.poll(() => end.bus.isConnected).toBe(true)
    expect(end.recorder.story.slice(0, 2)).toEqual(["connected", "disconnected"])
    expect(end.recorder.story.at(-1)).toBe("connected")
    expect(end.recorder.error).toBeUndefined()
  })
})
