/** One call among few and many registered operations, and calls of many operations. */
import Type from "typebox"
import { Compile } from "typebox/schema"
import { INPUTS, QUOTE, quoteInputs } from "./cases.ts"
import type { Library } from "./library.ts"
import { callLoop } from "./measure.ts"
import type { Workload } from "./measure.ts"

const SIZES = [10, 1000, 100_000] as const

/**
 * The same calls in registries of three sizes.
 *
 * Each calls eight operations spread over its registry, so that only the size differs and not how much
 * of it is touched.
 */
export function scaling({ OperationRegistry, defineOperation }: Library): Workload[] {
  return SIZES.map((size) => {
    const registry = new OperationRegistry()
    registry.registerAll(
      Array.from({ length: size }, (_, index) =>
        defineOperation({
          ...QUOTE,
          namespace: "shop",
          name: `quote${index}`,
        }),
      ),
    )
    const target = registry as { execute(id: string, input: unknown): Promise<unknown> }
    const called = quoteInputs.map((input, index) => ({
      id: `shop.quote${Math.floor((index * (size - 1)) / (INPUTS - 1))}`,
      input,
    }))
    const name = nameOf(size)
    return { name, run: callLoop(name, ({ id, input }) => target.execute(id, input), called) }
  })
}

/** The row of a size. */
export function nameOf(size: number): string {
  return `${size.toLocaleString("en")} operations`
}

const ROTATED = 64
export const ROTATION = `${ROTATED} operations in rotation`

/**
 * Calls of many operations in turn, each with different schemas, compared with as many hand-written functions.
 */
export function rotation({ createRegistry, defineOperation }: Library): Workload[] {
  const cases = Array.from({ length: ROTATED }, (_, index) => {
    const key = `sku${index}`
    return {
      key,
      name: `quote${index}`,
      input: { [key]: `lamp-${index}`, quantity: index + 1, express: index % 2 === 0 },
      inputSchema: Type.Object({
        [key]: Type.String({ minLength: 1 }),
        quantity: Type.Integer({ minimum: 1 }),
        express: Type.Boolean(),
      }),
      outputSchema: Type.Object({ [key]: Type.String(), total: Type.Integer({ minimum: 0 }) }),
      handler: async (input: Readonly<Record<string, unknown>>) => ({
        [key]: input[key],
        total: (input["quantity"] as number) * 995,
      }),
    }
  })
  const byHand = cases.map(({ inputSchema, outputSchema, handler }) => {
    const before = Compile(inputSchema)
    const after = Compile(outputSchema)
    return async (input: Readonly<Record<string, unknown>>) => {
      if (!before.Check(input)) throw new TypeError("The input is invalid.")
      const output = await handler(input)
      if (!after.Check(output)) throw new TypeError("The output is invalid.")
      return output
    }
  })
  const registry = createRegistry(
    cases.map(({ name, inputSchema, outputSchema, handler }) =>
      defineOperation({
        namespace: "shop",
        name,
        type: "query",
        description: "Prices an article",
        inputSchema,
        outputSchema: Type.Unsafe<Readonly<Record<string, unknown>>>(outputSchema),
        accessControl: { requiredScopes: [] },
        handler,
      }),
    ),
  ) as { execute(id: string, input: unknown): Promise<unknown> }
  const ids = cases.map(({ name }) => `shop.${name}`)
  const inputs = cases.map(({ input }) => input)
  const rotate = (call: (index: number) => Promise<unknown>) => async (count: number) => {
    for (let index = 0; index < count; index++) await call(index % ROTATED)
  }
  return [
    {
      name: `${ROTATED} checks and handlers in rotation, by hand`,
      run: rotate((index) => byHand[index]?.(inputs[index] ?? {}) ?? Promise.resolve()),
    },
    { name: ROTATION, run: rotate((index) => registry.execute(ids[index] ?? "", inputs[index])) },
  ]
}

/** A registry of many operations with different schemas. */
// No return type: it follows from the definitions.
export function manyOperations(
  { createRegistry, defineOperation }: Pick<Library, "createRegistry" | "defineOperation">,
  count: number,
) {
  return createRegistry(
    Array.from({ length: count }, (_, index) =>
      defineOperation({
        namespace: `space${index % 100}`,
        name: `operation${index}`,
        type: "query",
        description: `Finds what is number ${index}`,
        inputSchema: { type: "object", properties: { [`field${index}`]: { type: "string" } } },
        outputSchema: { type: "object", properties: { [`found${index}`]: { type: "integer" } } },
        accessControl: { requiredScopes: [] },
        handler: () => ({}),
      }),
    ),
  )
}
