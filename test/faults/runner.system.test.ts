import { describe, expect, test } from "vitest"
import { readArgs } from "../../tools/faults/args.ts"
import type { JournalEntry } from "../../tools/faults/journal.ts"
import type { Lab } from "../../tools/faults/lab.ts"
import { allHold, runScenario } from "../../tools/faults/runner.ts"
import type { Scenario, Size } from "../../tools/faults/scenario.ts"
import { occupation } from "../../tools/faults/scenarios/crowd.ts"
import { SCENARIOS } from "../../tools/faults/scenarios/index.ts"
import { row, summary } from "../../tools/faults/table.ts"

/** Runs something as if it were a row of the matrix. */
async function verdictOf(run: (lab: Lab) => Promise<void> | void, size: Size = "full") {
  const scenario: Scenario = { id: "F0", title: "forged", run: async (lab) => await run(lab) }
  return await runScenario(scenario, { engine: "nats", size, seed: 1 })
}

describe("runScenario", () => {
  test("does not pass a scenario in which nothing was called", async () => {
    const verdict = await verdictOf(() => undefined)
    expect(verdict.passed).toBe(false)
    expect(verdict.checks.filter(({ holds }) => !holds).map(({ what }) => what)).toEqual([
      "calls were made",
    ])
  })

  test("does not pass one whose lab fails, and says why", async () => {
    const verdict = await verdictOf(() => {
      throw new Error("no broker today")
    })
    expect(verdict).toMatchObject({ passed: false, fault: "no broker today" })
    expect(row(verdict)).toContain("no broker today")
  })

  test("counts what a scenario checks by itself, and the time only where there is time", async () => {
    const { checks } = await verdictOf((lab) => lab.checkTime("it is over soon", 10, 1e6))
    const late = checks.filter(({ isTimed }) => isTimed)
    expect(late.map(({ holds }) => holds)).toEqual([false])
    expect((["full", "quick", "short"] as const).map((size) => allHold(late, size))).toEqual([
      false,
      false,
      true,
    ])
    const verdict = await verdictOf((lab) => lab.check("it holds", false, "nothing"))
    expect(row(verdict)).toContain("it holds: nothing")
    expect(allHold(verdict.checks.slice(-1), "short")).toBe(false)
  })

  test("prints what failed, and how to see it again", async () => {
    const verdict = await verdictOf(() => undefined)
    expect(summary([verdict])).toContain("--only F0 --engine nats --seed 1")
    expect(summary([{ ...verdict, passed: true }])).toContain("all passed")
  })

  test("uses the same random numbers for the same seed", async () => {
    const seen: number[][] = []
    for (const seed of [1, 1, 2]) {
      const run = async (lab: Lab): Promise<void> => {
        seen.push(Array.from({ length: 5 }, lab.random))
      }
      await runScenario({ id: "F0", title: "", run }, { engine: "nats", size: "full", seed })
    }
    expect(seen[0]).toEqual(seen[1])
    expect(seen[0]).not.toEqual(seen[2])
    expect(seen.flat().every((chance) => chance >= 0 && chance < 1)).toBe(true)
  })
})

describe("the arguments of the lab", () => {
  test("choose engines and scenarios; without any it is all of them", () => {
    expect(readArgs([], SCENARIOS)).toEqual({
      engines: ["nats", "redis"],
      scenarios: SCENARIOS,
      size: "full",
      seed: 1,
      json: false,
    })
    const args = ["--engine", "redis", "--only", "f13, F1", "--quick", "--seed", "7", "--json"]
    expect(readArgs(args, SCENARIOS)).toMatchObject({
      engines: ["redis"],
      scenarios: [{ id: "F1" }, { id: "F13" }],
      size: "quick",
      seed: 7,
      json: true,
    })
    expect(readArgs(["--list"], SCENARIOS)).toBe("list")
    expect(readArgs(["--help"], SCENARIOS)).toBe("help")
  })

  test.each([
    [["--engine", "kafka"], "nats, redis or all"],
    [["--only", "F1,F999"], "no F999"],
    [["--seed", "x"], "whole number"],
    [["--what"], "--what"],
  ])("that are wrong are named: %j", (args, words) => {
    expect(() => readArgs(args, SCENARIOS)).toThrow(words)
  })
})

describe("the matrix", () => {
  test("has every scenario once", () => {
    const ids = SCENARIOS.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toEqual(expect.arrayContaining(["F1", "F5", "F13", "F22", "F27", "F33", "F38"]))
  })
})

describe("occupation", () => {
  const entry = (what: JournalEntry["what"], at: number, worker = "w1"): JournalEntry => ({
    what,
    at,
    worker,
    call: "c",
    run: "r",
  })

  test("returns how many calls ran at once, and how long all slots were taken", () => {
    const entries = [
      ...Array.from({ length: 10 }, () => entry("start", 0)),
      entry("start", 0, "w2"),
      entry("end", 50),
      entry("start", 100),
    ]
    expect(occupation(entries, "w1")).toEqual({ most: 10, full: 0.5 })
    expect(occupation([...entries, entry("start", 100)], "w1").most).toBe(11)
    expect(occupation([], "w1")).toEqual({ most: 0, full: 0 })
  })
})
