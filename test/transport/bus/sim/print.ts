import { violations } from "./check.ts"
import { live } from "./history.ts"
import type { LiveOptions } from "./history.ts"

/** All that happens in the history of a seed, to be read. */
export async function print(seed: number, options: LiveOptions = {}): Promise<string> {
  const history = await live(seed, { ...options, isDetailed: true })
  const { plans, accidents, ...rest } = history.scenario
  return [
    `The history of seed ${seed}:`,
    JSON.stringify(rest),
    ...plans.map((plan) => JSON.stringify(plan)),
    ...accidents.map((accident) => JSON.stringify(accident)),
    ...history.journal.lines,
    ...violations(history).map((what) => `wrong: ${what}`),
  ].join("\n")
}
