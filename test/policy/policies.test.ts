import { describe, expect, test } from "vitest"
import { CallError, isCallError } from "../../src/index.ts"
import type { OperationContext, Resilience, ResponseEnvelope } from "../../src/index.ts"
import { operation, rejection } from "../support/operations.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import { guarded, settle } from "./harness.ts"

const away = (more: object = {}): CallError => new CallError("UNAVAILABLE", "away", more)

/** A query whose runs end one after another as said; the last one is repeated. */
function scripted(
  script: readonly ((context: OperationContext) => unknown)[],
  parts: object = { type: "query" },
  clock = new VirtualClock(),
): { operation: ReturnType<typeof operation>; starts: number[]; clock: VirtualClock } {
  const starts: number[] = []
  const run = async (_input: unknown, context: OperationContext): Promise<unknown> => {
    const step = script[Math.min(starts.length, script.length - 1)]
    starts.push(clock.now())
    return await step?.(context)
  }
  return { operation: operation("api.get", { ...parts, handler: run }), starts, clock }
}

const fail = (error: Error) => (): never => {
  throw error
}

describe("retry", () => {
  test("repeats what is retryable with growing waits, and says how many attempts it took", async () => {
    const { operation: get, starts, clock } = scripted([fail(away()), fail(away()), () => "there"])
    await using it = guarded([get], { retry: { attempts: 3, delay: 100 } }, { clock })

    const outcome = await settle(clock, it.registry.execute("api.get"))

    expect(outcome).toMatchObject({ value: { data: "there", meta: { attempts: 3 } } })
    expect(starts).toEqual([0, 50, 150])
  })

  test("waits as long as the server asks for, but not longer than it is allowed to", async () => {
    const {
      operation: get,
      starts,
      clock,
    } = scripted([fail(away({ retryAfterMs: 7_000 })), fail(away({ retryAfterMs: 40_000 }))])
    await using it = guarded([get], { retry: {} }, { clock })

    const calling = it.registry.execute("api.get", undefined, { timeout: 100_000 })
    const error = await settle(clock, calling)

    expect(starts).toEqual([0, 7_000])
    expect(error).toMatchObject({ reason: { code: "UNAVAILABLE", attempts: 2 } })
  })

  test("fails at once if the wait would exceed the deadline", async () => {
    const { operation: get, clock, starts } = scripted([fail(away({ retryAfterMs: 5_000 }))])
    await using it = guarded([get], { retry: {} }, { clock })

    const error = await rejection(it.registry.execute("api.get", undefined, { timeout: 4_000 }))

    expect([clock.now(), starts.length, isCallError(error, "UNAVAILABLE")]).toEqual([0, 1, true])
  })

  test("does not repeat what may have had an effect, a mutation's unknown failure, a declared error", async () => {
    for (const error of [
      new Error("?"),
      new CallError("WORKER_LOST", "lost"),
      new CallError("MINE", "no"),
    ]) {
      const { operation: get, starts, clock } = scripted([fail(error)], { type: "mutation" })
      await using it = guarded([get], { retry: {} }, { clock })
      await settle(clock, it.registry.execute("api.get"))
      expect(starts).toEqual([0])
    }
  })

  test("does not repeat what someone further in has repeated, nor an input that can be read only once", async () => {
    const tired = scripted([fail(away({ attempts: 3 }))])
    await using one = guarded([tired.operation], { retry: {} }, { clock: tired.clock })
    await settle(tired.clock, one.registry.execute("api.get"))
    expect(tired.starts).toEqual([0])

    const stream = scripted([fail(away())])
    await using two = guarded([stream.operation], { retry: {} }, { clock: stream.clock })
    await settle(stream.clock, two.registry.execute("api.get", { file: new ReadableStream() }))
    expect(stream.starts).toEqual([0])
  })

  test("lets a caller have fewer attempts, and no more", async () => {
    for (const [wish, expected] of [
      [false, 1],
      [{ attempts: 2 }, 2],
      [{ attempts: 50 }, 3],
    ] as const) {
      const { operation: get, starts, clock } = scripted([fail(away())])
      await using it = guarded([get], { retry: { attempts: 3 } }, { clock })
      await settle(clock, it.registry.execute("api.get", undefined, { policy: { retry: wish } }))
      expect(starts.length).toBe(expected)
    }
  })

  test("in three layers of three attempts makes three requests, not 27", async () => {
    const { operation: get, starts, clock } = scripted([fail(away())])
    const through = (id: string, to: string): ReturnType<typeof operation> =>
      operation(id, {
        type: "query",
        handler: async (_input: unknown, context: OperationContext) =>
          (await context.call(to)).data,
      })
    const operations = [get, through("b.get", "api.get"), through("c.get", "b.get")]
    await using it = guarded(operations, { retry: { attempts: 3 } }, { clock })

    const error = await settle(clock, it.registry.execute("c.get"))

    expect(starts.length).toBe(3)
    expect(error).toMatchObject({ reason: { code: "UNAVAILABLE", attempts: 3 } })
  })

  test("does not hide with its last error that an earlier attempt may have had its effect", async () => {
    const hang = ({ signal }: OperationContext): Promise<never> =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error))
      })
    const { operation: get, clock } = scripted([hang, fail(away())])
    await using it = guarded(
      [get],
      { retry: { attempts: 2 }, timeout: { attempt: 100 } },
      { clock },
    )

    const error = await settle(clock, it.registry.execute("api.get"))

    expect(error).toMatchObject({
      reason: { code: "UNAVAILABLE", attempts: 2, mayHaveExecuted: true },
    })
  })

  test("stops when the budget of the source is used up, and earns from successes", async () => {
    let isUp = false
    let starts = 0
    const get = operation("api.get", {
      type: "query",
      handler: async () => {
        starts++
        if (!isUp) throw away()
        return "there"
      },
    })
    await using it = guarded([get], { retry: { attempts: 3, delay: 0 } })
    const call = (): Promise<unknown> => settle(it.clock, it.registry.execute("api.get"), 10)
    for (let calls = 0; calls < 100; calls++) await call()
    expect(starts).toBe(100 + 100)
    expect(it.policies.state().budgets).toEqual([{ source: "api", left: 0, denied: 50 }])
    isUp = true
    for (let calls = 0; calls < 20; calls++) await call()
    isUp = false
    starts = 0
    for (let calls = 0; calls < 10; calls++) await call()
    expect(starts).toBe(12)
  })
})

describe("the attempt timeout", () => {
  test("ends an attempt with TIMEOUT and aborts its handler, while the call continues", async () => {
    const signals: AbortSignal[] = []
    const hang = ({ signal }: OperationContext): Promise<never> => {
      signals.push(signal)
      return new Promise(() => {})
    }
    const { operation: get, starts, clock } = scripted([hang, () => "there"])
    await using it = guarded([get], { retry: { delay: 0 }, timeout: { attempt: 500 } }, { clock })

    const outcome = await settle(clock, it.registry.execute("api.get"))

    expect(outcome).toMatchObject({ value: { data: "there" } })
    expect([starts, signals[0]?.aborted]).toEqual([[0, 500], true])
  })

  test("of a mutation is not repeatable, and says how long the attempt had", async () => {
    const { operation: get, clock } = scripted([() => new Promise(() => {})], { type: "mutation" })
    await using it = guarded([get], { retry: {}, timeout: { attempt: 500 } }, { clock })

    const outcome = await settle(clock, it.registry.execute("api.get"))

    expect(outcome).toMatchObject({
      reason: {
        code: "TIMEOUT",
        retryable: false,
        mayHaveExecuted: true,
        details: { attemptTimeout: 500 },
      },
    })
  })
})

describe("the breaker", () => {
  const trip = { breaker: { minimumCalls: 5, windowMs: 1_000, openMs: 1_000, probes: 2 } }

  test("opens, says for how long, lets its probes through, closes", async () => {
    let isUp = false
    let running = 0
    const release: (() => void)[] = []
    const get = operation("api.get", {
      type: "query",
      handler: async () => {
        running++
        if (!isUp) throw away()
        await new Promise<void>((resolve) => release.push(resolve))
      },
    })
    await using it = guarded([get], trip)
    for (let calls = 0; calls < 5; calls++) await rejection(it.registry.execute("api.get"))

    const refused = await rejection(it.registry.execute("api.get"))

    expect(refused).toMatchObject({
      code: "CIRCUIT_OPEN",
      retryable: true,
      mayHaveExecuted: false,
      retryAfterMs: 1_000,
      details: { breaker: 'source "api"', lastCode: "UNAVAILABLE" },
    })
    isUp = true
    running = 0
    await it.clock.advance(1_000)
    const calls = Array.from({ length: 1_000 }, () => it.registry.execute("api.get"))
    const outcomes = Promise.allSettled(calls)
    await it.clock.advance(0)
    expect(running).toBe(2)
    expect(it.policies.state().breakers).toMatchObject([{ state: "half-open" }])
    for (const free of release) free()
    const codes = (await outcomes).map((one) =>
      one.status === "rejected" ? (one.reason as CallError).code : "fine",
    )
    expect(codes.filter((code) => code === "fine").length).toBe(2)
    expect(codes.filter((code) => code === "CIRCUIT_OPEN").length).toBe(998)
    expect(it.policies.state().breakers).toMatchObject([{ state: "closed" }])
  })

  test("in an outage of a minute with 1,000 calls a second makes one probe per rest, which doubles", async () => {
    const starts: number[] = []
    const clock = new VirtualClock()
    const get = operation("api.get", {
      type: "query",
      handler: async () => {
        starts.push(clock.now())
        throw away()
      },
    })
    await using it = guarded([get], { breaker: { openMs: 1_000 } }, { clock })
    for (let time = 0; time < 60_000; time++) {
      void it.registry.execute("api.get").catch(() => undefined)
      if (time % 10 === 9) await clock.advance(10)
    }
    // 20 open it; then after 1, 2, 4, 8, 10, 10, … seconds.
    const probes = starts.slice(20)
    expect(probes.length).toBeLessThanOrEqual(8)
    expect(probes.length).toBeGreaterThanOrEqual(6)
  })

  test("counts neither mistakes of callers, nor declared errors, nor refusals of other policies", async () => {
    const mistakes = [
      new CallError("VALIDATION_ERROR", "no"),
      new CallError("MINE", "declared"),
      new CallError("EXECUTION_ERROR", "404", { details: { statusCode: 404 } }),
      new CallError("EXECUTION_ERROR", "429", { details: { statusCode: 429 } }),
    ]
    for (const error of mistakes) {
      const { operation: get, clock } = scripted([fail(error)])
      await using it = guarded([get], trip, { clock })
      for (let calls = 0; calls < 20; calls++) await rejection(it.registry.execute("api.get"))
      expect(it.policies.state().breakers).toMatchObject([{ state: "closed" }])
    }
    const { operation: get, clock } = scripted([() => 1])
    await using it = guarded([get], { ...trip, rateLimit: { perSecond: 1, burst: 1 } }, { clock })
    for (let calls = 0; calls < 20; calls++)
      await it.registry.execute("api.get").catch(() => undefined)
    expect(it.policies.state().breakers).toMatchObject([{ state: "closed" }])
  })

  test("does not count that a policy of a nested call refused it", async () => {
    const inner = operation("api.inner", { type: "query", handler: () => new Promise(() => {}) })
    const outer = operation("api.outer", {
      type: "query",
      handler: (_input: unknown, context: OperationContext) => context.call("api.inner", {}),
    })
    const policies = { breaker: { minimumCalls: 2 }, concurrency: { max: 1 } }
    await using it = guarded([inner, outer], policies, { isImported: false })
    void it.registry.execute("api.inner", {}).catch(() => undefined)
    for (let calls = 0; calls < 5; calls++) {
      expect(await rejection(it.registry.execute("api.outer", {}))).toMatchObject({
        code: "OVERLOADED",
      })
    }
    expect(it.policies.state().breakers.map(({ state }) => state)).toEqual(["closed", "closed"])
  })

  test("gets its probe back when the caller leaves, and when the handler never ends", async () => {
    const { operation: get, clock } = scripted([
      ...Array.from({ length: 5 }, () => fail(away())),
      () => new Promise(() => {}),
      () => "there",
    ])
    const policy = { breaker: { ...trip.breaker, probes: 1 } }
    await using it = guarded([get], policy, { clock })
    for (let calls = 0; calls < 5; calls++) await rejection(it.registry.execute("api.get"))
    await clock.advance(1_000)
    const leaving = new AbortController()
    const probe = rejection(it.registry.execute("api.get", undefined, { signal: leaving.signal }))
    await clock.advance(10)
    expect(await rejection(it.registry.execute("api.get"))).toMatchObject({ code: "CIRCUIT_OPEN" })
    leaving.abort()
    expect(await probe).toMatchObject({ code: "ABORTED" })
    expect(await it.registry.execute("api.get")).toMatchObject({ data: "there" })
    expect(it.policies.state().breakers).toMatchObject([{ state: "closed" }])
  })

  test.each([
    [0, "RATE_LIMITED"],
    [5_000, "ABORTED"],
  ])(
    "gets its probe back when a limit further in, with a wait of %i ms, does not let it through",
    async (wait, code) => {
      const { operation: get, clock } = scripted([fail(away()), () => "there"])
      const rateLimit = { perSecond: 1, burst: 1, maxWaitMs: wait }
      const policies = { breaker: { minimumCalls: 1, openMs: 500 }, rateLimit }
      await using it = guarded([get], policies, { clock })
      await rejection(it.registry.execute("api.get"))
      await clock.advance(500)

      const leaving = new AbortController()
      const probe = rejection(it.registry.execute("api.get", undefined, { signal: leaving.signal }))
      await clock.advance(10)
      leaving.abort()
      await clock.advance(1)

      expect(await probe).toMatchObject({ code })
      expect(it.policies.state().breakers).toMatchObject([{ state: "half-open", probing: 0 }])
      await clock.advance(1_000)
      expect(await it.registry.execute("api.get")).toMatchObject({ data: "there" })
    },
  )

  test("is shared by the operations of a source, and is for one operation where that is said", async () => {
    const broken = operation("api.get", { type: "query", handler: fail(away()) })
    const other = operation("api.list", { type: "query", handler: () => [] })
    await using shared = guarded([broken, other], trip)
    for (let calls = 0; calls < 5; calls++) await rejection(shared.registry.execute("api.get"))
    expect(await rejection(shared.registry.execute("api.list"))).toMatchObject({
      code: "CIRCUIT_OPEN",
    })

    await using single = guarded([broken, other], {
      breaker: { ...trip.breaker, scope: "operation" },
    })
    for (let calls = 0; calls < 5; calls++) await rejection(single.registry.execute("api.get"))
    expect(await single.registry.execute("api.list")).toMatchObject({ data: [] })
    const { breakers, operations } = single.policies.state()
    expect(breakers).toMatchObject([
      { operationId: "api.get", state: "open" },
      { operationId: "api.list", state: "closed" },
    ])
    expect(operations.map(({ breaker }) => breaker)).toEqual(breakers)
  })
})

describe("the concurrency limit", () => {
  test("runs a limited number of calls, queues others, and refuses the rest with OVERLOADED", async () => {
    const order: unknown[] = []
    const clock = new VirtualClock()
    const get = operation("api.get", {
      type: "query",
      handler: async (input: unknown) => {
        order.push(input)
        await clock.sleep(100)
        return input
      },
    })
    await using it = guarded(
      [get],
      { concurrency: { max: 2, maxQueue: 2, maxWaitMs: 150 } },
      { clock },
    )
    const calls = [1, 2, 3, 4, 5].map((input) => it.registry.execute("api.get", input))
    const outcomes = Promise.allSettled(calls)
    expect(it.policies.state().operations).toMatchObject([
      { concurrency: { running: 2, waiting: 2 } },
    ])
    await clock.advance(1_000)

    expect(order).toEqual([1, 2, 3, 4])
    expect((await outcomes)[4]).toMatchObject({
      reason: {
        code: "OVERLOADED",
        retryable: true,
        mayHaveExecuted: false,
        details: { running: 2, waiting: 2 },
      },
    })
    expect(it.policies.state().operations).toMatchObject([
      { concurrency: { running: 0, waiting: 0 } },
    ])
  })

  test("lets no call wait longer than allowed, than its deadline, or than its caller", async () => {
    const clock = new VirtualClock()
    const get = operation("api.get", { type: "query", handler: () => clock.sleep(10_000) })
    await using it = guarded(
      [get],
      { concurrency: { max: 1, maxQueue: 9, maxWaitMs: 500 } },
      { clock, timeout: 20_000 },
    )
    const leaving = new AbortController()
    const calls = [
      it.registry.execute("api.get"),
      it.registry.execute("api.get"),
      it.registry.execute("api.get", undefined, { timeout: 100 }),
      it.registry.execute("api.get", undefined, { signal: leaving.signal }),
    ]
    const codes = Promise.all(
      calls.slice(1).map(async (call) => ((await rejection(call)) as CallError).code),
    )
    await clock.advance(200)
    leaving.abort()
    await clock.advance(1_000)

    expect(await codes).toEqual(["OVERLOADED", "TIMEOUT", "ABORTED"])
    expect(it.policies.state().operations).toMatchObject([
      { concurrency: { running: 1, waiting: 0 } },
    ])
    await clock.advance(20_000)
    await Promise.allSettled(calls)
  })
})

describe("the rate limit", () => {
  test("lets a burst through, then a number per second, and reports when there is a token", async () => {
    const { operation: get, clock } = scripted([() => "there"])
    await using it = guarded([get], { rateLimit: { perSecond: 10, burst: 3 } }, { clock })
    for (let calls = 0; calls < 3; calls++) await it.registry.execute("api.get")

    expect(await rejection(it.registry.execute("api.get"))).toMatchObject({
      code: "RATE_LIMITED",
      retryable: true,
      mayHaveExecuted: false,
      retryAfterMs: 100,
      details: { limit: 10, per: "registry" },
    })
    await clock.advance(100)
    await it.registry.execute("api.get")
    expect(it.policies.state().operations).toMatchObject([{ rateLimit: { refused: 1 } }])
  })

  test("counts each identity by itself, anonymous callers together, or what a function says", async () => {
    const { operation: get, clock } = scripted([() => "there"])
    await using it = guarded([get], { rateLimit: { perSecond: 1, per: "identity" } }, { clock })
    const as = (id: string): object => ({ identity: { id, scopes: [] } })
    await it.registry.execute("api.get", undefined, as("ada"))
    await it.registry.execute("api.get", undefined, as("anonymous"))
    await it.registry.execute("api.get")
    await rejection(it.registry.execute("api.get", undefined, as("ada")))
    await rejection(it.registry.execute("api.get"))

    const per = ({ input }: { input: unknown }): string => String(input)
    await using other = guarded([get], { rateLimit: { perSecond: 1, per } }, { clock })
    await other.registry.execute("api.get", "x")
    await other.registry.execute("api.get", "y")
    expect(await rejection(other.registry.execute("api.get", "x"))).toMatchObject({
      details: { per: "key" },
    })
  })

  test("lets calls wait for their turn, in order, as long as they may", async () => {
    const { operation: get, clock, starts } = scripted([() => "there"])
    await using it = guarded(
      [get],
      { rateLimit: { perSecond: 10, burst: 1, maxWaitMs: 250 } },
      { clock },
    )
    const calls = Array.from({ length: 5 }, () => it.registry.execute("api.get"))
    const outcomes = Promise.allSettled(calls)
    await clock.advance(1_000)

    expect(starts).toEqual([0, 100, 200])
    expect((await outcomes).map(({ status }) => status)).toEqual([
      ...["fulfilled", "fulfilled", "fulfilled"],
      ...["rejected", "rejected"],
    ])
  })

  test("is held by a 429 of the called system until it wants to be called again", async () => {
    const busy = new CallError("EXECUTION_ERROR", "429", {
      details: { statusCode: 429 },
      retryAfterMs: 3_000,
      retryable: true,
    })
    const { operation: get, clock, starts } = scripted([fail(busy), () => "there"])
    await using it = guarded([get], { rateLimit: { perSecond: 100 } }, { clock })
    await rejection(it.registry.execute("api.get"))

    expect(await rejection(it.registry.execute("api.get"))).toMatchObject({
      code: "RATE_LIMITED",
      retryAfterMs: 3_000,
    })
    await clock.advance(3_000)
    await it.registry.execute("api.get")
    expect(starts).toEqual([0, 3_000])
  })

  test("keeps 10,000 buckets at most, however many identities there are", async () => {
    const { TokenBuckets } = await import("../../src/policy/token-buckets.ts")
    const buckets = new TokenBuckets(1, 1)
    for (let id = 0; id < 50_000; id++) buckets.take(`id${id}`, 0, 0)
    expect(buckets.size).toBe(10_000)
    expect([buckets.take("id49999", 0, 0), buckets.take("id0", 0, 0)]).toEqual([-1_000, 0])
  })
})

describe("hedging", () => {
  test.each<[string, Resilience]>([
    ["of a call", {}],
    ["of work that calls share", { cache: { ttl: 1_000 } }],
  ])(
    "starts a second attempt %s when the first one takes long, and aborts the slower one",
    async (_name, more) => {
      const signals: AbortSignal[] = []
      const clock = new VirtualClock()
      const get = operation("api.get", {
        type: "query",
        handler: async (_input: unknown, { signal }: OperationContext) => {
          const number = signals.push(signal)
          await clock.sleep(number === 1 ? 10_000 : 50)
          return number
        },
      })
      await using it = guarded([get], { hedge: { after: 200 }, ...more }, { clock })
      const call = it.registry.execute("api.get")
      const done = call.then(() => clock.now())
      await clock.advance(1_000)

      expect(await call).toMatchObject({ data: 2, meta: { attempts: 2 } })
      expect([await done, signals.map(({ aborted }) => aborted)]).toEqual([250, [true, false]])
      // The registry's own timer for deadlines fires once more.
      await clock.advance(60_000)
      expect(clock.timers).toBe(0)
    },
  )

  test("waits for the second attempt when the first one fails", async () => {
    const clock = new VirtualClock()
    const { operation: get } = scripted(
      [
        () => clock.sleep(150).then(() => Promise.reject(away())),
        () => clock.sleep(300).then(() => "there"),
      ],
      undefined,
      clock,
    )
    await using it = guarded([get], { hedge: { after: 100 } }, { clock })
    expect(await settle(clock, it.registry.execute("api.get"), 2_000)).toMatchObject({
      value: { data: "there", meta: { attempts: 2 } },
    })
  })

  test("pays for its attempts with the budget of the source", async () => {
    const clock = new VirtualClock()
    const { operation: get, starts } = scripted(
      [() => clock.sleep(20).then(() => Promise.reject(away()))],
      undefined,
      clock,
    )
    await using it = guarded([get], { hedge: { after: 10 } }, { clock })
    for (let calls = 0; calls < 120; calls++) {
      await settle(clock, it.registry.execute("api.get"), 100)
    }
    expect(starts.length).toBe(120 + 100)
    expect(it.policies.state().budgets).toEqual([{ source: "api", left: 0, denied: 20 }])
  })

  test("knows the p95 after twenty calls", async () => {
    let duration = 10
    let starts = 0
    const clock = new VirtualClock()
    const get = operation("api.get", {
      type: "query",
      handler: async () => {
        starts++
        await clock.sleep(starts === 21 ? 1_000 : duration)
      },
    })
    await using it = guarded([get], { hedge: {} }, { clock })
    for (let calls = 0; calls < 20; calls++) {
      duration = 10 + calls
      await settle(clock, it.registry.execute("api.get"), 100)
    }
    const call = it.registry.execute("api.get")
    const done = call.then(() => clock.now())
    const before = clock.now()
    await clock.advance(2_000)
    await call
    expect((await done) - before).toBe(28 + 29)
    expect(starts).toBe(22)
  })

  test("fails only when all attempts have failed, and not at all for a caller who does not want it", async () => {
    const clock = new VirtualClock()
    let starts = 0
    const get = operation("api.get", {
      type: "query",
      handler: async () => {
        starts++
        await clock.sleep(300)
        throw away({ mayHaveExecuted: starts === 1 })
      },
    })
    await using it = guarded([get], { hedge: { after: 100 } }, { clock })
    const error = await settle(clock, it.registry.execute("api.get"), 2_000)
    expect([starts, error]).toMatchObject([2, { reason: { code: "UNAVAILABLE", attempts: 2 } }])
    await settle(
      clock,
      it.registry.execute("api.get", undefined, { policy: { hedge: false } }),
      2_000,
    )
    expect(starts).toBe(3)
  })
})

describe("the fallback", () => {
  test("returns data or an envelope when everything else failed, and marks it", async () => {
    const { operation: get, clock } = scripted([fail(away())])
    const fallback = (error: CallError): unknown => ({ instead: error.code })
    await using it = guarded([get], { retry: { attempts: 2 }, fallback }, { clock })

    const outcome = await settle(clock, it.registry.execute("api.get"))

    expect(outcome).toMatchObject({
      value: { data: { instead: "UNAVAILABLE" }, meta: { fallback: true, operationId: "api.get" } },
    })
  })

  test("is not for mistakes of the caller, and its own error is the outcome", async () => {
    const wrong = scripted([fail(new CallError("VALIDATION_ERROR", "no"))])
    await using one = guarded([wrong.operation], { fallback: () => "instead" })
    expect(await rejection(one.registry.execute("api.get"))).toMatchObject({
      code: "VALIDATION_ERROR",
    })

    const { operation: get } = scripted([fail(away())])
    const fallback = fail(new CallError("NOTHING_THERE", "nothing"))
    await using two = guarded([get], { fallback })
    expect(await rejection(two.registry.execute("api.get"))).toMatchObject({
      code: "NOTHING_THERE",
    })
  })
})

describe("the preset", () => {
  test("is retry, breaker, timeout and concurrency for another system, and only the limits in this process", async () => {
    for (const [isImported, expected] of [
      [true, 3],
      [false, 1],
    ] as const) {
      const { operation: get, clock, starts } = scripted([fail(away())])
      await using it = guarded([get], "standard", { clock, isImported })
      await settle(clock, it.registry.execute("api.get"))
      expect(starts.length).toBe(expected)
      expect(it.policies.state().operations).toMatchObject([{ concurrency: { running: 0 } }])
      expect(it.policies.state().breakers.length).toBe(isImported ? 1 : 0)
    }
  })
})

describe("streams", () => {
  const numbers = (
    script: (attempt: number) => AsyncGenerator<number>,
  ): ReturnType<typeof operation> => {
    let attempts = 0
    return operation("api.watch", {
      type: "subscription",
      annotations: { idempotent: true },
      handler: () => script(++attempts),
    })
  }

  async function read(stream: AsyncIterable<ResponseEnvelope>): Promise<unknown[]> {
    const items: unknown[] = []
    try {
      for await (const { data } of stream) items.push(data)
    } catch (error) {
      items.push((error as CallError).code)
    }
    return items
  }

  test("are opened again after a failure before the first item, and never after it", async () => {
    const early = numbers(async function* (attempt) {
      if (attempt < 3) throw away()
      yield attempt
    })
    await using one = guarded([early], { retry: { delay: 10 } })
    expect(await settle(one.clock, read(one.registry.subscribe("api.watch")))).toMatchObject({
      value: [3],
    })

    const late = numbers(async function* (attempt) {
      yield attempt
      throw away()
    })
    await using two = guarded([late], { retry: { delay: 10 } })
    expect(await settle(two.clock, read(two.registry.subscribe("api.watch")))).toMatchObject({
      value: [1, "UNAVAILABLE"],
    })
  })

  test("have a limit for the time to their first item, and none after it", async () => {
    const clock = new VirtualClock()
    const slow = numbers(async function* (attempt) {
      if (attempt === 1) await clock.sleep(5_000)
      yield attempt
      await clock.sleep(5_000)
      yield attempt
    })
    await using it = guarded(
      [slow],
      { retry: { delay: 0 }, timeout: { attempt: 1_000 } },
      { clock },
    )
    expect(await settle(clock, read(it.registry.subscribe("api.watch")))).toMatchObject({
      value: [2, 2],
    })
    expect(clock.timers).toBe(0)
  })

  test("hold a place until their handler has ended, also after their reader has left", async () => {
    const clock = new VirtualClock()
    let end = (): void => undefined
    const endless = numbers(async function* () {
      yield 1
      await new Promise<void>((resolve) => (end = resolve))
    })
    await using it = guarded(
      [endless],
      { concurrency: { max: 1, maxQueue: 0 }, breaker: {} },
      { clock },
    )
    const running = (): unknown => it.policies.state().operations[0]?.concurrency?.running
    const stream = it.registry.subscribe("api.watch")[Symbol.asyncIterator]()
    await stream.next()
    expect(running()).toBe(1)
    expect(await read(it.registry.subscribe("api.watch"))).toEqual(["OVERLOADED"])
    const waiting = stream.next()
    await stream.return?.()
    await waiting
    expect(it.policies.state().operations).toMatchObject([
      { concurrency: { running: 1, abandoned: 1 } },
    ])
    expect(await read(it.registry.subscribe("api.watch"))).toEqual(["OVERLOADED"])
    end()
    await clock.advance(1)
    expect(running()).toBe(0)
    const again = it.registry.subscribe("api.watch")[Symbol.asyncIterator]()
    expect(await again.next()).toMatchObject({ value: { data: 1 } })
    await again.return?.()
    expect(running()).toBe(0)
    expect(it.policies.state().breakers).toMatchObject([{ state: "closed" }])
  })

  test("count for the breaker when they fail to open and when they break off, not when a reader leaves", async () => {
    const clock = new VirtualClock()
    const breaking = numbers(async function* () {
      yield 1
      throw away()
    })
    await using it = guarded(
      [breaking],
      { breaker: { minimumCalls: 4, failureRate: 0.5 } },
      { clock },
    )
    await read(it.registry.subscribe("api.watch"))
    await read(it.registry.subscribe("api.watch"))
    expect(await read(it.registry.subscribe("api.watch"))).toEqual(["CIRCUIT_OPEN"])
  })

  test("end with their call while they wait for a place, and leave nothing behind", async () => {
    const clock = new VirtualClock()
    let end = (): void => undefined
    const endless = numbers(async function* () {
      await new Promise<void>((resolve) => (end = resolve))
      yield 1
    })
    await using it = guarded([endless], { concurrency: { max: 1, maxQueue: 5 } }, { clock })
    const first = it.registry.subscribe("api.watch")[Symbol.asyncIterator]()
    const one = first.next()
    await clock.advance(1)
    const waiting = it.registry.subscribe("api.watch", undefined, { timeout: 100 })
    const second = waiting[Symbol.asyncIterator]()
    const two = second.next().catch((error: CallError) => error.code)
    await clock.advance(200)
    expect(await two).toBe("TIMEOUT")
    expect(it.policies.state().operations).toMatchObject([
      { concurrency: { running: 1, waiting: 0 } },
    ])
    await first.return?.()
    await one
    end()
    await clock.advance(1)
    expect(it.policies.state().operations).toMatchObject([
      { concurrency: { running: 0, waiting: 0 } },
    ])
  })
})
