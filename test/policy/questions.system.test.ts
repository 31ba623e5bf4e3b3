// Questions and progress of calls that other calls share, that are attempted several times, or that have a timeout.
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { createRegistry } from "../../src/index.ts"
import { silentLogger } from "../../src/testing.ts"
import type {
  AnyOperation,
  CallError,
  InputRequest,
  InputResponse,
  OperationContext,
  OperationRegistry,
  Resilience,
} from "../../src/index.ts"
import { openSurface, WAYS_TO_ASK } from "../support/surfaces.ts"
import { provideBrokers } from "../support/brokers.ts"
import { operation, rejection } from "../support/operations.ts"
import { VirtualClock } from "../support/virtual-clock.ts"

const BROKERS = await provideBrokers()
const NEED_BROKERS: ReadonlySet<string> = new Set(["NATS", "Redis"])

const SURE: InputRequest = { message: "Sure?", schema: { type: "object" } }
const YES: InputResponse = { action: "accept", content: {} }

/** What runs, and how often. */
const runs: string[] = []

function asking(
  id: string,
  resilience: Resilience,
  more: Parameters<typeof operation>[1] = {},
): AnyOperation {
  return operation(id, {
    type: "query",
    resilience,
    handler: async (_input: never, { progress, requestInput }: OperationContext) => {
      runs.push(id)
      progress({ progress: 1 })
      const { action } = await requestInput(SURE)
      progress({ progress: 2 })
      return action
    },
    ...more,
  })
}

const POLICIES: Readonly<Record<string, Resilience>> = {
  cache: { cache: { ttl: 60_000 } },
  key: { idempotency: {} },
  both: { cache: { ttl: 60_000 }, idempotency: {} },
  attempts: { timeout: { attempt: 100 }, retry: { attempts: 3, delay: 1 } },
  hedge: { hedge: { after: 50, max: 2 } },
}

describe("a call that asks its caller", () => {
  const ways = WAYS_TO_ASK.filter((name) => !NEED_BROKERS.has(name) || name in BROKERS)
  test.each(ways)("does so with every policy, and once: %s", async (name) => {
    const operations = Object.entries(POLICIES).map(([id, policy]) => asking(`ask.${id}`, policy))
    await using broker = await BROKERS[name]?.()
    const terms = { upstream: "", errors: undefined, operations, broker: broker?.url }
    await using surface = await openSurface(name, terms)
    for (const policy of Object.keys(POLICIES)) {
      runs.length = 0
      const steps: number[] = []
      const requestInput = vi.fn(async (): Promise<InputResponse> => {
        // Longer than the attempt and the hedge wait. Real time, because the other side has its own clock.
        await new Promise((resolve) => setTimeout(resolve, 150))
        return YES
      })
      const { data, code, message } = await surface.call(`ask.${policy}`, {
        idempotencyKey: `${name} ${policy}`,
        timeout: 20_000,
        progress: ({ progress }) => steps.push(progress),
        requestInput,
      })
      expect({ policy, data, code, message }).toEqual({ policy, data: "accept", message: "" })
      expect({ policy, runs, steps }).toEqual({ policy, runs: [`ask.${policy}`], steps: [1, 2] })
      expect(requestInput).toHaveBeenCalledTimes(1)
    }
  })
})

function registryOf(operations: AnyOperation[], clock?: VirtualClock): OperationRegistry {
  runs.length = 0
  const registry = createRegistry(operations, { logger: silentLogger, clock })
  onTestFinished(() => registry.close())
  return registry
}

/** A caller that answers when it is told to. */
function person() {
  let answer: () => void = () => undefined
  const answered = new Promise<InputResponse>((resolve) => (answer = () => resolve(YES)))
  return { requestInput: vi.fn(() => answered), answer: () => answer() }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe("shared work that asks", () => {
  test("asks the first caller alone, and its progress reaches all", async () => {
    const registry = registryOf([asking("ask.cache", { cache: { ttl: 60_000 } })])
    const [first, second] = [person(), person()]
    const progress = vi.fn()
    const calls = [first, second].map(({ requestInput }) =>
      registry.execute("ask.cache", {}, { requestInput, progress }),
    )
    await turn()
    first.answer()
    expect((await Promise.all(calls)).map(({ data }) => data)).toEqual(["accept", "accept"])
    expect(second.requestInput).not.toHaveBeenCalled()
    expect(progress).toHaveBeenCalledTimes(4)
    expect(runs).toHaveLength(1)
  })

  test("asks the first caller that can answer, and the next one if that leaves", async () => {
    const registry = registryOf([asking("ask.key", { idempotency: {} })])
    const [second, third] = [person(), person()]
    const leaving = new AbortController()
    const options = { idempotencyKey: "k" }
    const first = registry.execute("ask.key", {}, options)
    const left = registry.execute(
      "ask.key",
      {},
      { ...options, requestInput: second.requestInput, signal: leaving.signal },
    )
    const last = registry.execute("ask.key", {}, { ...options, requestInput: third.requestInput })
    await turn()
    expect(second.requestInput).toHaveBeenCalledTimes(1)
    leaving.abort()
    expect(await rejection(left)).toMatchObject({ code: "ABORTED" })
    await turn()
    third.answer()
    expect((await first).data).toBe("accept")
    expect((await last).data).toBe("accept")
    expect(runs).toHaveLength(1)
  })

  test("fails at once if no caller can answer", async () => {
    const registry = registryOf([asking("ask.cache", { cache: { ttl: 60_000 } })])
    expect(await rejection(registry.execute("ask.cache", {}))).toMatchObject({
      code: "UNAVAILABLE",
      details: { reason: "INPUT_UNAVAILABLE" },
    })
  })

  test("does not keep its result in the cache: another answer may lead to another result", async () => {
    const registry = registryOf([asking("ask.cache", { cache: { ttl: 60_000 } })])
    const answers: InputResponse[] = [{ action: "decline" }, YES]
    const requestInput = async (): Promise<InputResponse> => answers.shift() ?? YES
    const results = []
    for (let at = 0; at < 2; at++)
      results.push((await registry.execute("ask.cache", {}, { requestInput })).data)
    expect(results).toEqual(["decline", "accept"])
  })

  test("has its time left after the answer, and so have those who wait for it", async () => {
    const clock = new VirtualClock()
    const id = "ask.key"
    const slow = asking(
      id,
      { idempotency: {} },
      {
        handler: async (_input: never, { requestInput }: OperationContext) => {
          const { action } = await requestInput(SURE)
          await clock.sleep(900)
          return action
        },
      },
    )
    const { requestInput, answer } = person()
    const options = { idempotencyKey: "k", timeout: 1000, requestInput }
    const running = registryOf([slow], clock).execute(id, {}, options)
    await clock.advance(60_000)
    answer()
    await clock.advance(950)
    expect((await running).data).toBe("accept")
  })
})

describe("the time of an attempt", () => {
  const query = async (
    clock: VirtualClock,
    resilience: Resilience,
    before: number,
    after: number,
  ): Promise<{ asked: number; outcome: unknown }> => {
    const handler = async (_input: never, { requestInput }: OperationContext): Promise<string> => {
      await clock.sleep(before)
      const { action } = await requestInput(SURE)
      await clock.sleep(after)
      return action
    }
    const { requestInput, answer } = person()
    const registry = registryOf([asking("ask.a", resilience, { handler })], clock)
    const running = registry.execute("ask.a", {}, { requestInput }).then(
      ({ data }) => data,
      (error: unknown) => (error as CallError).code,
    )
    await clock.advance(before + 60_000)
    answer()
    await clock.advance(after + 1000)
    return { asked: requestInput.mock.calls.length, outcome: await running }
  }

  test("stops while a question is open, and goes on after it", async () => {
    const resilience = { timeout: { attempt: 50 } }
    const within = await query(new VirtualClock(), resilience, 20, 20)
    expect(within).toEqual({ asked: 1, outcome: "accept" })
    const beyond = await query(new VirtualClock(), resilience, 20, 40)
    expect(beyond).toEqual({ asked: 1, outcome: "TIMEOUT" })
  })

  test("starts no further attempt while a question is open, nor after it", async () => {
    const found = await query(new VirtualClock(), { hedge: { after: 50, max: 3 } }, 20, 500)
    expect(found).toEqual({ asked: 1, outcome: "accept" })
  })

  test("ends the other attempts when one asks: people are asked once", async () => {
    const found = await query(new VirtualClock(), { hedge: { after: 50, max: 3 } }, 120, 20)
    expect(found).toEqual({ asked: 1, outcome: "accept" })
  })
})
