import { describe, expect, test } from "vitest"
import { live } from "./sim/history.ts"
import { COUNT, FIRST, range, SEEDS, wrongIn } from "./sim/seeds.ts"

const PIECES = 4

describe("whatever the broker and the processes do", () => {
  test.each(Object.entries(SEEDS))("seed %s does not come back: %s", async (seed) => {
    expect(await wrongIn([Number(seed)])).toEqual([])
  })

  const size = Math.ceil(COUNT / PIECES)
  test.each([...range(0, PIECES)].map((piece) => FIRST + piece * size))(
    `the guard keeps its promises, for ${size} seeds from %i on`,
    { timeout: 3_600_000 },
    async (first) => {
      expect(await wrongIn(range(first, size))).toEqual([])
    },
  )

  test("one seed is one history", async () => {
    for (const seed of range(1, 40)) {
      const one = await live(seed, { isDetailed: true })
      const other = await live(seed, { isDetailed: true })
      expect(other.journal.lines).toEqual(one.journal.lines)
      expect(one.journal.lines.length).toBeGreaterThan(0)
    }
  })

  test("the histories show every way in which a request can end", async () => {
    const ends = new Set<string>()
    for (const seed of range(1, 300)) {
      const { journal } = await live(seed)
      for (const { result, error } of journal.outcomes.values()) {
        ends.add(result === "error" ? (error as { code: string }).code : String(result))
      }
    }
    const own = ["ok", "left", "PLANNED", "PAYLOAD_TOO_LARGE", "OPERATION_NOT_FOUND", "DATA_LOSS"]
    const lost = ["TIMEOUT", "ABORTED", "UNAVAILABLE", "WORKER_LOST", "OVERLOADED"]
    expect([...ends]).toEqual(expect.arrayContaining([...own, ...lost]))
  })
})
