import { describe, expect, test } from "vitest"
import { CallError } from "../../../src/index.ts"
import { violations } from "./sim/check.ts"
import type { Budget, History } from "./sim/history.ts"
import { Journal } from "./sim/journal.ts"
import type { Outcome, Run, Trouble } from "./sim/journal.ts"
import { scenario } from "./sim/plan.ts"
import type { Plan, Scenario } from "./sim/plan.ts"

const PLAN: Plan = {
  key: "p0",
  caller: 0,
  startAt: 100,
  kind: "change",
  work: 10,
  deadline: 1000,
  idleTimeout: undefined,
  abortAfter: undefined,
  items: 3,
  failAt: undefined,
  largeAt: undefined,
  window: 4,
  pace: 0,
  leaveAfter: undefined,
  isRelaxed: false,
}

const OUTCOME: Outcome = {
  startedAt: 100,
  requestId: "r0",
  ends: 1,
  endedAt: 120,
  result: "ok",
  data: { key: "p0", run: 1 },
  items: [],
  error: undefined,
  callerDiedAt: undefined,
}

const RUN: Run = {
  number: 1,
  key: "p0",
  operation: "sim.change",
  startedAt: 105,
  endedAt: 115,
  abortedAt: undefined,
  produced: 0,
  worker: "worker0",
  isIdempotent: false,
  process: { isDead: false, isFrozen: false },
}

const UNLIMITED = { limits: {}, maxKeptBytes: undefined, retryBudget: 10 }

interface Forged {
  readonly plan?: Partial<Plan>
  readonly outcome?: Partial<Outcome>
  readonly runs?: readonly Partial<Run>[]
  readonly scenario?: Partial<Scenario>
  readonly troubles?: readonly Trouble[]
  readonly missedAborts?: readonly string[]
  readonly leftovers?: readonly string[]
  readonly budget?: Partial<Budget>
}

/** A history that nobody lived through. */
function forge(parts: Forged): History {
  const journal = new Journal(false)
  journal.outcomes.set("p0", { ...OUTCOME, ...parts.outcome })
  for (const run of parts.runs ?? [{}]) journal.runs.push({ ...RUN, ...run })
  journal.troubles.push(...(parts.troubles ?? []))
  for (const id of parts.missedAborts ?? []) journal.missedAborts.add(id)
  const plans = [{ ...PLAN, ...parts.plan }]
  const base: Scenario = { ...scenario(1), mood: "wild", accidents: [], plans, ...UNLIMITED }
  return {
    journal,
    scenario: { ...base, ...parts.scenario },
    closedAt: 100_000,
    budgets: [{ caller: 0, repeats: 0, left: 10, ...parts.budget }],
    leftovers: parts.leftovers ?? [],
  }
}

function failed(
  code: string,
  flags: { mayHaveExecuted: boolean; retryable: boolean },
): Partial<Outcome> {
  return { result: "error", data: undefined, error: new CallError(code, "Forged.", flags) }
}

const RAN = { mayHaveExecuted: true, retryable: false }
const NOT_RUN = { mayHaveExecuted: false, retryable: true }
const STREAM = { kind: "stream" } as const
const ITEMS = [1, 2, 3].map((at) => ({ at, run: 1 }))
const RESET = { at: 0, run: 0, type: "reset" }
const FREEZE = { what: "freeze", whom: "caller0", from: 1000, to: 5000 } as const

describe("the checker of histories sees", () => {
  test.each<[string, Forged, RegExp]>([
    ["a call that never ends", { outcome: { ends: 0 } }, /never ended/],
    ["one that ends twice", { outcome: { ends: 2 } }, /ended 2 times/],
    ["one that ends too late", { outcome: { endedAt: 1400 } }, /was due at 1100/],
    [
      "one that was aborted and waits for its deadline",
      { plan: { abortAfter: 50 }, outcome: { endedAt: 900 } },
      /was due at 150/,
    ],
    ["a change that ran twice", { runs: [{}, { number: 2 }] }, /ran 2 times/],
    [
      "a second run that one worker says must not be",
      { plan: { kind: "mixed" }, runs: [{ isIdempotent: true }, { number: 2 }] },
      /ran 2 times/,
    ],
    [
      "a relay that ran twice",
      {
        plan: { kind: "relay" },
        runs: [{}, { number: 2, operation: "sim.relay" }, { number: 3, operation: "sim.relay" }],
      },
      /ran 2 times, as a relay/,
    ],
    [
      "an error that denies a run",
      { outcome: failed("TIMEOUT", NOT_RUN) },
      /TIMEOUT at 120 says that it did not run, and it did at 105/,
    ],
    [
      "a run after an error that denied it",
      { outcome: failed("UNAVAILABLE", NOT_RUN), runs: [{ startedAt: 300, endedAt: 310 }] },
      /says that it did not run, and it did at 300/,
    ],
    [
      "an error that permits a second effect",
      { outcome: failed("WORKER_LOST", { mayHaveExecuted: true, retryable: true }) },
      /may be repeated/,
    ],
    [
      "an error of no kind",
      { outcome: { result: "error", error: new Error("x") } },
      /no CallError/,
    ],
    ["an error that nobody planned", { outcome: failed("INTERNAL", RAN) }, /failed with INTERNAL/],
    ["a success without a run", { runs: [] }, /succeeded without having run/],
    ["a success that cannot be", { plan: { kind: "fail" } }, /succeeded though it cannot/],
    ["the data of another call", { outcome: { data: { key: "p1", run: 1 } } }, /data of another/],
    ["no data", { outcome: { data: undefined } }, /data of another/],
    ["the result of another run", { outcome: { data: { key: "p0", run: 2 } } }, /none of its own/],
    ["a result before its run ended", { runs: [{ endedAt: 130 }] }, /none of its own/],
    [
      "a run that starts long after the end",
      { outcome: failed("TIMEOUT", RAN), runs: [{ startedAt: 3000, endedAt: 3010 }] },
      /started at 3000, and was over at 120/,
    ],
    [
      "a handler that nobody waits for",
      { outcome: failed("ABORTED", RAN), runs: [{ endedAt: 5000 }] },
      /at work until 5000, and nobody waited after 120/,
    ],
    [
      "one that goes on after the deadline, the abort being lost",
      { outcome: failed("ABORTED", RAN), missedAborts: ["r0"], runs: [{ endedAt: 6000 }] },
      /at work until 6000, and nobody waited after 120/,
    ],
    [
      "one that goes on although it was stopped",
      { outcome: failed("ABORTED", RAN), runs: [{ abortedAt: 130, endedAt: 1200 }] },
      /was stopped at 130/,
    ],
    [
      "a stubborn one that is never stopped",
      {
        plan: { kind: "stubborn" },
        outcome: failed("ABORTED", RAN),
        runs: [{ endedAt: undefined }],
      },
      /at work until Infinity/,
    ],
    ["a gap", { plan: STREAM, outcome: { items: ITEMS.toSpliced(1, 1) } }, /item 2 was 3/],
    [
      "a stream that ends early",
      { plan: STREAM, outcome: { items: ITEMS.slice(1) } },
      /item 1 was 2/,
    ],
    [
      "items of two runs",
      { plan: STREAM, outcome: { items: [...ITEMS.slice(0, 2), { at: 3, run: 2 }] } },
      /several runs/,
    ],
    [
      "an end before the last item",
      { plan: STREAM, outcome: { items: ITEMS.slice(0, 2) } },
      /ended after 2 of 3/,
    ],
    [
      "a good end of what fails",
      { plan: { ...STREAM, failAt: 2 }, outcome: { items: ITEMS } },
      /ended well though/,
    ],
    ["an unplanned failure", { plan: STREAM, outcome: failed("PLANNED", RAN) }, /not planned/],
    [
      "an early failure on a sound broker",
      {
        plan: { ...STREAM, failAt: 3 },
        outcome: failed("PLANNED", RAN),
        scenario: { mood: "calm" },
      },
      /failed early, after 0 items/,
    ],
    [
      "a failure without a cause",
      {
        plan: { isRelaxed: true },
        outcome: failed("TIMEOUT", RAN),
        scenario: { mood: "restarts" },
      },
      /came out as TIMEOUT, not ok \(restarts\)/,
    ],
    [
      "a query that a killed worker takes along",
      {
        plan: { kind: "query", isRelaxed: true },
        outcome: failed("WORKER_LOST", RAN),
        scenario: { mood: "killed" },
      },
      /came out as WORKER_LOST, not ok/,
    ],
    [
      "a lost worker that is noticed late",
      {
        outcome: { ...failed("WORKER_LOST", RAN), endedAt: 9000 },
        plan: { deadline: 60_000 },
        runs: [{ endedAt: undefined }],
        scenario: { mood: "killed" },
        troubles: [{ what: "kill", whom: "worker0", from: 110, to: 110 }],
      },
      /its worker was lost at 110/,
    ],
    [
      "a refusal that takes long where nobody is",
      {
        outcome: { ...failed("UNAVAILABLE", NOT_RUN), endedAt: 1000 },
        runs: [],
        scenario: { mood: "deserted", signMs: undefined },
      },
      /took 900 ms to find that nobody is there/,
    ],
    [
      "another end than that where nobody is",
      {
        plan: { isRelaxed: true },
        outcome: failed("OPERATION_NOT_FOUND", NOT_RUN),
        runs: [],
        scenario: { mood: "deserted" },
      },
      /came out as OPERATION_NOT_FOUND, not UNAVAILABLE/,
    ],
    [
      "changes that begin without a word",
      { plan: { kind: "changes" }, outcome: { result: "left", items: [RESET] }, runs: [] },
      /change 1 was reset/,
    ],
    ["changes that end", { plan: { kind: "changes" }, runs: [] }, /nobody ended it/],
    ["a repeat that cost nothing", { budget: { repeats: 2 } }, /has 10 of 10 left for repeats/],
    ["one that cost too much", { budget: { repeats: 1, left: 8 } }, /has 8 of 10 left/],
    ["what is left", { leftovers: ["worker0 has 1 timers"] }, /has 1 timers/],
  ])("%s", (_what, forged, expected) => {
    expect(violations(forge(forged)).join("\n")).toMatch(expected)
  })

  test.each<[string, Forged]>([
    ["a call that goes well", {}],
    ["a query that ran twice", { plan: { kind: "query" }, runs: [{}, { number: 2 }] }],
    [
      "a caller that died",
      { outcome: { ends: 0, callerDiedAt: 110, result: undefined }, runs: [] },
    ],
    ["an error before any run", { outcome: failed("UNAVAILABLE", NOT_RUN), runs: [] }],
    ["an error after a run", { outcome: failed("WORKER_LOST", RAN) }],
    [
      "a grant that was under way when its caller left",
      { outcome: failed("ABORTED", RAN), runs: [{ startedAt: 125, endedAt: 130 }] },
    ],
    ["a caller that stood still", { outcome: { endedAt: 5100 }, troubles: [FREEZE] }],
    [
      "changes",
      {
        plan: { kind: "changes" },
        outcome: { result: "left", items: [{ ...RESET, type: "ready" }, RESET] },
        runs: [],
      },
    ],
    ["repeats that were paid for", { budget: { repeats: 3, left: 7 } }],
    ["repeats that nothing was left for", { budget: { repeats: 10, left: 0 } }],
    ["a stream", { plan: STREAM, outcome: { items: ITEMS } }],
    [
      "a stream that its consumer left",
      { plan: { ...STREAM, leaveAfter: 1 }, outcome: { result: "left", items: ITEMS.slice(0, 1) } },
    ],
    [
      "a change that a killed worker takes along",
      {
        plan: { isRelaxed: true },
        outcome: failed("WORKER_LOST", RAN),
        scenario: { mood: "killed" },
      },
    ],
  ])("nothing wrong with %s", (_what, forged) => {
    expect(violations(forge(forged))).toEqual([])
  })
})
