import { describe, expect, test } from "vitest"
import { live } from "./sim/history.ts"
import { range, share, wrongIn } from "./sim/seeds.ts"

const { firsts, size } = share(1)
const CODES = [
  ...["PLANNED", "PAYLOAD_TOO_LARGE", "OPERATION_NOT_FOUND", "DATA_LOSS", "TIMEOUT", "ABORTED"],
  ...["UNAVAILABLE", "WORKER_LOST", "OVERLOADED"],
]

describe("whatever the broker and the processes do, once more", () => {
  test.each(firsts)(
    `the guard keeps its promises, for ${size} seeds from %i on`,
    { timeout: 3_600_000 },
    async (first) => {
      expect(await wrongIn(range(first, size))).toEqual([])
    },
  )

  test("the histories show every way in which a request can end", async () => {
    const missing = new Set([...CODES, "ok", "left"])
    for (const seed of range(1, 1000)) {
      const { journal } = await live(seed)
      for (const { result, error } of journal.outcomes.values()) {
        missing.delete(result === "error" ? (error as { code: string }).code : String(result))
      }
      if (missing.size === 0) break
    }
    expect([...missing]).toEqual([])
  })
})
