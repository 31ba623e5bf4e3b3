// Questions of handlers to their callers, within one registry: what they do to clocks, and when they end.
import { describe, expect, onTestFinished, test, vi } from "vitest"
import type {
  CallOptions,
  InputResponse,
  OperationContext,
  RegistryOptions,
} from "../../src/index.ts"
import { operation, quietRegistry, rejection } from "../support/operations.ts"
import { VirtualClock } from "../support/virtual-clock.ts"

const SURE = { message: "Sure?", schema: { type: "object" } }
const YES: InputResponse = { action: "accept", content: {} }
const MINUTE = 60_000

/** A registry whose operations ask, and a caller that answers when it is told to. */
function scene(options: RegistryOptions = {}) {
  const clock = new VirtualClock()
  const done: string[] = []
  const registry = quietRegistry(
    [
      operation("ask.delete", {
        handler: async (_input: never, { requestInput }: OperationContext) => {
          const { action } = await requestInput(SURE)
          await clock.sleep(900)
          done.push(action)
          return action
        },
      }),
      operation("ask.nested", {
        handler: async (_input: never, { call }: OperationContext) =>
          (await call("ask.delete", {})).data,
      }),
      operation("ask.both", {
        handler: async (_input: never, { requestInput }: OperationContext) => {
          const answers = [requestInput(SURE), requestInput(SURE)]
          await Promise.all(answers)
          await clock.sleep(900)
        },
      }),
      operation("ask.tries", {
        handler: async (_input: never, { requestInput }: OperationContext) => {
          await requestInput(SURE).catch(({ code }: { code: string }) => done.push(code))
          await clock.sleep(900)
          return "nobody"
        },
      }),
      operation("ask.twice", {
        handler: async (_input: never, { requestInput }: OperationContext) => {
          await requestInput(SURE)
          await requestInput(SURE)
          return "both"
        },
      }),
      operation("ask.forgets", {
        handler: (_input: never, { requestInput }: OperationContext) => {
          requestInput(SURE).then(
            () => done.push("answered"),
            (error: { code: string }) => done.push(error.code),
          )
          return 1
        },
      }),
    ],
    { clock, ...options },
  )
  onTestFinished(() => registry.close())
  const answers: (() => void)[] = []
  const requestInput = vi.fn(
    () => new Promise<InputResponse>((resolve) => answers.push(() => resolve(YES))),
  )
  const call = (id: string, given: CallOptions = {}): Promise<unknown> =>
    registry.execute(id, {}, { requestInput, ...given }).then(
      ({ data }) => data,
      (error: { code: string }) => error.code,
    )
  return { clock, done, answers, requestInput, call, registry }
}

describe("the clock of a call", () => {
  test.each([
    ["the default", "ask.delete", {}],
    ["a timeout", "ask.delete", { timeout: 1000 }],
    ["those of all outer calls", "ask.nested", { timeout: 1000 }],
  ])("stops while a person is asked: %s", async (_what, id, options) => {
    const { clock, answers, call } = scene()
    const running = call(id, options)
    await clock.advance(4 * MINUTE)
    answers[0]?.()
    await clock.advance(950)
    expect(await running).toBe("accept")
    expect(clock.timers).toBeLessThanOrEqual(1)
  })

  test.each([
    [850, "TIMEOUT"],
    [950, "accept"],
  ])("goes on after the answer: with a timeout of %i ms %s", async (timeout, outcome) => {
    const { clock, answers, call } = scene()
    const running = call("ask.nested", { timeout })
    await clock.advance(4 * MINUTE)
    answers[0]?.()
    await clock.advance(1000)
    expect(await running).toBe(outcome)
  })

  test("counts two questions at the same time once", async () => {
    const { clock, answers, call } = scene()
    const running = call("ask.both", { timeout: 500 })
    await clock.advance(MINUTE)
    answers[0]?.()
    await clock.advance(MINUTE)
    answers[1]?.()
    await clock.advance(499)
    await clock.advance(1)
    expect(await running).toBe("TIMEOUT")
  })

  test("stops for ten minutes at most, however long a question may take", async () => {
    const { clock, done, answers, call } = scene({ inputTimeout: Infinity })
    const running = call("ask.delete", { timeout: 1000 })
    await clock.advance(10 * MINUTE + 999)
    expect(done).toEqual([])
    await clock.advance(1)
    expect(await running).toBe("TIMEOUT")
    answers[0]?.()
    await clock.advance(MINUTE)
    expect(done).toEqual([])
  })

  test("does not move a deadline, which is a point in time", async () => {
    const { clock, call } = scene()
    const running = call("ask.nested", { deadline: 1000 })
    await clock.advance(1000)
    expect(await running).toBe("TIMEOUT")
  })
})

describe("a question that is not answered", () => {
  test.each([undefined, null, "yes", { action: "yes" }])(
    "is told what is wrong with an answer that is none: %j",
    async (answer) => {
      const { registry } = scene()
      const requestInput = () => Promise.resolve(answer as InputResponse)
      expect(await rejection(registry.execute("ask.delete", {}, { requestInput }))).toMatchObject({
        code: "UNAVAILABLE",
        message: `The answer to "ask.delete" is invalid: "action" must be "accept", "decline" or "cancel".`,
      })
    },
  )

  test.each([
    ["after five minutes", {}, 5 * MINUTE],
    ["after the limit of the registry", { inputTimeout: 2000 }, 2000],
  ])("ends %s, and with it the call", async (_what, options, limit) => {
    const { clock, done, answers, requestInput, registry } = scene(options)
    const answered = registry.execute("ask.nested", {}, { requestInput, timeout: 1000 })
    await clock.advance(limit - 1)
    answers[0]?.()
    await clock.advance(900)
    expect((await answered).data).toBe("accept")
    const late = rejection(registry.execute("ask.nested", {}, { requestInput, timeout: 1000 }))
    await clock.advance(limit)
    expect(await late).toMatchObject({
      code: "TIMEOUT",
      message: `"ask.delete" asked its caller, who did not answer within ${limit} ms. The registry's option "inputTimeout" sets the limit.`,
      retryable: false,
      mayHaveExecuted: true,
      details: { reason: "INPUT_TIMEOUT" },
    })
    answers[1]?.()
    await clock.advance(MINUTE)
    expect(done).toEqual(["accept"])
    expect(clock.timers).toBeLessThanOrEqual(1)
  })

  test("leaves its handler the rest of the timeout", async () => {
    const { clock, done, call } = scene()
    const running = call("ask.tries", { timeout: 1000 })
    await clock.advance(5 * MINUTE)
    await clock.advance(900)
    expect(await running).toBe("nobody")
    expect(done).toEqual(["TIMEOUT"])
  })

  test("has its limit apart from others of the same call", async () => {
    const { clock, answers, call } = scene()
    const running = call("ask.twice", { timeout: 1000 })
    await clock.advance(4 * MINUTE)
    answers[0]?.()
    await clock.advance(4 * MINUTE)
    answers[1]?.()
    await clock.advance(1)
    expect(await running).toBe("both")
  })

  test("ends with its registry", async () => {
    const { call, clock, registry } = scene()
    const running = call("ask.delete", { timeout: 1000 })
    await clock.advance(MINUTE)
    await registry.close()
    expect(await running).toBe("ABORTED")
    expect(clock.timers).toBe(0)
  })
})

describe("a question ends with its call:", () => {
  test.each([
    ["a deadline", { deadline: 50 }, "TIMEOUT"],
    ["an abort", { signal: AbortSignal.abort() }, "ABORTED"],
  ])("a later answer does not let the handler go on after %s", async (_what, end, code) => {
    for (const id of ["ask.delete", "ask.nested"]) {
      const { clock, done, answers, call } = scene()
      const leaving = new AbortController()
      const running = call(id, "signal" in end ? { signal: leaving.signal } : end)
      await clock.advance(20)
      if ("signal" in end) leaving.abort()
      await clock.advance(100)
      expect(await running).toBe(code)
      answers[0]?.()
      await clock.advance(MINUTE)
      expect(done).toEqual([])
    }
  })

  test("the handler that did not wait for the answer gets an error, which ends no process", async () => {
    const { clock, done, answers, call } = scene()
    expect(await call("ask.forgets")).toBe(1)
    await clock.advance(1)
    answers[0]?.()
    await clock.advance(1)
    expect(done).toEqual(["ABORTED"])
  })

  test("nobody is asked after the end", async () => {
    const { clock, requestInput, registry } = scene()
    let late: OperationContext["requestInput"] | undefined
    registry.registerAll([
      operation("ask.later", {
        handler: async (_input: never, context: OperationContext) => {
          late = context.requestInput
        },
      }),
    ])
    await registry.execute("ask.later", {}, { requestInput })
    await clock.advance(1)
    expect(await rejection(late?.(SURE) as Promise<unknown>)).toMatchObject({ code: "ABORTED" })
    expect(requestInput).not.toHaveBeenCalled()
  })
})
