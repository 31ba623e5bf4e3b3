import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { expectEnd } from "./model/agree.ts"
import { commands } from "./model/commands.ts"
import { Model } from "./model/model.ts"
import { Real } from "./model/real.ts"
import { Served, servedCommands } from "./model/serving.ts"
import { isNightly } from "../support/nightly.ts"
import { settle } from "./sim/clock.ts"

const TIMEOUT = 300
const SEQUENCES = isNightly ? 20_000 : 600
const PIECES = 3

describe("a PendingRequestMap, whatever its caller and its peer do", () => {
  const size = SEQUENCES / PIECES
  const pieces = Array.from({ length: PIECES }, (_item, index) => index + 1)
  test.each(pieces)(`agrees with the model, ${size} sequences, piece %i`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.commands([...commands], { maxCommands: 40, size: "max" }),
        async (given) => {
          const model = new Model(TIMEOUT)
          const real = new Real(TIMEOUT)
          await fc.asyncModelRun(() => ({ model, real }), given)
          await expectEnd(model, real)
        },
      ),
      { numRuns: size },
    )
  })
})

describe("a served registry, whatever its callers and its handlers do", () => {
  const limits = [{}, { maxInFlight: 1 }, { maxInFlight: 2, maxStreams: 1 }]
  test.each(limits)("ends each request once, in order, within its credit: %o", async (limit) => {
    await fc.assert(
      fc.asyncProperty(
        fc.commands([...servedCommands], { maxCommands: 40, size: "max" }),
        async (given) => {
          const real = new Served(limit)
          await fc.asyncModelRun(() => ({ model: {}, real }), given)
          real.isClosed = true
          await real.server.close()
          await settle()
          real.look()
          expect(real.asked.filter(({ isOver }) => !isOver)).toEqual([])
          await real.map.close()
        },
      ),
      { numRuns: isNightly ? 2000 : 120 },
    )
  })
})
