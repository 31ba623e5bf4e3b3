import { expect, test } from "vitest"
import { mutantOf, tryMutant } from "./fuzz.ts"
import type { Outcome } from "./fuzz.ts"
import { runs } from "../../support/nightly.ts"
import { fuzzDocuments } from "./fuzz/documents.ts"

const COUNT = runs(300)
const documents = fuzzDocuments()

test("a seed gives the same mutant each time", () => {
  for (let seed = 0; seed < 50; seed++) {
    const { steps, base } = mutantOf(seed, documents)
    expect(mutantOf(seed, documents)).toMatchObject({ seed, steps, base })
  }
})

test("documents that nobody changed import, and nothing is wrong with them", async () => {
  for (const [base, text] of documents) {
    const document = JSON.parse(text) as object
    const outcome = await tryMutant({ seed: 1, base, steps: [], isJson: true, document })
    expect(outcome, base).toMatchObject({ kind: "imported", fault: undefined })
  }
})

// More of them: `npm run fuzz -- --only openapi --minutes 10`.
test(`${COUNT} mutants give an import that holds or a clean error`, async () => {
  const faults: string[] = []
  const outcomes: Outcome[] = []
  for (let seed = 1; seed <= COUNT; seed++) {
    const mutant = mutantOf(seed, documents)
    const outcome = await tryMutant(mutant)
    outcomes.push(outcome)
    if (outcome.fault !== undefined) faults.push(`seed ${seed} (${mutant.base}): ${outcome.fault}`)
  }

  expect(faults).toEqual([])
  // Mutants that are all refused, or all fine, would show nothing.
  const share = (kind: Outcome["kind"]): number =>
    outcomes.filter((outcome) => outcome.kind === kind).length / COUNT
  expect(share("imported")).toBeGreaterThan(0.7)
  expect(share("refused")).toBeGreaterThan(0.01)
  expect(outcomes.some(({ requests }) => requests > 0)).toBe(true)
  expect(outcomes.some(({ refusedRequests }) => refusedRequests > 0)).toBe(true)
}, 3_600_000)
