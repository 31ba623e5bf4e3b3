import { describe, expect, test } from "vitest"
import { mintNumber } from "../../../src/engine/ids.ts"
import { live } from "./sim/history.ts"
import { range, SEEDS, share, wrongIn } from "./sim/seeds.ts"

const { firsts, size } = share(0)

describe("whatever the broker and the processes do", () => {
  test.each(Object.entries(SEEDS))("seed %s does not come back: %s", async (seed) => {
    expect(await wrongIn([Number(seed)])).toEqual([])
  })

  test.each(firsts)(
    `the guard keeps its promises, for ${size} seeds from %i on`,
    { timeout: 3_600_000 },
    async (first) => {
      expect(await wrongIn(range(first, size))).toEqual([])
    },
  )

  test("one seed is one history, wherever request numbers begin", async () => {
    for (const seed of range(1, 12)) {
      const one = await live(seed, { isDetailed: true })
      for (let number = 0; number < seed; number++) mintNumber()
      const other = await live(seed, { isDetailed: true })
      expect(other.journal.lines).toEqual(one.journal.lines)
      expect(one.journal.lines.length).toBeGreaterThan(0)
    }
  })
})
