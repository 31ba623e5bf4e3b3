import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { createRegistry, PendingRequestMap, serveCalls } from "../../src/index.ts"
import { createMemoryTransports, silentLogger } from "../../src/testing.ts"
import type { CallOptions, OperationContext, OperationRegistry } from "../../src/index.ts"
import { CallSink } from "../../src/engine/sink.ts"
import type { ResponseEnvelope } from "../../src/index.ts"
import { operation, quietRegistry } from "../support/operations.ts"

const AMOUNT = Type.Object({
  amount: Type.Number({ maximum: 10 }),
  to: Type.Optional(Type.Object({ account: Type.String() })),
})

/** An amount that is small when it is asked for first, and large ever after. */
function growing(): { amount: number } {
  let reads = 0
  return {
    get amount() {
      return reads++ === 0 ? 1 : 1_000_000
    },
  }
}

/** An object behind a Proxy that gives one value first, and another ever after. */
function shifting(first: Record<string, unknown>, later: Record<string, unknown>): object {
  const asked = new Set<PropertyKey>()
  return new Proxy(
    { ...first },
    {
      get(target, key) {
        if (typeof key === "symbol" || key === "__proto__") return Reflect.get(target, key)
        const known = asked.has(key) ? later : first
        asked.add(key)
        return known[key]
      },
    },
  )
}

const pay = operation("bank.pay", { inputSchema: AMOUNT, handler: (input: unknown) => input })
const follow = operation("bank.follow", {
  type: "subscription",
  inputSchema: AMOUNT,
  async *handler(input: unknown) {
    yield input
  },
})
const payFor = operation("bank.payFor", {
  accessControl: { requiredScopes: [] },
  composes: ["bank.pay"],
  handler: async (_: unknown, context: OperationContext) => {
    const { data: called } = await context.call("bank.pay", growing())
    const { data: fromEnv } = await (
      context.env as { bank: { pay(input: unknown): Promise<ResponseEnvelope> } }
    ).bank.pay(growing())
    return [called, fromEnv]
  },
})

describe("an input whose getters return something else at each read", () => {
  const registry = quietRegistry([pay, follow, payFor])

  test("is read once by execute, trusted calls, streams, nested calls and calls within the process", async () => {
    const small = { amount: 1 }
    expect((await registry.execute("bank.pay", growing())).data).toEqual(small)
    expect((await registry.trusted.execute("bank.pay", growing())).data).toEqual(small)
    for await (const { data } of registry.subscribe("bank.follow", growing())) {
      expect(data).toEqual(small)
    }
    expect((await registry.execute("bank.payFor")).data).toEqual([small, small])
  })

  test("is read once when it comes over a link within the process", async () => {
    const [here, there] = createMemoryTransports()
    await using _server = serveCalls(registry, { transport: there })
    const map = new PendingRequestMap(here)
    expect((await map.call("bank.pay", growing())).data).toEqual({ amount: 1 })
    for await (const { data } of map.subscribe("bank.follow", growing())) {
      expect(data).toEqual({ amount: 1 })
    }
    await map.close()
  })

  test("is rejected by the value of its first read", async () => {
    const input = shifting({ amount: 1_000_000 }, { amount: 1 })
    await expect(registry.execute("bank.pay", input)).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    })
  })

  test("reaches the handler with its defaults, and with the parts that no schema reads", async () => {
    const inputSchema = Type.Object({
      amount: Type.Number({ maximum: 10 }),
      currency: Type.String({ default: "EUR" }),
      signal: Type.Unknown(),
    })
    const { signal } = new AbortController()
    const given: unknown[] = []
    const one = operation("bank.one", {
      inputSchema,
      handler: (input: unknown) => void given.push(input),
    })
    const input = Object.assign(Object.create(growing()), { signal })
    await quietRegistry([one]).execute("bank.one", input)
    expect(given).toEqual([{ amount: 1, currency: "EUR", signal }])
    expect((given[0] as { signal: unknown }).signal).toBe(signal)
  })
})

describe("an input that cannot be read", () => {
  const unreadable = {
    get amount(): number {
      throw new Error("broken")
    },
  }

  test("is a validation error with the reason", async () => {
    await expect(quietRegistry([pay]).execute("bank.pay", unreadable)).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      message: 'Input for "bank.pay" is invalid: cannot be read: broken.',
      mayHaveExecuted: false,
    })
  })

  test("is not reported to a caller without access", async () => {
    const guarded = { ...pay, accessControl: { requiredScopes: ["pay"] } }
    await expect(quietRegistry([guarded]).execute("bank.pay", unreadable)).rejects.toMatchObject({
      code: "ACCESS_DENIED",
    })
  })
})

describe("access to a resource that the input names", () => {
  const accessControl = {
    requiredScopes: [],
    resourceType: "account",
    resourceAction: "read",
    resourceIdPath: "/account/id",
  }
  const identity = { id: "ada", scopes: [], resources: { "account:mine": ["read"] } }
  const sneaky = (): object => ({
    account: shifting({ id: "mine" }, { id: "theirs" }),
    other: "x",
  })

  test.each([
    ["an open input", Type.Unknown()],
    ["an input that is looked at elsewhere", Type.Object({ other: Type.String() })],
    ["a schema of a vendor", z.looseObject({ account: z.object({ id: z.string() }) })],
  ])("is checked with what the handler gets: %s", async (_, inputSchema) => {
    const read = operation("bank.read", {
      inputSchema,
      accessControl,
      handler: ({ account }: { account: { id: string } }) => account.id,
    })
    const registry = quietRegistry([read])
    expect((await registry.execute("bank.read", sneaky(), { identity })).data).toBe("mine")
    const theirs = { account: shifting({ id: "theirs" }, { id: "mine" }), other: "x" }
    await expect(registry.execute("bank.read", theirs, { identity })).rejects.toMatchObject({
      code: "ACCESS_DENIED",
    })
  })
})

describe("an input that was parsed from text", () => {
  class Sink extends CallSink implements CallOptions {
    readonly outcome: Promise<ResponseEnvelope>
    readonly #isPlain: boolean
    #resolve!: (envelope: ResponseEnvelope) => void
    #reject!: (thrown: unknown) => void

    constructor(isPlain: boolean) {
      super()
      this.#isPlain = isPlain
      this.outcome = new Promise((resolve, reject) => {
        this.#resolve = resolve
        this.#reject = reject
      })
    }

    override get hasPlainInput(): boolean {
      return this.#isPlain
    }

    succeed(envelope: ResponseEnvelope): void {
      this.#resolve(envelope)
    }

    fail(thrown: unknown): void {
      this.#reject(thrown)
    }
  }

  test("is not copied; that of any other caller is", async () => {
    const given: unknown[] = []
    const keep = { ...pay, handler: (input: unknown) => void given.push(input) }
    const registry: OperationRegistry = createRegistry([keep], { logger: silentLogger })
    const input = { amount: 1 }
    for (const isPlain of [true, false]) {
      const sink = new Sink(isPlain)
      registry.executeInto("bank.pay", input, sink)
      await sink.outcome
    }
    expect(given).toEqual([input, input])
    expect(given.map((one) => one === input)).toEqual([true, false])
  })
})
