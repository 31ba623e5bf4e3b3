import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import * as v from "valibot"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { defineOperation } from "../../src/core/define.ts"
import { isCallError } from "../../src/core/errors.ts"
import { OperationRegistry } from "../../src/engine/registry.ts"

const anyone = { requiredScopes: [] }

/** One operation per library: doubles a count that comes as text, and says more than it declares. */
const operations = {
  zod: defineOperation({
    namespace: "count",
    name: "double",
    type: "query",
    description: "Doubles a count",
    accessControl: anyone,
    inputSchema: z.object({
      count: z.coerce.number<string>().int(),
      unit: z.string().default("piece"),
      tags: z.array(z.string()).optional(),
    }),
    outputSchema: z.object({ count: z.number(), unit: z.string() }),
    handler: ({ count, unit }) => ({ count: count * 2, unit, secret: true }),
  }),
  valibot: defineOperation({
    namespace: "count",
    name: "double",
    type: "query",
    description: "Doubles a count",
    accessControl: anyone,
    inputSchema: v.object({
      count: v.pipe(v.string(), v.transform(Number), v.number(), v.integer()),
      unit: v.optional(v.string(), "piece"),
      tags: v.optional(v.array(v.string())),
    }),
    outputSchema: v.object({ count: v.number(), unit: v.string() }),
    handler: ({ count, unit }) => ({ count: count * 2, unit, secret: true }),
  }),
  "valibot, wrapped": defineOperation({
    namespace: "count",
    name: "double",
    type: "query",
    description: "Doubles a count",
    accessControl: anyone,
    inputSchema: toStandardJsonSchema(
      v.object({
        count: v.pipe(v.string(), v.transform(Number), v.number(), v.integer()),
        unit: v.optional(v.string(), "piece"),
        tags: v.optional(v.array(v.string())),
      }),
    ),
    outputSchema: toStandardJsonSchema(v.object({ count: v.number(), unit: v.string() })),
    handler: ({ count, unit }) => ({ count: count * 2, unit, secret: true }),
  }),
  arktype: defineOperation({
    namespace: "count",
    name: "double",
    type: "query",
    description: "Doubles a count",
    accessControl: anyone,
    inputSchema: type({
      count: "string.integer.parse",
      unit: "string = 'piece'",
      "tags?": "string[]",
    }),
    outputSchema: type({ count: "number", unit: "string" }),
    handler: ({ count, unit }) => ({ count: count * 2, unit, secret: true }),
  }),
}

describe.each(Object.entries(operations))("an operation with schemas of %s", (_, operation) => {
  test("gets the input as its library transformed it, defaults included", async () => {
    await using registry = new OperationRegistry().registerAll([operation])

    const envelope = await registry.execute("count.double", { count: "21" })

    expect(envelope.data).toEqual({ count: 42, unit: "piece" })
  })

  test("refuses a bad input with every fault and its path", async () => {
    await using registry = new OperationRegistry().registerAll([operation])

    const thrown: unknown = await registry
      .execute("count.double", { count: "x", unit: 5, tags: ["a", 1] } as never)
      .catch((error: unknown) => error)

    expect(isCallError(thrown, "VALIDATION_ERROR")).toBe(true)
    const { errors } = (thrown as { details: { errors: { path: string; message: string }[] } })
      .details
    expect(errors.map(({ path }) => path).toSorted()).toEqual(["/count", "/tags/1", "/unit"])
    expect(errors.every(({ message }) => message !== "")).toBe(true)
  })

  test("is described in JSON Schema", async () => {
    await using registry = new OperationRegistry().registerAll([operation])

    const spec = registry.getSpec("count.double")

    expect(spec?.inputSchema).toMatchObject({
      type: "object",
      properties: { unit: { type: "string" }, tags: { items: { type: "string" } } },
    })
    expect(spec?.outputSchema).toMatchObject({ properties: { count: { type: "number" } } })
    expect(JSON.parse(JSON.stringify(spec))).toEqual(spec)
  })
})

describe("checks of the library itself", () => {
  test("an asynchronous refinement is awaited", async () => {
    const free = defineOperation({
      namespace: "user",
      name: "claim",
      type: "mutation",
      description: "Claims a name",
      accessControl: anyone,
      inputSchema: z.object({ name: z.string() }).refine(
        async ({ name }) => {
          await Promise.resolve()
          return name !== "taken"
        },
        { path: ["name"], message: "is taken" },
      ),
      outputSchema: z.string(),
      handler: ({ name }) => name,
    })
    await using registry = new OperationRegistry().register(free)

    await expect(registry.execute("user.claim", { name: "ada" })).resolves.toMatchObject({
      data: "ada",
    })
    await expect(registry.execute("user.claim", { name: "taken" })).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      details: { errors: [{ path: "/name", message: "is taken" }] },
    })
  })

  test("an asynchronous schema of Valibot is awaited, and described", async () => {
    const free = defineOperation({
      namespace: "user",
      name: "claim",
      type: "mutation",
      description: "Claims a name",
      accessControl: anyone,
      inputSchema: v.objectAsync({
        name: v.pipeAsync(
          v.string(),
          v.checkAsync((name) => Promise.resolve(name !== "taken"), "is taken"),
        ),
      }),
      outputSchema: v.string(),
      handler: ({ name }) => name,
    })
    await using registry = new OperationRegistry().register(free)

    await expect(registry.execute("user.claim", { name: "taken" })).rejects.toMatchObject({
      details: { errors: [{ path: "/name", message: "is taken" }] },
    })
    expect(registry.getSpec("user.claim")?.inputSchema).toMatchObject({
      properties: { name: { type: "string" } },
    })
  })

  test("a check that only Valibot knows holds, though the description does not say it", async () => {
    const range = defineOperation({
      namespace: "range",
      name: "size",
      type: "query",
      description: "Measures a range",
      accessControl: anyone,
      inputSchema: v.pipe(
        v.object({ from: v.number(), to: v.number() }),
        v.check(({ from, to }) => from <= to, "must not end before it starts"),
      ),
      outputSchema: v.pipe(v.number(), v.minValue(0)),
      handler: ({ from, to }) => to - from,
    })
    await using registry = new OperationRegistry().register(range)

    await expect(registry.execute("range.size", { from: 1, to: 3 })).resolves.toMatchObject({
      data: 2,
    })
    await expect(registry.execute("range.size", { from: 3, to: 1 })).rejects.toThrow(
      "must not end before it starts",
    )
    expect(registry.getSpec("range.size")?.inputSchema).toMatchObject({ required: ["from", "to"] })
  })

  test("an input that JSON Schema cannot say is checked by its library all the same", async () => {
    const days = defineOperation({
      namespace: "day",
      name: "next",
      type: "query",
      description: "The next day",
      accessControl: anyone,
      inputSchema: v.date(),
      outputSchema: v.number(),
      handler: (day) => day.getTime() + 86_400_000,
    })
    await using registry = new OperationRegistry().register(days)

    await expect(registry.execute("day.next", new Date(0))).resolves.toMatchObject({
      data: 86_400_000,
    })
    await expect(registry.execute("day.next", "today" as never)).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
    })
  })

  test("an output that JSON Schema cannot say is refused when it is registered", () => {
    const now = defineOperation({
      namespace: "time",
      name: "now",
      type: "query",
      description: "The time",
      accessControl: anyone,
      inputSchema: v.object({}),
      outputSchema: v.date(),
      handler: () => new Date(),
    })

    expect(() => new OperationRegistry().register(now)).toThrow(
      /outputSchema is not a schema: The output of this valibot schema.*"date" schema/,
    )
  })
})
