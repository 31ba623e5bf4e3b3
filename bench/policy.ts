/** What policies cost: CPU per call beside `execute`, in rounds side by side. `tsx bench/policy.ts` */
import { createRegistry, defineOperation } from "../src/index.ts"
import type { Resilience } from "../src/index.ts"
import { quote, Quote, QuoteInput, quoteInputs } from "./cases.ts"

const ROUNDS = 15
const CALLS = 20_000

const shop = {
  namespace: "shop",
  type: "query",
  description: "",
  accessControl: { requiredScopes: [] },
} as const
const define = (name: string, resilience?: Resilience | "standard") =>
  defineOperation({
    ...shop,
    name,
    inputSchema: QuoteInput,
    outputSchema: Quote,
    handler: quote,
    ...(resilience && { resilience }),
  })

const registry = createRegistry([
  define("plain"),
  define("next"),
  define("retry", { retry: {} }),
  define("retryBreaker", { retry: {}, breaker: {} }),
  define("standard", {
    retry: {},
    breaker: {},
    timeout: { attempt: 10_000 },
    concurrency: { most: 64, queue: 256 },
  }),
  define("hit", { cache: { ttl: 3_600_000 } }),
])
registry.use((_call, next) => next(), { match: "shop.next" })

/** Each row with the most that it may cost, as a multiple of the first. */
const ROWS: readonly (readonly [string, number])[] = [
  ["plain", 1],
  ["next", 1.7],
  ["retry", 2.6],
  ["retryBreaker", 2.6],
  ["standard", 5],
  ["hit", 5],
]

async function round(name: string): Promise<number> {
  const id = `shop.${name}` as "shop.plain"
  const before = process.cpuUsage()
  for (let call = 0; call < CALLS; call++)
    await registry.execute(id, quoteInputs[call % quoteInputs.length]!)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / CALLS
}

const best = new Map<string, number>()
for (let times = 0; times < ROUNDS; times++) {
  for (const [name] of ROWS) best.set(name, Math.min(best.get(name) ?? Infinity, await round(name)))
}
const base = best.get("plain") ?? 1
for (const [name, most] of ROWS) {
  const ratio = (best.get(name) ?? 0) / base
  console.log(
    `${name.padEnd(14)} ${(best.get(name) ?? 0).toFixed(3)} µs  ${ratio.toFixed(2)} × (at most ${most})`,
  )
}
await registry.close()
