import { type } from "arktype"
import type { Static } from "typebox"
import * as v from "valibot"
import { expectTypeOf, test } from "vitest"
import { z } from "zod"
import { fromStandardSchema } from "../../src/schema/from-schema.ts"
import { createRegistry, defineOperation } from "../../src/index.ts"
import { compileSchema } from "../../src/schemas.ts"

test("the Static of a converted schema is its input", () => {
  const zod = fromStandardSchema(z.object({ a: z.string(), b: z.number().default(1) }))
  const valibot = fromStandardSchema(v.object({ a: v.string(), b: v.optional(v.number()) }))
  const arktype = fromStandardSchema(type({ a: "string", "b?": "number" }))

  expectTypeOf<Static<typeof zod>>().toEqualTypeOf<{ a: string; b?: number | undefined }>()
  expectTypeOf<Static<typeof valibot>>().toEqualTypeOf<{ a: string; b?: number | undefined }>()
  expectTypeOf<Static<typeof arktype>>().toEqualTypeOf<{ a: string; b?: number }>()
})

test("with a side it is that side", () => {
  const zod = z.string().transform(Number)
  const given = fromStandardSchema(zod, { side: "input" })
  const output = fromStandardSchema(zod, { side: "output" })

  expectTypeOf<Static<typeof given>>().toEqualTypeOf<string>()
  expectTypeOf<Static<typeof output>>().toEqualTypeOf<number>()
})

test("our own compiled schemas are taken, and other values are not", () => {
  expectTypeOf(fromStandardSchema).toBeCallableWith(compileSchema({ type: "string" }))

  // @ts-expect-error JSON Schema goes to FromSchema
  fromStandardSchema({ type: "string" })
  // @ts-expect-error a side is "input" or "output"
  fromStandardSchema(z.string(), { side: "inside" })
})

test("an operation of vendors' schemas: callers pass the input, handlers get the output", () => {
  const operation = defineOperation({
    namespace: "count",
    name: "double",
    type: "query",
    description: "Doubles a count",
    accessControl: { requiredScopes: [] },
    inputSchema: v.object({
      count: v.pipe(v.string(), v.transform(Number)),
      unit: v.optional(v.string(), "piece"),
    }),
    outputSchema: z.object({ count: z.number() }),
    handler: (input) => {
      expectTypeOf(input).toEqualTypeOf<{ count: number; unit: string }>()
      return { count: input.count * 2 }
    },
  })
  const registry = createRegistry([operation])

  expectTypeOf<Parameters<typeof registry.execute<"count.double">>[1]>().toEqualTypeOf<{
    count: string
    unit?: string | undefined
  }>()
  // @ts-expect-error a count is text on the way in
  void registry.execute("count.double", { count: 1 })
})
