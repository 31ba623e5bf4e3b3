// @isolated: it counts the timers, listeners or processes that are left, also those of other files.
import { describe, expect, test } from "vitest"
import { provideBroker } from "../tools/faults/brokers.ts"
import { ENGINES } from "../tools/faults/engines.ts"
import type { Engine } from "../tools/faults/engines.ts"
import { runScenario } from "../tools/faults/runner.ts"
import type { Lab } from "../tools/faults/lab.ts"
import type { Sabotage } from "../tools/faults/operations.ts"
import type { Scenario, Verdict } from "../tools/faults/scenario.ts"
import { brokerRestarted } from "../tools/faults/scenarios/broker.ts"
import { damage, oneWayLoss } from "../tools/faults/scenarios/network.ts"
import { payload } from "../tools/faults/scenarios/payload.ts"
import { killedMidStream, manyStreams, slowConsumer } from "../tools/faults/scenarios/streams.ts"
import { workerFrozen } from "../tools/faults/scenarios/worker-frozen.ts"
import { workerKilled } from "../tools/faults/scenarios/worker-killed.ts"
import { row } from "../tools/faults/table.ts"

/** The part of the matrix that every change is held to; `npm run faults` has all of it. */
const SHORT = [
  workerKilled,
  workerFrozen,
  brokerRestarted,
  oneWayLoss,
  damage,
  payload,
  slowConsumer,
  killedMidStream,
  manyStreams,
]

/** Other victims each day; a failure prints the seed. */
const SEED = Math.floor(Date.now() / 86_400_000)

const before = processes()

for (const engine of ENGINES) {
  const isThere = await provideBroker(engine)
  describe.skipIf(!isThere)(`on ${engine}, reports to callers are true`, () => {
    // Most of the time is spent waiting: for deadlines, and for brokers to come back.
    test.concurrent.each(SHORT.map((scenario) => [scenario.title, scenario] as const))(
      "%s",
      async (_title, scenario) => await expectToPass(scenario, engine),
    )
  })
}

async function expectToPass(scenario: Scenario, engine: Engine): Promise<void> {
  const verdict = await runScenario(scenario, { engine, size: "short", seed: SEED })
  expect(verdict.passed, row(verdict)).toBe(true)
}

/** What a scenario says of a worker that does something wrong on purpose. */
async function verdictOn(sabotage: Sabotage | undefined): Promise<Verdict> {
  const run = async (lab: Lab): Promise<void> => {
    await lab.startBroker()
    await lab.workers(1, { sabotage })
    await lab.caller().call({ ms: 0, timeout: 20_000 })
  }
  const [engine = "nats"] = await there()
  return await runScenario({ id: "F0", title: "sabotage", run }, { engine, size: "short", seed: 1 })
}

async function there(): Promise<Engine[]> {
  const found: Engine[] = []
  for (const engine of ENGINES) if (await provideBroker(engine)) found.push(engine)
  return found
}

describe.skipIf((await there()).length === 0)("the lab", () => {
  test.concurrent.each<[Sabotage, Partial<Verdict["report"]>]>([
    ["runs twice", { twice: [expect.any(String)] }],
    ["does not run", { untrue: [expect.stringContaining("never ran")] }],
    ["mixes up answers", { untrue: [expect.stringContaining("not its own")] }],
    ["denies", { untrue: expect.arrayContaining([expect.stringContaining("and had run")]) }],
  ])("finds out a worker that %s", async (sabotage, found) => {
    const { passed, report } = await verdictOn(sabotage)
    expect(report).toMatchObject(found)
    expect(passed).toBe(false)
  })

  test.concurrent("finds nothing wrong with one that does its work", async () => {
    const verdict = await verdictOn(undefined)
    expect(verdict.passed, row(verdict)).toBe(true)
  })
})

describe("after all of it", () => {
  test("no process is left behind", () => {
    expect(processes()).toBe(before)
  })
})

function processes(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "ProcessWrap").length
}
