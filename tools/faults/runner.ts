import { setTimeout as sleep } from "node:timers/promises"
import { withTimeout } from "../../src/internal/wait.ts"
import { audit } from "./audit.ts"
import { Lab } from "./lab.ts"
import type { LabOptions } from "./lab.ts"
import type { Check, Scenario, Size, Verdict } from "./scenario.ts"

/** The timeout of a scenario, in milliseconds. */
const SCENARIO_TIMEOUT_MS = 180_000

/** Runs a scenario in its own lab. Never rejects: errors are part of the verdict. */
export async function runScenario(scenario: Scenario, options: LabOptions): Promise<Verdict> {
  const began = performance.now()
  const lab = new Lab(options)
  let fault: string | undefined
  let report = audit({ entries: [], torn: [] }, { calls: [], streams: [] })
  try {
    await within(SCENARIO_TIMEOUT_MS, scenario.run(lab))
    // A call that starts after its caller got an error would start about now.
    await sleep(300)
    report = lab.audit()
  } catch (error) {
    fault = error instanceof Error ? error.message : String(error)
  }
  try {
    await lab[Symbol.asyncDispose]()
  } catch (error) {
    fault ??= `The lab could not be cleared: ${String(error)}`
  }
  const checks = [...always(report), ...lab.checks]
  return {
    id: scenario.id,
    title: scenario.title,
    engine: options.engine,
    seed: options.seed,
    report,
    checks,
    facts: lab.facts,
    fault,
    passed: fault === undefined && allHold(checks, options.size),
    seconds: (performance.now() - began) / 1000,
  }
}

/** Whether all relevant checks hold: in short runs, on busy machines, time limits do not count. */
export function allHold(checks: readonly Check[], size: Size): boolean {
  return checks.every(({ holds, isTimed }) => holds || (isTimed && size === "short"))
}

/** Checks that apply to every scenario. */
function always({ calls, streams, hung, twice, untrue }: Verdict["report"]): Check[] {
  const none = (what: string, found: readonly string[]): Check => ({
    what,
    holds: found.length === 0,
    saw: found.length === 0 ? "0" : `${found.length}, such as: ${found.slice(0, 3).join(" / ")}`,
    isTimed: false,
  })
  return [
    // A scenario without calls proves nothing.
    {
      what: "calls were made",
      holds: calls + streams > 0,
      saw: `${calls + streams}`,
      isTimed: false,
    },
    none("every call settles", hung),
    none("none runs twice", twice),
    none("all reports to callers are true", untrue),
  ]
}

function within(limit: number, work: Promise<void>): Promise<void> {
  return withTimeout(work, limit, () => {
    throw new Error(`It was not over after ${limit / 1000} s.`)
  })
}
