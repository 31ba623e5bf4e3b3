// How often a mutation has its effect, and what its error says, when something that it calls is refused.
import { describe, expect, test } from "vitest"
import {
  CallError,
  createClient,
  createRegistry,
  ERROR_CODES,
  fromCall,
  serveCalls,
} from "../src/index.ts"
import { createMemoryTransports, silentLogger } from "../src/testing.ts"
import type { AnyOperation, Middleware, OperationContext, RegistryOptions } from "../src/index.ts"
import { provideBrokers } from "./support/brokers.ts"
import { operation, quietRegistry, rejection } from "./support/operations.ts"
import { openSurface, WAYS_IN } from "./support/surfaces.ts"
import type { Seen, Surface } from "./support/surfaces.ts"

/** Codes that mean that nothing was executed: of the call that was refused. */
const REFUSALS = Object.entries(ERROR_CODES)
  .filter(([, { mayHaveExecuted }]) => !mayHaveExecuted)
  .map(([code]) => code)

const CODES = Object.keys(ERROR_CODES)

/** Counts the effects of mutations by their codes. */
class Effects {
  readonly #counts = new Map<string, number>()

  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  take(name: string): number {
    const count = this.#counts.get(name) ?? 0
    this.#counts.delete(name)
    return count
  }
}

const nameOf = (code: string): string => code.toLowerCase().replaceAll("_", "-")

/** For each code a mutation that has its effect, and then calls an operation that is refused with the code. */
function paying(
  effects: Effects,
  parts: Omit<Partial<AnyOperation>, "handler"> = {},
): AnyOperation[] {
  return CODES.flatMap((code) => {
    const name = nameOf(code)
    return [
      operation(`mail.${name}`, {
        visibility: "internal",
        handler: () => {
          throw new CallError(code, `refused: ${code}`, {
            details: { reason: "no room" },
            mayHaveExecuted: false,
            retryable: true,
            retryAfterMs: 1,
          })
        },
      }),
      operation(`shop.${name}`, {
        inputSchema: { type: "object" },
        handler: async (_input: unknown, context: OperationContext) => {
          effects.add(code)
          await context.call(`mail.${name}`, {})
        },
        ...parts,
      }),
    ]
  })
}

const BROKERS = await provideBrokers()
const WAYS = Object.keys(WAYS_IN).filter(
  (way) => !["NATS", "Redis"].includes(way) || way in BROKERS,
)

async function withSurface(
  way: string,
  operations: readonly AnyOperation[],
  registry: RegistryOptions,
  use: (surface: Surface) => Promise<void>,
): Promise<void> {
  await using broker = await BROKERS[way]?.()
  const terms = { upstream: "", errors: undefined, operations, registry, broker: broker?.url }
  await using surface = await openSurface(way, terms)
  await use(surface)
}

function expectDone(
  code: string,
  seen: Pick<Seen, "code" | "retryable" | "mayHaveExecuted">,
): void {
  const { retryable, mayHaveExecuted } = seen
  expect({ code: seen.code, retryable, mayHaveExecuted }).toEqual({
    code,
    retryable: false,
    mayHaveExecuted: true,
  })
}

describe("a mutation whose nested call is refused has its effect once, and says that it may have it:", () => {
  describe.each(WAYS)("over %s", (way) => {
    const retry = { match: "shop.*", standard: true, retry: { attempts: 3, delay: 0 } }
    test.each([
      ["without a policy", []],
      ["with three attempts", [retry]],
    ])("%s", async (_what, policies) => {
      const effects = new Effects()
      await withSurface(way, paying(effects), { policies }, async ({ call }) => {
        for (const code of CODES) {
          const seen = await call(`shop.${nameOf(code)}`)
          expectDone(code, seen)
          expect([code, effects.take(code)]).toEqual([code, 1])
          // What was said about the refusal stays.
          expect(seen.message).toContain(`refused: ${code}`)
          // MCP shows them only for some codes.
          const details = way.startsWith("MCP") ? { reason: "no room" } : seen.details
          expect(details).toMatchObject({ reason: "no room" })
        }
      })
    })

    test("with one idempotency key, twice", async () => {
      const effects = new Effects()
      const operations = paying(effects, { resilience: { idempotency: {} } })
      await withSurface(way, operations, {}, async ({ call }) => {
        for (const code of REFUSALS) {
          const idempotencyKey = `key-${code}`
          const twice = [
            await call(`shop.${nameOf(code)}`, { idempotencyKey }),
            await call(`shop.${nameOf(code)}`, { idempotencyKey }),
          ]
          for (const seen of twice) expect(seen).toMatchObject({ mayHaveExecuted: true })
          // MCP has no keys.
          expect([code, effects.take(code)]).toEqual([code, way.startsWith("MCP") ? 2 : 1])
        }
      })
    })
  })

  test("through a gateway with the standard policies", async () => {
    const effects = new Effects()
    const worker = quietRegistry(paying(effects))
    const [serving, calling] = createMemoryTransports()
    await using _server = serveCalls(worker, { transport: serving })
    await using gateway = createRegistry([], {
      logger: silentLogger,
      policies: [{ match: "*", standard: true, retry: { attempts: 3, delay: 0 } }],
    })
    await fromCall(calling, { registry: gateway, logger: silentLogger })
    for (const code of CODES) {
      const seen = await rejection(gateway.execute(`shop.${nameOf(code)}`, {}))
      expectDone(code, seen as CallError)
      expect([code, effects.take(code)]).toEqual([code, 1])
    }
  })
})

describe("the error of a handler that has started", () => {
  const MUTATION = { code: "UNAVAILABLE", mayHaveExecuted: true, retryable: false }
  const away = new CallError("UNAVAILABLE", "away")
  const refused = new CallError("UNAVAILABLE", "not today", { mayHaveExecuted: false })
  const leaf = operation("a.leaf", {
    handler: () => {
      throw new CallError("UNAVAILABLE", "away", { mayHaveExecuted: false })
    },
  })
  const fail = (error: unknown) => (): never => {
    throw error
  }

  /** What an operation with this handler fails with: as a call, as a call with middleware, and as a stream. */
  async function outcomes(
    handler: (input: unknown, context: OperationContext) => unknown,
    parts: Omit<Partial<AnyOperation>, "handler"> = {},
  ): Promise<CallError[]> {
    const run = operation("a.run", { handler, ...parts })
    const watch = operation("a.watch", {
      ...parts,
      type: "subscription",
      handler: async function* (input: unknown, context: OperationContext) {
        yield await handler(input, context)
      },
    })
    const plain = quietRegistry([leaf, run, watch])
    const chained = quietRegistry([leaf, run, watch])
    const around: Middleware = {
      call: (_call, next) => next({ timeout: 5_000 }),
      async *stream(_call, next) {
        yield* next({ timeout: 5_000 })
      },
    }
    chained.use(around)
    const [serving, calling] = createMemoryTransports()
    await using _server = serveCalls(plain, { transport: serving })
    await using client = createClient(calling)
    const found = [
      await rejection(plain.execute("a.run", {})),
      await rejection(plain.subscribe("a.watch", {}).next()),
      await rejection(chained.execute("a.run", {})),
      await rejection(chained.subscribe("a.watch", {}).next()),
      await rejection(client.call("a.run", {})),
    ]
    return found as CallError[]
  }

  test("says that it may have executed, whatever the default of its code says", async () => {
    for (const handler of [fail(away), async () => fail(away)()]) {
      for (const error of await outcomes(handler)) expect(error).toMatchObject(MUTATION)
    }
  })

  test("is retryable as its code says if the operation is idempotent", async () => {
    const idempotent = { annotations: { idempotent: true } }
    for (const error of await outcomes(fail(away), idempotent)) {
      expect(error).toMatchObject({ mayHaveExecuted: true, retryable: true })
    }
    const never = new CallError("UNAVAILABLE", "never", { retryable: false })
    for (const error of await outcomes(fail(never), idempotent)) {
      expect(error).toMatchObject({ mayHaveExecuted: true, retryable: false })
    }
  })

  test("says that nothing happened if it is the handler's own and states it, however often it is thrown", async () => {
    for (let round = 0; round < 2; round++) {
      for (const error of await outcomes(fail(refused))) {
        expect(error).toMatchObject({ mayHaveExecuted: false, retryable: true })
      }
    }
    const frozen = Object.freeze(new CallError("SOLD_OUT", "none", { mayHaveExecuted: false }))
    for (const error of await outcomes(fail(frozen))) {
      expect(error).toMatchObject({ code: "SOLD_OUT", mayHaveExecuted: false, retryable: false })
    }
    expect(refused.requestId).toBeUndefined()
  })

  test("is not the handler's own if a nested call gave it, now or earlier, of this registry or another", async () => {
    const other = quietRegistry([leaf])
    let kept: unknown
    const handlers: ((input: unknown, context: OperationContext) => unknown)[] = [
      (_input, context) => context.call("a.leaf", {}),
      (_input, context) => context.env["a"]?.["leaf"]?.({}),
      () => other.execute("a.leaf", {}),
      (_input, context) => other.execute("a.leaf", {}, { requestId: context.requestId }),
      async () => {
        kept ??= await rejection(other.execute("a.leaf", {}))
        throw kept
      },
    ]
    for (const handler of handlers) {
      for (const error of await outcomes(handler)) {
        expect(error).toMatchObject({ ...MUTATION, operationId: expect.any(String) })
      }
    }
  })

  test("keeps the ids, details and times of the nested call, and leaves the nested error unchanged", async () => {
    let nested: CallError | undefined
    const limited = operation("a.limited", {
      handler: fail(new CallError("RATE_LIMITED", "slow down", { retryAfterMs: 70, attempts: 2 })),
    })
    const outer = operation("a.outer", {
      handler: async (_input: unknown, context: OperationContext) => {
        nested = (await rejection(context.call("a.limited", {}))) as CallError
        throw nested
      },
    })
    const registry = quietRegistry([limited, outer])
    const error = (await rejection(registry.execute("a.outer", {}))) as CallError
    const { requestId, operationId, retryAfterMs, attempts, message } = nested as CallError
    expect(error).toMatchObject({ requestId, operationId, retryAfterMs, attempts, message })
    expect([operationId, retryAfterMs, attempts]).toEqual(["a.limited", 70, 2])
  })

  test("of another copy of the package is treated in the same way", async () => {
    const brand = Symbol.for("@alkdev/operations/CallError")
    const foreign = (more: object): Error =>
      Object.assign(new Error("away"), {
        ...{ code: "UNAVAILABLE", retryable: true, mayHaveExecuted: false },
        ...{ [brand]: true, ...more, toJSON: () => ({}) },
      })
    const registry = quietRegistry([operation("a.run", { handler: () => fail(foreign({}))() })])
    expect(await rejection(registry.execute("a.run", {}))).toMatchObject(MUTATION)
    const stated = { [Symbol.for("@alkdev/operations/CallError.stated")]: true }
    const own = quietRegistry([operation("a.run", { handler: () => fail(foreign(stated))() })])
    expect(await rejection(own.execute("a.run", {}))).toMatchObject({ mayHaveExecuted: false })
  })

  test("keeps its flags if the operation only forwards the call", async () => {
    for (const error of await outcomes(fail(away), { imported: true })) {
      expect(error).toMatchObject({ mayHaveExecuted: false, retryable: true })
    }
  })

  test("does not concern calls that end before: refused by access, input, a policy or middleware", async () => {
    let runs = 0
    const handler = (): void => void runs++
    const input = { type: "object", required: ["a"] }
    const slow = {
      "~standard": {
        version: 1,
        vendor: "test",
        validate: async () => ({ issues: [{ message: "is wrong" }] }),
        jsonSchema: { input: () => ({}), output: () => ({}) },
      },
    }
    const registry = quietRegistry([
      operation("a.denied", { handler, accessControl: { requiredScopes: ["x"] } }),
      operation("a.invalid", { handler, inputSchema: input }),
      operation("a.checked", { handler, inputSchema: slow }),
      operation("a.limited", { handler, resilience: { rateLimit: { perSecond: 0.01, burst: 1 } } }),
      operation("a.stopped", { handler, use: [fail(away)] }),
    ])
    await registry.execute("a.limited", {})
    for (const name of ["denied", "invalid", "checked", "limited", "stopped"]) {
      const error = (await rejection(registry.execute(`a.${name}`, {}))) as CallError
      expect([name, error.mayHaveExecuted]).toEqual([name, false])
    }
    expect(runs).toBe(1)
  })
})
