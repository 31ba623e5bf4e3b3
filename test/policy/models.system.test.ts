import { describe, expect, test } from "vitest"
import { Breaker } from "../../src/policy/breaker.ts"
import { CacheStore } from "../../src/policy/cache-store.ts"
import { Slots } from "../../src/policy/concurrency.ts"
import { TokenBuckets } from "../../src/policy/token-buckets.ts"
import { RetryBudget } from "../../src/internal/retry-budget.ts"
import {
  compareBreaker,
  compareBuckets,
  compareBudget,
  compareCache,
  compareSlots,
} from "./models.ts"
import type { Comparison } from "./models.ts"

const RUNS = 20
// More of them: MODEL_STEPS=1000000 npx vitest run test/policy/models.system.test.ts
const STEPS = Number(process.env["MODEL_STEPS"] ?? 16_000)

describe("the state of policies is that of a slow, obvious model, step by step:", () => {
  test.each<[string, Comparison, number]>([
    ["the retry budget", compareBudget, STEPS],
    ["the breaker", compareBreaker, STEPS],
    ["the token buckets", compareBuckets, STEPS],
    ["the places of calls that run at once", compareSlots, STEPS],
    ["the cache", compareCache, STEPS],
  ])("%s", async (_name, compare, steps) => {
    // Many settings, each in a part of the steps; the seed of a difference is in its message.
    for (let seed = 1; seed <= RUNS; seed++) {
      await expect(Promise.resolve(compare(seed, steps / RUNS))).resolves.toBeUndefined()
    }
  })
})

/** A change of the library that the comparison has to notice. */
type Mutant = readonly [
  name: string,
  compare: Comparison,
  target: object,
  method: string,
  change: (original: (...args: never[]) => unknown) => (...args: never[]) => unknown,
]

type Any = (this: unknown, ...args: unknown[]) => unknown
const mutant = (
  name: string,
  compare: Comparison,
  target: object,
  method: string,
  change: (original: Any) => Any,
): Mutant => [name, compare, target, method, change as unknown as Mutant[4]]

describe("a bug in the state of a policy is noticed:", () => {
  test.each<Mutant>([
    mutant("repeats cost nothing", compareBudget, RetryBudget.prototype, "take", () => () => true),
    mutant(
      "successes earn twice",
      compareBudget,
      RetryBudget.prototype,
      "earn",
      (earn) =>
        function twice() {
          earn.call(this)
          earn.call(this)
        },
    ),
    mutant(
      "neutral outcomes count as successes",
      compareBreaker,
      Breaker.prototype,
      "leave",
      (leave) =>
        function counted(ticket, outcome) {
          leave.call(this, ticket, outcome === "neutral" ? "success" : outcome)
        },
    ),
    mutant(
      "probes that end neutrally never leave",
      compareBreaker,
      Breaker.prototype,
      "leave",
      (leave) =>
        function kept(ticket, outcome) {
          if (outcome !== "neutral") leave.call(this, ticket, outcome)
        },
    ),
    mutant(
      "an open circuit lets everyone through",
      compareBreaker,
      Breaker.prototype,
      "enter",
      (enter) =>
        function open() {
          const ticket = enter.call(this) as number
          return ticket === -1 ? 0 : ticket
        },
    ),
    mutant(
      "waiting for a token costs none",
      compareBuckets,
      TokenBuckets.prototype,
      "take",
      (take) =>
        function free(key, now, maxWait) {
          const wait = take.call(this, key, now, maxWait) as number
          const buckets = this as TokenBuckets
          if (wait > 0) buckets.giveBack(key as string, buckets.fullAt(key as string))
          return wait
        },
    ),
    mutant(
      "a pause that was asked for is ignored",
      compareBuckets,
      TokenBuckets.prototype,
      "hold",
      () => () => undefined,
    ),
    mutant(
      "a place is given back twice",
      compareSlots,
      Slots.prototype,
      "leave",
      (leave) =>
        function twice() {
          leave.call(this)
          if ((this as Slots).status.running > 0) leave.call(this)
        },
    ),
    mutant(
      "the most recently used result goes first",
      compareCache,
      CacheStore.prototype,
      "get",
      (get) =>
        function moved(key) {
          const entry = get.call(this, key)
          if (entry !== undefined) (this as CacheStore).delete(key as string)
          return entry
        },
    ),
    mutant(
      "nothing is ever dropped",
      compareCache,
      CacheStore.prototype,
      "dropOldest",
      () => () => true,
    ),
  ])("%s", async (_name, compare, target, method, change) => {
    const original = Reflect.get(target, method) as (...args: never[]) => unknown
    Reflect.set(target, method, change(original))
    const noticed = async (): Promise<void> => {
      for (let seed = 1; seed <= RUNS; seed++) await compare(seed, 2_000)
    }
    try {
      await expect(noticed()).rejects.toThrow("the model says")
    } finally {
      Reflect.set(target, method, original)
    }
  })
})
