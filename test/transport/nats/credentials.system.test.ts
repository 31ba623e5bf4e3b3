import { describe, expect, test } from "vitest"
import { resolveTarget } from "../../../src/transport/nats/servers.ts"
import { provideNats, startNats } from "../../support/brokers.ts"
import { isUp, keepingLogger, openBus, portOfNobody, works } from "./recorder.ts"
import { startScripted } from "./scripted-server.ts"

const isThere = await provideNats()

describe.skipIf(!isThere)("credentials for NATS", () => {
  const users = `authorization { users: [
    { user: ada, password: "s3cret" }
    { user: bob, password: "b0b", permissions: {
      publish: ["operations.call.bob.any.demo.greet", "_INBOX_*.>"]
      subscribe: ["_INBOX_bob.>", "operations.call.*.any.demo.greet"] } }
    { user: deaf, password: "deaf", permissions: { publish: ">", subscribe: "operations.>" } }
  ] }`
  const as = (url: string, user: string, pass: string) => resolveTarget("test", url, { user, pass })

  test("are taken from the options or the address", async () => {
    await using broker = await startNats({ config: users })
    await using one = openBus(as(broker.url, "ada", "s3cret"))
    await using two = openBus(`nats://ada:s3cret@127.0.0.1:${broker.port}`)
    await isUp(one)
    await isUp(two)
    expect([one.recorder.failures, two.recorder.failures]).toEqual([[], []])
  })

  test.each([
    ["wrong", "ada", "wrong-pass"],
    ["of nobody", "eve", "wrong-pass"],
  ])("that are %s fail for good, and appear in no message", async (_name, user, pass) => {
    await using broker = await startNats({ config: users })
    const logger = keepingLogger()
    await using both = openBus(as(broker.url, user, pass), { logger })
    await expect.poll(() => both.recorder.failures).toHaveLength(1)
    const [error] = both.recorder.failures
    expect(error).toMatchObject({ code: "UNAUTHENTICATED", retryable: false })
    expect(error?.message).toContain(`NATS at 127.0.0.1:${broker.port} refuses the credentials`)
    expect(error?.message).toContain(`"connect"`)
    expect(JSON.stringify([error, logger.lines])).not.toContain(pass)
    expect(both.bus.isConnected).toBe(false)
    // It is over: nothing tries on.
    expect(both.recorder.states).not.toContain("up")
  })

  test("that are refused after a restart are tried again, slowly, until they are taken", async () => {
    const port = await portOfNobody()
    const before = await startNats({ port, config: users })
    await using both = openBus(as(before.url, "ada", "s3cret"))
    await isUp(both)
    await before[Symbol.asyncDispose]()
    const other = await startNats({
      port,
      config: `authorization { user: other, password: other }`,
    })
    await expect.poll(() => both.recorder.refusals.length).toBeGreaterThan(0)
    expect(both.recorder.refusals[0]).toMatchObject({
      code: "UNAVAILABLE",
      retryable: true,
      mayHaveExecuted: false,
      message: expect.stringMatching(/refuses the credentials.*Reconnecting continues/),
    })
    expect(both.bus.isConnected).toBe(false)
    await other[Symbol.asyncDispose]()
    await using _after = await startNats({ port, config: users })
    await expect.poll(() => both.bus.isConnected).toBe(true)
    expect(both.recorder.failures).toEqual([])
    expect(both.recorder.states).toEqual(["up", "down", "up"])
  })

  test.each([
    ["slow to ask for them", (attempt: number) => attempt < 5 && "Authentication Timeout"],
    ["about to load them", (attempt: number) => attempt === 1 && "Authorization Violation"],
    [
      "in two minds",
      (attempt: number) =>
        attempt < 6 && ["Authorization Violation", "Authentication Timeout"][attempt % 2],
    ],
  ])("are not blamed when the broker was only %s", async (_name, refuse) => {
    await using server = await startScripted({
      info: { auth_required: true },
      refuse: (attempt) => refuse(attempt) || undefined,
    })
    await using both = openBus(server.url)
    await isUp(both)
    expect(both.recorder.failures).toEqual([])
    expect(server.attempts).toBeGreaterThan(1)
  })

  test("that expire while connected are tried again, also while they are refused", async () => {
    let isExpired = false
    await using server = await startScripted({
      info: { auth_required: true },
      refuse: () => (isExpired ? "Authorization Violation" : undefined),
    })
    await using both = openBus(server.url)
    await isUp(both)
    server.say("-ERR 'User Authentication Expired'")
    await expect.poll(() => both.recorder.states).toEqual(["up", "down", "up"])
    isExpired = true
    server.say("-ERR 'User Authentication Expired'")
    await expect.poll(() => both.recorder.refusals.length).toBeGreaterThan(0)
    isExpired = false
    await expect.poll(() => both.recorder.states.at(-1)).toBe("up")
    expect(both.recorder.failures).toEqual([])
  })

  test("that do not permit a call fail it, and say what is missing", async () => {
    await using broker = await startNats({ config: users })
    const logger = keepingLogger()
    await using both = openBus(as(broker.url, "bob", "b0b"), { user: "bob", logger })
    both.bus.serve(["demo.greet", "demo.secret"])
    await isUp(both)
    await works(both)
    both.bus.toAny("demo.secret", "x", "m1")
    await expect.poll(() => both.recorder.denials).toHaveLength(1)
    const [denial] = both.recorder.denials
    expect(denial).toMatchObject({ correlationId: "m1", error: { code: "ACCESS_DENIED" } })
    expect(denial?.error.message).toContain("operations.call.bob.any.demo.secret")
    const lines = logger.lines.join("\n")
    expect(lines).toContain(`subscribe to "operations.call.*.any.demo.secret"`)
    expect(lines).toContain(`subscribe to "operations.news"`)
    // The rest works on.
    await works(both)
    expect(both.recorder.states).toEqual(["up"])
  })

  test("that do not permit to hear answers leave a worker, and no caller", async () => {
    await using broker = await startNats({ config: users })
    await using worker = openBus(as(broker.url, "deaf", "deaf"), { user: "deaf" })
    await using caller = openBus(as(broker.url, "ada", "s3cret"), { user: "ada" })
    worker.bus.serve(["demo.greet"])
    await isUp(worker)
    await isUp(caller)
    await expect
      .poll(() => {
        try {
          worker.bus.toAny("demo.nobody", "x", "m1")
          return "sent"
        } catch (error) {
          return error
        }
      })
      .toMatchObject({ code: "ACCESS_DENIED" })
    worker.recorder.onCaller = (text, { reply }) => worker.bus.answer(reply, `re: ${text}`)
    caller.bus.toAny("demo.greet", "hello", "m1")
    await expect.poll(() => caller.recorder.fromWorkers).toContain("re: hello")
  })
})
