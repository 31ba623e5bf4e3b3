/** Counts objects that calls create without need. */
import { Quote, quote, QuoteInput, quoteInputs } from "./cases.ts"
import type { Library } from "./library.ts"
import { callLoop } from "./measure.ts"

/** How many of each were made. */
export interface Made {
  readonly abortControllers: number
  readonly timers: number
  readonly proxies: number
  readonly requestIds: number
}

/** The objects that 10,000 calls of an asynchronous handler create. */
export async function madeByCalls({
  createRegistry,
  defineOperation,
}: Pick<Library, "createRegistry" | "defineOperation">): Promise<Made> {
  const base = {
    namespace: "shop",
    type: "query",
    description: "",
    inputSchema: QuoteInput,
    accessControl: { requiredScopes: [] },
  } as const
  await using registry = createRegistry([
    defineOperation({ ...base, name: "quote", outputSchema: Quote, handler: quote }),
    defineOperation({
      ...base,
      name: "id",
      outputSchema: {},
      handler: (_input, { requestId }) => requestId,
    }),
  ])
  const first = quoteInputs[0] as QuoteInput
  const loop = callLoop("made", (input) => registry.execute("shop.quote", input), quoteInputs)
  return await countMade(
    () => loop(10_000),
    async () => {
      const { data } = await registry.execute("shop.id", first)
      return Number.parseInt(String(data).split("-").at(-1) ?? "", 36)
    },
  )
}

/**
 * Runs something and counts the controllers, timers and proxies made meanwhile.
 *
 * `nextId` returns the number of a new request id; numbers increase by one, so the difference is the number
 * of ids.
 */
async function countMade(run: () => Promise<void>, nextId: () => Promise<number>): Promise<Made> {
  const host = globalThis as unknown as Record<string, unknown>
  const { AbortController, Proxy, setImmediate, setTimeout } = globalThis
  const counts = { abortControllers: 0, timers: 0, proxies: 0 }
  const firstId = await nextId()
  host["AbortController"] = counting(AbortController, () => counts.abortControllers++)
  host["Proxy"] = counting(Proxy, () => counts.proxies++)
  host["setTimeout"] = (...args: Parameters<typeof setTimeout>) => {
    counts.timers++
    return setTimeout(...args)
  }
  host["setImmediate"] = (callback: (...args: unknown[]) => void, ...args: unknown[]) => {
    counts.timers++
    return setImmediate(callback, ...args)
  }
  try {
    await run()
  } finally {
    Object.assign(host, { AbortController, Proxy, setImmediate, setTimeout })
  }
  return { ...counts, requestIds: (await nextId()) - firstId - 1 }
}

function counting(target: object, count: () => void): unknown {
  return new Proxy(target as new (...args: unknown[]) => object, {
    construct(constructor, args, newTarget) {
      count()
      return Reflect.construct(constructor, args, newTarget) as object
    },
  })
}
