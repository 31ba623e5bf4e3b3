// Promises of single policies: fallbacks are checked, rules share a limit, options travel, streams are sent once.
import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { CallError, createRegistry, fromCall, serveCalls } from "../../src/index.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import type {
  AnyOperation,
  MiddlewareCall,
  OperationContext,
  PolicyRule,
  RateLimiter,
  Resilience,
} from "../../src/index.ts"
import { toFile } from "../../src/type.ts"
import { operation, rejection } from "../support/operations.ts"
import { VirtualClock } from "../support/virtual-clock.ts"
import { guarded, settle } from "./harness.ts"

const away = (): CallError => new CallError("UNAVAILABLE", "away", { retryable: true })

describe("the result of a fallback", () => {
  const failing = (result: unknown, output: "strict" | "warn"): AnyOperation =>
    operation("api.count", {
      type: "query",
      output,
      outputSchema: Type.Object({ n: Type.Integer() }, { additionalProperties: false }),
      resilience: { fallback: () => result },
      handler: () => Promise.reject(away()),
    })

  test("is refused like the result of a handler if it does not match its schema", async () => {
    const registry = createRegistry([failing({ n: "many" }, "strict")], { logger: silentLogger })
    expect(await rejection(registry.execute("api.count"))).toMatchObject({
      code: "OUTPUT_VALIDATION_ERROR",
    })
    await registry.close()
  })

  test("is normalized, and reported if it does not match", async () => {
    const warnings: string[] = []
    const registry = createRegistry([failing({ n: 1, extra: 1 }, "strict")], {
      logger: silentLogger,
    })
    expect(await registry.execute("api.count")).toMatchObject({
      data: { n: 1 },
      meta: { fallback: true, operationId: "api.count" },
    })
    expect(Object.keys((await registry.execute("api.count")).data as object)).toEqual(["n"])
    const lenient = createRegistry([failing({ n: "many" }, "warn")], {
      logger: silentLogger,
      onWarning: ({ operationId }) => void warnings.push(operationId),
    })
    await lenient.execute("api.count")
    expect(warnings).toEqual(["api.count"])
    await Promise.all([registry.close(), lenient.close()])
  })

  test("is not made when the call's own time is over, but after the limit of an attempt", async () => {
    const hang = operation("api.get", { type: "query", handler: () => new Promise(() => {}) })
    const fallback = (): string => "instead"
    await using late = guarded([hang], { fallback })
    expect(await settle(late.clock, late.registry.execute("api.get"))).toMatchObject({
      reason: { code: "TIMEOUT" },
    })
    await using timed = guarded([hang], { fallback, timeout: { attempt: 100 } })
    expect(await settle(timed.clock, timed.registry.execute("api.get"))).toMatchObject({
      value: { data: "instead" },
    })
  })
})

describe("a rate limit of a rule", () => {
  const get = (id: string): AnyOperation => operation(id, { type: "query", handler: () => 1 })

  /** How many of two calls of each operation start. */
  async function starts(
    policies: PolicyRule[],
    operations: readonly AnyOperation[],
  ): Promise<number> {
    const clock = new VirtualClock()
    const registry = createRegistry(operations, { logger: silentLogger, policies, clock })
    const ids = operations.map(({ namespace, name }) => `${namespace}.${name}`)
    const outcomes = await Promise.allSettled([...ids, ...ids].map((id) => registry.execute(id)))
    await registry.close()
    return outcomes.filter(({ status }) => status === "fulfilled").length
  }

  const rateLimit = { perSecond: 1, burst: 1 }
  const three = ["t.a", "t.b", "u.c"].map(get)

  test("per registry is one limit for all operations that the rule matches", async () => {
    expect(await starts([{ match: "*", rateLimit }], three)).toBe(1)
    expect(await starts([{ match: ["t.a", "t.b", "u.c"], rateLimit }], three)).toBe(1)
    expect(
      await starts([{ match: "*", rateLimit: { ...rateLimit, per: "registry" } }], three),
    ).toBe(1)
  })

  test("per identity, per key or with a limiter counts calls of all these operations, too", async () => {
    expect(
      await starts([{ match: "*", rateLimit: { ...rateLimit, per: "identity" } }], three),
    ).toBe(1)
    const per = ({ spec }: MiddlewareCall): string => spec.namespace
    expect(await starts([{ match: "*", rateLimit: { ...rateLimit, per } }], three)).toBe(2)
    const taken = new Set<string>()
    const limiter: RateLimiter = {
      take: (key) => {
        if (taken.has(key)) return 1_000
        taken.add(key)
        return 0
      },
    }
    expect(await starts([{ match: "*", rateLimit: { ...rateLimit, limiter } }], three)).toBe(1)
  })

  test("is separate for each rule, for each definition, and for each source of imported operations", async () => {
    const rules = [
      { match: "t.*", rateLimit },
      { match: "u.*", rateLimit },
    ]
    expect(await starts(rules, three)).toBe(2)
    const defined = three.map((one) => ({ ...one, resilience: { rateLimit } }))
    expect(await starts([], defined)).toBe(3)
    const imported = three.map((one) => ({ ...one, imported: true }))
    expect(await starts([{ match: "*", rateLimit }], imported)).toBe(2)
  })
})

test("a caller's policy travels to the handler of every operation it is imported as, which sees it in its context", async () => {
  const seen: unknown[] = []
  const get = operation("api.get", {
    handler: (_input: unknown, { policy }: OperationContext) => void seen.push(policy),
  })
  const registry = createRegistry([get], { logger: silentLogger })
  const [serving, calling] = createMemoryTransports()
  const server = serveCalls(registry, { transport: serving })
  const gateway = createRegistry([], { logger: silentLogger })
  await fromCall(calling, { registry: gateway, namespace: "peer" })
  await gateway.execute("peer.api.get", {}, { policy: { hedge: false } })
  await gateway.execute("peer.api.get", {})
  expect(seen).toEqual([{ hedge: false }, undefined])
  await Promise.all([gateway.close(), server.close(), registry.close()])
})

describe("an input that can be read only once is not sent again", () => {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield new Uint8Array([1])
  }
  const file = (): unknown => toFile(bytes(), { name: "a.bin" })
  const circular: { self?: unknown; file?: unknown } = { file: file() }
  circular.self = circular

  const ONCE: readonly (readonly [string, () => unknown])[] = [
    ["a stream", () => new ReadableStream()],
    ["a file", file],
    ["a file in a list", () => ({ list: [1, file()] })],
    ["a file deep inside", () => ({ deep: { deeper: [[{ f: file() }]] } })],
    ["a file beside a circle", () => circular],
    ["a generator", () => ({ items: [bytes()] })],
  ]
  const AGAIN: readonly (readonly [string, () => unknown])[] = [
    ["JSON", () => ({ a: [1, { b: "c" }], d: null })],
    ["bytes", () => ({ list: [new Uint8Array(1_000_000)] })],
    ["a file in memory", () => ({ f: toFile("text") })],
  ]

  test.each([
    ...ONCE.map((row) => [...row, 1] as const),
    ...AGAIN.map((row) => [...row, 3] as const),
  ])("with retry: %s", async (_name, input, attempts) => {
    let runs = 0
    const put = operation("api.put", {
      annotations: { idempotent: true },
      handler: () => {
        runs++
        throw away()
      },
    })
    await using it = guarded([put], { retry: { delay: 0 } })
    await settle(it.clock, it.registry.execute("api.put", input()))
    expect(runs).toBe(attempts)
  })

  test.each([
    ...ONCE.map((row) => [...row, 1] as const),
    ...AGAIN.map((row) => [...row, 2] as const),
  ])("with hedge: %s", async (_name, input, attempts) => {
    let runs = 0
    const clock = new VirtualClock()
    const put = operation("api.put", {
      type: "query",
      handler: async () => {
        runs++
        await clock.sleep(100)
      },
    })
    await using it = guarded([put], { hedge: { after: 10 } }, { clock })
    await settle(clock, it.registry.execute("api.put", input()))
    expect(runs).toBe(attempts)
  })
})

test("without a limit of its own, a first attempt that failed may start calls that it did not await", async () => {
  const outcomes: Record<string, unknown> = {}
  for (const [name, timeout] of [
    ["without", false],
    ["with", { attempt: 1_000 }],
  ] as const) {
    const inner = operation("api.inner", { handler: () => "ran" })
    const clock = new VirtualClock()
    const outer = operation("api.outer", {
      type: "query",
      handler: async (_input: unknown, context: OperationContext) => {
        if (context.attempt > 1) return await clock.sleep(100)
        clock.setTimeout(() => {
          context.call("api.inner").then(
            ({ data }) => (outcomes[name] = data),
            (error: CallError) => (outcomes[name] = error.code),
          )
        }, 50)
        throw away()
      },
    })
    const policies = (id: string): Resilience =>
      id === "api.outer" ? { retry: { delay: 0 }, timeout } : {}
    await using it = guarded([inner, outer], policies, { clock })
    await settle(clock, it.registry.execute("api.outer"))
  }
  expect(outcomes).toEqual({ without: "ran", with: "ABORTED" })
})
