// What callers with an idempotency key see, on every way in that has a place for it.
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { toFile } from "../../src/type.ts"
import type { AnyOperation, OperationContext, Resilience } from "../../src/index.ts"
import { deferred } from "../serve/http/support.ts"
import type { Deferred } from "../serve/http/support.ts"
import { provideBrokers } from "../support/brokers.ts"
import type { Broker } from "../support/brokers.ts"
import { operation } from "../support/operations.ts"
import { openSurface, WAYS_IN } from "../support/surfaces.ts"
import type { Surface } from "../support/surfaces.ts"
import { waitFor } from "../support/wait-for.ts"

const BROKERS = await provideBrokers()
const NEED_BROKERS: ReadonlySet<string> = new Set(["NATS", "Redis"])
const WAYS = Object.keys(WAYS_IN).filter(
  (name) => !name.startsWith("MCP") && (!NEED_BROKERS.has(name) || BROKERS[name] !== undefined),
)

/** What has no JSON form from which it can be restored. */
const UNKEPT: Readonly<Record<string, () => unknown>> = {
  file: () => toFile(new Uint8Array([1]), { name: "a.bin" }),
  map: () => ({ receipts: new Map([[1, 2]]) }),
  stream: () => ({ receipts: new ReadableStream() }),
  bigint: () => ({ receipts: 1n }),
}

class Shop {
  readonly runs = new Map<string, number>()
  gate: Deferred = deferred()

  runsOf(key: string): number {
    return this.runs.get(key) ?? 0
  }

  operations(): AnyOperation[] {
    const define = (
      name: string,
      handler: (context: OperationContext) => unknown,
      resilience: Resilience = {},
    ): AnyOperation =>
      operation(`shop.${name}`, {
        inputSchema: { type: "object" },
        resilience: { idempotency: {}, ...resilience },
        handler: async (input: { readonly n?: string }, context: OperationContext) => {
          const { n = "" } = input
          this.runs.set(n, this.runsOf(n) + 1)
          return await handler(context)
        },
      })
    return [
      define("pay", () => ({ paid: true })),
      define("wait", () => this.gate.promise.then(() => ({ paid: true }))),
      define("one", () => this.gate.promise.then(() => ({ paid: true })), {
        concurrency: { max: 1, maxQueue: 5 },
      }),
      define("self", ({ call, idempotencyKey }) =>
        call("shop.self", { n: "self" }, { idempotencyKey }),
      ),
      ...Object.entries(UNKEPT).map(([name, make]) => define(name, make)),
    ]
  }
}

describe.each(WAYS)("a call with a key: %s:", (name) => {
  let broker: Broker | undefined
  let surface: Surface
  const shop = new Shop()

  beforeAll(async () => {
    broker = await BROKERS[name]?.()
    const terms = { upstream: "", errors: "expose", broker: broker?.url } as const
    surface = await openSurface(name, { ...terms, operations: shop.operations() })
    // Loads the policies.
    await surface.call("shop.pay", { idempotencyKey: "first" })
  })

  afterAll(async () => {
    shop.gate.resolve()
    await surface[Symbol.asyncDispose]()
    await broker?.[Symbol.asyncDispose]()
  })

  test("runs once", async () => {
    const pay = { input: { n: "pay" }, idempotencyKey: "pay" }
    const seen = [await surface.call("shop.pay", pay), await surface.call("shop.pay", pay)]
    expect(seen.map(({ data }) => data)).toEqual([{ paid: true }, { paid: true }])
    expect(shop.runsOf("pay")).toBe(1)
  })

  test("that timed out goes on, and a repeat gets its outcome", async () => {
    shop.gate = deferred()
    const wait = { input: { n: "wait" }, idempotencyKey: "wait" }
    const TIMEOUT = { code: "TIMEOUT" }
    expect(await surface.call("shop.wait", { ...wait, timeout: 200 })).toMatchObject(TIMEOUT)
    // Well after the deadline of the first caller.
    const other = { idempotencyKey: "other", timeout: 100 }
    expect(await surface.call("shop.wait", other)).toMatchObject(TIMEOUT)
    const repeated = surface.call("shop.wait", wait)
    await waitFor(() => expect(shop.runsOf("wait")).toBe(1))
    shop.gate.resolve()
    expect(await repeated).toMatchObject({ code: undefined, data: { paid: true } })
    expect(await surface.call("shop.wait", wait)).toMatchObject({ data: { paid: true } })
    expect(shop.runsOf("wait")).toBe(1)
  })

  test("that left a queue may have been executed, and is not executed again", async () => {
    shop.gate = deferred()
    const busy = surface.call("shop.one", { input: { n: "busy" } })
    await waitFor(() => expect(shop.runsOf("busy")).toBe(1))
    const queued = { input: { n: "queued" }, idempotencyKey: "queued" }
    const left = await surface.call("shop.one", { ...queued, timeout: 200 })
    expect(left).toMatchObject({ code: "TIMEOUT", mayHaveExecuted: true, retryable: false })
    shop.gate.resolve()
    await busy
    expect(await surface.call("shop.one", queued)).toMatchObject({ data: { paid: true } })
    expect(shop.runsOf("queued")).toBe(1)
  })

  test("that calls itself with its own key fails at once", async () => {
    const self = { input: { n: "self" }, idempotencyKey: "self" }
    expect(await surface.call("shop.self", self)).toMatchObject({
      code: "CONFLICT",
      details: { reason: "IDEMPOTENCY_KEY_RUNNING" },
    })
    expect(shop.runsOf("self")).toBe(1)
  })

  test.each(Object.keys(UNKEPT))("that succeeded with a %s says so when repeated", async (kind) => {
    const call = { input: { n: kind }, idempotencyKey: kind }
    // Not every way can carry the result.
    await surface.call(`shop.${kind}`, call).catch(() => undefined)
    expect(await surface.call(`shop.${kind}`, call)).toMatchObject({
      code: "CONFLICT",
      mayHaveExecuted: true,
      retryable: false,
      details: { reason: "IDEMPOTENCY_RESULT_NOT_KEPT" },
      message: expect.stringContaining("succeeded"),
    })
    expect(shop.runsOf(kind)).toBe(1)
  })
})
