import { env } from "node:process"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { audit } from "./audit.ts"
import { KEPT } from "./kept.ts"
import { worlds } from "./plan.ts"
import { play } from "./play.ts"

// More of them: TREE_CALLS=100000 TREE_SEED=7 npx vitest run test/call-trees/call-trees.system.test.ts
const CALLS = Number(env["TREE_CALLS"] ?? 800)
const SEED = Number(env["TREE_SEED"] ?? 1)
/** Histories of one seed. */
const ROUND = 50

describe("whatever is called, repeated, cut, replaced and set again,", () => {
  test.each(Object.entries(KEPT))("this does not come back: %s", async (_name, plan) => {
    const history = await play(plan)
    expect(() => audit(history)).not.toThrow()
  })

  test(
    "no effect happens twice, none is denied, every call ends in time, and nothing is left open",
    { timeout: 3_600_000 },
    async () => {
      let calls = 0
      for (let seed = SEED; calls < CALLS; seed++) {
        const property = fc.asyncProperty(worlds, async (plan) => {
          const history = await play(plan)
          audit(history)
          calls += history.journal.attempts.length
        })
        // The seed is in the message of a failure, with the smallest history that fails.
        await fc.assert(property, { seed, numRuns: ROUND })
      }
      expect(calls).toBeGreaterThanOrEqual(CALLS)
    },
  )

  test("one plan is one history", async () => {
    for (const plan of fc.sample(worlds, { seed: SEED, numRuns: 10 })) {
      const [one, other] = [await play(plan), await play(plan)]
      expect(other.journal.lines).toEqual(one.journal.lines)
      expect(one.journal.lines.length).toBeGreaterThan(0)
    }
  })

  test("the histories show every way in which a call can end", async () => {
    const missing = new Set(ENDS)
    for (const plan of fc.sample(worlds, { seed: SEED, numRuns: 300 })) {
      const { journal } = await play(plan)
      for (const { error, wasReplayed } of journal.attempts) {
        missing.delete(error?.code ?? (wasReplayed ? "replayed" : "ok"))
      }
      if (missing.size === 0) break
    }
    expect([...missing]).toEqual([])
  })
})

const ENDS = [
  ...["ok", "replayed", "EXECUTION_ERROR", "SOLD_OUT", "TIMEOUT", "ABORTED", "UNAVAILABLE"],
  ...["OVERLOADED", "RATE_LIMITED", "CIRCUIT_OPEN", "CONFLICT", "OPERATION_NOT_FOUND"],
]
