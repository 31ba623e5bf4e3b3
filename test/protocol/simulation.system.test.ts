import { env } from "node:process"
import { describe, expect, test } from "vitest"
import { violations } from "./sim/check.ts"
import { live } from "./sim/history.ts"
import { SABOTAGES } from "./sim/sabotage.ts"
import { SEEDS } from "./seeds.ts"

// More of them: SIM_SEEDS=200000 npx vitest run test/protocol/simulation.system.test.ts
const COUNT = Number(env["SIM_SEEDS"] ?? 150)
const FIRST = Number(env["SIM_FIRST"] ?? 1)
const PIECES = 4
/** How many histories a sabotage has to show itself in. */
const FEW = 150

/** What is wrong in the histories of seeds, the first few of them. */
async function wrongIn(seeds: Iterable<number>): Promise<string[]> {
  const found: string[] = []
  for (const seed of seeds) {
    for (const what of violations(await live(seed))) found.push(`seed ${seed}: ${what}`)
    if (found.length >= 20) break
  }
  return found
}

function* range(first: number, count: number): Generator<number> {
  for (let seed = first; seed < first + count; seed++) yield seed
}

describe("whatever the network and the processes do", () => {
  test.each(Object.entries(SEEDS))("seed %s does not come back: %s", async (seed) => {
    expect(await wrongIn([Number(seed)])).toEqual([])
  })

  const size = Math.ceil(COUNT / PIECES)
  test.each([...range(0, PIECES)].map((piece) => FIRST + piece * size))(
    `the protocol keeps its promises, for ${size} seeds from %i on`,
    { timeout: 3_600_000 },
    async (first) => {
      expect(await wrongIn(range(first, size))).toEqual([])
    },
  )

  test("one seed is one history", async () => {
    for (const seed of range(1, 20)) {
      const [one, other] = [await live(seed), await live(seed)]
      expect(other.journal.lines).toEqual(one.journal.lines)
      expect(one.journal.lines.length).toBeGreaterThan(0)
    }
  })

  test("the histories show every way in which a request can end", async () => {
    const missing = new Set([
      ...["ok", "left", "PLANNED", "TIMEOUT", "ABORTED", "UNAVAILABLE", "DATA_LOSS"],
    ])
    for (const seed of range(1, 400)) {
      const { journal } = await live(seed)
      for (const { result, error } of journal.outcomes.values()) {
        missing.delete(result === "error" ? (error as { code: string }).code : String(result))
      }
      if (missing.size === 0) break
    }
    expect([...missing]).toEqual([])
  })
})

describe("a protocol that is broken on purpose is found out", () => {
  test.each(SABOTAGES)("$name", async (sabotage) => {
    for (const seed of range(1, FEW)) {
      const found = violations(await live(seed, sabotage))
      if (found.some((what) => sabotage.shows.test(what))) return
    }
    expect.unreachable("No history shows it.")
  })
})
