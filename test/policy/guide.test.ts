// What docs/guides/resilience.md says about policies together, their defaults and their limits.
import { describe, expect, test } from "vitest"
import { CallError, createRegistry, fromCall, serveCalls } from "../../src/index.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import type { CallOptions, InputResponse, OperationContext, Resilience } from "../../src/index.ts"
import { compileRules } from "../../src/engine/policies.ts"
import { deferred } from "../../src/internal/wait.ts"
import { operation, rejection } from "../support/operations.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import { guarded, settle } from "./harness.ts"
import type { Guarded } from "./harness.ts"

const away = (): never => {
  throw new CallError("UNAVAILABLE", "away")
}

type Run = (context: OperationContext, run: number, clock: VirtualClock) => unknown

interface Scene extends Guarded {
  readonly runs: () => number
  /** Calls, lets time pass, and returns the data or the code of the error. */
  readonly call: (options?: CallOptions) => Promise<unknown>
}

function scene(run: Run, resilience: Resilience, parts: object = { type: "query" }): Scene {
  const clock = new VirtualClock()
  let runs = 0
  const get = operation("api.get", {
    ...parts,
    handler: async (_input: unknown, context: OperationContext) =>
      await run(context, ++runs, clock),
  })
  const it = guarded([get], resilience, { clock })
  const call = async (options?: CallOptions): Promise<unknown> => {
    const outcome = await settle(clock, it.registry.execute("api.get", {}, options), 500)
    return outcome.status === "fulfilled" ? outcome.value.data : (outcome.reason as CallError).code
  }
  return { ...it, call, runs: () => runs, [Symbol.asyncDispose]: () => it[Symbol.asyncDispose]() }
}

const KEYED = { idempotencyKey: "k" }
const TWICE = [undefined, undefined]
const LIMIT = { perSecond: 0.001, burst: 1 }

interface Row {
  readonly policies: Resilience
  readonly run: Run
  readonly parts?: object
  /** The options of each call. */
  readonly calls: readonly (CallOptions | undefined)[]
  readonly outcomes: readonly unknown[]
  readonly runs: number
}

/** What would be different in any other order of the two. */
const ORDER: Readonly<Record<string, Row>> = {
  "a fallback outside of idempotency: a replayed error has one, too": {
    policies: { fallback: () => "instead", idempotency: {} },
    run: () => {
      throw new Error("for good")
    },
    parts: { type: "mutation" },
    calls: [KEYED, KEYED],
    outcomes: ["instead", "instead"],
    runs: 1,
  },
  "a fallback outside of the cache: it is not kept": {
    policies: { fallback: () => "instead", cache: { ttl: 10_000 } },
    run: (_context, run) => (run === 1 ? away() : run),
    calls: TWICE,
    outcomes: ["instead", 2],
    runs: 2,
  },
  "idempotency outside of the cache: an outcome outlives a cached result": {
    policies: { idempotency: {}, cache: { ttl: 100 } },
    run: (_context, run) => run,
    calls: [KEYED, KEYED, undefined],
    outcomes: [1, 1, 2],
    runs: 2,
  },
  "the cache outside of the rate limit: a kept result takes no token": {
    policies: { cache: { ttl: 10_000 }, rateLimit: LIMIT },
    run: (_context, run) => run,
    calls: [undefined, undefined, { policy: { cache: "skip" } }],
    outcomes: [1, 1, "RATE_LIMITED"],
    runs: 1,
  },
  "the cache outside of retry: a failure is repeated before an old result is returned": {
    policies: { cache: { ttl: 1, staleIfError: 10_000 }, retry: { delay: 0 } },
    run: (_context, run) => (run === 1 ? run : away()),
    calls: TWICE,
    outcomes: [1, 1],
    runs: 4,
  },
  "retry outside of the breaker: the second failure opens it for the third attempt": {
    policies: { retry: { delay: 0, maxRetryAfter: 1 }, breaker: { minimumCalls: 2 } },
    run: away,
    calls: [undefined],
    outcomes: ["CIRCUIT_OPEN"],
    runs: 2,
  },
  "retry outside of hedging: each attempt is hedged": {
    policies: { retry: { attempts: 2, delay: 0 }, hedge: { after: 10 } },
    run: async (_context, _run, clock) => {
      await clock.sleep(20)
      away()
    },
    calls: [undefined],
    outcomes: ["UNAVAILABLE"],
    runs: 4,
  },
  "hedging outside of the rate limit: a further attempt takes a token": {
    policies: { hedge: { after: 10 }, rateLimit: LIMIT },
    run: async (_context, run, clock) => {
      await clock.sleep(20)
      return run
    },
    calls: TWICE,
    outcomes: [1, "RATE_LIMITED"],
    runs: 1,
  },
  "the breaker outside of the rate limit: a call that it refuses takes no token": {
    policies: {
      breaker: { minimumCalls: 1, openMs: 1_200 },
      rateLimit: { perSecond: 0.001, burst: 2 },
    },
    run: (_context, run) => (run === 1 ? away() : run),
    calls: [undefined, undefined, undefined, undefined],
    outcomes: ["UNAVAILABLE", "CIRCUIT_OPEN", "CIRCUIT_OPEN", 2],
    runs: 2,
  },
}

describe("of two policies, the outer one is", () => {
  test.each(Object.entries(ORDER))(
    "%s",
    async (_name, { policies, run, parts, calls, ...rest }) => {
      await using it = scene(run, policies, parts)
      const outcomes: unknown[] = []
      for (const options of calls) outcomes.push(await it.call(options))
      expect({ outcomes, runs: it.runs() }).toEqual(rest)
    },
  )

  test("the rate limit outside of concurrency: a call that waits for a slot has its token", async () => {
    const gate = deferred()
    await using it = scene(() => gate.promise.then(() => "done"), {
      rateLimit: { perSecond: 0.001, burst: 2 },
      concurrency: { max: 1, maxQueue: 9 },
    })
    const two = TWICE.map(() => it.registry.execute("api.get"))
    expect(await it.call()).toBe("RATE_LIMITED")
    expect(it.runs()).toBe(1)
    gate.resolve()
    expect(await Promise.all(two)).toMatchObject([{ data: "done" }, { data: "done" }])
  })

  test("concurrency outside of the timeout: the time of an attempt begins in its slot", async () => {
    await using it = scene((_context, run, clock) => clock.sleep(80).then(() => run), {
      concurrency: { max: 1, maxQueue: 1 },
      timeout: { attempt: 100 },
    })
    const first = it.registry.execute("api.get")
    expect(await it.call()).toBe(2)
    expect(await first).toMatchObject({ data: 1 })
  })
})

test("a policy that is not set is off", async () => {
  await using it = scene(() => away(), {})
  for (let call = 0; call < 50; call++) expect(await it.call(KEYED)).toBe("UNAVAILABLE")
  expect(it.runs()).toBe(50)
  expect(it.policies.state()).toEqual({
    ...{ breakers: [], budgets: [] },
    operations: [{ operationId: "api.get" }],
  })
})

describe("a breaker of which nothing is set", () => {
  const circuit = async (failures: number, successes: number, every = 0): Promise<string> => {
    const calls = failures + successes
    await using it = scene((_context, run) => (run > successes ? away() : run), { breaker: {} })
    for (let call = 0; call < calls; call++) {
      await it.registry.execute("api.get").catch(() => undefined)
      await it.clock.advance(every)
    }
    return it.policies.state().breakers[0]?.state ?? "none"
  }

  test.each([
    ["19 calls, which all fail", 19, 0, 0, "closed"],
    ["20 calls, which all fail", 20, 0, 0, "open"],
    ["20 calls, of which half fail", 10, 10, 0, "open"],
    ["21 calls, of which less than half fail", 10, 11, 0, "closed"],
    ["20 failures within 10 seconds", 20, 0, 400, "open"],
    ["20 failures within 20 seconds", 20, 0, 1_000, "closed"],
  ] as const)("is, after %s: %i failures, %i successes, every %i ms: %s", async (...row) => {
    const [, failures, successes, every, state] = row
    expect(await circuit(failures, successes, every)).toBe(state)
  })

  test("stays open for 5 seconds, twice as long after each failed probe, and for 50 at most", async () => {
    await using it = scene(away, { breaker: {} })
    for (let call = 0; call < 20; call++) await rejection(it.registry.execute("api.get"))
    const rests: (number | undefined)[] = []
    for (let probe = 0; probe < 6; probe++) {
      const refused = (await rejection(it.registry.execute("api.get"))) as CallError
      expect(refused.code).toBe("CIRCUIT_OPEN")
      const rest = refused.retryAfterMs ?? 0
      rests.push(rest)
      await it.clock.advance(rest - 1)
      expect(it.policies.state().breakers).toMatchObject([{ state: "open" }])
      await it.clock.advance(1)
      const probes = await Promise.allSettled([1, 2].map(() => it.registry.execute("api.get")))
      const codes = probes.map((one) => one.status === "rejected" && (one.reason as CallError).code)
      expect(codes).toEqual(["UNAVAILABLE", "CIRCUIT_OPEN"])
    }
    expect(rests).toEqual([5_000, 10_000, 20_000, 40_000, 50_000, 50_000])
  })
})

test.each<[string, Resilience]>([
  ["an open circuit", { breaker: { minimumCalls: 1, openMs: 300 } }],
  ["a rate limit", { rateLimit: { perSecond: 10, burst: 1 } }],
])("retry waits for %s, unless that takes longer than maxRetryAfter", async (_name, policies) => {
  const run: Run = (_context, count) => (count === 1 ? away() : count)
  const retry = { attempts: 3, delay: 0 }
  await using patient = scene(run, { ...policies, retry })
  expect(await patient.call()).toBe(2)
  await using hasty = scene(run, { ...policies, retry: { ...retry, maxRetryAfter: 50 } })
  expect(await hasty.call()).toMatch(/CIRCUIT_OPEN|RATE_LIMITED/)
  expect(hasty.runs()).toBe(1)
})

test("named metadata is not part of the key of a cache, unless vary is a function of it", async () => {
  const run: Run = ({ metadata }) => metadata?.["locale"]
  const inGerman = { metadata: { locale: "de" } }
  const inFrench = { metadata: { locale: "fr" } }
  await using plain = scene(run, { cache: { ttl: 10_000 } })
  expect([await plain.call(inGerman), await plain.call(inFrench)]).toEqual(["de", "de"])
  const vary = (call: { metadata?: Readonly<Record<string, unknown>> | undefined }): string =>
    String(call.metadata?.["locale"])
  await using varied = scene(run, { cache: { ttl: 10_000, vary } })
  expect([await varied.call(inGerman), await varied.call(inFrench)]).toEqual(["de", "fr"])
})

test("a key without the policy has no effect but to reach the handler", async () => {
  const run: Run = ({ idempotencyKey }, count) => [idempotencyKey, count]
  await using it = scene(run, {}, { type: "mutation" })
  expect([await it.call(KEYED), await it.call(KEYED)]).toEqual([
    [KEYED.idempotencyKey, 1],
    [KEYED.idempotencyKey, 2],
  ])
})

test("an outcome is kept for a day, for all anonymous callers together", async () => {
  await using it = scene((_context, run) => run, { idempotency: {} }, { type: "mutation" })
  expect([await it.call(KEYED), await it.call(KEYED)]).toEqual([1, 1])
  expect(await it.call({ ...KEYED, identity: { id: "ada", scopes: [] } })).toBe(2)
  await it.clock.advance(86_400_000 - 2_000)
  expect(await it.call(KEYED)).toBe(1)
  await it.clock.advance(1_000)
  expect(await it.call(KEYED)).toBe(3)
})

test("slots stay taken when policies change, unless the settings of concurrency do", async () => {
  const gate = deferred()
  let running = 0
  const get = operation("api.get", {
    type: "query",
    handler: async () => {
      running++
      await gate.promise
    },
  })
  const registry = createRegistry([get], { logger: silentLogger })
  const apply = (max: number, rest: Resilience): void =>
    registry.setPolicies(compileRules([{ match: "*", concurrency: { max }, ...rest }]))
  apply(1, {})
  const first = registry.execute("api.get", {})
  await expect.poll(() => running).toBe(1)
  apply(1, { retry: { attempts: 1 } })
  expect(await rejection(registry.execute("api.get", {}))).toMatchObject({ code: "OVERLOADED" })
  apply(2, { retry: { attempts: 1 } })
  const more = [1, 2].map(() => registry.execute("api.get", {}))
  await expect.poll(() => running).toBe(3)
  gate.resolve()
  await Promise.all([first, ...more])
  await registry.close()
})

test("an imported operation frees its slot when its request has ended here", async () => {
  let runs = 0
  const deaf = operation("api.get", { handler: () => new Promise(() => void runs++) })
  const registry = createRegistry([deaf], { logger: silentLogger })
  const [serving, calling] = createMemoryTransports()
  const server = serveCalls(registry, { transport: serving })
  const policies = [{ match: "*", concurrency: { max: 1 } }]
  const gateway = createRegistry([], { logger: silentLogger, policies })
  await fromCall(calling, { registry: gateway })
  for (const run of [1, 2]) {
    const call = gateway.execute("api.get", {}, { timeout: 20 })
    expect(await rejection(call)).toMatchObject({ code: "TIMEOUT" })
    expect(runs).toBe(run)
    const taken = (): unknown => gateway.policyState.operations[0]?.concurrency?.running
    await expect.poll(taken).toBe(0)
  }
  await Promise.all([gateway.close(), server.close(), registry.close()])
})

test("a failed attempt that is repeated asks again, and calls again what succeeded", async () => {
  let [asked, nested, runs] = [0, 0, 0]
  const registry = createRegistry(
    [
      operation("api.nested", { handler: () => void nested++ }),
      operation("api.outer", {
        annotations: { idempotent: true },
        resilience: { retry: { attempts: 2, delay: 0 } },
        handler: async (_input: unknown, context: OperationContext) => {
          await context.call("api.nested", {})
          await context.requestInput({ message: "Sure?", schema: { type: "object" } })
          if (++runs === 1) away()
        },
      }),
    ],
    { logger: silentLogger },
  )
  const requestInput = async (): Promise<InputResponse> => {
    asked++
    return await Promise.resolve({ action: "accept" })
  }
  await registry.execute("api.outer", {}, { requestInput })
  expect([asked, nested, runs]).toEqual([2, 2, 2])
  await registry.close()
})
