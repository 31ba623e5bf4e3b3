/** One call among few and many registered operations. */
import { INPUTS, Quote, quote, QuoteInput, quoteInputs } from "./cases.ts"
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
          namespace: "shop",
          name: `quote${index}`,
          type: "query",
          description: "Prices an article",
          inputSchema: QuoteInput,
          outputSchema: Quote,
          accessControl: { requiredScopes: [] },
          handler: quote,
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
