/** The cost of middleware and policies, compared with cockatiel and opossum around the same call. */
import {
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  handleAll,
  retry,
  wrap,
} from "cockatiel"
import CircuitBreaker from "opossum"
import type { Resilience } from "../../src/core/resilience.ts"
import { QUOTE, quoteInputs } from "./cases.ts"
import type { Goal } from "./goals.ts"
import type { Library } from "./library.ts"
import { callLoop, measure } from "./measure.ts"
import type { Effort, Measurement, Workload } from "./measure.ts"
import { section } from "./table.ts"

export interface PolicyResults {
  readonly policies: readonly Measurement[]
}

/** Each row with its policies, and its maximum cost relative to a call without policies. */
const ROWS: readonly {
  readonly name: string
  readonly max: number
  readonly resilience?: Resilience | "standard"
}[] = [
  { name: "middleware of other operations", max: 1.02 },
  { name: "middleware that only calls next", max: 1.7 },
  { name: "retry and breaker", max: 2.6, resilience: { retry: {}, breaker: {} } },
  { name: "all of standard", max: 5, resilience: "standard" },
  { name: "a cached result", max: 5, resilience: { cache: { ttl: 3_600_000 } } },
]
const NEXT_ONLY = 1
const MAX_BYTES = 16

/** Measures calls with and without policies, side by side. */
export async function measurePolicies(library: Library, effort: Effort): Promise<PolicyResults> {
  const { createRegistry, defineOperation } = library
  const define = (name: string, resilience?: Resilience | "standard") =>
    defineOperation({
      ...QUOTE,
      namespace: "shop",
      name,
      ...(resilience !== undefined && { resilience }),
    })
  await using plain = createRegistry([define("plain")])
  await using registry = createRegistry(
    ROWS.map(({ resilience }, index) => define(`row${index}`, resilience)),
  )
  registry.use((_call, next) => next(), { match: `shop.row${NEXT_ONLY}` })
  const executePlain = (input: unknown): Promise<unknown> =>
    (plain as unknown as typeof called).execute("shop.plain", input)
  const called = registry as { execute(id: string, input: unknown): Promise<unknown> }
  const workloads: Workload[] = [
    {
      name: "execute",
      run: callLoop("execute", (input) => plain.execute("shop.plain", input), quoteInputs),
    },
    ...ROWS.map(({ name }, index) => ({
      name,
      run: callLoop(name, (input) => called.execute(`shop.row${index}`, input), quoteInputs),
    })),
  ]
  return { policies: await measure([...workloads, ...peersAround(executePlain)], effort) }
}

/** Other libraries around the same call of a registry, with settings that come close. */
function peersAround(call: (input: unknown) => Promise<unknown>): Workload[] {
  const both = wrap(
    retry(handleAll, { maxAttempts: 2, backoff: new ExponentialBackoff() }),
    circuitBreaker(handleAll, { halfOpenAfter: 5_000, breaker: new ConsecutiveBreaker(20) }),
  )
  const breaker = new CircuitBreaker(call, { timeout: false, volumeThreshold: 20 })
  return [
    {
      name: "execute in cockatiel: retry and breaker",
      run: callLoop("cockatiel", (input) => both.execute(() => call(input)), quoteInputs),
    },
    {
      name: "execute in opossum: breaker",
      run: callLoop("opossum", (input) => breaker.fire(input), quoteInputs),
    },
  ]
}

/** The rows, as plain text. */
export function policyTables({ policies }: PolicyResults): string[] {
  return [section("Middleware and policies; times execute", policies)]
}

/** The goals for policies. */
export function policyGoals({ policies }: PolicyResults): Goal[] {
  const [plain, unused] = policies
  const added = (unused?.bytes ?? Number.NaN) - (plain?.bytes ?? Number.NaN)
  return [
    ...ROWS.map(({ name, max }) => {
      const ratio = policies.find((row) => row.name === name)?.ratio.median ?? Number.NaN
      return {
        goal: `${name}: at most ${max} times execute`,
        measured: ratio.toFixed(2),
        isMet: ratio <= max,
      }
    }),
    {
      goal: `${ROWS[0]?.name}: at most ${MAX_BYTES} bytes more`,
      measured: added.toFixed(0),
      isMet: added <= MAX_BYTES,
    },
  ]
}
