import { describe, expect, test } from "vitest"
import { provideBroker } from "../faults/brokers.ts"
import { ENGINES } from "../faults/engines.ts"
import type { Engine } from "../faults/engines.ts"
import { runScenario } from "../faults/runner.ts"
import type { Scenario } from "../faults/scenario.ts"
import { brokerRestarted } from "../faults/scenarios/broker.ts"
import { oneWayLoss } from "../faults/scenarios/network.ts"
import { payload } from "../faults/scenarios/payload.ts"
import { killedMidStream, slowConsumer } from "../faults/scenarios/streams.ts"
import { workerFrozen } from "../faults/scenarios/worker-frozen.ts"
import { workerKilled } from "../faults/scenarios/worker-killed.ts"
import { row } from "../faults/table.ts"

/** The part of the matrix that every change is held to; `npm run faults` has all of it. */
const SHORT = [
  workerKilled,
  workerFrozen,
  brokerRestarted,
  oneWayLoss,
  payload,
  slowConsumer,
  killedMidStream,
]

/** Other victims each day; a failure prints the seed. */
const SEED = Math.floor(Date.now() / 86_400_000)

const before = processes()

for (const engine of ENGINES) {
  const isThere = await provideBroker(engine)
  describe.skipIf(!isThere)(`on ${engine}, callers are told the truth`, () => {
    // Most of the time is spent waiting: for deadlines, and for brokers to come back.
    test.concurrent.each(SHORT.map((scenario) => [scenario.title, scenario] as const))(
      "%s",
      { timeout: 120_000 },
      async (_title, scenario) => await expectToPass(scenario, engine),
    )
  })
}

async function expectToPass(scenario: Scenario, engine: Engine): Promise<void> {
  const verdict = await runScenario(scenario, { engine, size: "short", seed: SEED })
  expect(verdict.passed, row(verdict)).toBe(true)
}

describe("the lab", () => {
  test("leaves no process behind", () => {
    expect(processes()).toBe(before)
  })
})

function processes(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap").length
}
