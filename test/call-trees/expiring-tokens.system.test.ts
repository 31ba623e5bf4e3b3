import { env } from "node:process"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { audit } from "./audit.ts"
import { overHTTP, overMCP } from "./expiring.ts"
import { callsOfOne } from "./plan.ts"
import { play } from "./play.ts"
import type { OpenWay } from "./play.ts"

// More of them: TREE_HISTORIES=2000 TREE_SEED=7 npx vitest run test/call-trees/expiring-tokens.system.test.ts
const HISTORIES = Number(env["TREE_HISTORIES"] ?? 12)
const SEED = Number(env["TREE_SEED"] ?? 1)

const WAYS: Readonly<Record<string, (lifetime: number) => OpenWay>> = {
  "MCP 2026": (lifetime) => overMCP("modern", lifetime),
  "MCP 2025": (lifetime) => overMCP("legacy", lifetime),
  "the HTTP client": overHTTP,
}

describe("over a way in whose tokens expire and are renewed,", () => {
  test.each(Object.keys(WAYS))(
    "no effect happens twice, none is denied, and nothing is left open: %s",
    { timeout: 3_600_000 },
    async (name) => {
      const way = WAYS[name] as (typeof WAYS)[string]
      let calls = 0
      const property = fc.asyncProperty(
        fc.constantFrom(1, 100, 1_000),
        callsOfOne,
        async (lifetime, plan) => {
          const history = await play(plan, way(lifetime))
          audit(history)
          calls += history.journal.attempts.length
        },
      )
      // The seed is in the message of a failure, with the smallest history that fails.
      await fc.assert(property, { seed: SEED, numRuns: HISTORIES })
      expect(calls).toBeGreaterThan(HISTORIES)
    },
  )
})
