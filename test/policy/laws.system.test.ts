import { describe, expect, test } from "vitest"
import { Attempts } from "../../src/policy/attempts.ts"
import { Breaker } from "../../src/policy/breaker.ts"
import { Hedge } from "../../src/policy/hedge.ts"
import { RegistryPolicies } from "../../src/policy/index.ts"
import { KnownKeys } from "../../src/policy/known-keys.ts"
import { RateLimit } from "../../src/policy/rate-limit.ts"
import { Slots } from "../../src/policy/concurrency.ts"
import type { PolicyTarget } from "../../src/core/resilience.ts"
import { CallError } from "../../src/index.ts"
import type { Resilience } from "../../src/index.ts"
import { Random } from "../protocol/sim/random.ts"
import { isNightly } from "../support/nightly.ts"
import { operation } from "../support/operations.ts"
import { guarded } from "./harness.ts"
import { play } from "./histories.ts"

// More of them: LAW_HISTORIES=50000 npx vitest run test/policy/laws.system.test.ts
const HISTORIES = Number(process.env["LAW_HISTORIES"] ?? 500)
const PART = 500

describe("whatever the policies and whatever fails,", () => {
  test.each(Array.from({ length: HISTORIES / PART }, (_, part) => part * PART))(
    "no effect happens twice, no error lies about it, every call ends in time, and nothing is left, from seed %i on",
    async (first) => {
      const broken: string[] = []
      for (let seed = first + 1; seed <= first + PART && broken.length < 20; seed++) {
        for (const law of await play(seed)) broken.push(`seed ${seed}: ${law}`)
      }
      expect(broken).toEqual([])
    },
  )

  test("repeats are at most a tenth of the successes and 100 more", async () => {
    const excessive: string[] = []
    for (let seed = 1; seed <= (isNightly ? 20 : 2); seed++) {
      const random = new Random(seed)
      let [starts, successes, trouble] = [0, 0, 0]
      const api = operation("api.do", {
        type: "query",
        handler: async () => {
          starts++
          if (random.chance(trouble)) throw new CallError("UNAVAILABLE", "away")
          successes++
        },
      })
      const it = guarded([api], { retry: { attempts: 5, delay: 1 }, hedge: { after: 50 } })
      for (let calls = 1; calls <= 1_000; calls++) {
        if (calls % 100 === 1) trouble = random.pick([0, 0.1, 0.5, 1])
        void it.registry.execute("api.do").catch(() => undefined)
        await it.clock.advance(20)
        if (starts - calls > successes / 10 + 100) excessive.push(`seed ${seed}, call ${calls}`)
      }
      await it[Symbol.asyncDispose]()
    }
    expect(excessive).toEqual([])
  })
})

type Any = (this: unknown, ...args: unknown[]) => unknown

/** Policies that do something else than was set. */
function changed(
  settings: (given: Resilience) => Resilience,
): readonly [object, string, (original: Any) => Any] {
  const change = (make: Any): Any =>
    function other(target) {
      const { layers, ...rest } = target as PolicyTarget
      const given = layers[0]?.settings as Resilience
      const layer = { from: "bug", settings: { ...given, ...settings(given) } }
      return make.call(this, { ...rest, layers: [layer] })
    }
  return [RegistryPolicies.prototype, "for", change]
}

describe("a bug in a policy breaks a law:", () => {
  test.each<readonly [string, object, string, (original: Any) => Any, RegExp]>([
    [
      "everything is repeated",
      Attempts.prototype,
      "waitBefore",
      () => (_call, _thrown, attempt) => ((attempt as number) < 3 ? 0 : undefined),
      /repeated after it had/,
    ],
    [
      "one attempt too many",
      Attempts.prototype,
      "waitBefore",
      (wait) =>
        function late(call, thrown, attempt) {
          return wait.call(this, call, thrown, (attempt as number) - 1)
        },
      /was started/,
    ],
    [
      "places are never free again",
      Slots.prototype,
      "leave",
      () => () => undefined,
      /places are taken/,
    ],
    [
      "a probe without an outcome is never given back",
      Breaker.prototype,
      "leave",
      (leave) =>
        function kept(ticket, outcome, code) {
          if (outcome !== "neutral") leave.call(this, ticket, outcome, code)
        },
      /probes run/,
    ],
    [
      "a call that is refused takes a place",
      Slots.prototype,
      "enter",
      (enter) =>
        function taken(call) {
          try {
            return enter.call(this, call)
          } catch (error) {
            ;(this as Slots).leave = () => undefined
            throw error
          }
        },
      /places are taken/,
    ],
    [
      "keys are checked, and written too late",
      KnownKeys.prototype,
      "get",
      () => () => undefined,
      /had its effect \d times/,
    ],
    [
      "a rate limit lets everyone through",
      RateLimit.prototype,
      "take",
      () => () => undefined,
      /faster than allowed/,
    ],
    [
      "every hedge is two attempts",
      Hedge.prototype,
      "run",
      (run) =>
        function doubled(call, tally, attempt) {
          const twice = async (change: unknown): Promise<unknown> => {
            const other = Promise.resolve((attempt as Any).call(undefined, change))
            other.catch(() => undefined)
            return await (attempt as Any).call(undefined, change)
          }
          return run.call(this, call, tally, twice)
        },
      /was started/,
    ],
    ["attempts have no timeout", ...changed(() => ({ timeout: false })), /an attempt lasted/],
    ["a fallback is never used", ...changed(() => ({ fallback: false })), /in spite of a fallback/],
    [
      "all identities share what is cached",
      ...changed(({ cache }) => ({ cache: cache && { ...cache, vary: "none" } })),
      /has the result of/,
    ],
  ])("%s", async (_name, target, method, change, law) => {
    const original = Reflect.get(target, method) as Any
    Reflect.set(target, method, change(original))
    const found: string[] = []
    try {
      for (let seed = 1; seed <= 2_000 && !found.some((one) => law.test(one)); seed++) {
        found.push(...(await play(seed)))
      }
    } finally {
      Reflect.set(target, method, original)
    }
    expect(
      found.some((one) => law.test(one)),
      "nobody noticed",
    ).toBe(true)
  })
})
