import { inspect } from "node:util"
import { describe, expect, test } from "vitest"
import { resolveConfig } from "../../src/config.ts"
import { BASES } from "./config.ts"
import { FUZZERS } from "./index.ts"
import { describeError, pollution } from "./laws.ts"
import type { Fuzzer } from "./laws.ts"

async function open(name: string): Promise<Fuzzer> {
  return await (FUZZERS[name] as () => Promise<Fuzzer>)()
}

/** Milliseconds for each; longer runs: `npm run fuzz -- --minutes 60`. */
const BUDGET = 1000
const FEWEST = 10

test("configurations that nobody changed are sound", () => {
  for (const base of BASES) expect(() => resolveConfig(base(), { baseDir: "." })).not.toThrow()
})

// Documents have a test of their own: test/sources/openapi/fuzz.system.test.ts.
describe.each(Object.keys(FUZZERS).filter((name) => name !== "openapi"))(
  "the fuzzer of %s",
  (name) => {
    test("finds nothing in a second", async () => {
      await using fuzzer = await open(name)
      const outcomes = new Set<string>()
      const faults: string[] = []
      const until = performance.now() + BUDGET
      for (let seed = 1; seed <= FEWEST || performance.now() < until; seed++) {
        try {
          outcomes.add(await fuzzer.run(seed))
        } catch (error) {
          faults.push(`npm run fuzz -- --only ${name} --seed ${seed}: ${describeError(error)}`)
        }
        const polluted = pollution()
        if (polluted !== undefined) faults.push(`seed ${seed}: ${polluted}`)
      }
      expect(faults).toEqual([])
      // Cases that all end alike would show nothing.
      expect(outcomes.size).toBeGreaterThan(1)
    })

    test("gives the same case for the same seed", async () => {
      await using fuzzer = await open(name)
      for (let seed = 1; seed < 20; seed++) {
        expect(inspect(fuzzer.show(seed), { depth: 9 })).toBe(
          inspect(fuzzer.show(seed), { depth: 9 }),
        )
      }
    })
  },
)
