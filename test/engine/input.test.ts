import { Type } from "typebox"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { operation, quietRegistry } from "../support/operations.ts"

const AMOUNT = Type.Object({
  amount: Type.Number({ maximum: 10 }),
  to: Type.Optional(Type.Object({ account: Type.String() })),
})

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
